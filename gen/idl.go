package gen

import (
	"fmt"

	"github.com/bagconv/bagconv/schema"
)

// idlOnly returns what a type has that generated code does not read in CDR, "" if it reads the whole type:
// fields that are not always there, and structs and lists that XCDR2 writes in different ways.
func idlOnly(msg *schema.Message) string {
	extents := map[schema.Extensibility]string{}
	for _, m := range append(schema.Dependencies(msg), msg) {
		switch {
		case m.Union:
			return m.Name + " is a union"
		case m.Extensibility == schema.Mutable:
			return m.Name + " is @mutable"
		case m.Extensibility == schema.Bare:
			return m.Name + " is an entry of a map, or a list within a list"
		case m.Extensibility != schema.Unstated:
			extents[m.Extensibility] = m.Name
		}
		for _, f := range m.Fields {
			if f.Member != nil && f.Member.Optional {
				return fmt.Sprintf("field %s of %s is @optional", f.Name, m.Name)
			}
			if f.Type.IsEnum() && f.Type.Array != schema.Single {
				return fmt.Sprintf("field %s of %s is a list of an enum, bitmask or bitset", f.Name, m.Name)
			}
		}
	}
	if len(extents) > 1 {
		return extents[schema.Final] + " is @final and " + extents[schema.Appendable] + " @appendable"
	}
	return ""
}

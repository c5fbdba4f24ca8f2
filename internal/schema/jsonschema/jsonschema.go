// Package jsonschema reads JSON Schema as the definition of messages in JSON: which ROS
// type a message becomes, and which property becomes which field.
//
//	schema                                 field
//	integer                                int64
//	number                                 float64
//	boolean                                bool
//	string                                 string
//	string, contentEncoding base64         uint8[]
//	object with sec and nsec (or nanosec)  time; titled duration: duration
//	object with properties                 a struct
//	array of one of these                  a list of it; of base64, a list of string
//	all else                               string: the value as JSON
//
// All else are objects without properties, lists of lists, values of several types, types that
// contain themselves and references that lead nowhere. null next to another type is a value that is
// not set. enum, const, minimum, pattern and so on are not looked at, but to find the type if no
// type is named.
//
// A property has the name of its field in snake case; fields stand in the order of the
// properties. What is read is JSON Schema up to 2020-12 (json-schema.org), with
// references within the document.
//
// Refused are a root that is not an object with properties, and text out of proportion: over
// 16 MiB, a million values, nested more than 200 deep, 100,000 properties in all, or
// types that take more than 4 MiB when all is zero. The result is immutable.
package jsonschema

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/names"

	"github.com/bagconv/bagconv/schema"
)

const (
	maxText   = 16 << 20
	maxValues = 1_000_000
	maxWork   = 300_000 // schemas that are looked at, with the constants in them
	maxDepth  = 200
	maxFields = 100_000
	maxImage  = 4 << 20
	maxName   = 512
	maxPart   = 200  // bytes of a key in a name
	maxSame   = 1000 // types of one name
)

// An Object is a message, or an object in one.
type Object struct {
	Message    *schema.Message // in names of ROS 1
	Properties []Property      // of each field
	Index      map[string]int  // of properties by key
}

// A Property describes the JSON of a field's value.
type Property struct {
	Key    string
	Form   Form
	List   bool    // an array of such values
	Object *Object // of form Nested
	Nanos  string  // of forms Time and Duration: the key of the nanoseconds, beside "sec"
}

// Form is how a value stands in JSON.
type Form uint8

// The forms.
const (
	Any      Form = iota // the text of the value
	Integer              // int64
	Number               // float64
	Boolean              // bool
	Text                 // string
	Base64               // a string that is a list of bytes
	Time                 // an object of seconds and nanoseconds
	Duration             // the same
	Nested               // an object as a struct
)

// An Error is a schema that cannot be read.
type Error struct{ Type, What string }

func (e *Error) Error() string {
	return fmt.Sprintf("JSON schema of %.80q: %s", e.Type, e.What)
}

// A Namer reads schemas, and names each distinct type: of two that
// would have the same name but not the same fields, the second gets a number after it.
type Namer struct{ types map[string]*schema.Message }

// NewNamer returns a namer.
func NewNamer() *Namer { return &Namer{map[string]*schema.Message{}} }

// Parse reads the schema called name: "pkg/Type", "pkg.Type" or any other. The error is
// an *Error.
func (n *Namer) Parse(name string, text []byte) (*Object, error) {
	fail := func(what string) error { return &Error{name, what} }
	switch {
	case len(text) > maxText:
		return nil, fail("text of more than 16 MiB")
	case len(name) > maxName:
		return nil, fail("a name of more than 512 bytes")
	}
	root, err := readTree(text)
	if err != nil {
		return nil, fail(err.Error())
	}
	pkg, short := typeName(name)
	r := &reader{namer: n, root: root, pkg: pkg, made: map[*value]*Object{}, open: map[*value]bool{}}
	p, err := r.property(root, short, 0)
	if err != nil {
		return nil, fail(err.Error())
	}
	switch {
	case p.List || p.Form != Nested && p.Form != Time && p.Form != Duration:
		return nil, fail("the root is not an object with properties")
	case p.Form != Nested: // a message of nothing but a time
		if p.Object, err = r.object(r.followed(root), short, 0); err != nil {
			return nil, fail(err.Error())
		}
	}
	return p.Object, nil
}

// typeName splits the name of a schema into the names of a package and of a type.
func typeName(name string) (pkg, typ string) {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '.' || r == ':' || r == '#' })
	if n := len(parts); n > 2 && parts[n-2] == "msg" {
		parts = append(parts[:n-2], parts[n-1])
	}
	if len(parts) == 0 {
		return "json", "Message"
	}
	pkg = "json"
	if n := len(parts) - 1; n > 0 {
		pkg = names.Words(strings.Join(parts[:n], "_"), 'p')
	}
	return pkg, names.Camel(parts[len(parts)-1])
}

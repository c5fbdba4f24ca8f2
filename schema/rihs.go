package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf16"
)

// RIHS01 returns the ROS 2 type hash of a message, "RIHS01_" and 64 hex digits:
// SHA-256 over one line of JSON that describes the type and all types below it
// (REP 2016; ros2/rosidl rosidl_generator_type_description). Constants, defaults
// and comments play no role. Kinds that ROS 2 has no number for are an error.
func RIHS01(m *Message) (string, error) {
	deps := Dependencies(m)
	sort.Slice(deps, func(i, j int) bool { return deps[i].Name < deps[j].Name })
	var b strings.Builder
	b.WriteString(`{"type_description": `)
	if err := describe(&b, m); err != nil {
		return "", err
	}
	b.WriteString(`, "referenced_type_descriptions": [`)
	for i, d := range deps {
		if i > 0 {
			b.WriteString(", ")
		}
		if err := describe(&b, d); err != nil {
			return "", err
		}
	}
	b.WriteString("]}")
	sum := sha256.Sum256([]byte(b.String()))
	return "RIHS01_" + hex.EncodeToString(sum[:]), nil
}

// typeID are the numbers of type_description_interfaces/msg/FieldType.
var typeID = map[Kind]int{
	Struct: 1, Int8: 2, Uint8: 3, Int16: 4, Uint16: 5, Int32: 6, Uint32: 7, Int64: 8, Uint64: 9, Float32: 10, Float64: 11,
	LongDouble: 12, IDLChar: 13, WChar: 14, Bool: 15, Byte: 16, String: 17, WString: 18,
	Char: 3, // a .msg char is a uint8
}

const (
	boundedString  = 4 // added to String and WString with a bound
	fixedArray     = 48
	boundedArray   = 96
	unboundedArray = 144
)

func describe(b *strings.Builder, m *Message) error {
	if m.Union || m.Extensibility == Bare {
		return fmt.Errorf("%s: ROS 2 has no type hash for unions, maps and lists of lists", m.Name)
	}
	b.WriteString(`{"type_name": ` + quote(m.Name) + `, "fields": [`)
	fields := m.Fields
	if len(fields) == 0 {
		fields = []Field{{Name: "structure_needs_at_least_one_member", Type: Type{Kind: Uint8}}}
	}
	for i, f := range fields {
		id, ok := typeID[f.Type.Kind]
		if f.Member != nil && f.Member.Optional {
			return fmt.Errorf("%s.%s: ROS 2 has no type hash for @optional members", m.Name, f.Name)
		}
		if !ok {
			return fmt.Errorf("%s.%s: ROS 2 has no type hash for a %s", m.Name, f.Name, f.Type.Kind)
		}
		if f.Type.StringBound > 0 {
			id += boundedString
		}
		capacity, nested := f.Type.Len, ""
		switch f.Type.Array {
		case Fixed:
			id += fixedArray
		case Bounded:
			id += boundedArray
		case Unbounded:
			id += unboundedArray
			capacity = 0
		default:
			capacity = 0
		}
		if f.Type.Kind == Struct {
			nested = f.Type.Message.Name
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(`{"name": ` + quote(f.Name) + `, "type": {"type_id": ` + strconv.Itoa(id) + `, "capacity": ` +
			strconv.Itoa(capacity) +
			`, "string_capacity": ` + strconv.Itoa(f.Type.StringBound) + `, "nested_type_name": ` + quote(nested) + `}}`)
	}
	b.WriteString("]}")
	return nil
}

// quote returns a JSON string in ASCII, as Python's json.dumps writes it. Names are
// plain words; whatever else a hostile file has in them is escaped.
func quote(s string) string {
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ' && r <= '~' || r == 0x7f:
			b = append(b, byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		default:
			for _, u := range utf16.Encode([]rune{r}) {
				b = fmt.Appendf(b, `\u%04x`, u)
			}
		}
	}
	return string(append(b, '"'))
}

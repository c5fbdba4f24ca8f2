package rosidl

import (
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/literal"

	"github.com/bagconv/bagconv/schema"
)

// notes are the annotations before a definition that say something about the bytes or the values.
type notes struct {
	bits     int    // of @bit_bound; 0 without it
	value    string // of @default, as it is written, strings in quotes; "" without it
	optional bool
	extent   schema.Extensibility
	number   *int64  // of @value; nil without it
	odd      bool    // @value is not a whole number
	id       *uint32 // of @id; nil without it
	hash     *string // of @hashid, "" for the name of the member; nil without it
	autoid   string  // HASH or SEQUENTIAL; "" without it
}

// annotations reads @name and @name(...) before a definition. All but the annotations in notes are
// stepped over, and so is @annotation, which declares one.
func (p *parser) annotations(scope []string) (n notes, err error) {
	for p.accept("@") {
		name, err := p.scopedName()
		if err == nil && name == "annotation" {
			err = p.skip(nil, "an annotation")
		}
		if err != nil {
			return n, err
		}
		switch name {
		case "value":
			n.number, n.odd = p.valueNumber(scope)
		case "id":
			number, odd := p.valueNumber(scope)
			if odd || *number < 0 || *number > maxID {
				return n, p.fail("@id needs a number from 0 to 0x0fffffff")
			}
			id := uint32(*number)
			n.id = &id
		}
		value, err := p.annotationValue()
		if err != nil {
			return n, err
		}
		switch {
		case name == "optional":
			n.optional = !strings.EqualFold(value, "false")
		case name == "hashid":
			text := strings.Trim(value, `"`)
			n.hash = &text
		case name == "autoid":
			if n.autoid = value; value == "" {
				n.autoid = hashIDs
			}
		case name == "bit_bound":
			if n.bits, err = strconv.Atoi(value); err != nil || n.bits < 1 || n.bits > 64 {
				return n, p.fail("@bit_bound has a number from 1 to 64, not " + strconv.Quote(clip(value)))
			}
		case name == "default":
			n.value = value
		case name == "mutable", name == "extensibility" && value == "MUTABLE":
			n.extent = schema.Mutable
		case name == "final", name == "extensibility" && value == "FINAL":
			n.extent = schema.Final
		case name == "appendable", name == "extensibility" && value == "APPENDABLE":
			n.extent = schema.Appendable
		}
	}
	return n, nil
}

// annotationValue reads the last value in parentheses: value=FALSE is the same as FALSE.
func (p *parser) annotationValue() (value string, err error) {
	if !p.accept("(") {
		return "", nil
	}
	for depth := 1; depth > 0; {
		t := p.next()
		switch {
		case t.kind == endToken:
			return "", p.fail("an annotation without an end")
		case t.kind == signToken && t.text == "(":
			depth++
		case t.kind == signToken && t.text == ")":
			depth--
		case t.kind == stringToken:
			value = `"` + strings.NewReplacer(`"`, `\"`, "\n", " ", "\r", " ").Replace(t.text) + `"`
		case t.kind == numberToken && (value == "-" || value == "+"):
			value = strings.TrimPrefix(value, "+") + t.text
		default:
			value = t.text
		}
	}
	return value, nil
}

// defaultOf returns a default as .msg text has it, "" for one that is not known. rosidl writes the
// default of an array as a Python tuple in a string: "(1, 2)".
func defaultOf(value string, t schema.Type) string {
	text := t.Kind == schema.String || t.Kind == schema.WString
	if t.Array != schema.Single {
		list := strings.Trim(value, `"`)
		if len(list) < 2 || list[0] != '(' && list[0] != '[' {
			return ""
		}
		value = "[" + strings.TrimSuffix(strings.TrimSpace(list[1:len(list)-1]), ",") + "]"
	} else if !text {
		value = strings.ToLower(strings.Trim(value, `"`))
	}
	if _, err := literal.Parse(t, value); err != nil {
		return ""
	}
	return value
}

// bitmask reads flags: a number of as many bits as @bit_bound has, 32 without it.
func (p *parser) bitmask(scope []string, bits int) error {
	name, err := p.word()
	if err == nil {
		err = p.expect("{")
	}
	for err == nil && !p.accept("}") {
		if _, err = p.annotations(scope); err == nil {
			_, err = p.word()
		}
		p.accept(",")
	}
	if bits == 0 {
		bits = 32
	}
	if err != nil {
		return err
	}
	return p.name(within(scope, name), typeRef{kind: unsigned(bits), enumerated: true})
}

// bitset reads bit fields: one number of all their bits, which are not named in ROS 2.
func (p *parser) bitset(scope []string) error {
	name, err := p.word()
	if err != nil {
		return err
	}
	full, bits := within(scope, name), 0
	if p.accept(":") {
		base, err := p.scopedName()
		if err != nil {
			return err
		}
		for _, c := range candidates(base, scope) {
			if bits == 0 {
				bits = p.bits[c]
			}
		}
	}
	if err := p.expect("{"); err != nil {
		return err
	}
	for !p.accept("}") {
		n, err := p.bitfield(scope)
		if err != nil {
			return err
		}
		if bits += n; bits > 64 {
			return p.fail("a bitset of more than 64 bits")
		}
	}
	p.bits[full] = bits
	return p.name(full, typeRef{kind: unsigned(bits), enumerated: true})
}

// bitfield reads bitfield<N> or bitfield<N, TYPE>, and the names of the field, if it has one.
func (p *parser) bitfield(scope []string) (bits int, err error) {
	if _, err = p.annotations(scope); err == nil {
		err = p.expect("bitfield")
	}
	if err == nil {
		err = p.expect("<")
	}
	if err == nil {
		bits, err = p.number(scope, 1, true)
	}
	if err == nil && p.accept(",") {
		_, err = p.typeSpec(scope, 0)
	}
	if err == nil {
		err = p.expect(">")
	}
	names := 0
	for err == nil && !p.accept(";") {
		_, err = p.word()
		p.accept(",")
		names++
	}
	return min(bits, 65) * max(names, 1), err
}

// unsigned returns the smallest number that has so many bits.
func unsigned(bits int) schema.Kind {
	switch {
	case bits <= 8:
		return schema.Uint8
	case bits <= 16:
		return schema.Uint16
	case bits <= 32:
		return schema.Uint32
	}
	return schema.Uint64
}

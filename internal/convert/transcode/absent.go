package transcode

import (
	"encoding/binary"
	"fmt"
	"unicode/utf16"

	"github.com/bagconv/bagconv/internal/schema/literal"

	"github.com/bagconv/bagconv/schema"
)

// defaultOf returns the text of the default of a field that only the destination has; "" is zero.
func (c *compiler) defaultOf(d slot, rule From) string {
	if rule.Default != "" {
		return rule.Default
	}
	if _, err := literal.Parse(d.typ, d.def); !c.migrate || err != nil {
		return ""
	}
	return d.def
}

// absent compiles a field that only the destination has.
func (c *compiler) absent(d slot, rule From, path string) error {
	text := c.defaultOf(d, rule)
	if text == "" {
		return c.zero(d.typ)
	}
	values, err := literal.Parse(d.typ, text)
	if err != nil {
		return fmt.Errorf("the default of field %s: %w", path+d.path, err)
	}
	if d.typ.Array == schema.Bounded || d.typ.Array == schema.Unbounded {
		if err := c.constant(4, binary.LittleEndian.AppendUint32(nil, uint32(len(values)))); err != nil {
			return err
		}
	}
	for _, v := range values {
		if err := c.constant(c.lead(single(d.typ), c.to), c.bytesOf(d.typ.Kind, v)); err != nil {
			return err
		}
	}
	return nil
}

// constant compiles bytes that do not depend on the message.
func (c *compiler) constant(align int, data []byte) error {
	if err := c.alignDst(align); err != nil {
		return err
	}
	c.wrote(len(data))
	return c.emit(op{code: opConst, more: &operand{data: data}})
}

// bytesOf returns a value as the destination has it.
func (c *compiler) bytesOf(k schema.Kind, v literal.Value) []byte {
	switch k {
	case schema.WString:
		units := utf16.Encode([]rune(v.Text))
		out := binary.LittleEndian.AppendUint32(nil, uint32(len(units)))
		for _, u := range units {
			out = binary.LittleEndian.AppendUint32(out, uint32(u))
		}
		return out
	case schema.String:
		text := v.Text
		if c.to.NUL {
			text += "\x00"
		}
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	return binary.LittleEndian.AppendUint64(nil, v.Bits)[:k.Size()]
}

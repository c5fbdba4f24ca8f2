// Package xtypes makes plain messages of messages whose type has what only IDL has: unions, optional
// members, mutable structs, maps, and structs that XCDR2 writes in different ways. A plain message
// is XCDR1 in little endian and has the fields of facts.Plain, one after the other, so that all
// other readers need to know nothing of this.
//
//	                    XCDR1                              XCDR2
//	union               discriminator, member              the same
//	@optional, there    parameter header, value            01, value
//	@optional, absent   parameter header of 0 bytes        00
//	@mutable            for each member there is: header,  u32 size; for each member: EMHEADER, value
//	                    value; at the end 3f02 0000
//	parameter header    u16 id, u16 size; or u16 3f01,     EMHEADER: u32 with the id in 28 bits, and
//	                    u16 8, u32 id, u32 size            the size as 1, 2, 4, 8 or in a u32 that follows
//	@appendable         its fields                         u32 size, its fields
//	map                 u32 count; for each: key, value    u32 size before that, unless both are numbers
//	list of an enum     u32 count, values                  u32 size before that; of a bitmask or bitset, too
//
// In XCDR1 alignment counts from the end of a parameter header. (OMG DDS-XTypes 1.3, 7.4.3.) Not all
// writers have these sizes before maps and lists of enums: writers with Fast CDR leave them out before
// lists of enums, and before a map if its values are numbers (its Cdr.h), and Cyclone DDS before all
// maps (_machinery.py of its Python package). So a message that does not have them is read in the
// other ways, and refused if two of these fit. A struct without an annotation is like the struct
// around it; within a @mutable one it is @appendable, and the encapsulation header decides for the
// struct of the whole message. A member of a @mutable struct that a message does not have takes its
// default.
//
// No length is trusted; a plain message is at most 64 times as long as the message, and 1 MiB. A
// Converter may be used by any number of goroutines.
package xtypes

import (
	"bytes"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A Converter makes the messages of one type plain.
type Converter struct {
	msg              *schema.Message
	always           bool                               // whatever the form is
	plain, delimited bool                               // in these forms of XCDR2
	varied           bool                               // writers differ in XCDR2
	ids              map[*schema.Message]map[uint32]int // of mutable structs: the fields by their numbers
}

// New returns the converter for messages of a type, nil if all of them are plain.
func New(m *schema.Message) *Converter {
	c := &Converter{msg: m, ids: map[*schema.Message]map[uint32]int{}}
	for _, d := range append(schema.Dependencies(m), m) {
		root := d == m
		c.always = c.always || d.Union || d.Extensibility == schema.Mutable && !root
		c.plain = c.plain || d.Extensibility == schema.Bare || d.Extensibility == schema.Appendable && !root
		c.delimited = c.delimited || d.Extensibility == schema.Bare || d.Extensibility == schema.Final && !root
		ids := map[uint32]int{}
		for i, f := range d.Fields {
			if f.Type.IsEnum() && f.Type.Array != schema.Single || isMap(f.Type) {
				c.plain, c.delimited, c.varied = true, true, true
			}
			if f.Member != nil {
				c.always = c.always || f.Member.Optional
				ids[f.Member.ID] = i
			}
		}
		if d.Extensibility == schema.Mutable {
			c.ids[d] = ids
		}
	}
	if c.always || c.plain || c.delimited || m.Extensibility == schema.Mutable {
		return c
	}
	return nil
}

// Always reports whether no message of the type is plain. All messages of a nil Converter are plain.
func (c *Converter) Always() bool {
	return c != nil && (c.always || c.msg.Extensibility == schema.Mutable)
}

// Needed reports whether a message has to be made plain, or looked at to find out that it is
// damaged. A nil Converter never is.
func (c *Converter) Needed(message []byte) bool {
	if c == nil || len(message) < ros.HeaderSize {
		return false
	}
	form, extent, err := open(message)
	switch {
	case err != nil:
		return false
	case extent == schema.Mutable:
		return c.msg.Extensibility == schema.Mutable
	case form.Layout().Delimited:
		return c.always || c.delimited
	case form.Layout().Sizes:
		return c.always || c.plain
	}
	return c.always
}

// open returns the form of a message, and what its struct is.
func open(message []byte) (ros.Form, schema.Extensibility, error) {
	if message[0] == 0 {
		switch message[1] { // parameter lists
		case 0x02:
			return ros.PlainBE, schema.Mutable, nil
		case 0x03:
			return ros.PlainLE, schema.Mutable, nil
		case 0x0a, 0x12:
			return ros.Plain2BE, schema.Mutable, nil
		case 0x0b, 0x13:
			return ros.Plain2LE, schema.Mutable, nil
		}
	}
	form, err := ros.FormOf(message)
	if err == nil && form.Layout().Delimited {
		return form, schema.Appendable, nil
	}
	return form, schema.Final, err
}

// A dialect is which sizes writers of XCDR2 leave out.
type dialect uint8

const (
	standard dialect = iota // none
	byValue                 // as Fast CDR
	mapless                 // all before maps, as Cyclone DDS
	dialects
)

// Plain appends the plain message to dst. rest are the bytes of message after its last field,
// extra is how many bytes the structs in it have that their definitions do not have. On error,
// which is a *ros.Error, out is dst.
func (c *Converter) Plain(dst, message []byte) (out, rest []byte, extra int, err error) {
	form, extent, err := open(message)
	if err != nil {
		return dst, nil, 0, err
	}
	out, rest, extra, err = c.read(dst, message, form, extent, standard)
	whole := func() bool { return err == nil && extra == 0 && ros.IsPadding(rest) }
	if whole() || !c.varied || !form.Layout().Sizes {
		return out, rest, extra, err
	}
	var fits [][]byte
	for d := byValue; d < dialects; d++ {
		if out, rest, extra, err = c.read(nil, message, form, extent, d); whole() {
			fits = append(fits, out)
		}
	}
	switch {
	case len(fits) == 0:
		return c.read(dst, message, form, extent, standard)
	case len(fits) > 1 && !bytes.Equal(fits[0], fits[1]):
		return dst, nil, 0, &ros.Error{Offset: 0,
			What: "the sizes before its maps or lists of enums are missing, and its bytes can be read in two ways"}
	}
	return append(dst, fits[0]...), nil, 0, nil
}

func (c *Converter) read(dst, message []byte, form ros.Form, extent schema.Extensibility, d dialect) (out, rest []byte,
	extra int, err error) {
	w := walk{w: ros.NewWriter(dst, true), dialect: d, limit: len(dst) + 64*len(message) + 1<<20, ids: c.ids}
	w.r.Begin(message[ros.HeaderSize:], form, ros.HeaderSize)
	w.r.Delimited = false // each struct is asked for
	inside := c.msg.Extensibility
	if inside == schema.Unstated || inside == schema.Mutable {
		inside = min(extent, schema.Appendable)
	}
	end := len(message)
	if extent == schema.Appendable {
		end = w.r.Delimiter()
	}
	w.body(c.msg, extent, inside)
	if w.r.OK() && w.r.Pos() > end { // what follows its fields is the caller's to report
		w.r.Fail("a struct of fewer bytes than its fields have")
	}
	if err := w.r.Err(); err != nil {
		return dst, nil, 0, err
	}
	return w.w.Buf, w.r.Rest(), w.extra, nil
}

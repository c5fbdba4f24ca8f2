// Package content reads serialized messages into canonical bytes: the same bytes
// for the same values, whatever the encoding. ROS 1 serialization, CDR,
// protobuf and JSON are read as a subscriber of each reads them.
//
// It exists to judge what package transcode has written. So it shares no program with
// it: values are read by the cursor of package message, field by field, and nothing
// is written but canonical bytes. What both have from internal/wire, where a value
// stands in its bytes or its text, is compared there with other readers.
//
//	typ := content.Canonical(msg, false)
//	p, err := content.FromROS(msg, serial.CDR, typ, false)
//	w := content.NewWriter(false)
//	err = p.Read(w, message)
//	digest := w.Sum()
//
//	canon.go    canonical types, and which of them are the same
//	match.go    which field of a type is which field of another
//	program.go  what is read into each field of a canonical type; bind.go does that for protobuf
//	read.go     runs that; readproto.go has what only protobuf has: defaults, oneofs, its times
//	json.go     JSON, as the ROS type that its schema becomes
//	migrate.go  messages as another version of their type; migratepair.go finds the fields
//	within.go   times that not every encoding holds
//	writer.go   canonical bytes, or their SHA-256
//
// Refused are types with long double or wchar. No length of a message is trusted, and memory is bounded by the
// message: what is hashed is not held. A Program may be used by any number of
// goroutines, a Writer by one.
package content

import (
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/jsonschema"
)

// ErrMalformed is wrapped by the errors of Read: the message does not fit its
// definition.
var ErrMalformed = errors.New("the message does not fit its definition")

func malformed(at int, format string, a ...any) error {
	return fmt.Errorf("%w: %s at byte %d of the message", ErrMalformed, fmt.Sprintf(format, a...), at)
}

// misfit returns what a cursor reports about a message that does not fit.
func misfit(err error) error { return fmt.Errorf("%w: %v", ErrMalformed, err) }

var errTooLarge = errors.New("the definition is too large to be compared")

// The limits of a type and of a message.
const (
	maxDepth  = 256
	maxNodes  = 100_000
	maxZero   = 16 << 20 // bytes of the fields that a type has alone
	maxFuel   = 1 << 16  // values that take no bytes, in one message
	maxGrowth = 32       // canonical bytes for each byte of a message,
	maxExtra  = 16 << 20 // and beyond these
)

// A Program reads the messages of one type.
type Program struct {
	typ            *message.Type
	root           *node
	dropped, added []string
	within         *serial.Encoding // the encoding that times are to fit into; nil: any
	inMemory       bool
	json           *jsonschema.Object // of messages in JSON, which are read as ROS 1; nil for others
	other          *Program           // for messages that do not fit this one, or nil
}

// OrElse returns p with q for the rest: q reads messages that do not fit p, or have bytes after the last field of p.
func (p *Program) OrElse(q *Program) *Program {
	r := *p
	r.other = q
	return &r
}

// Dropped lists the paths of fields that the canonical type has no place for, but
// for the counter of a Header.
func (p *Program) Dropped() []string { return p.dropped }

// Added lists the paths of fields that only the canonical type has, but for the
// counter of a Header; they are zero.
func (p *Program) Added() []string { return p.added }

// Read writes the canonical bytes of a message to w, which is reset before. The
// error wraps ErrMalformed. src is not kept.
func (p *Program) Read(w *Writer, src []byte) error {
	w.Reset()
	w.within, w.inMemory = p.within, p.inMemory
	if p.other != nil {
		first := *p
		first.other = nil
		err := first.Read(w, src)
		if err == nil && !w.Rest {
			return nil
		}
		second := *p.other
		second.within, second.inMemory = p.within, p.inMemory
		if second.Read(w, src) == nil {
			return nil
		}
		return first.Read(w, src)
	}
	if p.json != nil {
		return readJSON(p, w, src)
	}
	return visit(p, w, src)
}

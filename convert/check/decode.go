package check

import (
	"math"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/convert/apollo"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
)

// A decoder walks over the messages of one type by its definition, compares every length with the bytes
// that are there, and fetches the stamp of their header. It may be used by any number of goroutines.
type decoder struct {
	head          mapping.Program // converts messages to typ; nil: they have it
	typ           *message.Type
	header, stamp *message.Field // of the header, time or float64 seconds; nil: no such field
	lost          *lossSum       // of messages that tell losses of their recorder; nil: they do not
	unknown       atomic.Int64   // messages of protobuf with fields that their descriptor does not have
}

// decode walks over one message. stamp is noStamp if the message has no stamp; rest is the number
// of bytes after its last field that are not padding. out is memory to use again.
func (d *decoder) decode(out *[]byte, data []byte) (stamp int64, rest int, err error) {
	if d.head != nil {
		if data, err = d.head.Append((*out)[:0], data); err != nil {
			return noStamp, 0, err
		}
		*out = data
	}
	c := message.Open(d.typ, data)
	defer c.Close()
	stamp = noStamp
	c.Fields(d.typ, func(f *message.Field) {
		switch {
		case d.lost != nil && f == d.lost.stats:
			d.lost.add(c)
			return
		case f != d.header:
			c.Check(f)
			return
		}
		c.Fields(f.Type, func(f *message.Field) {
			if f == d.stamp {
				stamp = stampAt(c, f)
			} else {
				c.Check(f)
			}
		})
	})
	if err = c.End(); err != nil {
		return noStamp, 0, err
	}
	if c.Unknown() {
		d.unknown.Add(1)
	}
	return stamp, transcode.Trailing(c.Rest()), nil
}

// stampAt reads the stamp at the cursor.
func stampAt(c *message.Cursor, f *message.Field) int64 {
	if f.Clock != schema.Invalid {
		sec, nsec := c.Time(f)
		return sec*1e9 + nsec
	}
	sec := math.Float64frombits(c.Bits(f))
	switch ns, ok := apollo.Nanoseconds(math.Abs(sec)); {
	case !ok, sec == 0: // 0 is what a field has that is not set
		return noStamp
	case sec < 0:
		return -ns
	default:
		return ns
	}
}

// decoderOf compiles the decoder of a definition.
func decoderOf(def *mapping.Definition) (*decoder, error) {
	t, err := def.Type()
	if err != nil {
		return nil, err
	}
	d := &decoder{head: def.Head, typ: t, lost: lossSumOf(t)}
	d.findStamp()
	return d, nil
}

// findStamp finds the stamp in the header of the messages.
func (d *decoder) findStamp() {
	header := d.typ.Find("header")
	if header == nil || header.List || header.Type == nil {
		return
	}
	seconds, stamp := header.Type.Find("timestamp_sec"), header.Type.Find("stamp")
	switch {
	case d.typ.Protobuf() && seconds != nil:
		if !seconds.List && seconds.Kind == message.Float && seconds.Size == 8 {
			d.header, d.stamp = header, seconds
		}
	case stamp != nil && !stamp.List && stamp.Clock == schema.Time:
		d.header, d.stamp = header, stamp
	}
}

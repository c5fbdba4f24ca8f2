// Package transcode re-encodes serialized messages: ROS 1 serialization to CDR
// and back. A pair of type graphs is compiled once into a flat program, and the
// program runs over the bytes of each message: no reflection, no value trees, no
// allocation but for growing the destination.
//
//	plan, err := transcode.Compile(src, dst, transcode.Options{From: serial.ROS1, To: serial.CDR})
//	out, err = plan.Append(out, message)
//
// What the encodings look like (ROS 1: roscpp serialization.h; CDR: OMG DDS-XTypes
// and what ROS 2 middlewares write):
//
//	          ROS 1                       CDR, version 1 (XCDR1)
//	start     nothing                     00 01 00 00: little endian; alignment counts from after it
//	number    n bytes                     n bytes at a multiple of n
//	string    u32 length, bytes           u32 length with NUL, bytes, NUL
//	T[N]      N values                    N values
//	T[]       u32 count, values           u32 count, values; aligned only when there are any
//	struct    its fields                  its fields; without fields one zero byte
//
// Read as well: big endian CDR, and XCDR2 (8-byte values at multiples of 4, sizes
// before structs and lists) plain and delimited. Messages of types that only IDL has, with unions,
// optional or numbered members, become plain messages first (internal/wire/xtypes). Written is little
// endian XCDR1 of the fields alone, also for such types. Refused are long double and wchar.
//
// Input is not trusted: every count is compared with the bytes that remain before
// anything is copied, and a type that needs an unreasonable program is refused.
//
// A Plan may be used by any number of goroutines. It does not change, but for the
// counts of what was lost.
package transcode

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema"
)

// Options are the encodings to convert between, and how fields are matched.
type Options struct {
	From, To serial.Encoding

	// Rule is asked for every pair of structs, nested ones too; nil, or a nil
	// result, matches fields by name: exactly, else without regard to case. A
	// field of the source alone is skipped, a field of the destination alone is zero.
	// It is not asked for a message of a time and that time itself, such as
	// std_msgs/Time and builtin_interfaces/msg/Time, which become each other.
	Rule func(src, dst *schema.Message) *Rule

	// Migrate is for types of which one is a version of the other. Fields of one name whose
	// types differ become each other if their values can: numbers of other kinds, lists of other
	// lengths, shorter strings; what that loses is counted. Other fields of one name are skipped and zero, as if they
	// had two names. A field of the destination alone gets the default of its definition.
	// Without it, such a pair is an error, bounds are not looked at, and defaults are zero.
	Migrate bool
}

// A Rule names the source of fields that do not match by name. Keys are paths
// in the destination struct ("stamp", "header.stamp").
type Rule struct {
	Fields map[string]From
	Drop   map[string]bool // paths in the source struct whose loss is intended: it is not counted
}

// From is where a destination field comes from.
type From struct {
	Path    string          // in the source struct, as the keys of Rule.Fields; "": nowhere, it has its default
	Values  map[int64]int64 // what integers become; others stay
	Scale   float64         // what numbers are multiplied with before Offset is added; 0: they stay
	Offset  float64
	Default string // instead of the default of the definition; ""
}

// ErrMalformed is wrapped by the errors of Append: the message does not fit its
// definition.
var ErrMalformed = ros.ErrMalformed

// An Error is where a message does not fit. It wraps ErrMalformed.
type Error = ros.Error

// A Plan re-encodes the messages of one type.
type Plan struct {
	src, dst *schema.Message
	o        Options
	main     *program                  // for ROS 1, and for CDR as ROS 2 writes it
	variants [ros.Forms]variantProgram // for other forms of CDR; compiled when one is met
	seqAt    int
	seq      seqLoss
	notes    notes
	lost     LossCounter
	special  *xtypes.Converter // of source types that only IDL has; nil: all messages are plain
	buffers  sync.Pool         // of *[]byte, for messages that special makes plain
}

type variantProgram struct{ p atomic.Pointer[program] }

// Compile makes the plan from messages of type src to messages of type dst. The
// error names the field that has no way across.
func Compile(src, dst *schema.Message, o Options) (*Plan, error) {
	p := &Plan{src: src, dst: dst, o: o, seqAt: -1}
	if o.From == serial.CDR {
		p.special = xtypes.New(src)
	}
	var err error
	if p.main, err = compile(p, layoutOf(o.From, ros.PlainLE)); err != nil {
		return nil, err
	}
	p.count()
	if o.To == serial.ROS1 && beginsWithSeq(dst) && !(o.From == serial.ROS1 && beginsWithSeq(src)) {
		p.seqAt = 0
	}
	if p.notes.seq {
		p.seq = seqLossOf(src, o.From)
	}
	return p, nil
}

// count makes the counters of losses.
func (p *Plan) count() {
	p.lost.init(p.dst.Name, p.notes.dropped.paths)
	p.lost.changed.init(p.notes.narrowed.paths)
	p.lost.cut.init(p.notes.bounded.paths)
}

// Again returns a plan of the same program for another topic: it counts losses of its own.
func (p *Plan) Again() *Plan {
	q := &Plan{src: p.src, dst: p.dst, o: p.o, main: p.main, seqAt: p.seqAt, seq: p.seq, notes: p.notes,
		special: p.special}
	q.count()
	return q
}

// beginsWithSeq reports whether messages of ROS 1 begin with the counter of a Header.
func beginsWithSeq(m *schema.Message) bool {
	if len(m.Fields) == 0 {
		return false
	}
	h := m.Fields[0].Type
	return h.Kind == schema.Struct && h.Array == schema.Single && h.Message.Name == "std_msgs/Header" &&
		facts.IsSeq(h.Message, 0)
}

// SeqOffset is where in the output the 4 bytes of the top Header's seq lie when
// the output is ROS 1 and begins with a std_msgs/Header, else -1. Append writes
// zero there.
func (p *Plan) SeqOffset() int { return p.seqAt }

// DropsSeq reports whether the source has a Header.seq that the destination does not have: in
// the Header that ROS 1 messages begin with, as their first 4 bytes, and in any other.
func (p *Plan) DropsSeq() (first, other bool) { return p.seq.first, p.seq.other }

// A seqLoss is which Header.seq of a message the destination does not have.
type seqLoss struct{ first, other bool }

// seqLossOf returns the loss if no Header.seq has a place in the destination.
func seqLossOf(src *schema.Message, from serial.Encoding) (l seqLoss) {
	fields := src.Fields
	if from == serial.ROS1 && beginsWithSeq(src) {
		l.first, fields = true, fields[1:]
	}
	l.other = facts.Any(&schema.Message{Name: src.Name, Fields: fields}, facts.HasSeq)
	return l
}

// Dropped lists the paths of source fields that the destination has no place
// for, but for Header.seq.
func (p *Plan) Dropped() []string { return p.notes.dropped.paths }

// Added lists the paths of destination fields that the source does not have,
// but for Header.seq; they are zero.
func (p *Plan) Added() []string { return p.notes.added.paths }

// Defaulted lists the paths of such fields that have their default instead.
func (p *Plan) Defaulted() []string { return p.notes.defaulted.paths }

// Narrowed lists the paths of fields with numbers that the destination cannot all hold, Bounded the
// paths of lists and strings that it has less room for. Losses counts the messages that lose something.
func (p *Plan) Narrowed() []string { return p.notes.narrowed.paths }

// Bounded see Narrowed.
func (p *Plan) Bounded() []string { return p.notes.bounded.paths }

// Losses lists what the messages so far lost: values of fields that Dropped
// lists, text, times, and bytes after their last field; and what only looks different, see Loss.Kept.
func (p *Plan) Losses() []Loss { return p.lost.Losses() }

// Reset sets what Losses counts to zero.
func (p *Plan) Reset() { p.lost.Reset() }

// Ops returns the length of the program.
func (p *Plan) Ops() int { return len(p.main.ops) }

// SizeHint returns how many bytes a message of n bytes becomes, with some to spare for
// nearly all types. Append does not fail when it is more: dst grows.
func (p *Plan) SizeHint(n int) int { return n + n/8 + 64 }

// Append re-encodes src and appends it to dst. On error dst is returned at its
// old length. It keeps neither slice.
func (p *Plan) Append(dst, src []byte) ([]byte, error) {
	dst, rest, err := p.AppendRest(dst, src)
	if len(rest) > 0 {
		p.lost.Trailing(rest)
	}
	return dst, err
}

// AppendRest is Append, and returns the bytes of src after its last field. In
// CDR, where middlewares pad, they are not an error; Trailing decides what is padding.
// They are not counted, but such bytes within a delimited struct are.
func (p *Plan) AppendRest(dst, src []byte) (out, rest []byte, err error) {
	if p.special.Needed(src) {
		return p.appendSpecial(dst, src)
	}
	return p.appendPlain(dst, src)
}

// appendPlain is AppendRest for a message that has no more than its fields.
func (p *Plan) appendPlain(dst, src []byte) (out, rest []byte, err error) {
	prog, body := p.main, src
	if p.o.From == serial.CDR {
		v, err := ros.FormOf(src)
		if err != nil {
			return dst, nil, err
		}
		body = src[ros.HeaderSize:]
		if v != ros.PlainLE {
			if prog, err = p.variant(v); err != nil {
				return dst, nil, err
			}
		}
	}
	old := len(dst)
	if p.o.To == serial.CDR {
		dst = append(dst, 0, 1, 0, 0)
	}
	st := state{prog: prog, lost: &p.lost, src: body, dst: dst, base: len(dst), fuel: maxFuel}
	at, err := st.run(0, 0, len(prog.ops))
	if err == nil && p.o.From == serial.ROS1 && at != len(body) {
		err = &Error{Offset: at, What: fmt.Sprintf("%d bytes are left over", len(body)-at)}
	}
	if err != nil {
		if e, ok := err.(*Error); ok {
			e.Offset += len(src) - len(body)
		}
		return dst[:old], nil, err
	}
	if st.valued {
		p.lost.dropped.messages.Add(1)
	}
	if st.changed {
		p.lost.changed.messages.Add(1)
	}
	if st.cut {
		p.lost.cut.messages.Add(1)
	}
	if st.replaced {
		p.lost.replaced.Add(1)
	}
	if st.wrapped {
		p.lost.wrapped.Add(1)
	}
	if st.normalized {
		p.lost.Normalized()
	}
	if st.extra > 0 {
		p.lost.trailing.Add(1)
		p.lost.bytes.Add(int64(st.extra))
	}
	return st.dst, body[at:], nil
}

// appendSpecial is AppendRest for a message that has to be made plain before.
func (p *Plan) appendSpecial(dst, src []byte) (out, rest []byte, err error) {
	buf, _ := p.buffers.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer p.buffers.Put(buf)
	plain, rest, extra, err := p.special.Plain((*buf)[:0], src)
	if err != nil {
		return dst, nil, err
	}
	*buf = plain
	out, left, err := p.appendPlain(dst, plain)
	if err != nil {
		return dst, nil, err
	}
	if len(left) > 0 {
		return dst, nil, &Error{Offset: len(plain) - len(left),
			What: fmt.Sprintf("internal error: %d bytes of the plain message are left over", len(left))}
	}
	if extra > 0 {
		p.lost.trailing.Add(1)
		p.lost.bytes.Add(int64(extra))
	}
	return out, rest, nil
}

func (p *Plan) variant(v ros.Form) (*program, error) {
	if prog := p.variants[v].p.Load(); prog != nil {
		return prog, nil
	}
	prog, err := compile(p, v.Layout())
	if err == nil {
		p.variants[v].p.Store(prog)
	}
	return prog, err
}

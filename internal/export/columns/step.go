package columns

import "github.com/bagconv/bagconv/internal/message"

// A step reads values of a message and appends them to columns. A program is a list of steps, which has one for
// many values where these stand side by side: all 37 doubles of an IMU message are one run.
type step struct {
	op    op
	f     *message.Field // for the cursor
	col   int            // -1: no column of its own
	rows  bool           // the elements are rows
	n     int            // numbers of a run
	bytes int            // of them
	parts []part
	t     *message.Type // of a struct
	node  *node
	body  []step
}

type op uint8

// The steps. The steps of a list are for its elements.
const (
	opRun     op = iota // numbers that stand side by side: its parts go to columns
	opBits              // a number of protobuf
	opEnum              // of protobuf
	opText              //
	opBinary            // the bytes of a string, or of protobuf bytes or a message
	opBytes             // a list of bytes
	opTime              //
	opStruct            //
	opEmpty             // a struct without fields
	opPlaced            // bytes, or their place: col and the columns behind it
	opMaybe             // a value that may be absent
	opSkip              // a field without a column
	opNumbers           // numbers
	opEnums             //
	opRuns              // structs or times that are runs
	opList              // others
)

// A part is some bytes of a run that go to one column.
type part struct {
	col   int
	at, n int // bytes
	as    partKind
}

type partKind uint8

const (
	partBytes partKind = iota
	part8              // 8 bytes
	part4
	partBools
	partTimes // of 8 bytes in the message and in the column
	partDurations
)

// An emitter makes the steps of nodes.
type emitter struct {
	proto bool
	plain bool // of ROS, without sizes: structs are no more than their fields
	cdr   bool
}

func (e emitter) fields(list []step, nodes []*node) []step {
	for _, n := range nodes {
		switch {
		case n.skip && e.proto:
		case n.skip && e.plain && n.f.Type != nil && n.f.Type.Least > 0 && !n.f.List:
			list = e.fields(list, skipped(n.f.Type))
		case n.skip && n.f.Size > 0 && (!n.f.List || n.f.Fixed > 0):
			list = e.run(list, n.f, max(1, n.f.Fixed), nil)
		case n.skip:
			list = append(list, step{op: opSkip, f: n.f})
		case n.absent:
			list = append(list, step{op: opMaybe, f: n.f, node: n, body: e.value(nil, n)})
		default:
			list = e.value(list, n)
		}
	}
	return list
}

// skipped returns nodes for the fields of a struct without columns, so that their numbers join the runs beside them.
func skipped(t *message.Type) (nodes []*node) {
	for i := range t.Fields {
		nodes = append(nodes, &node{f: &t.Fields[i], col: -1, skip: true})
	}
	return nodes
}

// value adds the steps of what is always there.
func (e emitter) value(list []step, n *node) []step {
	f := n.f
	s := step{f: f, col: n.col, rows: n.explode, node: n, t: f.Type}
	switch n.kind {
	case List, Map:
		return append(list, e.list(s, n))
	case FixedList:
		switch clock := f.Size == 0; {
		case n.explode || clock && !e.plain:
			s = e.list(s, n)
			s.col = -1
			return append(list, s)
		case clock:
			return e.run(list, f, f.Fixed, n.elem)
		}
		return e.run(list, f, f.Fixed, n.elem)
	case FixedBinary:
		return e.run(list, f, f.Fixed, n)
	case Struct:
		if n.placed {
			s.op, s.col, s.bytes = opPlaced, n.subs[0].col, 0
			if f.ROS.IsByte() && f.List && !f.Lone {
				s.bytes = 1
			}
			return append(list, s)
		}
		if e.plain && f.Type.Least > 0 {
			return e.fields(list, n.subs)
		}
		s.op, s.body = opStruct, e.fields(nil, n.subs)
		return append(list, s)
	case Time, Duration:
		if e.plain {
			return e.run(list, f, 1, n)
		}
		s.op = opTime
	case Text:
		s.op = opText
	case Binary:
		if s.op = opBinary; f.ROS.IsByte() && f.List && !f.Lone {
			s.op = opBytes
		}
	case Enum:
		s.op = opEnum
	default:
		switch {
		case f.Type != nil:
			s.op = opEmpty
		case e.proto:
			s.op = opBits
		default:
			return e.run(list, f, 1, n)
		}
	}
	return append(list, s)
}

// list makes the step of a list.
func (e emitter) list(s step, n *node) step {
	switch {
	case n.elem.kind == Enum:
		s.op, s.node = opEnums, n.elem
		return s
	case s.f.Size > 0:
		s.op, s.node = opNumbers, n.elem
		return s
	}
	s.op, s.body = opList, e.value(nil, n.elem)
	if e.plain && len(s.body) == 1 && s.body[0].op == opRun {
		run := s.body[0]
		s.op, s.n, s.bytes, s.parts, s.body = opRuns, run.n, run.bytes, run.parts, nil
		s.node = &node{f: run.f}
	}
	return s
}

// run adds n values of a field of ROS, numbers or times, to the run at the end of the list or to a
// new one; to is the node of their column, nil: they have no column.
func (e emitter) run(list []step, f *message.Field, n int, to *node) []step {
	number, words := f, 1
	if f.Size == 0 {
		number, words = &f.Type.Fields[0], 2
	}
	last := len(list) - 1
	if last < 0 || list[last].op != opRun || list[last].f.Size != number.Size {
		list = append(list, step{op: opRun, f: number})
		last++
	}
	s := &list[last]
	at := s.bytes
	s.n += n * words
	s.bytes += n * words * number.Size
	if to == nil {
		return list
	}
	p := part{col: to.col, at: at, n: s.bytes - at}
	switch {
	case to.kind == Time:
		p.as = partTimes
	case to.kind == Duration:
		p.as = partDurations
	case to.kind == Bool:
		p.as = partBools
	case p.n == 8:
		p.as = part8
	case p.n == 4:
		p.as = part4
	}
	s.parts = append(s.parts, p)
	return list
}

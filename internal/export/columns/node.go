package columns

import "github.com/bagconv/bagconv/internal/message"

// A node is a field of a message, and where its values go.
type node struct {
	f       *message.Field
	col     int // -1: no column of its own
	kind    Kind
	size    int     // as in Field
	absent  bool    // a value may be absent
	skip    bool    // no column
	placed  bool    // subs are bytes and their place
	explode bool    // its elements are rows
	subs    []*node // of a Struct the fields of its type, in their order
	elem    *node   // of lists
	marks   []int   // absent: the columns whose values are not null if it is there
	blanks  []blank // what an absent value appends
	weight  int     // bytes of that
}

// A blank is what one column appends for a value that is absent.
type blank struct {
	col     int
	bytes   int // zeros
	offset  bool
	invalid bool // the column has null for it
}

// finish fills in what follows from the nodes below; nullable is whether the column of the node has nulls.
func (n *node) finish(nullable bool) *node {
	if n.col >= 0 {
		own := blank{col: n.col, bytes: widths[n.kind], invalid: nullable}
		switch n.kind {
		case FixedBinary:
			own.bytes = n.size
		case Text, Binary, List, Map:
			own.offset = true
		}
		n.blanks = append(n.blanks, own)
	}
	for _, sub := range n.subs {
		n.blanks = append(n.blanks, sub.blanks...)
	}
	if n.kind == FixedList {
		for _, b := range n.elem.blanks { // of numbers and times
			b.bytes *= n.size
			n.blanks = append(n.blanks, b)
		}
	}
	for _, b := range n.blanks {
		n.weight += b.bytes + 1
		if b.offset {
			n.weight += 4
		}
	}
	if n.absent {
		n.marks = n.markedBelow()
	}
	return n
}

// markedBelow lists the columns whose value is not null if the node's value is there.
func (n *node) markedBelow() (cols []int) {
	if n.col >= 0 {
		return []int{n.col}
	}
	for _, sub := range n.subs {
		if !sub.absent && !sub.skip {
			cols = append(cols, sub.markedBelow()...)
		}
	}
	return cols
}

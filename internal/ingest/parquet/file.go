package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/ingest/build"
	"github.com/bagconv/bagconv/storage"
)

// A File is a table.
type File struct {
	Metadata map[string]string

	r      io.ReaderAt
	size   int64
	root   *node
	groups []group
}

// A group is a row group.
type group struct {
	rows   int
	size   int64
	chunks []value // ColumnMetaData of each leaf
}

// A node is a column of the schema, or a part of one.
type node struct {
	name     string
	kind     build.Kind
	width    int   // bytes of a value in a Column
	size     int   // bytes of a fixed value in the file; a bool has 0
	physical int64 // of a leaf
	unit     int64
	def, rep int // levels of a value that is there
	optional bool
	element  *node // of a List
	elemDef  int   // levels of an element that is there
	elemRep  int
	children []*node
	leaf     int // number of the first leaf in it
}

// The physical types.
const (
	boolean = iota
	int32s
	int64s
	int96s
	float32s
	float64s
	byteArray
	fixedBytes
)

// Limits of a file.
const (
	maxFooter = 256 << 20
	maxNodes  = 100_000
	maxDepth  = 64
)

var magic = []byte("PAR1")

func corrupt(format string, a ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, a...), storage.ErrCorrupt)
}

func unsupported(format string, a ...any) error {
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, a...), storage.ErrUnsupported)
}

// Open reads the metadata of a file of so many bytes.
func Open(r io.ReaderAt, size int64) (*File, error) {
	var tail [8]byte
	if size < int64(len(magic)+len(tail)) {
		return nil, fmt.Errorf("a Parquet file has %d bytes: %w", size, storage.ErrTruncated)
	}
	if _, err := r.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return nil, err
	}
	if !bytes.Equal(tail[4:], magic) {
		return nil, fmt.Errorf("the Parquet file has no footer: %w", storage.ErrTruncated)
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if n > maxFooter || n > size-int64(len(tail)+len(magic)) {
		return nil, corrupt("the footer would have %d bytes", n)
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-int64(len(tail))-n); err != nil {
		return nil, err
	}
	meta, _, err := parseThrift(footer)
	if err != nil {
		return nil, err
	}
	f := &File{Metadata: map[string]string{}, r: r, size: size}
	for _, kv := range meta.field(5).list {
		f.Metadata[string(kv.field(1).bytes)] = string(kv.field(2).bytes)
	}
	s := shaper{elements: meta.field(2).list}
	if f.root, err = s.node(0, 0, 0); err != nil {
		return nil, err
	}
	for _, g := range meta.field(4).list {
		if err := f.addGroup(g, s.leaves); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// addGroup takes the description of a row group.
func (f *File) addGroup(v value, leaves int) error {
	rows := v.field(3).number
	list := v.field(1).list
	if rows < 0 || rows > 1<<31-1 || len(list) != leaves {
		return corrupt("a row group has %d rows and %d columns, and the schema has %d", rows, len(list), leaves)
	}
	g := group{rows: int(rows)}
	for _, c := range list {
		m := c.field(3)
		if c.has(1) || !c.has(3) {
			return unsupported("the chunks of the Parquet file are in other files, or encrypted")
		}
		start, size := chunkStart(m), m.field(7).number
		if start < 0 || size < 0 || start > f.size || size > f.size-start {
			return corrupt("a chunk of the Parquet file is beyond its end")
		}
		g.size += size
		g.chunks = append(g.chunks, m)
	}
	f.groups = append(f.groups, g)
	return nil
}

// chunkStart returns where the pages of a chunk begin.
func chunkStart(m value) int64 {
	start := m.field(9).number
	if d := m.field(11).number; m.has(11) && d > 0 && d < start {
		start = d
	}
	return start
}

// Groups returns how many row groups there are.
func (f *File) Groups() int { return len(f.groups) }

// Group returns how many rows and bytes a row group has.
func (f *File) Group(g int) (rows int, size int64) { return f.groups[g].rows, f.groups[g].size }

// A Name is a column, and whether it has timestamps.
type Name struct {
	Name string
	Time bool
}

// Names lists the columns.
func (f *File) Names() (list []Name) {
	for _, n := range f.root.children {
		list = append(list, Name{n.name, n.kind == build.Time})
	}
	return list
}

// A shaper makes nodes of the elements of a schema, which stand in the order of a walk over the tree.
type shaper struct {
	elements []value
	next     int
	leaves   int
}

// node takes the next element and the elements below it; def and rep are the levels around it.
func (s *shaper) node(def, rep, depth int) (*node, error) {
	if s.next >= len(s.elements) || s.next >= maxNodes || depth > maxDepth {
		return nil, corrupt("the schema of the Parquet file ends early, or is too deep")
	}
	e := s.elements[s.next]
	s.next++
	n := &node{name: string(e.field(4).bytes), leaf: s.leaves, def: def, rep: rep}
	repetition := e.field(3).number
	if s.next == 1 {
		repetition = 0
	}
	switch repetition {
	case 1:
		n.optional = true
		n.def++
	case 2: // without a group around it: a list that is never null
		n.kind, n.elemDef, n.elemRep = build.List, def+1, rep+1
		s.next--
		s.elements = append([]value{}, s.elements...)
		s.elements[s.next] = required(e)
		var err error
		n.element, err = s.node(def+1, rep+1, depth+1)
		return n, err
	}
	if count := e.field(5).number; e.has(5) && count > 0 || !e.has(1) {
		return n, s.groupOf(n, e, int(count), depth)
	}
	s.leaves++
	return n, n.leafOf(e)
}

// required returns an element as one that is there once.
func required(e value) value {
	fields := map[int]value{}
	for id, v := range e.fields {
		fields[id] = v
	}
	fields[3] = value{}
	return value{fields: fields}
}

// groupOf takes the children of a group: of a list, a map, or a struct.
func (s *shaper) groupOf(n *node, e value, count, depth int) error {
	if count < 0 || count > len(s.elements)-s.next {
		return corrupt("a group of the Parquet file has %d children", count)
	}
	converted, logical := e.field(6).number, e.field(10)
	list := logical.has(3) || e.has(6) && converted == 3
	dict := logical.has(2) || e.has(6) && (converted == 1 || converted == 2)
	if (list || dict) && count == 1 && s.next < len(s.elements) && s.elements[s.next].field(3).number == 2 {
		middle := s.elements[s.next]
		n.kind, n.elemDef, n.elemRep = build.List, n.def+1, n.rep+1
		var err error
		if list && middle.field(5).number == 1 { // group LIST { repeated group list { element } }
			s.next++
			n.element, err = s.node(n.def+1, n.rep+1, depth+1)
			return err
		}
		s.elements = append([]value{}, s.elements...)
		s.elements[s.next] = required(middle)
		n.element, err = s.node(n.def+1, n.rep+1, depth+1)
		return err
	}
	n.kind = build.Struct
	for range count {
		child, err := s.node(n.def, n.rep, depth+1)
		if err != nil {
			return err
		}
		n.children = append(n.children, child)
	}
	return nil
}

// leafOf decides what the values of a leaf are.
func (n *node) leafOf(e value) error {
	logical := e.field(10)
	n.physical = e.field(1).number
	switch n.physical {
	case boolean:
		n.kind = build.Bool
	case int32s, int64s:
		n.size = 4 * int(n.physical)
		n.kind, n.width = build.Signed, n.size
		if integer := logical.field(10); logical.has(10) && integer.field(2).number == 0 {
			n.kind = build.Unsigned
		}
		if c := e.field(6).number; e.has(6) && c >= 11 && c <= 14 { // UINT_8 to UINT_64
			n.kind = build.Unsigned
		}
		if stamp := logical.field(8); logical.has(8) {
			n.kind, n.unit = build.Time, 1
			if unit := stamp.field(2); unit.has(1) {
				n.unit = 1e6
			} else if unit.has(2) {
				n.unit = 1e3
			}
		} else if c := e.field(6).number; e.has(6) && (c == 9 || c == 10) {
			n.kind, n.unit = build.Time, map[int64]int64{9: 1e6, 10: 1e3}[c]
		}
	case float32s, float64s:
		n.size = 4 * int(n.physical-float32s+1)
		n.kind, n.width = build.Float, n.size
	case byteArray:
		n.kind = build.Bytes
	case fixedBytes:
		n.kind, n.size = build.Bytes, int(e.field(2).number)
		if n.width = n.size; n.size <= 0 || n.size > 1<<30 {
			return corrupt("column %q has values of %d bytes", n.name, n.size)
		}
	default:
		return unsupported("column %q of the Parquet file has a type that is not read (INT96?)", n.name)
	}
	return nil
}

package columns

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/bagconv/bagconv/internal/message"
)

// ErrFull is the error of a message that has no place in a batch, because a column would have more than 2^31 values or
// bytes. It has one in an empty batch.
var ErrFull = errors.New("the batch is full")

// Doubts count values that are otherwise in the columns than in the messages, and messages with more than their
// columns.
type Doubts struct {
	Times  int // of a second or more in nanoseconds, or less than 0: they are normalised
	Beyond int // times beyond 64 bits of nanoseconds: the last, or first, that there is
	Text   int // strings that are not UTF-8: each byte that is not has become U+FFFD
	Wide   int // wide strings with something that is no character: it has become U+FFFD
	Bools  int // neither 0 nor 1: they are true
	Enums  int // numbers without a name: they are their digits
	Keys   int // entries of maps whose key comes again: the last one counts

	Unknown int // messages of protobuf with fields that their descriptor does not have
	Longer  int // messages of ROS with bytes that their definition does not have
}

// Sum returns the sum of two counts.
func (d Doubts) Sum(e Doubts) Doubts {
	return Doubts{d.Times + e.Times, d.Beyond + e.Beyond, d.Text + e.Text, d.Wide + e.Wide, d.Bools + e.Bools,
		d.Enums + e.Enums, d.Keys + e.Keys,
		d.Unknown + e.Unknown, d.Longer + e.Longer}
}

// A Batch has messages of a program as columns.
type Batch struct {
	p       *Program
	cols    []Column // by number
	top     []*Column
	rows    int
	unnamed map[unnamed]int32
	doubts  Doubts

	// Of the message that is read.
	m          []byte
	file       string // in which it lies; "": in no file
	at         int64
	c          *message.Cursor
	proto, cdr bool
	budget     int
	bursts     int // rows that it makes, of a program with Explode
	full       bool

	kept   []int // entries of a map, and their keys
	keys   map[string]bool
	placed int // bytes that a value has at least of which the place is written
	limit  int // values of a list, or bytes, that a column may have
}

// A message may have maxExtra bytes, and maxGrowth for each of its own, in columns that it does not have itself.
const (
	maxExtra  = 32 << 20
	maxGrowth = 32
)

// NewBatch returns a batch without messages.
func (p *Program) NewBatch() *Batch {
	b := p.empty()
	b.proto, b.cdr = p.typ.Protobuf(), !p.typ.Protobuf() && p.typ.CDR()
	return b
}

// empty returns a batch with the columns of the schema.
func (p *Program) empty() *Batch {
	b := &Batch{p: p, cols: make([]Column, len(p.fields)), limit: math.MaxInt32, placed: leastPlaced}
	next := 0
	var link func(f *Field) *Column
	link = func(f *Field) *Column {
		c := &b.cols[next]
		next++
		c.Field = f
		for i := range f.Children {
			c.Children = append(c.Children, link(&f.Children[i]))
		}
		return c
	}
	for i := range p.schema {
		b.top = append(b.top, link(&p.schema[i]))
	}
	b.Reset()
	return b
}

// Reset removes all rows and counts, and keeps the memory of the columns.
func (b *Batch) Reset() {
	if b.c != nil {
		b.c.Close()
		b.c = nil
	}
	for i := range b.cols {
		c := &b.cols[i]
		c.Values, c.Offsets, c.Valid, c.Texts, c.Len, c.Nulls = c.Values[:0], c.Offsets[:0], c.Valid[:0], nil, 0, 0
		if c.Field.offsets() {
			c.Offsets = append(c.Offsets, 0)
		}
	}
	b.rows, b.unnamed, b.doubts = 0, nil, Doubts{}
}

// Len returns the number of rows.
func (b *Batch) Len() int { return b.rows }

// Bytes returns the bytes of all columns. It looks at each column: ask after some messages, not after each.
func (b *Batch) Bytes() (n int) {
	for i := range b.cols {
		n += b.cols[i].bytes()
	}
	return n
}

// Doubts returns the counts since Reset.
func (b *Batch) Doubts() Doubts { return b.doubts }

// Columns returns the columns, one for each field of the schema.
func (b *Batch) Columns() []*Column {
	for _, c := range b.top {
		c.cut(b.rows)
	}
	return b.top
}

// Append adds a message, which it reads only during the call. The times are in ns since 1970. On an error the batch is
// as before.
func (b *Batch) Append(m []byte, logTime, publishTime int64, sequence uint64) error {
	return b.AppendAt(m, logTime, publishTime, sequence, "", 0)
}

// AppendAt adds a message that lies in a file at an offset, for Options.Places. See Append.
func (b *Batch) AppendAt(m []byte, logTime, publishTime int64, sequence uint64, file string, offset int64) error {
	doubts := b.doubts
	b.m, b.file, b.at = m, file, offset
	b.full, b.bursts, b.budget = false, 1, maxExtra+maxGrowth*len(m)
	if b.c == nil {
		b.c = message.Open(b.p.typ, m)
	} else {
		b.c.Reopen(m)
	}
	rows, err := b.message()
	if err == nil {
		b.ours(logTime, publishTime, sequence)
		err = b.burst(rows)
	}
	b.m = nil
	if err != nil {
		b.rollBack(doubts)
		return err
	}
	b.rows += rows
	return nil
}

// message reads the message at the cursor, and returns how many rows it makes.
func (b *Batch) message() (rows int, err error) {
	c := b.c
	list := b.p.plain
	if c.Sized() {
		list = b.p.sized
	}
	end := c.Enter(b.p.typ)
	b.steps(list)
	c.Leave(end)
	if err := c.End(); err != nil {
		if b.full && b.rows > 0 {
			err = ErrFull
		}
		return 0, err
	}
	if c.Unknown() {
		b.doubts.Unknown++
	}
	if c.Longer() || len(c.Rest()) > maxPadding {
		b.doubts.Longer++
	}
	return b.bursts, nil
}

// maxPadding is how many bytes behind the last field are padding.
const maxPadding = 7

// ours appends to the columns that are not fields of the message.
func (b *Batch) ours(logTime, publishTime int64, sequence uint64) {
	values := [...]uint64{uint64(logTime), uint64(publishTime), sequence}
	for i, v := range values[:b.p.ours] {
		c := &b.cols[i]
		c.Values = binary.LittleEndian.AppendUint64(c.Values, v)
	}
}

// rollBack removes the values of a message that does not fit.
func (b *Batch) rollBack(doubts Doubts) {
	for _, c := range b.top {
		c.cut(b.rows)
	}
	if b.doubts.Enums > doubts.Enums {
		b.forgetTexts()
	}
	b.doubts = doubts
}

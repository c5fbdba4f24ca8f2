package mcap

import (
	"context"
	"iter"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/timeorder"
	"github.com/bagconv/bagconv/storage"
)

// Query merges the blocks of all parts, each of which is looked up as in a file by
// itself. See storage.Querier.
func (r *folderReader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		wrap := func(err error) error { return r.Fail(r.Path, "query", err) }
		wanted, err := timeorder.Wanted(&q, len(r.Topics.List))
		if err != nil {
			yield(nil, wrap(err))
			return
		}
		x := &folderQuery{r: r}
		defer x.close()
		var parts []timeorder.Part
		for _, p := range r.parts {
			one := p.query(ctx, q)
			one.Wanted = p.wanted(wanted)
			parts = one.Parts(parts, len(p.blocks))
			x.parts = append(x.parts, one)
		}
		timeorder.Run(ctx, q, parts, x, wrap)(yield)
	}
}

// A folderQuery asks the parts of a folder. Its own parts are their blocks.
type folderQuery struct {
	r     *folderReader
	parts []*chunked.Query
	msg   storage.Message
	buf   []byte
}

func (x *folderQuery) close() {
	for _, q := range x.parts {
		q.Release()
	}
}

// at returns the part, its query, and the number of the block in the part, for a block of the
// folder.
func (x *folderQuery) at(i int) (*inPart, *chunked.Query, int) {
	b := x.r.blocks[i]
	return b.part, x.parts[slices.Index(x.r.parts, b.part)], b.block
}

// Open opens the block of the part. See timeorder.Source.
func (x *folderQuery) Open(i int, reverse bool) (timeorder.Cursor, error) {
	p, q, block := x.at(i)
	c, err := q.Open(block, reverse)
	if err != nil {
		return nil, err
	}
	return &folderCursor{c, x, p, block}, nil
}

// A folderCursor reads messages of a part for the folder.
type folderCursor struct {
	timeorder.Cursor
	x     *folderQuery
	part  *inPart
	block int
}

// Next returns the head as the folder has it. See timeorder.Cursor.
func (c *folderCursor) Next() (timeorder.Head, error) {
	h, err := c.Cursor.Next()
	if err == nil {
		h.Topic = c.part.topics[h.Topic]
	}
	return h, err
}

// Read returns the message as the folder has it. See timeorder.Cursor.
func (c *folderCursor) Read() (*storage.Message, error) {
	m, err := c.Cursor.Read()
	if m == nil || err != nil {
		return nil, err
	}
	x := c.x
	x.msg = *m
	x.msg.Topic = c.part.topics[m.Topic]
	if !x.r.packed(&x.msg) {
		return &x.msg, nil
	}
	out, ok := x.r.unpackMessage(x.buf[:0], &x.msg)
	if !ok {
		at := c.part.blocks[c.block].Offset
		return nil, x.r.WarnLost(storage.Lost{Messages: 1, Blocks: 1}, "zstd", at, true, c.part.src.Path,
			"a message is left out: it cannot be decompressed")
	}
	x.buf, x.msg.Data = out, out
	return &x.msg, nil
}

var (
	_ timeorder.Source = (*folderQuery)(nil)
	_ timeorder.Cursor = (*folderCursor)(nil)
)

package mcap

import (
	"context"
	"encoding/binary"
	"iter"
	"math"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// Query reads by the index: the Chunk Index has the chunks to look in, and how many
// messages of a channel each has, the Message Index where in a chunk they are. Of a
// chunk that is not compressed only the messages are read. A chunk without a sound
// Message Index, and messages outside of chunks, are read as a whole. See
// storage.Querier.
func (r *reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	return r.query(ctx, q).Run(q, len(r.defs.list), len(r.blocks))
}

// query begins a query, of no topics yet.
func (r *reader) query(ctx context.Context, q storage.Query) *chunked.Query {
	block := func(i int) *storage.Block { return &r.blocks[i].Block }
	return chunked.NewQuery(ctx, q, r.src, r, block, &lookup{r: r, window: r.window()})
}

// A lookup finds messages by the indexes of a file.
type lookup struct {
	r      *reader
	window window // on Message Index records
}

// wanted reports whether a channel is asked for. It is for files in which an id means one
// topic.
func (x *lookup) wanted(q *chunked.Query, channel uint16) bool {
	topic, ok := x.r.defs.lookup(channel)
	return ok && q.Wanted[topic]
}

// indexed reports whether a block has a Message Index with its topics.
func (x *lookup) indexed(b *block) bool { return len(b.counts) > 0 && len(x.r.defs.changes) == 0 }

// Find reads the Message Index. ok is false if it does not fit the Chunk Index. See
// chunked.Index.
func (x *lookup) Find(q *chunked.Query, i int) (plain chunked.Extent, ok bool, err error) {
	b := &x.r.blocks[i]
	if !x.indexed(b) {
		return plain, false, nil
	}
	k, err := x.r.chunkHeader(b)
	if err != nil {
		return plain, false, chunked.OnlyIO(err)
	}
	if codec, sure := k.codec(); !sure {
		return plain, false, nil
	} else if codec == compress.None {
		plain = chunked.Extent{At: b.Offset + recordHead + int64(k.head), Size: int64(k.n)}
	}
	for _, n := range b.counts {
		if n.n == 0 || !x.wanted(q, n.channel) {
			continue
		}
		h, err := x.window.head(n.at)
		if err != nil || h.op != opMessageIndex {
			return plain, false, chunked.OnlyIO(err)
		}
		body, err := x.window.body(n.at, h, math.MaxInt64)
		if err != nil {
			return plain, false, err
		}
		topic, _ := x.r.defs.lookup(n.channel) // wanted has found it
		var m messageIndex
		if m.parse(body) != nil || m.channel != n.channel || int64(len(m.entries)) != n.n*indexEntry {
			return plain, false, nil
		}
		for e := range int(n.n) {
			if log, at := m.entry(e); at > math.MaxInt64 || !q.Add(i, topic, int64(log), int64(at)) {
				return plain, false, nil
			}
		}
	}
	return plain, true, nil
}

// Parse reads the head of a Message record, with its fields before the data. See
// chunked.Index.
func (x *lookup) Parse(b []byte) (rec chunked.Record, need int, ok bool) {
	const fixed = recordHead + messageFixed
	if len(b) < fixed {
		return rec, fixed, false
	}
	h, err := parseHead(b)
	if err != nil || h.op != opMessage || h.length < messageFixed || h.length > math.MaxInt64 {
		return rec, 0, false
	}
	f := b[recordHead:fixed]
	topic, ok := x.r.defs.lookup(binary.LittleEndian.Uint16(f))
	return chunked.Record{Head: fixed, Size: int64(h.length - messageFixed), Message: storage.Message{
		Topic: topic, Sequence: binary.LittleEndian.Uint32(f[2:]),
		LogTime: int64(binary.LittleEndian.Uint64(f[6:])), PublishTime: int64(binary.LittleEndian.Uint64(f[14:])),
	}}, 0, ok
}

var _ chunked.Index = (*lookup)(nil)

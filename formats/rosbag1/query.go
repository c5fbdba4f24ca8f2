package rosbag1

import (
	"context"
	"encoding/binary"
	"iter"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// Query reads by the index: CHUNK_INFO has the chunks to look in, and how many
// messages of a connection each has, INDEX_DATA where in a chunk they are. Of a
// chunk that is not compressed only the messages are read. A chunk without a
// sound INDEX_DATA, or of a bag without an index, is read as a whole. See
// storage.Querier.
func (r *reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	if r.locked {
		return func(yield func(*storage.Message, error) bool) {
			yield(nil, r.noKey("the bag is encrypted", storage.ErrKey))
		}
	}
	block := func(i int) *storage.Block { return &r.blocks[i].Block }
	x := &lookup{r: r, infos: r.window(), index: r.window(), counts: map[uint32]uint32{}}
	return chunked.NewQuery(ctx, q, r.src, r, block, x).Run(q, len(r.conns.list), len(r.blocks))
}

// A lookup finds messages by the index of a bag.
type lookup struct {
	r      *reader
	infos  window            // on CHUNK_INFO records
	index  window            // on INDEX_DATA records
	counts map[uint32]uint32 // of the wanted connections in a chunk, by its CHUNK_INFO
}

// readInfo fills in counts.
func (x *lookup) readInfo(q *chunked.Query, b *block) error {
	var h header
	err := x.infos.header(&h, b.info)
	var data []byte
	if err == nil && h.op == opChunkInfo && h.dataSize() <= x.r.src.Size-b.info-int64(h.headLen) {
		data, err = x.infos.record(&h, b.info)
	}
	if err != nil {
		return x.r.src.Fail(b.info, "chunk info", err)
	}
	clear(x.counts)
	for ; len(data) >= 8; data = data[8:] {
		id, n := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		if topic, ok := x.r.conns.lookup(id); ok && n > 0 && q.Wanted[topic] {
			x.counts[id] += n
		}
	}
	return nil
}

// Find reads the INDEX_DATA records after a chunk. ok is false if they do not have what
// its CHUNK_INFO counts. See chunked.Index.
func (x *lookup) Find(q *chunked.Query, i int) (plain chunked.Extent, ok bool, err error) {
	b := &x.r.blocks[i]
	if b.info == 0 {
		return plain, false, nil
	}
	if err := x.readInfo(q, b); err != nil || len(x.counts) == 0 {
		return plain, err == nil, err
	}
	c, err := x.r.chunkHeader(b)
	if err != nil || c.codec == nil || c.renamed || c.open {
		return plain, false, chunked.OnlyIO(err)
	}
	if c.codec == compress.None && !x.r.sealed(&c) {
		plain = chunked.Extent{At: c.data, Size: c.stored}
	}
	var h header
	for at := c.data + c.stored; len(x.counts) > 0 && at < x.r.src.Size; {
		err := x.index.header(&h, at)
		next := at + int64(h.headLen) + h.dataSize()
		if err != nil || h.op != opIndex || next > x.r.src.Size {
			return plain, false, chunked.OnlyIO(err)
		}
		if want, ok := x.counts[h.conn]; ok {
			topic, _ := x.r.conns.lookup(h.conn) // readInfo has found it
			if h.count > want {
				return plain, false, nil
			}
			data, err := x.index.record(&h, at)
			if err != nil {
				return plain, false, chunked.OnlyIO(err)
			}
			if x.counts[h.conn] -= h.count; h.count == want {
				delete(x.counts, h.conn)
			}
			for ; len(data) >= indexEntry; data = data[indexEntry:] {
				if !q.Add(i, topic, parseTime(data), int64(binary.LittleEndian.Uint32(data[8:]))) {
					return plain, false, nil
				}
			}
		}
		at = next
	}
	return plain, len(x.counts) == 0, nil
}

// Parse reads the head of a MSG_DATA record. See chunked.Index.
func (x *lookup) Parse(b []byte) (rec chunked.Record, need int, ok bool) {
	var h header
	err := h.parseRecord(b)
	if err == storage.ErrTruncated && len(b) >= 4 {
		return rec, 8 + int(binary.LittleEndian.Uint32(b)), false
	}
	topic, ok := x.r.conns.lookup(h.conn)
	if err == nil && h.op == opConnection && !h.guessed {
		return chunked.Record{Head: h.headLen, Size: h.dataSize()}, 0, false
	}
	if err != nil || h.op != opMessage || !ok {
		return rec, 0, false
	}
	return chunked.Record{
		Head: h.headLen, Size: h.dataSize(), Message: storage.Message{Topic: topic, LogTime: h.time, PublishTime: h.time},
	}, 0, true
}

var (
	_ storage.Querier = (*reader)(nil)
	_ chunked.Index   = (*lookup)(nil)
)

package rosbag1

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A chunk is what the header of a CHUNK record has.
type chunk struct {
	codec       *compress.Codec // nil: a compression that bags do not have
	compression string
	data        int64 // offset of the data
	stored      int64 // bytes in the file
	size        int64 // bytes before compression; 0 when open
	renamed     bool  // compression is not known, codec is what the data looks like
	guessed     bool  // its op is damaged
	clear       bool  // not encrypted, whatever the bag is: its recorder stopped in it, and encrypts at the end
	open        bool  // lengths are 0 or cannot be believed: the recorder died here, or the header is damaged
}

// If the size of a chunk is not known, it may decompress to some times the bytes
// that are stored, as messages of sensors hardly do, and a small one to a little more:
// maxOpen if the recorder wrote no size, which is then part of rawSize, and maxWrong
// if the size turns out to be too small.
const (
	maxGrowth = 16
	maxOpen   = 64 << 20
	maxWrong  = 4 << 20
	maxBZ2    = 520 << 20 // of bz2, whose 45 bytes can be 45 MB of one value, if the size is as large
)

// limit is how much the chunk may decompress to. A size that the stored bytes
// can hardly have been made from is not believed: lz4 shrinks by 255 at most, and
// small chunks get some room. bz2 shrinks a constant message by a million.
func (c *chunk) limit() int64 {
	if c.open {
		return max(maxOpen, maxGrowth*c.stored)
	}
	most := max(maxOpen, 1024*c.stored)
	if c.codec == compress.BZ2 {
		most = max(most, maxBZ2)
	}
	return min(c.size, most)
}

// rawSize is the memory that reading the chunk takes.
func (c *chunk) rawSize() int64 {
	if c.codec == compress.None {
		return c.stored
	}
	return c.stored + c.limit()
}

// unread is how many of the stored bytes could not be decompressed, about, when
// got bytes came of them; 0 when it is not known how many there should be.
func (c *chunk) unread(got int64) int64 {
	if c.open || got >= c.size {
		return 0
	}
	return int64(float64(c.stored) * float64(c.size-got) / float64(c.size))
}

// readText returns how much of a damaged chunk could be decompressed.
func (c *chunk) readText(got int) string {
	if c.open {
		return fmt.Sprintf("%d bytes", got)
	}
	return fmt.Sprintf("%d of %d bytes", got, c.size)
}

func codecOf(compression []byte) *compress.Codec {
	switch string(compression) {
	case "none":
		return compress.None
	case "lz4":
		return compress.LZ4
	case "bz2":
		return compress.BZ2
	}
	return nil
}

// headBytes is more than the header of a chunk takes, of every writer.
const headBytes = 128

// chunkHeader reads the header of the chunk at the start of a block.
func (r *reader) chunkHeader(b *block) (chunk, error) {
	head := make([]byte, min(headBytes, r.src.Size-b.Offset))
	if err := iox.ReadFull(r.src.File, head, b.Offset); err != nil {
		return chunk{}, chunked.IOError(err)
	}
	var h header
	if err := h.parseRecord(head); err != nil {
		return chunk{}, err
	}
	if h.op != opChunk {
		return chunk{}, fmt.Errorf("there is a %s: %w", opName(h.op), storage.ErrCorrupt)
	}
	return newChunk(b.Offset, &h, head[min(h.headLen, len(head)):]), nil
}

// newChunk takes over a CHUNK header. A compression that is not known is a
// damaged name if the data shows what it is; renamed is true then. data is the
// start of the chunk's data, as far as it is at hand.
func newChunk(at int64, h *header, data []byte) chunk {
	c := chunk{
		codec: codecOf(h.compression), compression: string(h.compression),
		data: at + int64(h.headLen), stored: int64(h.dataLen), size: int64(h.size),
		open: h.dataLen == 0 && h.size == 0, guessed: h.guessed,
	}
	c.clear = c.open
	if c.codec != nil {
		return c
	}
	for _, codec := range []*compress.Codec{compress.LZ4, compress.BZ2} {
		if len(data) >= 4 && hasMagic(codec, data) {
			c.codec, c.renamed = codec, true
			return c
		}
	}
	if c.stored == c.size {
		c.codec, c.renamed = compress.None, true
	}
	return c
}

// readChunkHeader reads the header of a block's chunk and makes the best of a
// damaged one. The result has no codec when there is nothing to read. What is
// wrong goes to d.
func (r *reader) readChunkHeader(b *block, d *chunked.Damage) (chunk, error) {
	end := b.Offset + b.Size
	c, err := r.chunkHeader(b)
	switch {
	case chunked.IsIO(err):
		return c, r.src.Fail(b.Offset, "chunk", err)
	case err != nil:
		d.Repair("chunk-header", b.Offset, "the header of a chunk cannot be read: %v", err)
		return r.guessChunk(b)
	case c.codec == nil:
		d.Add("compression", b.Offset, c.stored, "a chunk has the compression %.20q, which bags do not allow; it is not read",
			c.compression)
		return c, nil
	case c.renamed:
		d.Repair("compression", b.Offset, "a chunk has the compression %.20q; it is read as %s", c.compression,
			c.codec.Name())
	}
	if c.guessed {
		d.Repair("op", b.Offset, "%v", errOp)
	}
	if b.dirty || c.data+c.stored > end {
		c.stored, c.open = end-c.data, true
	}
	return c, nil
}

// readWanted reads only the messages that b asks for, if the block is a sound chunk without compression.
func (r *reader) readWanted(bl *block, b *storage.Batch) (ok bool, err error) {
	if b.Wanted == nil || bl.run || bl.dirty || bl.cut || r.audits {
		return false, nil
	}
	c, err := r.chunkHeader(bl)
	if err != nil || c.codec != compress.None || c.renamed || c.guessed || c.open || r.sealed(&c) ||
		c.data+c.stored > bl.Offset+bl.Size {
		return false, chunked.OnlyIO(err)
	}
	x := lookup{r: r}
	count, ok, err := r.src.ReadWanted(chunked.Extent{At: c.data, Size: c.stored}, b, x.Parse,
		func(head, data []byte) bool {
			var h header
			if h.parseRecord(head) != nil {
				return false
			}
			old := r.conns.byID[h.conn]
			return old != nil && r.checkSame(old, &h, data, bl.Offset) == nil
		})
	return ok && (bl.Messages < 0 || count == bl.Messages), err
}

// load reads the bytes of a block into b.Buf and walks over its records. What
// is wrong is in w.damage; an error means that reading fails.
func (r *reader) load(bl *block, b *storage.Batch, w *walk) error {
	if bl.run {
		w.stored = nil
		b.Buf = storage.Grow(b.Buf, int(bl.Size))
		if err := iox.ReadFull(r.src.File, b.Buf, bl.Offset); err != nil {
			return r.src.Fail(bl.Offset, "records", err)
		}
		r.src.Place(b, bl.Offset)
		w.block(bl.Offset, false, b.Buf)
		return nil
	}
	c, err := r.readChunkHeader(bl, &w.damage)
	if err != nil {
		return err
	}
	if c.codec == nil {
		return nil // it is in w.damage
	}
	if w.stored != nil && !w.stored.suits(&c) {
		w.stored = nil
	}
	if c.codec == compress.None && !r.sealed(&c) {
		b.Buf = storage.Grow(b.Buf, int(c.stored))
		if err := iox.ReadFull(r.src.File, b.Buf, c.data); err != nil {
			return r.src.Fail(c.data, "chunk", err)
		}
		r.src.Place(b, c.data)
		w.block(c.data, false, b.Buf)
		return nil
	}
	b.Scratch = storage.Grow(b.Scratch, int(c.stored))
	if err := iox.ReadFull(r.src.File, b.Scratch, c.data); err != nil {
		return r.src.Fail(c.data, "chunk", err)
	}
	if r.sealed(&c) {
		r.decrypt(&c, b, &w.damage)
		w.stored = nil
		if c.codec == compress.None {
			if w.damage.Places == 0 && int64(len(b.Buf)) != c.size {
				w.damage.Repair("chunk-header", bl.Offset, "a chunk states %d bytes before encryption, and it has %d", c.size,
					len(b.Buf))
			}
			w.block(c.data, true, b.Buf)
			return nil
		}
	}
	limit := c.limit()
	b.Buf = storage.Grow(b.Buf, int(min(limit, 8*c.stored+1<<16)))[:0]
	if c.open {
		b.Buf, err = c.codec.Decode(b.Buf, b.Scratch, limit)
	} else {
		limit = c.size
		b.Buf, err = chunked.Unpack(c.codec, b.Buf, b.Scratch, limit, recordsEnd)
	}
	if err != nil || int64(len(b.Buf)) != c.size {
		w.stored = nil
	}
	if errors.Is(err, compress.ErrLimit) && !c.open && int64(len(b.Buf)) == c.size {
		// It may be the size that is wrong: then the data decodes without error.
		if out, e := c.codec.Decode(nil, b.Scratch, max(maxWrong, maxGrowth*c.stored)); e == nil {
			b.Buf, err = out, nil
		} else if errors.Is(e, compress.ErrLimit) && len(out) > len(b.Buf) {
			b.Buf = out
		}
	}
	if errors.Is(err, compress.ErrTrailing) && (c.open || int64(len(b.Buf)) == limit) {
		err = nil
	}
	switch {
	case err == nil && !c.open && int64(len(b.Buf)) != c.size:
		w.damage.Repair("chunk-header", bl.Offset, "a chunk states %d bytes before compression, and it has %d", c.size,
			len(b.Buf))
	case err != nil:
		w.damage.Add("compressed-data", c.data, c.unread(int64(len(b.Buf))),
			"the compressed data of a chunk is damaged (%v); %s could be read", err, c.readText(len(b.Buf)))
	}
	w.block(c.data, true, b.Buf)
	return nil
}

// recordsEnd returns where the last record ends that begins in b, and whether b has nothing but
// records, as far as their lengths and the first field of their headers show it.
func recordsEnd(b []byte) (end int64, ok bool) {
	const maxHead = 1 << 16
	for {
		if len(b) < 4 {
			return end + 4, true
		}
		head := int64(binary.LittleEndian.Uint32(b))
		if head < 4 || head > maxHead {
			return 0, false
		}
		if int64(len(b)) < 4+head+4 {
			return end + 4 + head + 4, true
		}
		if field := int64(binary.LittleEndian.Uint32(b[4:])); field > head-4 || bytes.IndexByte(b[8:8+field], '=') < 0 {
			return 0, false
		}
		n := 4 + head + 4 + int64(binary.LittleEndian.Uint32(b[4+head:]))
		if end += n; n >= int64(len(b)) {
			return end, true
		}
		b = b[n:]
	}
}

// guessChunk finds the data of a chunk without its header: any writer's header
// has the same size, and compressed data has a magic.
func (r *reader) guessChunk(b *block) (chunk, error) {
	const head = 48 // of a chunk with lz4 or bz2
	c := chunk{codec: compress.None, data: b.Offset, stored: b.Size, open: true}
	start := make([]byte, min(b.Size, head+4))
	if err := iox.ReadFull(r.src.File, start, b.Offset); err != nil {
		return c, r.src.Fail(b.Offset, "chunk", err)
	}
	if len(start) == head+4 {
		for _, codec := range []*compress.Codec{compress.LZ4, compress.BZ2} {
			if hasMagic(codec, start[head:]) {
				c.codec, c.data, c.stored = codec, b.Offset+head, b.Size-head
			}
		}
	}
	return c, nil
}

// hasMagic reports whether compressed data starts as its codec's does.
func hasMagic(codec *compress.Codec, data []byte) bool {
	switch codec {
	case compress.LZ4:
		return len(data) >= 4 && binary.LittleEndian.Uint32(data) == 0x184D2204
	case compress.BZ2:
		return bytes.HasPrefix(data, []byte("BZh"))
	}
	return true
}

// A gap is a range of bytes that could not be read as records.
type gap struct {
	from, to int
	err      error
}

// A walk goes over the records of a chunk.
type walk struct {
	messages   []storage.Message // appended to; Topic is the connection id as in the file
	gaps       []gap
	guessed    int // records whose op is damaged
	damage     chunked.Damage
	connection func(at int, h *header, data []byte) // may be nil
	stored     *storedChunk                         // nil: the chunk is not to be copied
}

// block goes over the records of a block that begins at byte at of the file, or
// was decompressed from there, and adds to damage what cannot be read.
func (w *walk) block(at int64, compressed bool, b []byte) {
	w.records(b)
	for _, g := range w.gaps {
		offset, where := at+int64(g.from), ""
		if compressed {
			offset, where = at, fmt.Sprintf(" (%d bytes into the decompressed chunk)", g.from)
		}
		w.damage.Add("chunk-data", offset, int64(g.to-g.from), "%d bytes of a chunk%s cannot be read as records: %v",
			g.to-g.from, where, g.err)
	}
	if w.guessed > 0 {
		w.damage.Repair("op", at, "the op of %d records of a chunk is damaged; their other fields identify them", w.guessed)
	}
}

// records reads the records of b, a decompressed chunk or a run of records in
// the file. If bytes make no sense it looks for the next record that does.
// Message data points into b.
func (w *walk) records(b []byte) {
	var h header
	last := -1 // where the data of the record before p begins, if that was a message
	for p := 0; p < len(b); {
		err := h.parseRecord(b[p:])
		if err == nil {
			if h.guessed {
				w.guessed++
				w.stored = nil
			}
			data := p + h.headLen
			end := int64(data) + h.dataSize()
			switch {
			case h.op == opChunk && end <= int64(len(b)) && string(h.compression) == "none":
				p = data // a chunk within what was taken for a chunk: its records follow
				w.stored = nil
				continue
			case end <= int64(len(b)):
				last = -1
				switch h.op {
				case opMessage:
					last = data
					if w.stored != nil && !w.stored.message(p, &h) {
						w.stored = nil
					}
					w.messages = append(w.messages, storage.Message{
						Topic: storage.TopicID(h.conn), LogTime: h.time, PublishTime: h.time, Data: b[data:end:end],
					})
				case opConnection:
					if w.connection != nil {
						w.connection(p, &h, b[data:end])
					}
				default:
					w.stored = nil // it would be copied with the chunk, and is not known
				}
				p = int(end)
				continue
			}
			err = fmt.Errorf("%s of %d bytes is cut after %d: %w", opName(h.op), h.dataSize(), len(b)-data, storage.ErrTruncated)
		}
		// If a record begins within the last message, the length of that message is damaged: the
		// message ends there.
		next := 0
		if last >= 0 && last < p {
			if next = nextRecord(b[:p], last); next < p {
				m := &w.messages[len(w.messages)-1]
				m.Data = b[last:next:next]
				err = errLength
			}
		}
		if next == 0 || next >= p {
			next = nextRecord(b, p+1)
		} else {
			p = last
		}
		last = -1
		w.gaps = append(w.gaps, gap{p, next, err})
		p = next
	}
}

var errLength = errors.New("the length of a message is damaged; it is read up to the next record")

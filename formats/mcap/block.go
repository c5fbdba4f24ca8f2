package mcap

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A block is a chunk, or a run of records that lie in the file as they are.
type block struct {
	storage.Block
	run     bool
	scanned bool  // it was read when the file was opened: its definitions are known
	cut     bool  // the file ends within it, or its recorder stopped there: a warning of the whole file has it
	counted int64 // messages, by the Message Index; -1: not known
	counts  []indexed
	index   extent // its Message Index records

	channels []uint16 // that a block which was scanned has messages of
	many     bool     // there are too many channels to list

	// the chunk by the index, if the index is right and the chunk's own header is not
	says *chunkIndex
}

// An extent is a part of the file.
type extent struct{ at, size int64 }

// indexed is what a Chunk Index has about a channel's messages in its chunk.
type indexed struct {
	channel uint16
	n       int64
	at      int64 // of the Message Index record
}

// Blocks lists the chunks and runs; each has times of its own. See storage.BlockReader.
func (r *reader) Blocks(context.Context, *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	out := make([]storage.Block, len(r.blocks))
	for i := range r.blocks {
		out[i] = r.blocks[i].Block
	}
	return out, storage.OrderBlocks, nil
}

// ReadBlock reads a block. See storage.BlockReader.
func (r *reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	b.Messages = b.Messages[:0]
	if err := errors.Join(ctx.Err(), r.src.Ctx.Err()); err != nil {
		return err
	}
	if i < 0 || i >= len(r.blocks) {
		return r.src.Fail(-1, fmt.Sprintf("there is no block %d", i), nil)
	}
	bl := &r.blocks[i]
	if ok, err := r.readWanted(bl, b); ok || err != nil {
		return err
	}
	w := walk{r: r, bl: bl, view: r.defs.view(i), batch: b, stored: r.copying.begin(b)}
	c, err := r.load(bl, b, &w.damage)
	if err != nil {
		return err
	}
	w.summed = c != nil && c.sum() != 0
	if w.stored != nil && (c == nil || !w.stored.suits(c, b.Buf)) {
		w.stored = nil
	}
	if w.records(b.Buf, -1); w.unsound != nil {
		return w.unsound
	}
	least, most, some := times(b.Messages)
	w.checkTimes(c, least, most, some)
	if w.stored != nil && w.damage.Places == 0 && (bl.counted < 0 || bl.counted == int64(len(b.Messages))) {
		b.Stored = w.stored
	}
	if r.audits && !bl.run && w.damage.Places == 0 && bl.index.size > 0 {
		if err := r.auditIndex(bl, b.Buf); err != nil {
			return err
		}
	}
	if r.audits && !bl.scanned && w.damage.Places > 0 && w.damage.Code != codeNoChannel {
		if err := r.auditChannels(bl, b.Buf); err != nil {
			return err
		}
	}
	return r.judge(bl, &w)
}

// readWanted reads only the messages that b asks for, if the block is a sound chunk without compression and without a
// checksum, which would have to be of all its bytes.
func (r *reader) readWanted(bl *block, b *storage.Batch) (ok bool, err error) {
	if b.Wanted == nil || bl.run || bl.scanned || bl.cut || r.audits || len(r.defs.changes) > 0 {
		return false, nil
	}
	c, err := r.chunkHeader(bl)
	if err != nil || c.sum() != 0 || c.open() || c.n != c.size || int64(c.n) > bl.Size-recordHead-int64(c.head) {
		return false, chunked.OnlyIO(err)
	}
	if codec, sure := c.codec(); codec != compress.None || !sure {
		return false, nil
	}
	x := lookup{r: r}
	plain := chunked.Extent{At: bl.Offset + recordHead + int64(c.head), Size: int64(c.n)}
	count, ok, err := r.src.ReadWanted(plain, b, x.Parse, func(_, _ []byte) bool { return false })
	return ok && (bl.counted < 0 || count == bl.counted), err
}

// load reads the records of a block into b.Buf, and what is stored of a chunk into b.Scratch. It
// returns the chunk, or nil if the block is not a chunk or its header cannot be read.
func (r *reader) load(bl *block, b *storage.Batch, d *chunked.Damage) (*chunk, error) {
	if bl.run {
		b.Buf = storage.Grow(b.Buf, int(bl.Size))
		if err := iox.ReadFull(r.src.File, b.Buf, bl.Offset); err != nil {
			return nil, r.src.Fail(bl.Offset, "records", err)
		}
		r.src.Place(b, bl.Offset)
		return nil, nil
	}
	c, err := r.chunkHeader(bl)
	if chunked.IsIO(err) {
		return nil, r.src.Fail(bl.Offset, "chunk", err)
	}
	if c.head == 0 {
		b.Buf = b.Buf[:0]
		d.Add("chunk-header", bl.Offset, bl.Size, "the header of a chunk cannot be read: %v", err)
		return nil, nil
	}
	if err != nil && !bl.cut {
		d.Repair("chunk-header", bl.Offset, "%v", err)
	}
	data := bl.Offset + recordHead + int64(c.head)
	size := min(c.n, uint64(bl.Offset+bl.Size-data))
	codec, _ := c.codec()
	to := &b.Scratch
	if codec == compress.None {
		to = &b.Buf
	}
	*to = storage.Grow(*to, int(size))
	if err := iox.ReadFull(r.src.File, *to, data); err != nil {
		return nil, r.src.Fail(data, "chunk", err)
	}
	c.data = *to
	if b.Buf = c.decode(b.Buf, bl.Offset, d); codec == compress.None {
		r.src.Place(b, data)
	}
	return c, nil
}

// chunkHead is enough for the header of a chunk with any compression that there is.
const chunkHead = 128

// chunkHeader reads the header of the chunk of a block, and as much of its data as is at hand. An
// errIO is an error of the file. Any other error is about the header: if the head of the chunk is
// 0, the header cannot be read at all.
func (r *reader) chunkHeader(bl *block) (*chunk, error) {
	c := &chunk{}
	b := make([]byte, min(chunkHead, bl.Size))
	if err := iox.ReadFull(r.src.File, b, bl.Offset); err != nil {
		return c, chunked.IOError(err)
	}
	if x := bl.says; x != nil && len(b) >= chunkFixed {
		const sum = recordHead + 3*8 // before the checksum, which the index does not have
		return &chunk{
			start: x.start, end: x.end, size: x.original, crc: binary.LittleEndian.Uint32(b[sum:]), compression: x.compression,
			n: x.stored, head: int(x.length - recordHead - x.stored),
		}, nil
	}
	h, err := parseHead(b)
	if err != nil || h.op != opChunk && !bl.scanned {
		return c, fmt.Errorf("there is no chunk: %w", storage.ErrCorrupt)
	}
	err = c.parse(b[recordHead:], h.length)
	switch length := uint64(bl.Size - recordHead); {
	case h.op != opChunk && c.head > 0:
		return c, errors.New("the opcode of a chunk is damaged")
	case c.head > 0 && (c.open() || h.length == 1<<64-1):
		return c, nil
	case c.head > 0 && (err != nil || h.length != length):
		return c, fmt.Errorf("a chunk states %d bytes, its record %d, and there are %d", c.n, h.length, length)
	}
	return c, err
}

// A walk goes over the records of a block and takes its messages.
type walk struct {
	r       *reader
	bl      *block
	view    view
	batch   *storage.Batch
	damage  chunked.Damage
	scan    *scanner           // that reads the block for what is in it; nil: its messages are taken
	suspect bool               // what was decompressed is damaged
	schemas map[uint16]*schema // that this chunk defines
	stored  *stored            // nil: the chunk is not to be copied
	summed  bool               // the chunk has a checksum
	unsound error              // an *unsoundError, if the scan has found one; else of reading, if the summary is tested
}

// records goes over the records of b. If b is the content of a chunk, at is where in the block the
// chunk is; else -1.
func (w *walk) records(b []byte, at int64) {
	if at < 0 {
		w.suspect = w.damage.Places > 0 && !w.damage.Repaired
	}
	c := cursor{b: b, suspect: w.suspect, known: w.knows}
	for c.step() {
		place := at
		if place < 0 {
			place = int64(c.at)
		}
		switch c.op {
		case opMessage:
			w.message(c.body, place)
		case opSchema, opChannel:
			w.definition(c.op, int(place), c.body)
		case opChunk:
			w.stored = nil
			if at >= 0 {
				w.damage.Add("nested-chunk", w.bl.Offset, int64(len(c.body)), "a chunk in a chunk in a chunk is not read")
				continue
			}
			w.damage.Add("nested-chunk", w.bl.Offset, 0,
				"a chunk has another chunk in it, which the index does not know; its messages are read")
			var n chunk
			if _ = n.parse(c.body, uint64(len(c.body))); n.head > 0 {
				w.records(n.decode(nil, w.bl.Offset, &w.damage), place)
			}
		default:
			w.stored = nil
			if !w.bl.run && (c.op == opAttachment || c.op == opMetadata) {
				w.damage.Add("misplaced", w.bl.Offset, int64(len(c.body)),
					"a chunk has a record that is not allowed in chunks, and is not read: %s", opName(c.op))
			}
		}
	}
	for _, g := range c.gaps {
		if g.err == errZero && zeros(b[g.from:]) {
			w.damage.Repair("zero-tail", w.offset(g.from), "the last %d bytes of a chunk are zero", g.to-g.from)
			continue
		}
		w.damage.Add("chunk-data", w.offset(g.from), int64(g.to-g.from),
			"%d bytes of a chunk, %d bytes from its start, cannot be read as records: %v", g.to-g.from, g.from, g.err)
	}
}

// knows reports whether something defines a channel.
func (w *walk) knows(id uint16) bool {
	if w.scan != nil && w.scan.defines(id) {
		return true
	}
	_, ok := w.view.lookup(id, 0)
	return ok
}

// times returns the least and greatest log time of messages, and whether there are any.
func times(messages []storage.Message) (least, most int64, some bool) {
	least, most = math.MaxInt64, math.MinInt64
	for i := range messages {
		least, most = min(least, messages[i].LogTime), max(most, messages[i].LogTime)
	}
	return least, most, len(messages) > 0
}

// checkTimes compares the log times of messages with the times in the header of their chunk. Some
// writers leave these 0. Content with a matching checksum is right.
func (w *walk) checkTimes(c *chunk, least, most int64, some bool) {
	if c == nil || !some || w.summed || c.open() || c.start == 0 && c.end == 0 || int64(c.start) > int64(c.end) {
		return
	}
	if least < int64(c.start) || most > int64(c.end) {
		w.damage.Add("chunk-times", w.bl.Offset, 0, "a chunk without a checksum has messages at times that are outside of "+
			"its own: one of them is damaged, or the header is")
	}
}

// offset is where byte at of the block is in the file, or the data that it was decompressed from.
func (w *walk) offset(at int) int64 {
	if w.bl.run {
		return w.bl.Offset + int64(at)
	}
	return w.bl.Offset
}

// message takes a message.
func (w *walk) message(body []byte, at int64) {
	if len(body) < messageFixed {
		w.damage.Add("record", w.offset(int(at)), int64(len(body)), "a message of %d bytes is too short", len(body))
		w.stored = nil
		return
	}
	id := binary.LittleEndian.Uint16(body)
	log := binary.LittleEndian.Uint64(body[6:])
	if w.suspect && w.bl.counted >= 0 && (int64(log) < w.bl.Start || int64(log) > w.bl.End) {
		w.damage.Add("record", w.bl.Offset, int64(len(body)), "the log time of a message is outside the times of its chunk")
		return
	}
	if w.scan != nil {
		w.scan.take(w.bl, id, log)
		return
	}
	topic, ok := w.view.lookup(id, at)
	if !ok {
		w.stored = nil
		if !w.bl.scanned {
			w.damage.Left++
			w.damage.Repair(codeNoChannel, w.bl.Offset, "messages of channel %d, which the file does not define, are not read",
				id)
		}
		return
	}
	if w.stored != nil && !w.stored.message(at, id, topic, int64(log)) {
		w.stored = nil
	}
	w.batch.Messages = append(w.batch.Messages, storage.Message{
		Topic: topic, LogTime: int64(log),
		PublishTime: int64(binary.LittleEndian.Uint64(body[14:])),
		Sequence:    binary.LittleEndian.Uint32(body[2:]),
		Data:        body[messageFixed:len(body):len(body)],
	})
}

// definition looks at a definition in a block. Its content is known, unless the block was not read
// before: then it may contradict the summary.
func (w *walk) definition(op byte, at int, body []byte) {
	if w.stored != nil && !w.stored.define(op, at, body) {
		w.stored = nil
	}
	if w.suspect {
		if _, ok := w.view.lookup(binary.LittleEndian.Uint16(append(body[:min(2, len(body)):min(2, len(body))], 0, 0)),
			int64(at)); ok {
			return
		}
	}
	if w.scan != nil {
		if w.scan.contradicts(op, body) {
			if !w.outvoted(op, at, body) {
				w.unsound = unsound("a %s in the chunk at byte %d differs from the summary", opName(op), w.bl.Offset)
			}
			return
		}
		if err := w.scan.define(op, body, position{len(w.r.blocks) - 1, int64(at)}); err != nil {
			w.damage.Add("record", w.offset(at), int64(len(body)), "%s cannot be read: %v", aRecord(op), err)
		}
		return
	}
	if w.bl.scanned {
		return
	}
	if op == opSchema {
		var s schema
		if s.parse(body) == nil && s.id != 0 {
			if w.schemas == nil {
				w.schemas = map[uint16]*schema{}
			}
			w.schemas[s.id] = &s
		}
		return
	}
	var c channel
	if c.parse(body) != nil {
		return
	}
	topic, ok := w.view.lookup(c.id, int64(at))
	if !ok {
		return // its messages are left out, and reported
	}
	t := w.r.defs.list[topic]
	s := w.schemas[c.schema]
	if s == nil && c.schema != 0 {
		s = t.schema
	}
	if key(&c, s) == key(&t.channel, t.schema) {
		return
	}
	if w.outvoted(op, at, body) {
		return
	}
	w.stored = nil
	if w.r.tested && w.summed && w.damage.Places == 0 {
		w.unsound = w.r.src.Fail(w.bl.Offset,
			fmt.Sprintf("channel %d is %.80q in the summary and %.80q in a chunk, or has another definition there", c.id,
				t.channel.topic, c.topic), storage.ErrIndex)
		return
	}
	w.damage.Add("redefined", w.bl.Offset, 0, "channel %d is %.80q in the summary and %.80q in a chunk, not with one "+
		"definition; its messages are read as the summary has it", c.id, t.channel.topic, c.topic)
}

// judge makes one warning of what is wrong with a block that was read.
func (r *reader) judge(bl *block, w *walk) error {
	kept, d := int64(len(w.batch.Messages)), &w.damage
	if d.Places == 0 && (bl.counted < 0 || bl.counted == kept || bl.scanned) || bl.cut {
		return nil
	}
	lost := storage.Lost{Bytes: d.Bytes}
	switch {
	case bl.scanned && r.accounted:
	case bl.counted >= 0:
		lost.Messages = max(0, bl.counted-kept)
	default:
		lost.Messages, lost.Uncounted = d.Left, !d.Repaired && d.Code != "chunk-crc"
	}
	return r.src.Judge(d, bl.Offset, lost, bl.counted, kept)
}

// sameBytes reports whether a record's body has the bytes of a record, which may be
// followed by what a newer writer has added.
func sameBytes(body, record []byte) bool { return bytes.HasPrefix(body, record[recordHead:]) }

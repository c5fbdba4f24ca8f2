package rosbag1

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// reindex writes the end of a bag that was not closed: CONNECTION and CHUNK_INFO records after its
// last byte, then their place into the file header. If the last chunk was not closed either and is
// plain, its two lengths and its INDEX_DATA records are written too. If the last chunk is whole,
// and the file ends within its INDEX_DATA records or before them, these records are written too.
// See storage.Format.
//
// INDEX_DATA records stand between chunks, where there is no room for new ones, and other readers
// refuse a bag with a chunk that lacks them. So a bag that lacks the records of another chunk, or
// has other damage, needs a copy.
func reindex(ctx context.Context, path string, o storage.ReindexOptions) (changes []storage.IndexChange, err error) {
	fsys := iox.FS(o.FS)
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	src := chunked.NewSource(ctx, formatName, path, f, false, hints)
	defer func() { err = errors.Join(err, src.File.Close()) }()
	x := &reindexer{path: path}
	options := inplace.Options{
		Format: formatName, Read: openReader, Hint: copyHint, Indexes: []string{"index-data"},
		Ownerless: []string{codeNoConnection},
		FS:        fsys, NoSync: o.NoSync, DryRun: o.DryRun,
	}
	x.file, err = inplace.Open(ctx, path, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.file.Close()) }()
	if src.Size, err = x.file.End(); err != nil {
		return nil, err
	}
	head := make([]byte, min(src.Size, storage.SniffLen))
	if err := iox.ReadFull(f, head, 0); err != nil {
		return nil, src.Fail(0, "version line", err)
	}
	if !bytes.HasPrefix(head, []byte(magicV2)) {
		return nil, x.refuse("only bags of version 2 have an index that can be written in place")
	}
	r := &reader{src: src, records: true, verifies: verifyChunks, conns: newConnections(), codecs: map[string]int64{},
		topicSets: map[string][]storage.TopicID{}}
	if err := r.open(&storage.ReadOptions{}); err != nil {
		return nil, err
	}
	if r.why == nil {
		if r.locked {
			return nil, nil
		}
		return nil, inplace.Audit(ctx, path, options)
	}
	if r.enc != nil || r.locked {
		return nil, x.refuse("it is encrypted")
	}
	x.r, x.w = r, r.window()
	if x.order, err = r.indexOrder(); err != nil {
		return nil, err
	}
	if err := x.plan(head); err != nil {
		return nil, err
	}
	change := x.change()
	if err := x.file.Replace(src.Size, x.end, x.trailer(), false, x.patches...); err != nil {
		return nil, err
	}
	return []storage.IndexChange{change}, nil
}

// copyHint is the next step if an index cannot be written in place.
const copyHint = "bagconv recover IN OUT writes a copy with an index"

// A reindexer plans the end of a bag.
type reindexer struct {
	path    string
	file    *inplace.File
	r       *reader
	w       window
	end     int64 // where it begins
	order   indexOrder
	index   []byte // INDEX_DATA of the last chunk
	infos   []byte // CHUNK_INFO records
	chunks  int
	patches []inplace.Patch
}

func (x *reindexer) refuse(format string, args ...any) error {
	return &storage.Error{Format: formatName, Path: x.path, Offset: -1, What: fmt.Sprintf(format, args...),
		Err:  storage.ErrUnsupported,
		Hint: copyHint}
}

// plan finds out what is to be written. head is how the file begins.
func (x *reindexer) plan(head []byte) error {
	r := x.r
	for _, w := range r.Damage().Warnings {
		if w.Damage && !slices.Contains([]string{"unindexed", "truncated", "index", "unclosed"}, w.Code) {
			return x.refuse("it is damaged (%s)", w.Message)
		}
	}
	if r.ownerless {
		return x.refuse("some of its messages belong to no connection")
	}
	x.end = r.first
	for i := range r.blocks {
		if err := r.src.Ctx.Err(); err != nil {
			return err
		}
		b := &r.blocks[i]
		switch {
		case b.run && r.unclosed > 0 && b.Offset > r.unclosed && r.blocks[len(r.blocks)-1].run:
			// of the last chunk
		case b.run:
			return x.refuse("messages from byte %d on lie outside of a chunk", b.Offset)
		case b.cut && b.Messages == 0 && i == len(r.blocks)-1:
			// It is not a chunk yet, and gives way.
		case b.dirty || b.cut:
			return x.refuse("the chunk at byte %d is not whole, and an index would hide the %d messages that can be read of it",
				b.Offset, b.Messages)
		default:
			if err := x.chunk(b); err != nil {
				return err
			}
		}
	}
	var err error
	switch {
	case r.unclosed > 0:
		err = x.closeChunk()
	case x.index == nil:
		err = x.records(x.end, func(h *header) bool { return h.op != opChunk })
	}
	if err != nil {
		return err
	}
	return x.header(head)
}

// chunk adds the CHUNK_INFO record of a chunk by the INDEX_DATA records after it.
func (x *reindexer) chunk(b *block) error {
	used := map[uint32]uint32{}
	total := int64(0)
	err := x.records(b.Offset+b.Size, func(h *header) bool {
		if h.op == opIndex {
			used[h.conn] += h.count
			total += int64(h.count)
		}
		return h.op == opIndex
	})
	if err != nil {
		return err
	}
	if b.Messages >= 0 && total != b.Messages {
		if x.r.unclosed == 0 && b == &x.r.blocks[len(x.r.blocks)-1] {
			return x.lastIndex(b)
		}
		return x.refuse("the chunk at byte %d has %d messages, and the index records after it count %d", b.Offset, b.Messages,
			total)
	}
	x.info(b.Offset, b.Start, b.End, used)
	return nil
}

// lastIndex writes the INDEX_DATA records of the last chunk anew. No whole record may follow behind
// the end.
func (x *reindexer) lastIndex(b *block) error {
	from := x.end
	if err := x.records(from, func(*header) bool { return true }); err != nil {
		return err
	}
	if x.end > from {
		return x.refuse("the chunk at byte %d has %d messages, of which the index records after it do not count all, and "+
			"other records follow", b.Offset, b.Messages)
	}
	var batch storage.Batch
	var w walk
	if err := x.r.load(b, &batch, &w); err != nil {
		return err
	}
	if w.damage.Places > 0 || w.guessed > 0 || int64(len(w.messages)) != b.Messages {
		return x.refuse("the chunk at byte %d is damaged", b.Offset)
	}
	used, entries := map[uint32]uint32{}, map[uint32][]indexed{}
	var h header
	for p := 0; p < len(batch.Buf); p += h.headLen + int(h.dataSize()) {
		if err := h.parseRecord(batch.Buf[p:]); err != nil {
			return x.refuse("the chunk at byte %d is damaged", b.Offset)
		}
		if h.op == opMessage {
			used[h.conn]++
			entries[h.conn] = append(entries[h.conn], indexed{start: h.time, count: int64(p)})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(used)) {
		x.index = x.order.appendIndex(x.index, id, entries[id])
	}
	x.end = b.Offset + b.Size
	x.info(b.Offset, b.Start, b.End, used)
	return nil
}

// records moves the end after the whole records from at on, as long as f takes them.
func (x *reindexer) records(at int64, f func(*header) bool) error {
	var h header
	for x.end = at; x.end < x.r.src.Size; {
		err := x.w.header(&h, x.end)
		if chunked.IsIO(err) {
			return x.r.src.Fail(x.end, "record", err)
		}
		next := x.end + int64(h.headLen) + h.dataSize()
		if err != nil || next > x.r.src.Size || !f(&h) {
			break
		}
		x.end = next
	}
	return nil
}

// info adds a CHUNK_INFO record.
func (x *reindexer) info(pos, start, end int64, used map[uint32]uint32) {
	k := outChunk{start: start, end: end}
	for id, n := range used {
		k.used = append(k.used, usedConn{id: id, count: n})
	}
	x.infos = k.appendInfo(x.infos, pos)
	x.chunks++
}

// closeChunk gives the last chunk, whose records lie plain up to the end of the file, its
// lengths and its index.
func (x *reindexer) closeChunk() error {
	pos := x.r.unclosed
	var h header
	if err := x.w.header(&h, pos); err != nil {
		return x.r.src.Fail(pos, "chunk", err)
	}
	headLen := int64(h.headLen)
	from := pos + headLen
	start, end, used, entries := int64(math.MaxInt64), int64(0), map[uint32]uint32{}, map[uint32][]indexed{}
	odd := header{}
	err := x.records(from, func(h *header) bool {
		switch h.op {
		case opMessage:
			start, end = min(start, h.time), max(end, h.time)
			used[h.conn]++
			entries[h.conn] = append(entries[h.conn], indexed{start: h.time, count: x.end - from})
		case opConnection:
		default:
			odd = *h
		}
		return odd.op == 0
	})
	if err != nil {
		return err
	}
	if odd.op != 0 {
		return x.refuse("a %s lies in the last chunk, at byte %d", opName(odd.op), x.end)
	}
	at := x.end
	if at-from > maxChunk {
		return x.refuse("the last chunk has over 4 GB")
	}
	head := make([]byte, headLen)
	if err := iox.ReadFull(x.r.src.File, head, pos); err != nil {
		return x.r.src.Fail(pos, "chunk", err)
	}
	size := bytes.Index(head, []byte("size="))
	if size < 0 || size+9 > len(head)-4 {
		return x.refuse("the header of the last chunk has no size")
	}
	binary.LittleEndian.PutUint32(head[size+5:], uint32(at-from))
	binary.LittleEndian.PutUint32(head[headLen-4:], uint32(at-from))
	x.patches = append(x.patches, inplace.Patch{Off: pos, Data: head})
	for _, id := range slices.Sorted(maps.Keys(used)) {
		x.index = x.order.appendIndex(x.index, id, entries[id])
	}
	if len(used) == 0 {
		start = 0
	}
	x.info(pos, start, end, used)
	return nil
}

// appendIndex appends an INDEX_DATA record: entries in the order of time, each with its start
// and, as its count, its offset in the chunk.
func (o *indexOrder) appendIndex(dst []byte, conn uint32, list []indexed) []byte {
	dst = o.appendHead(dst, conn, uint32(len(list)))
	slices.SortStableFunc(list, func(a, b indexed) int { return cmp.Compare(a.start, b.start) })
	for _, e := range list {
		dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
		putTime(dst[len(dst)-8:], e.start)
		dst = binary.LittleEndian.AppendUint32(dst, uint32(e.count))
	}
	return dst
}

// trailer returns all that is written at x.end.
func (x *reindexer) trailer() []byte {
	b := slices.Clone(x.index)
	for _, c := range slices.SortedFunc(slices.Values(x.r.conns.list),
		func(a, b *connection) int { return cmp.Compare(a.id, b.id) }) {
		at := len(b)
		b = append(b, 0, 0, 0, 0)
		b = appendU32Field(b, "conn", c.id)
		b = appendOp(b, opConnection)
		b = appendField(b, "topic", c.topic.Name)
		binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(c.data)))
		b = append(b, c.data...)
	}
	return append(b, x.infos...)
}

// header plans the change of the file header, whose fields stay where they are.
func (x *reindexer) header(head []byte) error {
	from := bytes.IndexByte(head, '\n') + 1
	var h header
	if err := h.parseRecord(head[from:]); err != nil || h.op != opFileHeader {
		return x.refuse("the file header cannot be read")
	}
	patch, err := headerPatch(head[from:from+h.headLen], int64(from), uint64(x.end)+uint64(len(x.index)),
		uint32(len(x.r.conns.list)), uint32(x.chunks))
	if err != nil {
		return x.refuse("%v", err)
	}
	x.patches = append(x.patches, patch)
	return nil
}

func (x *reindexer) change() storage.IndexChange {
	c := storage.IndexChange{Path: x.path, Offset: x.end, Written: int64(len(x.trailer())),
		What: "index of " + inplace.Counted(int64(len(x.r.conns.list)), "connection") + " and " +
			inplace.Counted(int64(x.chunks), "chunk")}
	if x.index != nil {
		c.What += ", and the end of the last chunk"
	}
	for _, p := range x.patches {
		c.Overwritten += int64(len(p.Data))
	}
	return c
}

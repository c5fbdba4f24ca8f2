package mcap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// reindex writes the end of an MCAP file that was not closed, or whose summary is missing or
// wrong: Data End, summary and footer, behind its last whole record. See storage.Format.
//
// Chunks are found by their headers, and their messages counted by the Message Index records behind
// them. A chunk is read if it may define a channel: it does not begin with a message, or has a
// channel that nothing before it defines, or is not in a summary that can be read. The last chunk
// is also read if its Message Index may be cut.
func reindex(ctx context.Context, path string, o storage.ReindexOptions) (_ []storage.IndexChange, err error) {
	fsys := iox.FS(o.FS)
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	x := &reindexer{r: &reader{
		src: chunked.NewSource(ctx, formatName, path, f, false, hints), defs: newDefinitions(), codecs: map[string]int64{},
	}}
	options := placeOptions(fsys, o)
	x.file, err = inplace.Open(ctx, path, options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.file.Close()) }()
	if x.r.src.Size, err = x.file.End(); err != nil {
		return nil, err
	}
	if err := x.plan(); err != nil {
		return nil, err
	}
	if x.tail == nil {
		return nil, inplace.Audit(ctx, path, options)
	}
	change := x.change()
	if err := x.file.Replace(x.r.src.Size, x.end, x.tail, true); err != nil {
		return nil, err
	}
	return []storage.IndexChange{change}, nil
}

// placeOptions are how a file is changed in place.
func placeOptions(fsys storage.FS, o storage.ReindexOptions) inplace.Options {
	return inplace.Options{
		Format: formatName, Read: openReader, Hint: copyHint, FS: fsys, NoSync: o.NoSync, DryRun: o.DryRun,
		Indexes: []string{"message-index", "attachment-index", "metadata-index"}, Ownerless: []string{codeNoChannel},
	}
}

// copyHint is the next step if an index cannot be written in place.
const copyHint = "bagconv recover IN OUT writes a copy with a summary"

// A reindexer plans the end of a file.
type reindexer struct {
	r     *reader
	w     window
	file  *inplace.File
	end   int64 // where it begins
	ended bool  // the Data End record is there, and stays

	chunks []chunkIndex
	first  []uint64         // where the first message of each chunk is in it, by its Message Index
	last   map[uint16]int64 // messages of the last chunk, by its Message Index
	index  []byte           // Message Index of the last chunk, written anew; nil: the one in the file stays
	places []byte           // of its records, as the Chunk Index has them
	out    writer           // has what the summary tells
	tail   []byte           // all that is written; nil: nothing
}

func (x *reindexer) refuse(at int64, format string, args ...any) error {
	e := x.r.src.Fail(at, fmt.Sprintf(format, args...), storage.ErrUnsupported)
	e.Hint = copyHint
	return e
}

// plan finds out what is to be written.
func (x *reindexer) plan() error {
	r := x.r
	if err := r.readMagic(); err != nil {
		return err
	}
	if list := r.Damage().Warnings; len(list) > 0 {
		return x.refuse(0, "it is damaged (%s)", list[0].Message)
	}
	x.w = r.window()
	if err := x.walk(); err != nil {
		return err
	}
	if err := x.closeChunk(); err != nil {
		return err
	}
	old, why, err := r.readSummary()
	if err != nil {
		return err
	}
	if why != "" {
		old = nil
	}
	if err := x.scan(old); err != nil {
		return err
	}
	if err := x.prove(old); err != nil {
		return err
	}
	if err := x.summarize(); err != nil || old != nil && x.right(old) {
		return err
	}
	for i := range r.blocks {
		if b := &r.blocks[i]; b.run && b.Messages > 0 && len(x.chunks) > 0 {
			return x.refuse(b.Offset,
				"%d messages lie outside of chunks, and a summary would hide them from readers that use it", b.Messages)
		}
	}
	x.out.pos = x.end + int64(len(x.index))
	x.tail = x.out.appendEnd(slices.Clone(x.index), !x.ended)
	return nil
}

// walk goes over the headers of the records of the data, up to the first that is not whole.
func (x *reindexer) walk() error {
	src := x.r.src
	for x.end = int64(len(magic)); x.end < src.Size && !x.ended; {
		if err := src.Ctx.Err(); err != nil {
			return err
		}
		h, err := x.w.head(x.end)
		ok := err == nil
		if ok {
			ok, err = x.record(h)
		}
		if chunked.IsIO(err) {
			return src.Fail(x.end, "record", err)
		}
		if !ok {
			break
		}
		x.end += recordHead + int64(h.length)
	}
	return nil
}

// record takes the record at the end, which is whole. false: it is not a record of the data section.
func (x *reindexer) record(h recordHeader) (bool, error) {
	switch h.op {
	case opChunk:
		return x.chunk(h)
	case opMessageIndex:
		return x.messageIndex(h)
	case opDataEnd:
		x.ended = h.length == 4
		return x.ended, nil
	case opHeader, opSchema, opChannel, opAttachment, opMetadata, opMessage:
		b, err := x.w.body(x.end, h, messageFixed)
		return err == nil && (h.op != opMessage || len(b) == messageFixed), err
	}
	return h.op > opDataEnd, nil
}

// chunk adds a Chunk record.
func (x *reindexer) chunk(h recordHeader) (bool, error) {
	b, err := x.w.Data(x.end+recordHead, chunkHead)
	if err != nil {
		return false, err
	}
	var c chunk
	if c.parse(b, h.length) != nil || c.open() {
		return false, nil
	}
	x.last = map[uint16]int64{}
	x.first = append(x.first, math.MaxUint64)
	x.chunks = append(x.chunks, chunkIndex{
		start: c.start, end: c.end, offset: uint64(x.end), length: recordHead + h.length, compression: c.compression,
		stored: c.n, original: c.size,
	})
	return true, nil
}

// messageIndex adds a Message Index record to the chunk before it.
func (x *reindexer) messageIndex(h recordHeader) (bool, error) {
	if len(x.chunks) == 0 {
		return true, nil // no chunk precedes it
	}
	c := &x.chunks[len(x.chunks)-1]
	if c.offset+c.length+c.indexLength != uint64(x.end) {
		return true, nil
	}
	b, err := x.w.body(x.end, h, indexFixed+indexEntry)
	f := fields{b: b}
	id, n := f.u16(), uint64(f.u32())
	if err != nil || f.bad || n%indexEntry != 0 || n+indexFixed > h.length {
		return false, err
	}
	if _, twice := x.last[id]; !twice {
		c.indexes = appendCount(c.indexes, id, uint64(x.end))
	}
	if n > 0 && len(b) == indexFixed+indexEntry {
		at := &x.first[len(x.first)-1]
		*at = min(*at, binary.LittleEndian.Uint64(b[indexFixed+8:]))
	}
	x.last[id] += int64(n / indexEntry)
	c.indexLength += recordHead + h.length
	return true, nil
}

// closeChunk reads the last chunk if nothing but its Message Index follows, and writes the index
// anew if it does not have all messages.
func (x *reindexer) closeChunk() error {
	n := len(x.chunks)
	if n == 0 || x.ended {
		return nil
	}
	c := &x.chunks[n-1]
	plain := n > 1 && len(c.indexes) == 0 && !slices.ContainsFunc(x.chunks,
		func(c chunkIndex) bool { return len(c.indexes) > 0 })
	if plain || c.offset+c.length+c.indexLength != uint64(x.end) {
		return nil
	}
	out, err := x.messages(c)
	if err != nil {
		return err
	}
	same := len(out.used) == len(x.last)
	for _, u := range out.used {
		same = same && x.last[u.id] == int64(u.count)
	}
	if same {
		return nil
	}
	x.end = int64(c.offset + c.length)
	x.index = out.appendIndex(nil)
	c.indexes, c.indexLength = nil, 0 // so that scan reads the chunk
	x.last = nil
	for _, u := range out.used {
		x.places = appendCount(x.places, u.id, uint64(x.end)+uint64(u.at))
	}
	return nil
}

// messages returns the messages of a chunk, as its Message Index has them.
func (x *reindexer) messages(c *chunkIndex) (*outChunk, error) {
	bl := block{scanned: true, Block: storage.Block{Offset: int64(c.offset), Size: int64(c.length)}}
	var b storage.Batch
	var d chunked.Damage
	if _, err := x.r.load(&bl, &b, &d); err != nil {
		return nil, err
	}
	out := &outChunk{}
	slots := map[uint16]int{}
	k := cursor{b: b.Buf}
	for k.step() {
		var m message
		if k.op != opMessage || m.parse(k.body) != nil {
			continue
		}
		slot, ok := slots[m.channel]
		if !ok {
			slot = len(out.used)
			slots[m.channel] = slot
			out.used = append(out.used, usedChannel{id: m.channel})
		}
		out.used[slot].count++
		out.index = append(out.index, indexRef{m.log, uint64(k.at), slot})
	}
	if d.Places > 0 || len(k.gaps) > 0 {
		return nil, x.refuse(bl.Offset, "a chunk is damaged")
	}
	return out, nil
}

// scan finds out what the chunks, and all that lies outside of them, have. Nothing that can be read
// may lie behind what the summary will be about. Chunks that an old summary leaves out are read:
// readers that use the old summary do not meet their damage now.
func (x *reindexer) scan(old *summary) error {
	r := x.r
	s := &scanner{r: r, w: r.window(), end: r.src.Size, first: true, files: 1}
	for i := range x.chunks {
		// A chunk that does not begin with a message begins with a definition.
		if x.first[i] == 0 && (old == nil || old.entry(&x.chunks[i]) != nil) {
			s.known = append(s.known, x.chunks[i])
		}
	}
	if err := s.walk(); err != nil {
		return err
	}
	for _, n := range s.notes {
		if n.at < x.end && !n.repaired {
			return x.refuse(n.at, "it is damaged (%s)", n.what)
		}
	}
	for _, i := range s.damaged {
		if at := r.blocks[i].Offset; at < x.end {
			return x.refuse(at, "a chunk is damaged")
		}
	}
	for i := range r.blocks {
		if b := &r.blocks[i]; b.Offset >= x.end && b.Messages > 0 {
			return x.refuse(x.end,
				"the record here is not whole, and a summary would hide the %d messages that can be read after it", b.Messages)
		}
	}
	for _, a := range r.attachments {
		if a.at+a.length > x.end {
			return x.refuse(a.at, "an attachment follows a record that is not whole")
		}
	}
	for _, m := range r.metadata {
		if m.at+m.length > x.end {
			return x.refuse(m.at, "a metadata record follows a record that is not whole")
		}
	}
	if missing := s.missing(); missing > 0 {
		return x.refuse(s.notes[0].at, "it is damaged, and %d of the %d messages that its statistics count cannot be read",
			missing, s.stats.messages)
	}
	if at := x.hidden(); at >= 0 {
		return x.refuse(at, "the length of a record before it is damaged, and what can be read here would be lost")
	}
	switch n := r.defs.ownerless(); {
	case s.files > 1:
		return x.refuse(-1, "several files were put together in it")
	case n > 0:
		return x.refuse(-1, "%d of its messages belong to no channel", n)
	case len(r.defs.changes) > 0:
		return x.refuse(-1, "a channel is defined twice, differently")
	}
	return nil
}

// missing returns how many messages the statistics count that cannot be read, if there is damage; else they are wrong.
func (s *scanner) missing() int64 {
	if s.stats == nil || !s.stats.sound() || len(s.notes) == 0 {
		return 0
	}
	found := s.r.defs.ownerless()
	for _, t := range s.r.defs.list {
		found += t.messages
	}
	return int64(s.stats.messages) - found
}

// hidden returns where messages are that the scan has found, and that lie within what walk took for a
// record, or reach past the end; -1 if nowhere. A length that is damaged leads there.
func (x *reindexer) hidden() int64 {
	chunks := map[int64]bool{}
	for i := range x.chunks {
		chunks[int64(x.chunks[i].offset)] = true
	}
	for i := range x.r.blocks {
		b := &x.r.blocks[i]
		if b.Offset < x.end && b.Messages != 0 && (b.Offset+b.Size > x.end || !b.run && !chunks[b.Offset]) {
			return b.Offset
		}
	}
	return -1
}

func (x *reindexer) change() storage.IndexChange {
	c := storage.IndexChange{Path: x.r.src.Path, Offset: x.end, Written: int64(len(x.tail)),
		What: "summary of " + inplace.Counted(int64(len(x.out.channels)), "channel") + " and " +
			inplace.Counted(int64(len(x.chunks)), "chunk")}
	if x.index != nil {
		c.What += ", and the message index of the last chunk"
	}
	c.Overwritten = min(x.r.src.Size-x.end, c.Written)
	return c
}

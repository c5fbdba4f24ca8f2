package cyber

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/warnings"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
)

// reindex writes the INDEX of each file of a recording behind its last whole section, if the INDEX
// is missing or wrong, and then the counts of its HEADER. A chunk that the file ends in ends with
// its last whole message then. See storage.Format.
func reindex(ctx context.Context, path string, o storage.ReindexOptions) (changes []storage.IndexChange, err error) {
	fsys := iox.FS(o.FS)
	paths, err := segmentPaths(fsys, path)
	if err == nil {
		paths, err = choose(fsys, path, paths)
	}
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		c, e := reindexFile(ctx, fsys, p, o)
		if c != nil {
			changes = append(changes, *c)
		}
		if err = errors.Join(err, e); ctx.Err() != nil {
			break
		}
	}
	return changes, err
}

// reindexFile writes the index of one file; nil if it is right.
func reindexFile(ctx context.Context, fsys storage.FS, path string, o storage.ReindexOptions) (_ *storage.IndexChange,
	err error) {
	h, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	x := &reindexer{}
	x.file, err = inplace.Open(ctx, path, inplace.Options{
		Format: formatName, Read: openReader, Hint: copyHint, Ownerless: []string{codeUndeclared}, FS: fsys, NoSync: o.NoSync,
		DryRun: o.DryRun,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, x.file.Close()) }()
	size, err := x.file.End()
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, path: path, fs: fsys, topics: newTopics(), warnings: warnings.Log{Hints: hints}}
	if x.f, err = r.open(path, keptOpen{h}, size); err != nil {
		return nil, err
	}
	if x.w = x.f.window(); x.right() {
		return nil, nil
	}
	if x.f.contested {
		return nil, x.refuse("the old index describes a channel otherwise than its section, and may be right")
	}
	if err := x.plan(); err != nil || len(x.patches) == 0 {
		return nil, err
	}
	change := x.change()
	cut := x.index != nil && !x.stale
	if err := x.file.Replace(x.f.size, x.end, x.index, cut, x.patches...); err != nil {
		return nil, err
	}
	return change, nil
}

// copyHint is the next step if an index cannot be written in place.
const copyHint = "bagconv recover IN OUT writes a copy with an index"

// keptOpen is a file that somebody else closes.
type keptOpen struct{ storage.File }

func (keptOpen) Close() error { return nil }

// A reindexer plans the end of a file.
type reindexer struct {
	f       *file
	w       *window
	file    *inplace.File
	end     int64  // where the INDEX begins
	index   []byte // nil: the INDEX in the file is right
	closes  bool   // the last chunk gets an end
	stale   bool   // bytes that are no part of the recording stay at the end
	out     outSegment
	patches []inplace.Patch // the last one is the patch of the HEADER
}

func (x *reindexer) refuse(format string, args ...any) error {
	e := x.f.fail(-1, fmt.Sprintf(format, args...), storage.ErrUnsupported)
	e.Hint = copyHint
	return e
}

// indexRight reports whether each entry of the index is the entry of its section, and its counts
// are the counts of the messages.
func (x *reindexer) indexRight() bool {
	f := x.f
	if f.index != indexOK || f.indexCut || f.damaged {
		return false
	}
	if f.proven {
		return true
	}
	for name, n := range f.stated {
		if c := f.channels[name]; c == nil || c.next != nil || n != f.r.topics.counts[c.topic] {
			return false
		}
	}
	return true
}

// right reports whether index and header are right.
func (x *reindexer) right() bool {
	h, f := x.f.header, x.f
	if !x.indexRight() || !h.GetIsComplete() || f.wrong != nil || clamp(h.GetIndexPosition()) != f.indexAt {
		return false
	}
	x.count()
	s := &x.out
	return clamp(h.GetMessageNumber()) == s.total && (s.total == 0 || int64(h.GetBeginTime()) == s.begin &&
		int64(h.GetEndTime()) == s.end)
}

// count counts chunks and messages.
func (x *reindexer) count() {
	s := &x.out
	s.chunks, s.total = 0, 0
	for _, c := range x.f.chunks {
		if c.count == 0 {
			continue
		}
		if s.chunks == 0 {
			s.begin, s.end = c.begin, c.end
		}
		s.begin, s.end = earlier(s.begin, c.begin), later(s.end, c.end)
		s.chunks++
		s.total += c.count
	}
}

// plan finds out what is to be written.
func (x *reindexer) plan() error {
	f := x.f
	list, _ := f.r.warnings.Report()
	for _, w := range list {
		x.stale = x.stale || w.Code == "stale-tail"
		if w.Damage && w.Code != "truncated" && w.Code != "zero-tail" {
			return x.refuse("it is damaged (%s)", w.Message)
		}
	}
	if f.header == nil || f.size < headerEnd {
		return x.refuse("its header is not whole")
	}
	x.end = headerEnd
	if n := len(f.sections); n > 0 {
		x.end = f.sections[n-1].end
	}
	if n := len(f.chunks); n > 0 && f.chunks[n-1].cut {
		if err := x.closeChunk(f.chunks[n-1]); err != nil {
			return err
		}
	}
	if err := x.enter(); err != nil {
		return err
	}
	x.count()
	x.out.pos = x.end
	if x.indexRight() {
		return x.header(f.indexAt)
	}
	for name, c := range f.channels {
		if c.from >= x.end {
			return x.refuse("only its index declares channel %.80q", name)
		}
	}
	var buf bytes.Buffer
	x.out.out = bufio.NewWriter(&buf)
	if err := errors.Join(x.out.putIndex(), x.out.out.Flush()); err != nil {
		return f.fail(x.end, "index", err)
	}
	x.index = buf.Bytes()
	return x.header(x.end)
}

// closeChunk gives the last chunk, which the file ends in, the size of its whole messages. A chunk
// without whole messages is not a part of the recording.
func (x *reindexer) closeChunk(c *chunk) error {
	f := x.f
	k, at := walker{w: x.w, end: c.body + c.size}, c.body
	for at < k.end {
		st, err := k.next(at)
		if err != nil {
			return f.fail(at, "chunk", err)
		}
		if st != whole {
			break
		}
		at += int64(k.m.size)
	}
	n := len(f.sections)
	if n < 2 || f.sections[n-2].at != c.head || c.head == c.body-sectionHead {
		return x.refuse("the last chunk has no header")
	}
	if c.count == 0 {
		f.sections, f.chunks, x.end = f.sections[:n-2], f.chunks[:len(f.chunks)-1], c.head
		return nil
	}
	room := int(c.body - 2*sectionHead - c.head)
	b := appendSection(nil, pb.SectionType_SECTION_CHUNK_HEADER, int64(room))
	b, ok := appendChunkHeader(b, c, room)
	if !ok {
		return x.refuse("the header of the last chunk has no room for its counts")
	}
	b = appendSection(b, pb.SectionType_SECTION_CHUNK_BODY, at-c.body)
	x.patches = append(x.patches, inplace.Patch{Off: c.head, Data: b})
	head := &f.sections[n-2]
	head.count, head.from, head.to = c.count, c.begin, c.end
	x.end, x.closes = at, true
	return nil
}

// appendChunkHeader appends a ChunkHeader of exactly so many bytes: what is left is a field that no
// version has, and readers skip. A single byte cannot be a field: then raw_size is left out. All of
// the header is canonical, which Apollo's reader demands.
func appendChunkHeader(dst []byte, c *chunk, size int) ([]byte, bool) {
	const unknown = 15
	for _, withRaw := range []bool{true, false} {
		b := appendVarintField(nil, 1, c.begin)
		b = appendVarintField(b, 2, c.end)
		b = appendVarintField(b, 3, c.count)
		if withRaw {
			b = appendVarintField(b, 4, c.raw)
		}
		rest := size - len(b)
		if rest == 0 {
			return append(dst, b...), true
		}
		if rest >= 2 && rest <= 1+binary.MaxVarintLen64-1 {
			least := int64(0) // of a varint of rest-1 bytes
			if rest > 2 {
				least = 1 << (7 * (rest - 2))
			}
			return append(dst, appendVarintField(b, unknown, least)...), true
		}
	}
	return dst, false
}

// enter fills in the entries of the index.
func (x *reindexer) enter() error {
	f, s := x.f, &x.out
	chunks := map[int64]*chunk{} // by body
	for _, c := range f.chunks {
		chunks[c.body-sectionHead] = c
	}
	counted := map[storage.TopicID]bool{}
	head := entry{}
	for _, e := range f.sections {
		switch pb.SectionType(e.typ) {
		case pb.SectionType_SECTION_CHANNEL:
			if err := x.channel(e, counted); err != nil {
				return err
			}
		case pb.SectionType_SECTION_CHUNK_HEADER:
			head = e
		case pb.SectionType_SECTION_CHUNK_BODY:
			c := chunks[e.at]
			if head.end != e.at {
				return x.refuse("the chunk at byte %d has no header", e.at)
			}
			if c.count != head.count {
				return x.refuse("the chunk at byte %d counts %d messages; %d can be read", head.at, head.count, c.count)
			}
			s.entries = append(s.entries, outEntry{pos: head.at, channel: -1, body: e.at, count: head.count, begin: head.from,
				end: head.to, raw: c.raw})
		}
	}
	s.written = len(s.channels)
	return nil
}

// channel adds the entry of a CHANNEL section. A channel that is declared twice is counted once.
func (x *reindexer) channel(e entry, counted map[storage.TopicID]bool) error {
	f, s := x.f, &x.out
	d, _, err := x.w.declaration(e.at+sectionHead, e.end, 1)
	if err != nil {
		return f.fail(e.at, "channel", err)
	}
	c := &outChannel{name: d.name, typ: d.typ}
	if d.desc.to > d.desc.from {
		if c.desc, err = x.w.bytes(d.desc); err != nil {
			return f.fail(e.at, "channel", err)
		}
	}
	topic, n := f.channels[d.name].at(e.at), int64(0)
	if !counted[topic] {
		n = f.r.topics.counts[topic]
	}
	counted[topic] = true
	s.entries = append(s.entries, outEntry{pos: e.at, channel: len(s.channels)})
	s.channels, s.counts = append(s.channels, c), append(s.counts, n)
	return nil
}

// header plans the change of the HEADER for an INDEX at an offset. If neither changes, nothing is
// planned.
func (x *reindexer) header(index int64) error {
	f := x.f
	if x.index == nil { // it ends where it does
		b, err := x.w.peek(index, sectionHead)
		if err != nil || len(b) < sectionHead {
			return f.fail(index, "index", errors.Join(err, errMalformed))
		}
		x.out.pos = index + sectionHead + parseSection(b).size
	}
	b, err := x.out.header(f.header, index)
	if err != nil {
		return f.fail(0, "header", err)
	}
	old := make([]byte, headerEnd+len(x.index))
	n, err := x.w.r.ReadAt(old[:headerEnd], 0)
	if n < headerEnd {
		return f.fail(0, "header", err)
	}
	if x.index != nil && x.end+int64(len(x.index)) <= f.size {
		if err := iox.ReadFull(x.w.r, old[headerEnd:], x.end); err != nil {
			return f.fail(x.end, "index", err)
		}
	}
	if bytes.Equal(old, append(slices.Clone(b), x.index...)) {
		x.patches = nil
		return nil
	}
	x.patches = append(x.patches, inplace.NewPatch(0, old[:headerEnd], b))
	return nil
}

func (x *reindexer) change() *storage.IndexChange {
	f := x.f
	c := &storage.IndexChange{Path: f.path, Offset: x.end, Written: int64(len(x.index)), What: "counts of the header"}
	if x.index != nil {
		c.What = "index of " + inplace.Counted(int64(len(x.out.channels)), "channel") + " and " +
			inplace.Counted(x.out.chunks, "chunk") + ", and counts of the header"
	} else {
		c.Offset = x.patches[len(x.patches)-1].Off
	}
	if x.closes {
		c.What += ", and the end of the last chunk"
	}
	c.Overwritten = min(max(f.size-x.end, 0), c.Written)
	for _, p := range x.patches {
		c.Overwritten += int64(len(p.Data))
	}
	return c
}

package cyber

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/proto"
)

// An addition is a recording to which a Writer adds: new sections of a file, or another
// segment.
type addition struct {
	topics []storage.Topic
	lock   storage.File // the last segment; nil for a file

	// Of a file:
	file     *inplace.File
	header   *pb.Header
	channels []*outChannel // in the order of their sections, with the messages that they have
	entries  []outEntry
	indexAt  int64 // the INDEX
	indexEnd int64
	start    int64 // of the new sections
}

// appendTo starts to add to the recording at path. See storage.Format.
func appendTo(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, []storage.Topic, error) {
	fsys := iox.FS(o.FS)
	paths, err := segmentPaths(fsys, path)
	if err == nil {
		paths, err = choose(fsys, path, paths)
	}
	if err != nil {
		return nil, nil, err
	}
	o.Metadata = nil
	if o.SegmentSize > 0 || o.SegmentDuration > 0 || o.SegmentNames != "" {
		return nil, nil, outError(path, "segments of what is added", storage.ErrUnsupported,
			"what is added to a file stays in it; what is added to segments is one more")
	}
	if len(paths) > 1 || paths[0] != path {
		w, err := appendSegment(ctx, path, slices.MaxFunc(paths, lowerNumber), o)
		if err != nil {
			return nil, nil, err
		}
		return w, w.place.add.topics, nil
	}
	in, err := inplace.Open(ctx, path, inplace.Options{Format: formatName, Read: openReader, Hint: soundHint, FS: fsys,
		NoSync: o.NoSync, Grows: true})
	if err != nil {
		return nil, nil, outError(path, "record to be added to", err, "")
	}
	w, err := newAppender(ctx, path, in, o)
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return w, w.place.add.topics, nil
}

// newAppender returns a Writer whose segment is a file that is there.
func newAppender(ctx context.Context, path string, in *inplace.File, o storage.WriteOptions) (*writer, error) {
	old := &addition{file: in}
	if err := old.read(ctx, path, o.FS); err != nil {
		return nil, err
	}
	if n := old.header.GetChunkRawSize(); o.ChunkSize == 0 && n <= maxSection {
		o.ChunkSize = int64(n)
	}
	w, err := newWriter(ctx, path, o)
	if err != nil {
		return nil, err
	}
	at, err := in.Begin(old.indexEnd)
	if err != nil {
		return nil, outError(path, "record to be added to", err, "")
	}
	w.place, old.start = &outPlace{path: path, add: old}, at
	w.header, w.channels = old.header, slices.Clone(old.channels)
	h := old.header
	w.seg = &outSegment{
		file: storage.File(in), out: bufio.NewWriterSize(io.NewOffsetWriter(in, at), 64<<10), pos: at,
		entries: old.entries, written: len(old.channels), chunks: clamp(h.GetChunkNumber()),
		total: clamp(h.GetMessageNumber()),
		begin: int64(h.GetBeginTime()), end: int64(h.GetEndTime()),
	}
	w.open = w.seg
	return w, nil
}

// read reads what the file has, by its index.
func (a *addition) read(ctx context.Context, path string, fsys storage.FS) (err error) {
	r, err := openOld(ctx, path, fsys)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	f := r.files[0]
	if !f.proven || !f.header.GetIsComplete() {
		return outError(path, "record to be added to: it has no sound index", storage.ErrCorrupt,
			"bagconv reindex writes it in place; bagconv recover IN OUT makes a sound copy")
	}
	a.topics, a.indexAt, a.indexEnd = r.topics.list, f.indexAt, f.indexEnd
	if f.contested {
		return unsound(path, "its index describes a channel otherwise than its section", storage.ErrCorrupt)
	}
	if err := a.readChannels(f); err != nil {
		return unsound(path, "its channels", err)
	}
	a.header = a.newHeader(f)
	for _, c := range f.chunks {
		a.entries = append(a.entries, outEntry{pos: c.head, channel: -1, body: c.body - sectionHead, count: c.count,
			begin: c.begin, end: c.end, raw: c.raw})
	}
	slices.SortFunc(a.entries, func(x, y outEntry) int { return cmp.Compare(x.pos, y.pos) })
	if _, err := a.disuse(f.size); err != nil {
		return outError(path, "record to be added to", err, "write a new recording: bagconv merge IN IN... OUT")
	}
	return nil
}

// newHeader returns the header of the file with what its sections have. Limits of a segment
// no longer apply to it.
func (a *addition) newHeader(f *file) *pb.Header {
	h := proto.CloneOf(f.header)
	messages := int64(0)
	begin, end := int64(0), int64(0)
	for i, c := range f.chunks {
		if i == 0 {
			begin, end = c.begin, c.end
		}
		messages += c.count
		begin, end = earlier(begin, c.begin), later(end, c.end)
	}
	h.MessageNumber, h.ChunkNumber = proto.Uint64(uint64(messages)), proto.Uint64(uint64(len(f.chunks)))
	h.BeginTime, h.EndTime = proto.Uint64(uint64(begin)), proto.Uint64(uint64(end))
	h.SegmentInterval, h.SegmentRawSize = proto.Uint64(0), proto.Uint64(0)
	return h
}

// readChannels reads the CHANNEL sections of a file that is sound.
func (a *addition) readChannels(f *file) error {
	w := f.window()
	defer windows.Put(w)
	for at := int64(headerEnd); at < a.indexAt; {
		b, err := w.peek(at, sectionHead)
		if err != nil {
			return err
		}
		x := parseSection(b)
		from := at + sectionHead
		if x.size < 0 || x.size > a.indexAt-from {
			return storage.ErrCorrupt
		}
		if x.typ == uint32(pb.SectionType_SECTION_CHANNEL) {
			d, _, err := w.declaration(from, from+x.size, 1)
			if err != nil {
				return err
			}
			if c := f.channels[d.name]; c.from == at {
				desc, err := w.bytes(d.desc)
				if err != nil {
					return err
				}
				a.entries = append(a.entries, outEntry{pos: at, channel: len(a.channels)})
				a.channels = append(a.channels, &outChannel{name: d.name, typ: d.typ, desc: desc, prefix: messagePrefix(d.name),
					count: f.counts[d.name]})
			}
		}
		at = from + x.size
	}
	if len(a.channels) != len(f.channels) {
		return storage.ErrCorrupt
	}
	return nil
}

// openOld opens the recording at path, which must be sound.
func openOld(ctx context.Context, path string, fsys storage.FS) (*reader, error) {
	r, err := openReader(ctx, path, storage.ReadOptions{FS: fsys, Strict: true})
	switch {
	case err == nil:
		return r.(*reader), nil
	case storage.IsDamage(err):
		return nil, unsound(path, "it is damaged", err)
	}
	return nil, err
}

func unsound(path, what string, err error) error {
	return outError(path, "record to be added to: "+what, err, soundHint)
}

// soundHint is the next step if nothing can be added to a record.
const soundHint = "make a sound copy first: bagconv recover IN OUT"

// appendSegment starts one more segment, behind the last one.
func appendSegment(ctx context.Context, path, last string, o storage.WriteOptions) (_ *writer, err error) {
	a := &addition{}
	fsys := iox.FS(o.FS)
	if a.lock, err = fsys.Open(last); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.lock.Close())
		}
	}()
	if err := iox.TryLock(a.lock); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, outError(path, "record to be added to", err, "")
	}
	r, err := openOld(ctx, path, o.FS)
	if err != nil {
		return nil, err
	}
	a.topics = r.topics.list
	if err := r.Close(); err != nil {
		return nil, err
	}
	number, ok := segmentNumber(filepath.Base(last))
	stem := segmentStem(last)
	if !ok || number+1 == maxSegments {
		return nil, outError(path, "a recording whose files are not numbered as segments", storage.ErrUnsupported,
			"write a new recording: bagconv merge IN IN... OUT")
	}
	w, err := newWriter(ctx, path, o)
	if err != nil {
		return nil, err
	}
	if _, err := iox.CleanUp(fsys, stem); err != nil {
		return nil, err
	}
	p := &outPlace{fs: fsys, path: stem, sync: !o.NoSync, segmented: true, stamps: len(last) > len(stem)+6, add: a}
	if p.out, err = iox.NewOutputs(fsys, stem, false, p.sync); err != nil {
		return nil, err
	}
	w.place, w.seg.number = p, number+1
	return w, nil
}

// lowerNumber compares the names of segments by their number.
func lowerNumber(a, b string) int {
	n, _ := segmentNumber(filepath.Base(a))
	m, _ := segmentNumber(filepath.Base(b))
	return cmp.Or(cmp.Compare(n, m), cmp.Compare(a, b))
}

// channel returns the channel that a topic continues, nil if the file has no channel of its name.
func (a *addition) channel(t *storage.Topic) (*outChannel, error) {
	if a == nil {
		return nil, nil
	}
	var refused error
	for i := range a.topics {
		if old := &a.topics[i]; old.Name == t.Name {
			if refused = t.Continues(old); refused == nil {
				break
			}
		}
	}
	if refused != nil {
		return nil, refused
	}
	if i := slices.IndexFunc(a.channels, func(c *outChannel) bool { return c.name == t.Name }); i >= 0 {
		return a.channels[i], nil
	}
	return nil, nil
}

// adds reports whether channels have a topic that the recording does not have.
func (a *addition) adds(channels []*outChannel) bool {
	return slices.ContainsFunc(channels, func(c *outChannel) bool {
		return !slices.ContainsFunc(a.topics, func(t storage.Topic) bool { return t.Name == c.name })
	})
}

// close unlocks the recording, which is as it was, unless commit was called before.
func (a *addition) close() (err error) {
	if a.file != nil {
		err = a.file.Close()
	}
	if a.lock != nil {
		err = errors.Join(err, a.lock.Close())
		a.lock = nil
	}
	return err
}

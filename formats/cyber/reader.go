package cyber

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// A reader reads a recording. ReadBlock and Info are safe for concurrent use.
type reader struct {
	ctx    context.Context
	path   string
	strict bool
	fs     storage.FS
	files  []*file // in the order of their first messages
	topics topics
	blocks func() []block // made when they are first asked for

	seq storage.Sequence // of ReadNext

	isOpen   bool  // all files are open
	several  bool  // there are several files: warnings name the file
	unread   []int // numbers of segments that are there and cannot be read
	warnings warnings.Log

	info *storage.Info // as Open has found it
}

// A block is a part of a chunk.
type block struct {
	storage.Block
	chunk *chunk
	part  int
}

// openReader opens the recording at path: a file, a folder of segments, or their
// common stem. See storage.Format.
func openReader(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	r := &reader{
		ctx: ctx, path: path, strict: o.Strict, fs: iox.FS(o.FS),
		topics: newTopics(), warnings: warnings.Log{Hints: hints},
	}
	r.blocks = sync.OnceValue(r.list)
	paths, err := segmentPaths(r.fs, path)
	if err == nil {
		paths, err = choose(r.fs, path, paths)
	}
	if err != nil {
		return nil, err
	}
	r.several = len(paths) > 1
	var failed error
	for _, p := range paths {
		f, err := r.openFile(p)
		if err == nil {
			r.files = append(r.files, f)
			continue
		}
		if !r.several || r.strict || !storage.IsDamage(err) {
			return nil, errors.Join(err, r.Close())
		}
		failed = errors.Join(failed, err)
		r.unreadable(p, err)
	}
	if len(r.files) == 0 {
		return nil, failed
	}
	if err := r.checkSegments(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.isOpen = true
	slices.SortStableFunc(r.files, func(a, b *file) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	r.info = r.newInfo()
	return r, nil
}

// unreadable reports a segment that cannot be read at all.
func (r *reader) unreadable(path string, err error) {
	lost := storage.Lost{Uncounted: true}
	if st, statErr := r.fs.Stat(path); statErr == nil {
		lost.Bytes = st.Size()
	}
	base := filepath.Base(path)
	message := fmt.Sprintf("%s: this segment cannot be read: %s", base, strings.TrimPrefix(err.Error(),
		path+": "+formatName+": "))
	r.warnings.Add(path, storage.Warning{Code: "part", Message: message, Offset: -1, Damage: true}, lost)
	if n, ok := segmentNumber(base); ok {
		r.unread = append(r.unread, n)
	}
}

// choose takes the files that belong to one recording, and refuses to guess
// between several.
func choose(fsys storage.FS, path string, paths []string) ([]string, error) {
	if len(paths) == 1 && paths[0] == path {
		return paths, nil
	}
	stems := map[string][]string{}
	for _, p := range paths {
		if sniffPath(fsys, p) {
			stem := segmentStem(filepath.Base(p))
			stems[stem] = append(stems[stem], p)
		}
	}
	for _, p := range paths { // segments of these that are damaged
		base := filepath.Base(p)
		stem := segmentStem(base)
		if stem == base || len(stems[stem]) == 0 || slices.Contains(stems[stem], p) {
			continue
		}
		if st, err := fsys.Stat(p); err == nil && st.Mode().IsRegular() {
			stems[stem] = append(stems[stem], p)
		}
	}
	names := slices.Sorted(maps.Keys(stems))
	switch len(names) {
	case 0:
		return nil, &storage.Error{Format: formatName, Path: path, Offset: -1, What: "a folder without records",
			Err: storage.ErrUnknownFormat}
	case 1:
		return stems[names[0]], nil
	}
	if len(names) > 5 {
		names = append(names[:5], "...")
	}
	return nil, &storage.Error{
		Format: formatName, Path: path, Offset: -1, Err: storage.ErrUnsupported,
		What: fmt.Sprintf("a folder with several recordings (%s)", strings.Join(names, ", ")),
		Hint: "name one of them: " + filepath.Join(path, names[0]),
	}
}

// list makes the blocks.
func (r *reader) list() (list []block) {
	n := 0
	for _, f := range r.files {
		for _, c := range f.chunks {
			n += c.parts()
		}
	}
	list = make([]block, 0, n)
	for _, f := range r.files {
		for _, c := range f.chunks {
			for part := range c.parts() {
				size := c.bound(part+1) - c.bound(part)
				b := storage.Block{Offset: c.bound(part), Size: size, RawSize: size, Messages: -1}
				switch {
				case c.measured:
					s := c.spans[part]
					b.Messages, b.Start, b.End, b.Timed = s.count, s.begin, s.end, s.count > 0
				case c.bounded:
					// Where in the chunk a part's times are is not known.
					b.Start, b.End, b.Timed = c.begin, c.end, true
					if c.parts() == 1 {
						b.Messages = c.count
					}
				}
				list = append(list, block{Block: b, chunk: c, part: part})
			}
		}
	}
	return list
}

// Info describes the recording. See storage.Reader.
func (r *reader) Info() *storage.Info { return r.info.Clone() }

// newInfo returns what Info does.
func (r *reader) newInfo() *storage.Info {
	info := &storage.Info{
		Format: formatName, Version: "1.0", Path: r.path,
		Compression: map[string]int64{}, Metadata: map[string]string{}, Facts: r.facts(),
	}
	for i, t := range r.topics.list {
		if t.Metadata = maps.Clone(t.Metadata); t.Metadata == nil {
			t.Metadata = map[string]string{}
		}
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: t, ID: storage.TopicID(i), Messages: r.topics.counts[i]})
		info.Messages += r.topics.counts[i]
	}
	first := true
	for _, f := range r.files {
		info.Size += f.size
		info.Files = append(info.Files, f.path)
		if n := len(f.chunks); n > 0 {
			info.Compression["none"] += int64(n)
		}
		if f.begin <= f.end {
			if first {
				info.Start, info.End, first = f.begin, f.end, false
			}
			info.Start, info.End = min(info.Start, f.begin), max(info.End, f.end)
		}
	}
	if h := r.files[0].header; h != nil {
		info.Version = fmt.Sprintf("%d.%d", h.GetMajorVersion(), h.GetMinorVersion())
		for key, v := range map[string]string{
			metaMapName: h.GetMapInfo().GetName(), metaMapVersion: h.GetMapInfo().GetVersion(),
			metaVehicleName: h.GetVehicleInfo().GetName(),
		} {
			if v != "" {
				info.Metadata[key] = v
			}
		}
	}
	info.Damage = r.Damage()
	return info
}

// Damage returns what was found so far. See storage.Reader.
func (r *reader) Damage() (d storage.Damage) {
	d.Warnings, d.Lost = r.warnings.Report()
	d.Lost.Add(r.lostInChunks())
	return d
}

// lostInChunks is what reading chunks has shown beyond what opening has.
func (r *reader) lostInChunks() (lost storage.Lost) {
	for _, f := range r.files {
		for _, c := range f.chunks {
			n, known := c.lost()
			if known {
				lost.Messages += max(0, n)
			} else if c.broken.Load() {
				lost.Uncounted = true
			}
		}
	}
	return lost
}

// Blocks lists the parts of the chunks. See storage.BlockReader.
func (r *reader) Blocks(ctx context.Context, wanted *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	list := r.blocks()
	out := make([]storage.Block, len(list))
	for i := range list {
		out[i] = list[i].Block
	}
	if wanted == nil {
		return out, r.order(), nil
	}
	return out, storage.OrderBlocks, findTimes(ctx, list, out, wanted)
}

// order is by parts or by blocks: chunk headers have times, and chunks are read in parts.
func (r *reader) order() storage.Order {
	order := storage.OrderBlocks
	for _, f := range r.files {
		for _, c := range f.chunks {
			switch {
			case c.measured:
			case !c.bounded:
				return storage.OrderNone
			case c.parts() > 1:
				order = storage.OrderParts
			}
		}
	}
	return order
}

// timers is how many chunks of a distant file are gone over at a time: each waits for answers.
const timers = 8

// findTimes goes over the heads of the messages in chunks of several parts, if the chunk may have
// messages of the range, and sets the times in out.
func findTimes(ctx context.Context, list []block, out []storage.Block, wanted *storage.TimeRange) error {
	workers, i := 1, 0
	if len(list) > 0 && iox.Distant(list[0].chunk.file.file) {
		workers = timers
	}
	return ordered.Line[int]{Workers: workers, Next: func() (at int, _ int64, ok bool) {
		for ; i < len(list); i += list[i].chunk.parts() {
			c := list[i].chunk
			within := c.parts() > 1 && c.end >= wanted.First && c.begin <= wanted.Last
			if !c.measured && (!c.bounded || within) {
				at, i = i, i+c.parts()
				return at, 0, true
			}
		}
		return 0, 0, false
	}, Work: func(_, at int) error {
		spans, err := list[at].chunk.times(ctx)
		for part, s := range spans {
			b := &out[at+part]
			b.Messages, b.Start, b.End, b.Timed = s.count, s.begin, s.end, s.count > 0
		}
		return err
	}}.Run(ctx)
}

// ReadBlock reads a part of a chunk. See storage.BlockReader.
func (r *reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	b.Messages = b.Messages[:0]
	if err := errors.Join(ctx.Err(), r.ctx.Err()); err != nil {
		return err
	}
	list := r.blocks()
	if i < 0 || i >= len(list) {
		return &storage.Error{Format: formatName, Path: r.path, Offset: -1, What: fmt.Sprintf("there is no block %d", i)}
	}
	return list[i].chunk.read(ctx, list[i].part, b)
}

// ReadNext returns the next message of the blocks in order. See storage.Reader.
func (r *reader) ReadNext() (*storage.Message, error) { return r.seq.Next(r.ctx, r, len(r.blocks())) }

// Close closes the files.
func (r *reader) Close() error {
	r.seq.Stop(&storage.Error{Format: formatName, Path: r.path, Offset: -1, What: "the reader is closed"})
	var err error
	for _, f := range r.files {
		err = errors.Join(err, f.file.Close())
	}
	return err
}

var (
	_ storage.Reader      = (*reader)(nil)
	_ storage.BlockReader = (*reader)(nil)
)

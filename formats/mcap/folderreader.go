package mcap

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// A folderReader reads a rosbag2 folder: its parts, one after the other, as one recording.
// ReadBlock, Query and Info are safe for concurrent use.
type folderReader struct {
	ctx    context.Context
	path   string
	strict bool
	layout *ros2bag.Layout

	unpacker *ros2bag.Unpacker

	parts  []*inPart
	topics ros2bag.Topics
	blocks []partBlock
	size   int64

	info    *storage.Info
	missing int64 // messages that metadata.yaml counts and that are not there
	seq     storage.Sequence

	warnings warnings.Log
}

// An inPart is a part of a folder.
type inPart struct {
	*reader
	name   string
	packed bool              // the file is compressed as a whole
	topics []storage.TopicID // topics of the folder, by topic of the part
	first  int               // number of its first block
}

// A partBlock is a block of a part.
type partBlock struct {
	part  *inPart
	block int
}

// openFolder opens a rosbag2 folder, or one part that is compressed as a whole. See
// storage.Format.
func openFolder(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	r := &folderReader{ctx: ctx, path: path, strict: o.Strict, warnings: warnings.Log{Hints: ros2bag.Hints}}
	r.topics = ros2bag.Topics{Custom: map[string]string{}, Source: "the files", Warn: r.warn, Explained: r.damaged}
	if err := r.open(o); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *folderReader) open(o storage.ReadOptions) (err error) {
	fsys := iox.FS(o.FS)
	if r.layout, err = mcapStorage.Find(r.ctx, fsys, r.path, r.warner("")); err != nil {
		return r.fail(r.path, "", err)
	}
	r.size, r.unpacker = r.layout.Size(fsys), ros2bag.NewUnpacker(o.Memory)
	var failed error
	for _, path := range r.layout.Parts {
		p, err := r.openPart(fsys, path, o)
		if err == nil {
			r.parts = append(r.parts, p)
			continue
		}
		err = r.fail(path, "", err)
		if !storage.IsDamage(err) || r.strict || len(r.layout.Parts) == 1 {
			return err
		}
		failed = errors.Join(failed, err)
		lost := storage.Lost{Blocks: 1, Uncounted: true}
		if st, e := fsys.Stat(path); e == nil {
			lost.Bytes = st.Size()
		}
		if err := r.warnLost(lost, "part", -1, true, path, "it is not read: %v", errors.Unwrap(err)); err != nil {
			return err
		}
	}
	if len(r.parts) == 0 {
		return failed
	}
	if err := r.joinTopics(); err != nil {
		return err
	}
	for _, p := range r.parts {
		p.first = len(r.blocks)
		for i := range p.blocks {
			r.blocks = append(r.blocks, partBlock{p, i})
		}
	}
	r.info = r.newInfo()
	if err := r.compareCount(); err != nil {
		return err
	}
	r.info.Damage = r.Damage()
	return nil
}

// openPart opens a part, decompressed if it is compressed as a whole.
func (r *folderReader) openPart(fsys storage.FS, path string, o storage.ReadOptions) (*inPart, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, err
	}
	p := &inPart{name: filepath.Base(path)}
	head := make([]byte, len(ros2bag.ZstdMagic))
	if iox.ReadFull(f, head, 0) == nil && string(head) == ros2bag.ZstdMagic {
		if err := f.Close(); err != nil {
			return nil, err
		}
		p.packed = true
		if f, err = r.unpack(fsys, path); err != nil {
			return nil, err
		}
	}
	if p.reader, err = openFile(r.ctx, path, f, o); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

// unpack decompresses a part. A frame without an end is damage if the file in it has no end either.
func (r *folderReader) unpack(fsys storage.FS, path string) (storage.File, error) {
	f, cut, err := r.unpacker.Inflate(r.ctx, fsys, path)
	if err != nil || cut == nil {
		return f, err
	}
	whole, err := hasEnd(f)
	switch {
	case err != nil:
	case whole:
		err = r.warn("zstd-open", false, path,
			"the zstd frame has no end, as rosbag2 writes it for a multiple of 131072 bytes; the file is complete")
	default:
		err = r.warnLost(storage.Lost{Uncounted: true}, "zstd", -1, true, path, "decompression stopped: %v", cut)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// files lists the parts for a Writer that copies chunks, no parts if their messages are compressed
// one by one. topics are the topics of the folder in the output.
func (r *folderReader) files(topics []storage.TopicID) []copyFile {
	if r.packedMessages() || r.otherCodec() || len(topics) != len(r.topics.List) {
		return nil
	}
	list := make([]copyFile, len(r.parts))
	for i, p := range r.parts {
		list[i] = copyFile{p.reader, make([]storage.TopicID, len(p.topics))}
		for k, t := range p.topics {
			list[i].topics[k] = topics[t]
		}
	}
	return list
}

// compareCount reports a count of metadata.yaml that differs from the number of messages.
func (r *folderReader) compareCount() error {
	m := r.layout.Meta
	if m == nil {
		return nil
	}
	total := r.info.Messages
	r.missing = max(0, m.Messages-total)
	if m.Messages == total {
		return nil
	}
	return r.warn("count", total < m.Messages && !r.damaged(), "", "%s counts %d messages, the files have %d",
		ros2bag.MetadataName, m.Messages, total)
}

// damaged reports whether damage is known that explains what else is missing.
func (r *folderReader) damaged() bool {
	lists := [][]storage.Warning{}
	list, _ := r.warnings.Report()
	lists = append(lists, list)
	for _, p := range r.parts {
		lists = append(lists, p.reader.Damage().Warnings)
	}
	return slices.ContainsFunc(slices.Concat(lists...), func(w storage.Warning) bool {
		return w.Damage &&
			w.Code != "metadata-topic" && w.Code != "qos"
	})
}

// Info describes the recording. See storage.Reader.
func (r *folderReader) Info() *storage.Info { return r.info.Clone() }

// newInfo returns what Info does.
func (r *folderReader) newInfo() *storage.Info {
	info := &storage.Info{
		Format: folderName, Version: "mcap 0", Path: r.path, Size: r.size, Compression: map[string]int64{},
		Metadata: r.topics.Custom, Topics: r.topics.List,
	}
	if m := r.layout.Meta; m != nil {
		info.Version = m.VersionText() + ", mcap 0"
	}
	timed := false
	for _, p := range r.parts {
		one := p.info
		info.Messages += one.Messages
		info.Files = append(info.Files, p.src.Path)
		if one.Messages > 0 {
			if !timed {
				info.Start, info.End, timed = one.Start, one.End, true
			}
			info.Start, info.End = min(info.Start, one.Start), max(info.End, one.End)
		}
		if p.packed {
			info.Compression["zstd"]++
		} else {
			for codec, n := range one.Compression {
				info.Compression[codec] += n
			}
		}
		addFacts(info, one.Facts)
	}
	if fact, some := r.unpacker.Fact(); some {
		info.Facts = append(info.Facts, fact)
	}
	return info
}

// Damage returns what was found so far, in the folder and in its parts. What is missing is
// known from metadata.yaml, if that has counted all messages. See storage.Reader.
func (r *folderReader) Damage() (d storage.Damage) {
	d.Warnings, d.Lost = r.warnings.Report()
	atOpen := int64(0)
	for _, p := range r.parts {
		one := p.reader.Damage()
		for _, w := range one.Warnings {
			w.Message = p.name + ": " + w.Message
			d.Warnings = append(d.Warnings, w)
		}
		d.Lost.Add(one.Lost)
		atOpen += p.info.Lost.Messages
	}
	m := r.layout.Meta
	if m == nil || r.info.Messages == 0 || m.Messages < r.info.Messages {
		return d
	}
	d.Lost.Messages += max(0, r.missing-atOpen)
	d.Lost.Uncounted = false
	if d.Lost.Messages > 0 {
		d.Lost.Duration = max(m.Duration-(r.info.End-r.info.Start), 0)
	}
	return d
}

// addFacts adds the facts of a part, each value once.
func addFacts(info *storage.Info, facts []storage.Fact) {
	for _, f := range facts {
		i := slices.IndexFunc(info.Facts, func(x storage.Fact) bool { return x.Key == f.Key })
		switch {
		case i < 0:
			info.Facts = append(info.Facts, f)
		case !slices.Contains(strings.Split(info.Facts[i].Value, ", "), f.Value):
			info.Facts[i].Value += ", " + f.Value
		}
	}
}

// ReadNext returns the next message, part after part. See storage.Reader.
func (r *folderReader) ReadNext() (*storage.Message, error) {
	return r.seq.Next(r.ctx, r, len(r.blocks))
}

// Close closes the parts, and removes what was decompressed.
func (r *folderReader) Close() (err error) {
	r.seq.Stop(r.fail(r.path, "the reader is closed", nil))
	for _, p := range r.parts {
		err = errors.Join(err, p.reader.Close())
	}
	r.parts = nil
	return err
}

// fail makes an error about a file, unless it is one already.
func (r *folderReader) fail(path, what string, err error) error {
	var e *storage.Error
	if errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &storage.Error{Format: folderName, Path: path, Offset: -1, What: what, Err: err}
}

// warnLost keeps a warning about a file, "" for the folder, and what was lost there.
func (r *folderReader) warnLost(lost storage.Lost, code string, at int64, damage bool, path, format string,
	args ...any) error {
	message := fmt.Sprintf(format, args...)
	if damage && r.strict {
		if path == "" {
			path = r.path
		}
		return &storage.Error{Format: folderName, Path: path, Offset: at, What: message, Err: storage.ErrCorrupt}
	}
	key := path + " " + message // metadata has several of one code
	if at >= 0 {
		key = path
	}
	if path != "" {
		message = filepath.Base(path) + ": " + message
	}
	r.warnings.Add(key, storage.Warning{Code: code, Message: message, Offset: storage.Known(at), Damage: damage}, lost)
	return nil
}

// warn keeps a warning about a file, "" for the folder.
func (r *folderReader) warn(code string, damage bool, path, format string, args ...any) error {
	return r.warnLost(storage.Lost{Uncounted: code == "missing-part"}, code, -1, damage, path, format, args...)
}

// warner binds warn to a file.
func (r *folderReader) warner(path string) ros2bag.Warner {
	return func(code string, damage bool, format string, args ...any) error {
		return r.warn(code, damage, path, format, args...)
	}
}

var (
	_ storage.Reader      = (*folderReader)(nil)
	_ storage.BlockReader = (*folderReader)(nil)
	_ storage.Querier     = (*folderReader)(nil)
	_ storage.ExtraReader = (*folderReader)(nil)
)

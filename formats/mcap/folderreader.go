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
	"github.com/bagconv/bagconv/storage"
)

// A folderReader reads a rosbag2 folder: its parts, one after the other, as one recording.
// ReadBlock, Query and Info are safe for concurrent use.
type folderReader struct {
	ros2bag.Reader
	parts  []*inPart
	blocks []partBlock
	info   *storage.Info

	packedMessages, otherCodec bool // each message is compressed by itself: as a zstd frame, or otherwise
}

// An inPart is a part of a folder.
type inPart struct {
	*reader
	name   string
	packed bool              // the file is compressed as a whole
	topics []storage.TopicID // topics of the folder, by topic of the part
}

// A partBlock is a block of a part.
type partBlock struct {
	part  *inPart
	block int
}

// openFolder opens a rosbag2 folder, or one part that is compressed as a whole. See
// storage.Format.
func openFolder(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	r := &folderReader{}
	r.Init(ctx, mcapStorage, path, "the files", &o, r.damaged)
	r.Uncounted, r.Named = []string{"missing-part"}, true
	if err := r.open(o); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *folderReader) open(o storage.ReadOptions) error {
	if err := r.Find(); err != nil {
		return err
	}
	r.packedMessages, r.otherCodec = r.Layout.Meta.PacksMessages()
	if err := r.OpenParts(func(path string) error {
		p, err := r.openPart(r.FS, path, o)
		if err == nil {
			r.parts = append(r.parts, p)
		}
		return err
	}, r.losePart); err != nil {
		return err
	}
	if err := r.joinTopics(); err != nil {
		return err
	}
	for _, p := range r.parts {
		for i := range p.blocks {
			r.blocks = append(r.blocks, partBlock{p, i})
		}
	}
	r.info = r.newInfo()
	if r.Layout.Meta != nil {
		if err := r.CompareCount(r.info.Messages, fmt.Sprintf("the files have %d", r.info.Messages)); err != nil {
			return err
		}
	}
	r.info.Damage = r.Damage()
	return nil
}

// losePart reports that a part cannot be read at all.
func (r *folderReader) losePart(path string, cause error) error {
	lost := storage.Lost{Blocks: 1, Uncounted: true}
	if st, err := r.FS.Stat(path); err == nil {
		lost.Bytes = st.Size()
	}
	return r.WarnLost(lost, "part", -1, true, path, "it is not read: %v", cause)
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
	if p.reader, err = openFile(r.Ctx, path, f, o); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

// unpack decompresses a part. A frame without an end is damage if the file in it has no end either.
func (r *folderReader) unpack(fsys storage.FS, path string) (storage.File, error) {
	f, cut, err := r.Unpacker.Inflate(r.Ctx, fsys, path)
	if err != nil || cut == nil {
		return f, err
	}
	whole, err := hasEnd(f)
	switch {
	case err != nil:
	case whole:
		err = r.Warn("zstd-open", false, path,
			"the zstd frame has no end, as rosbag2 writes it for a multiple of 131072 bytes; the file is complete")
	default:
		err = r.WarnLost(storage.Lost{Uncounted: true}, "zstd", -1, true, path, "decompression stopped: %v", cut)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// files lists the parts for a Writer that copies chunks, no parts if their messages are compressed
// one by one. topics are the topics of the folder in the output.
func (r *folderReader) files(topics []storage.TopicID) []copyFile {
	if r.packedMessages || r.otherCodec || len(topics) != len(r.Topics.List) {
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

// damaged reports whether damage is known that explains what else is missing.
func (r *folderReader) damaged() bool {
	lists := [][]storage.Warning{}
	list, _ := r.Log.Report()
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
	info := r.NewInfo(r.Layout.Size(r.FS), "mcap 0")
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
	if fact, some := r.Unpacker.Fact(); some {
		info.Facts = append(info.Facts, fact)
	}
	return info
}

// Damage returns what was found so far, in the folder and in its parts. What is missing is
// known from metadata.yaml, if that has counted all messages. See storage.Reader.
func (r *folderReader) Damage() (d storage.Damage) {
	d.Warnings, d.Lost = r.Log.Report()
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
	r.Counted(&d.Lost, r.info.Messages, r.info.Start, r.info.End, atOpen)
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
	return r.Sequence.Next(r.Ctx, r, len(r.blocks))
}

// Close closes the parts, and removes what was decompressed.
func (r *folderReader) Close() (err error) {
	r.Sequence.Stop(r.Closed())
	for _, p := range r.parts {
		err = errors.Join(err, p.reader.Close())
	}
	r.parts = nil
	return err
}

var (
	_ storage.Reader      = (*folderReader)(nil)
	_ storage.BlockReader = (*folderReader)(nil)
	_ storage.Querier     = (*folderReader)(nil)
	_ storage.ExtraReader = (*folderReader)(nil)
)

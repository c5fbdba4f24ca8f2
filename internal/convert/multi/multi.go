// Package multi reads several recordings as one. Their blocks follow each
// other, and whoever orders messages by time, as package convert does, merges
// them: k-way, with memory that does not grow with the files.
//
// Topics stay as they are, one after the other: two recordings that disagree on
// a type's definition, quality of service or latching stay apart as far as the
// target keeps them apart. Formats may be mixed.
//
// A Reader is as safe for concurrent use as the readers that it is made of.
package multi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// An Input is one of the recordings.
type Input struct {
	Path   string
	Format *storage.Format
	Shift  int64 // ns to add to all its times
}

// Format returns a format whose Open reads all inputs, whatever path it is
// given. It has the name of their format if they have the same one, and cannot write.
func Format(inputs []Input) *storage.Format {
	f := &storage.Format{
		Name: inputs[0].Format.Name, Help: "several recordings",
		Holds: storage.Capacity{Native: inputs[0].Format.Holds.Native},
		Sniff: func(storage.FS, string, []byte) bool { return false },
	}
	for _, in := range inputs {
		if in.Format != inputs[0].Format {
			f.Name, f.Holds.Native = "several", ""
		}
	}
	f.Open = func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
		return open(ctx, path, inputs, o)
	}
	f.Layout.Files = func(fsys storage.FS, _ string) (all storage.Files, err error) {
		for _, in := range inputs {
			files, e := in.Format.FilesOf(fsys, in.Path)
			err = errors.Join(err, e)
			all.Folders = append(all.Folders, files.Folders...)
			all.Messages = append(all.Messages, files.Messages...)
			all.Beside = append(all.Beside, files.Beside...)
		}
		return all, err
	}
	return f
}

func open(ctx context.Context, path string, inputs []Input, o storage.ReadOptions) (_ storage.Reader, err error) {
	r := &reader{path: path, name: Format(inputs).Name}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	blocks := true
	o.Memory /= int64(len(inputs))
	for _, in := range inputs {
		p := mergeInput{Input: in, topics: storage.TopicID(r.topics)}
		if p.reader, err = in.Format.Open(ctx, in.Path, o); err != nil {
			return nil, err
		}
		r.parts = append(r.parts, p)
		info := p.reader.Info()
		r.topics += len(info.Topics)
		blocks = blocks && storage.ReaderCapabilities(p.reader).Blocks != nil
	}
	r.info = r.newInfo()
	if !blocks {
		return struct {
			storage.Reader
			storage.ExtraReader
		}{r, r}, nil
	}
	_, _, err = r.Blocks(ctx, nil)
	return r, err
}

// A reader is several readers.
type reader struct {
	path, name string
	parts      []mergeInput
	topics     int
	blocks     int   // of all parts
	starts     []int // starts[i] is the first block of part i

	info *storage.Info

	next int   // mergeInput of ReadNext
	err  error // of ReadNext, kept
}

type mergeInput struct {
	Input
	reader storage.Reader
	topics storage.TopicID // number of the input's first topic

	differs *storage.Warning // that its metadata differs from the others'; nil: it does not
}

// Blocks lists the blocks of the first part, then of the second, and so on. They promise what all parts promise. See
// storage.BlockReader.
func (r *reader) Blocks(ctx context.Context, wanted *storage.TimeRange) (all []storage.Block, promise storage.Order,
	err error) {
	promise = storage.OrderBlocks
	var starts []int
	for i := range r.parts {
		p := &r.parts[i]
		blocks, order, err := p.list(ctx, wanted)
		if err != nil {
			return nil, order, err
		}
		promise = min(promise, order)
		starts = append(starts, len(all))
		for _, b := range blocks {
			b.Start, b.End = shift(b.Start, p.Shift), shift(b.End, p.Shift)
			b.Topics = p.numbered(b.Topics)
			all = append(all, b)
		}
	}
	r.starts, r.blocks = starts, len(all)
	return all, promise, nil
}

// list returns the blocks of a part. Their times are looked for if they are not known.
func (p *mergeInput) list(ctx context.Context, wanted *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	blocks, order, err := p.blocks().Blocks(ctx, nil)
	if wanted == nil || err != nil || order == storage.OrderBlocks {
		return blocks, order, err
	}
	return p.blocks().Blocks(ctx, &storage.TimeRange{First: shift(wanted.First, -p.Shift), Last: shift(wanted.Last,
		-p.Shift)})
}

// numbered returns topics of a part as they are among all.
func (p *mergeInput) numbered(topics []storage.TopicID) []storage.TopicID {
	if p.topics == 0 {
		return topics
	}
	all := make([]storage.TopicID, len(topics))
	for i, id := range topics {
		all[i] = id + p.topics
	}
	return all
}

func (p *mergeInput) blocks() storage.BlockReader { return storage.ReaderCapabilities(p.reader).Blocks }

// shift adds to a time, which stays within what a time can be.
func shift(t, by int64) int64 {
	switch {
	case by > 0 && t > math.MaxInt64-by:
		return math.MaxInt64
	case by < 0 && t < math.MinInt64-by:
		return math.MinInt64
	}
	return t + by
}

// Info describes all parts together. See storage.Reader.
func (r *reader) Info() *storage.Info { return r.info.Clone() }

// newInfo returns what Info does.
func (r *reader) newInfo() *storage.Info {
	all := &storage.Info{Format: r.name, Path: r.path, Compression: map[string]int64{}, Metadata: map[string]string{}}
	some := false
	for i := range r.parts {
		p := &r.parts[i]
		info := p.reader.Info()
		if i == 0 {
			all.Version = info.Version
		} else if all.Version != info.Version {
			all.Version = ""
		}
		all.Encrypted = all.Encrypted || info.Encrypted
		all.Size += info.Size
		all.Files = append(all.Files, info.Files...)
		all.Messages += info.Messages
		if info.Messages > 0 {
			start, end := shift(info.Start, p.Shift), shift(info.End, p.Shift)
			if !some {
				all.Start, all.End, some = start, end, true
			}
			all.Start, all.End = min(all.Start, start), max(all.End, end)
		}
		for k, n := range info.Compression {
			all.Compression[k] += n
		}
		for _, t := range info.Topics {
			t.ID += p.topics
			t.Metadata = maps.Clone(t.Metadata)
			all.Topics = append(all.Topics, t)
		}
		var differ []string
		for k, v := range info.Metadata {
			if old, ok := all.Metadata[k]; !ok {
				all.Metadata[k] = v
			} else if old != v {
				differ = append(differ, k)
			}
		}
		if len(differ) > 0 {
			slices.Sort(differ)
			p.differs = &storage.Warning{Code: "metadata-differs", Offset: -1,
				Message: fmt.Sprintf("%s: other recordings have another value of %s; the value of the first is kept", p.Path,
					strings.Join(differ, ", "))}
		}
	}
	all.Damage = r.Damage()
	return all
}

// Damage returns the damage of all parts. See storage.Reader.
func (r *reader) Damage() (all storage.Damage) {
	for i := range r.parts {
		p := &r.parts[i]
		if p.differs != nil {
			all.Warnings = append(all.Warnings, *p.differs)
		}
		d := p.reader.Damage()
		all.Lost.Add(d.Lost)
		for _, w := range d.Warnings {
			if p.Path != "" { // else it is the only recording
				w.Message = p.Path + ": " + w.Message
			}
			all.Warnings = append(all.Warnings, w)
		}
	}
	return all
}

// Extras lists the extras of the first part, then of the second, and so on; equal ones once. See
// storage.ExtraReader.
func (r *reader) Extras() (all storage.Extras, err error) {
	for i := range r.parts {
		p := &r.parts[i]
		extras := storage.ReaderCapabilities(p.reader).Extras
		if extras == nil {
			continue
		}
		x, err := extras.Extras()
		if err != nil {
			return all, err
		}
		for k := range x.Attachments {
			a := &x.Attachments[k]
			a.LogTime = shift(a.LogTime, p.Shift)
		}
		before := all // of the parts before this one
		for k := range x.Attachments {
			if known, err := hasAttachment(before.Attachments, &x.Attachments[k]); err != nil {
				return all, err
			} else if !known {
				all.Attachments = append(all.Attachments, x.Attachments[k])
			}
		}
		for k := range x.Metadata {
			if known, err := hasMetadata(before.Metadata, &x.Metadata[k]); err != nil {
				return all, err
			} else if !known {
				all.Metadata = append(all.Metadata, x.Metadata[k])
			}
		}
	}
	return all, nil
}

// ReadBlock reads a block of one of the parts. See storage.BlockReader.
func (r *reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if i < 0 || i >= r.blocks {
		return fmt.Errorf("there is no block %d", i)
	}
	k := len(r.starts) - 1
	for r.starts[k] > i {
		k--
	}
	p := &r.parts[k]
	wanted := b.Wanted
	if wanted != nil {
		b.Wanted = wanted[p.topics:]
	}
	err := p.blocks().ReadBlock(ctx, i-r.starts[k], b)
	if b.Wanted = wanted; err != nil {
		return err
	}
	for j := range b.Messages {
		p.place(&b.Messages[j])
	}
	return nil
}

// Inputs lists the numbers of the inputs' first topics.
func (r *reader) Inputs() (first []int) {
	for _, p := range r.parts {
		first = append(first, int(p.topics))
	}
	return first
}

// Earlier counts the inputs that begin before an input that stands before them ends, as far as their times are known.
func (r *reader) Earlier() (n int) {
	end := int64(math.MinInt64)
	for _, p := range r.parts {
		info := p.reader.Info()
		if info.Messages == 0 {
			continue
		}
		if shift(info.Start, p.Shift) < end {
			n++
		}
		end = max(end, shift(info.End, p.Shift))
	}
	return n
}

// Readers lists the readers of the inputs, whose topics follow each other, no readers if times are shifted.
func (r *reader) Readers() (list []storage.Reader) {
	for _, p := range r.parts {
		if p.Shift != 0 {
			return nil
		}
		list = append(list, p.reader)
	}
	return list
}

// place sets the topic and times of a message as they are among all parts.
func (p *mergeInput) place(m *storage.Message) {
	m.Topic += p.topics
	if p.Shift != 0 {
		m.LogTime, m.PublishTime = shift(m.LogTime, p.Shift), shift(m.PublishTime, p.Shift)
	}
}

// ReadNext returns the messages of the first part, then of the second, and so on.
func (r *reader) ReadNext() (*storage.Message, error) {
	for r.err == nil {
		if r.next == len(r.parts) {
			r.err = io.EOF
			break
		}
		m, err := r.parts[r.next].reader.ReadNext()
		if err == nil {
			r.parts[r.next].place(m)
			return m, nil
		}
		if r.next++; err != io.EOF {
			r.err = err
		}
	}
	return nil, r.err
}

// Close closes all parts.
func (r *reader) Close() error {
	var err error
	for _, p := range r.parts {
		if p.reader != nil {
			err = errors.Join(err, p.reader.Close())
		}
	}
	return err
}

var (
	_ storage.BlockReader = (*reader)(nil)
)

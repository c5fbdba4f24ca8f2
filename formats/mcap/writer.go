package mcap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// defaultChunk is the chunk threshold of other writers: a chunk ends once it has more
// bytes than this.
const defaultChunk = 1 << 20

// A writer writes an MCAP file. See storage.Writer for how it may be used.
type writer struct {
	chunked.Writer[*outChunk]
	path      string      // that the file will have
	out       *iox.Output // nil: the file is a part of an output
	codec     *compress.Codec
	level     int
	threshold int
	sync      bool
	copies    bool // chunks may be copied: nothing is asked for that they might not be
	layout    layout
	header    header
	profiled  bool // the profile was asked for
	own       ownMetadata
	restyle   bool // texts of QoS profiles are written anew, as own.profile has them
	schemed   bool // every channel has a schema, if only an empty one
	packing   *packing
	old       *oldFile // the file that is added to, or nil

	channels []outChannel
	schemas  []outSchema
	byID     map[string]int // index of schemas, by their record without the id
	begun    bool           // a chunk was begun
	pool     sync.Pool      // of *outChunk

	copying *copying // whose chunks are copied; nil: no chunks are copied
	copied  int      // chunks so far, for tests

	sections // guarded by Mu
}

// An outChannel is a channel being written.
type outChannel struct {
	channel
	about   ros2bag.Topic
	schema  int // index of Writer.schemas; -1: no schema
	written bool
	chunk   *outChunk // the last chunk with its messages
	slot    int       // its place in chunk.used
}

// An outSchema is a schema being written.
type outSchema struct {
	schema
	written bool
}

// A layout chooses which of the optional parts of a file are written. Tests compare files of any
// layout with files of other writers.
type layout struct {
	chunks, messageIndexes                             bool
	schemas, channels, statistics, chunkIndexes        bool // in the summary
	attachmentIndexes, metadataIndexes, summaryOffsets bool
}

var fullLayout = layout{true, true, true, true, true, true, true, true, true}

// createWriter starts a file. See storage.Format.
func createWriter(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	if err := options.Check(&o); err != nil {
		return nil, createError(path, "option", err, "")
	}
	w, err := newWriter(ctx, path, o)
	if err != nil {
		return nil, err
	}
	fsys := iox.FS(o.FS)
	if w.out, err = iox.NewOutput(fsys, path, o.Overwrite, w.sync); err != nil {
		return nil, createError(path, "output", err, "")
	}
	if err := w.open(fsys, w.out.Temp()); err != nil {
		return nil, errors.Join(err, w.out.Abort())
	}
	w.path = w.out.Final()
	return w, nil
}

// newWriter returns a Writer without a file. Its options were checked.
func newWriter(ctx context.Context, path string, o storage.WriteOptions) (*writer, error) {
	p, err := presetOf(&o)
	if err != nil {
		return nil, createError(path, "option", err, "")
	}
	w := &writer{
		path: path, codec: compress.Lookup(p.codec), level: p.level, threshold: p.chunk, sync: !o.NoSync, layout: p.layout,
		byID: map[string]int{}, header: header{library: ownLibrary}, restyle: o.Profile != "",
	}
	w.State = chunked.State{Ctx: ctx, Fail: w.fail}
	w.copies = o.ChunkSize == 0 && o.Level == 0 && p.plain
	w.own.profile, _ = ros2bag.FindProfile(o.Profile) // options has the names
	w.own.values = maps.Clone(o.Metadata)
	w.header.profile, w.profiled = o.Metadata[metaProfile]
	delete(w.own.values, metaProfile)
	if w.level > w.codec.MaxLevel() {
		return nil, createError(path, fmt.Sprintf("compression level %d of %s", w.level, w.codec.Name()),
			storage.ErrUnsupported, levelHint(w.codec))
	}
	if o.ChunkSize > maxChunk {
		return nil, createError(path, fmt.Sprintf("chunk size %d", o.ChunkSize), storage.ErrUnsupported,
			"a chunk may have up to 4 GiB")
	}
	return w, nil
}

// open makes the file, which has a temporary name.
func (w *writer) open(fsys storage.FS, temp string) (err error) {
	if w.File, err = fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return createError(w.path, "output", err, "")
	}
	return nil
}

// ownLibrary is the library in the header of files that are written here.
const ownLibrary = "bagconv"

// maxChunk is the most that a chunk size may be: 4 GiB.
const maxChunk = 1 << 32

func createError(path, what string, err error, hint string) error {
	return &storage.Error{Format: formatName, Path: path, Offset: -1, What: what, Err: err, Hint: hint}
}

// levelHint names the levels of a codec.
func levelHint(c *compress.Codec) string {
	if c.MaxLevel() == 0 {
		return "nothing is compressed without a codec: lz4 or zstd"
	}
	return fmt.Sprintf("levels go to %d, 0 is the default", c.MaxLevel())
}

// fail makes an error about the output.
func (w *writer) fail(what string, err error) error {
	return createError(w.path, what, err, "")
}

// The ids of channels and schemas are 16 bits; the id of a schema is not 0.
const (
	maxChannels = 1 << 16
	maxSchemas  = 1<<16 - 1
)

// Identity returns that channels are kept apart. See storage.Writer.
func (w *writer) Identity() storage.Identity { return storage.IdentityTopic }

// CreateTopic makes a channel. See storage.Writer. A topic without a type and a
// definition gets no schema. An error leaves the Writer as it was.
func (w *writer) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if err := w.Usable(); err != nil {
		return 0, err
	}
	refuse := func(format string, args ...any) (storage.TopicID, error) {
		return 0, w.fail(fmt.Sprintf("topic %.80q: ", t.Name)+fmt.Sprintf(format, args...), storage.ErrUnsupported)
	}
	if !validName(t.Name) || !validName(t.Type) {
		return refuse("a name that is not UTF-8")
	}
	if w.old != nil {
		i, err := w.old.continued(&t)
		if err != nil {
			return 0, w.fail(fmt.Sprintf("topic %.80q", t.Name), err)
		}
		if i >= 0 {
			w.old.created = append(w.old.created, i)
			return storage.TopicID(len(w.old.created) - 1), nil
		}
	}
	if len(w.channels) == maxChannels {
		return refuse("a file has %d channels at most", maxChannels)
	}
	c := outChannel{schema: -1}
	c.id, c.topic, c.encoding = uint16(len(w.channels)+1), t.Name, t.Encoding
	c.metadata = metadataOf(&t, t.Encoding == "cdr" && !w.profiled, w.qosText)
	if w.listsTopics() {
		c.about = aboutTopic(&t)
	}
	if w.schemed || t.Type != "" || t.Schema.Encoding != "" || len(t.Schema.Data) > 0 {
		s := schema{name: t.Type, encoding: t.Schema.Encoding, data: t.Schema.Data}
		k := string(s.append(nil))
		i, ok := w.byID[k]
		if !ok {
			if i = len(w.schemas); i == maxSchemas {
				return refuse("a file has %d schemas at most", maxSchemas)
			}
			s.id = uint16(i + 1)
			if w.old != nil {
				s.id = freeID(w.old.schemas, s.id, 1)
				w.old.schemas[s.id] = true
			}
			w.schemas = append(w.schemas, outSchema{schema: s})
			w.byID[k] = i
		}
		c.schema, c.channel.schema = i, w.schemas[i].id
	}
	if w.channels = append(w.channels, c); w.old != nil {
		return w.old.add(&w.channels[len(w.channels)-1], len(w.channels)-1), nil
	}
	return storage.TopicID(len(w.channels) - 1), nil
}

// aboutTopic is a topic as metadata.yaml has it.
func aboutTopic(t *storage.Topic) ros2bag.Topic {
	return ros2bag.Topic{Name: t.Name, Type: t.Type, Format: t.Encoding, Hash: t.Metadata[storage.MetaTypeHash],
		QoS: slices.Clone(t.QoS)}
}

// defineAs takes the channels and schemas of a Writer, with their ids, and what it copies.
func (w *writer) defineAs(o *writer) {
	w.channels, w.schemas, w.byID, w.copying = slices.Clone(o.channels), slices.Clone(o.schemas), maps.Clone(
		o.byID), o.copying
	for i := range w.channels {
		c := &w.channels[i]
		c.written, c.chunk, c.slot = false, nil, 0
	}
	for i := range w.schemas {
		w.schemas[i].written = false
	}
}

// validName reports whether a string can be written as text.
func validName(s string) bool { return utf8.ValidString(s) }

// Write adds a message. See storage.Writer.
func (w *writer) Write(m *storage.Message) error {
	if !w.Ready() {
		return w.Usable()
	}
	to := w.channelOf(m.Topic)
	if to < 0 {
		return w.Stop(w.fail(fmt.Sprintf("there is no topic %d", m.Topic), nil))
	}
	k := w.Cur
	if k == nil {
		k = w.newChunk()
		if !w.begun { // the first chunk defines all that is known
			for i := range w.channels {
				k.Buf = w.define(k.Buf, i)
			}
		}
		w.begun = true
	}
	c := &w.channels[to]
	k.Buf = w.define(k.Buf, to)
	if c.chunk != k {
		c.chunk, c.slot = k, len(k.used)
		k.used = append(k.used, usedChannel{channel: to, id: c.id})
	}
	last := k.Size()+recordHead+messageFixed+len(m.Data) > w.threshold
	k.message(m, c.slot, last && w.codec == compress.None && w.packing == nil && len(m.Data) >= chunked.MinLent)
	if last {
		return w.Flush(true)
	}
	return nil
}

// channelOf returns the index of the channel of a topic; -1: there is no such topic.
func (w *writer) channelOf(t storage.TopicID) int {
	switch {
	case w.old == nil && int64(t) < int64(len(w.channels)):
		return int(t)
	case w.old != nil && int64(t) < int64(len(w.old.created)):
		return w.old.created[t]
	}
	return -1
}

// define appends the records of a channel and its schema, unless they were written.
func (w *writer) define(dst []byte, i int) []byte {
	c := &w.channels[i]
	if c.written {
		return dst
	}
	c.written = true
	if c.schema >= 0 && !w.schemas[c.schema].written {
		w.schemas[c.schema].written = true
		dst = w.schemas[c.schema].append(dst)
	}
	return c.append(dst)
}

// SkipPreamble has no channel and no schema defined any more. See storage.Layout.
func (w *writer) SkipPreamble() {
	w.begun = true
	for i := range w.channels {
		w.channels[i].written = true
	}
	for i := range w.schemas {
		w.schemas[i].written = true
	}
}

// Finish writes the summary. See storage.Writer.
func (w *writer) Finish() (storage.Output, error) {
	if w.old != nil {
		return w.State.Finish(w.finish, "")
	}
	return w.State.Finish(w.finish, w.out.Temp())
}

// Commit moves the file to its name. See storage.Writer.
func (w *writer) Commit() error {
	if w.old != nil {
		return w.State.Commit(w.Finish, w.commitOld)
	}
	return w.State.Commit(w.Finish, w.out.Commit)
}

// finish writes what stands after the data, and closes the file.
func (w *writer) finish() error {
	if err := w.End(); err != nil {
		return err
	}
	if w.old == nil || w.changed() {
		if err := w.writeSelfDescription(); err != nil {
			return err
		}
	}
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if err := w.writeSummary(); err != nil {
		return err
	}
	if w.packing != nil {
		if err := w.packing.flush(w); err != nil {
			return err
		}
	}
	return w.EndFile(w.sync, "summary")
}

// Close removes what was not committed. See storage.Writer.
func (w *writer) Close() error { return errors.Join(w.closeFile(), w.out.Abort()) }

// closeFile ends all writing.
func (w *writer) closeFile() (err error) {
	err = w.Drop()
	if w.old != nil && w.old.locked != nil {
		err = errors.Join(err, w.old.locked.Close())
		w.old.locked = nil
	}
	return err
}

var (
	_ storage.Writer      = (*writer)(nil)
	_ storage.BlockWriter = (*writer)(nil)
	_ storage.BlockCopier = (*writer)(nil)
	_ storage.ExtraWriter = (*writer)(nil)
	_ storage.ExtraReader = (*reader)(nil)
)

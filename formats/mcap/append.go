package mcap

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// An oldFile is a file to which a Writer adds. Readers find the summary by the end of the file, so that bytes after the
// old end would leave it without one until the new end is there. So the data section is copied into a file beside it,
// new chunks follow, then a summary of all of them, and the copy takes the place of the file in one step:
//
//	file  Header, chunks | DataEnd, summary, Footer
//	copy  Header, chunks | new chunks | DataEnd, summary of all, Footer
//
// File systems that can share blocks do so, and the others copy without the program.
type oldFile struct {
	fs       storage.FS
	locked   storage.File // the file, as long as it is added to; nil: after that
	topics   []storage.Topic
	named    map[string][]int // indexes of writer.channels, by topic
	inUse    map[int]bool     // channels that a topic of the writer continues
	created  []int            // indexes of writer.channels, by topic of the writer
	channels map[uint16]bool  // ids
	schemas  map[uint16]bool
	unsummed bool   // there is no checksum of the data section to go on with
	records  uint32 // attachments and metadata records that it has
	added    bool   // a channel was added
}

// soundHint is the next step if nothing can be added to a file.
const soundHint = "bagconv reindex FILE writes a missing summary; bagconv recover IN OUT makes a sound copy"

// appendTo starts to add to the file at path. See storage.Format.
func appendTo(ctx context.Context, path string, o storage.WriteOptions) (_ storage.Writer, _ []storage.Topic,
	err error) {
	if err := options.Check(&o); err != nil {
		return nil, nil, createError(path, "option", err, "")
	}
	fsys := iox.FS(o.FS)
	real := inplace.RealPath(path)
	locked, err := lockOld(fsys, path, real)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, locked.Close())
		}
	}()
	r, s, err := readOld(ctx, path, fsys)
	if err != nil {
		return nil, nil, err
	}
	info := r.Info()
	if err := r.Close(); err != nil {
		return nil, nil, err
	}
	if o.Compression == "" && o.Values[storage.NamePreset] == "" {
		o.Compression = usualCodec(info)
	}
	o.Metadata = nil
	w, err := newWriter(ctx, real, o)
	if err != nil {
		return nil, nil, err
	}
	w.continueFile(r, s, info)
	w.old.fs, w.old.locked = fsys, locked
	if err := w.continueSum(s); err != nil {
		return nil, nil, err
	}
	if real != filepath.Clean(path) { // else the caller has looked for what killed runs have left
		if _, err := iox.CleanUp(fsys, real); err != nil {
			return nil, nil, createError(path, "output", err, "")
		}
	}
	out, err := iox.NewOutput(fsys, real, true, w.sync)
	if err != nil {
		return nil, nil, createError(path, "output", err, "")
	}
	if w.out, err = out, w.open(fsys, out.Temp()); err == nil {
		err = errors.Join(iox.TakeMode(w.File, locked), iox.CopyStart(ctx, w.File, locked, s.dataEnd))
	}
	if err != nil {
		w.old.locked = nil // closed here
		return nil, nil, errors.Join(createError(path, "copy of what is there", err, ""), w.Close())
	}
	w.path = path
	return w, w.old.topics, nil
}

// lockOld opens and locks the file, so that no other process adds to it.
func lockOld(fsys storage.FS, path, real string) (storage.File, error) {
	f, err := fsys.OpenFile(real, os.O_RDWR, 0)
	if err != nil {
		return nil, createError(path, "file to be added to", err, "")
	}
	refuse := func(what string, err error, hint string) (storage.File, error) {
		return nil, errors.Join(createError(path, what, err, hint), f.Close())
	}
	if err := iox.TryLock(f); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return refuse("file to be added to", err, "")
	}
	was, err := f.Stat()
	if err != nil {
		return refuse("file to be added to", err, "")
	}
	if is, err := fsys.Stat(real); err != nil || iox.Replaced(was, is) { // another process has added to it meanwhile
		return refuse("file to be added to: it was replaced just now", errors.Join(storage.ErrLocked, err), "try again")
	}
	if n := iox.HardLinks(f); n > 1 {
		return refuse(fmt.Sprintf("the file has %d names (hard links), and would change under one of them only", n),
			storage.ErrUnsupported, "copy it, and give the name of the copy")
	}
	dir := filepath.Dir(real)
	if _, err := fsys.Stat(filepath.Join(dir, "metadata.yaml")); err == nil {
		if list, err := mcapStorage.Files(fsys, dir); err == nil && !list.Guessed &&
			slices.Contains(list.Messages, filepath.Clean(real)) {
			return refuse("a part of a rosbag2 folder to be added to", storage.ErrUnsupported, "add to the folder: "+dir)
		}
	}
	return f, nil
}

// readOld opens the file, and returns its summary. What a summary hides or does not tell is refused.
func readOld(ctx context.Context, path string, fsys storage.FS) (_ *reader, _ *summary, err error) {
	refuse := func(what string, err error) (*reader, *summary, error) {
		return nil, nil, createError(path, "file to be added to: "+what, err, soundHint)
	}
	src, err := openReader(ctx, path, storage.ReadOptions{FS: fsys, Strict: true})
	if errors.Is(err, storage.ErrUnsupported) {
		return nil, nil, err
	}
	if err != nil {
		return refuse("it is damaged", err)
	}
	r, ok := src.(*reader)
	if !ok {
		return refuse("its messages are compressed one by one", errors.Join(storage.ErrUnsupported, src.Close()))
	}
	s, why, err := r.readSummary()
	switch {
	case err != nil:
	case why != "":
		_, _, err = refuse(why, storage.ErrCorrupt)
	case len(r.defs.changes) > 0:
		_, _, err = refuse("channels change their meaning in it", storage.ErrUnsupported)
	case s.statistics == nil, s.statistics.messages != uint64(r.info.Messages):
		_, _, err = refuse("its statistics do not have its messages", storage.ErrUnsupported)
	case slices.ContainsFunc(r.blocks, func(b block) bool { return b.run && b.Messages > 0 }):
		_, _, err = refuse("messages lie outside of chunks", storage.ErrUnsupported)
	case !s.lists(r.blocks):
		_, _, err = refuse("its summary does not have all chunks", storage.ErrUnsupported)
	}
	if err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	return r, s, nil
}

// lists reports whether the summary has all chunks with messages.
func (s *summary) lists(blocks []block) bool {
	known := make(map[int64]bool, len(s.chunks))
	for i := range s.chunks {
		known[int64(s.chunks[i].offset)] = true
	}
	return !slices.ContainsFunc(blocks, func(b block) bool { return b.Messages > 0 && !known[b.Offset] })
}

// usualCodec returns the codec of the most chunks.
func usualCodec(info *storage.Info) (codec string) {
	for _, name := range options.Choices(storage.NameCompression) {
		if info.Compression[name] > info.Compression[codec] {
			codec = name
		}
	}
	return codec
}

// continueFile takes what the file has: the Writer goes on behind its data section.
func (w *writer) continueFile(r *reader, s *summary, info *storage.Info) {
	old := &oldFile{topics: []storage.Topic{}, named: map[string][]int{}, inUse: map[int]bool{},
		channels: map[uint16]bool{}, schemas: map[uint16]bool{},
		records: s.statistics.attachments + s.statistics.metadata}
	w.old, w.pos = old, s.dataEnd
	w.header, w.profiled = r.header, !r.defs.usual(r.header.profile)
	if w.own.values = nil; r.own.serialized != "" { // which has counts: it is written anew
		w.own.values = maps.Clone(r.own.values)
	}
	for i := range s.schemas {
		w.oldSchema(&s.schemas[i])
	}
	counts := map[uint16]uint64{}
	eachCount(s.statistics.counts, func(id uint16, n uint64) { counts[id] += n })
	for i, t := range r.defs.list {
		if t.schema != nil {
			w.oldSchema(t.schema)
		}
		topic := info.Topics[i].Topic
		c := outChannel{channel: t.channel, schema: -1, written: true, about: aboutTopic(&topic)}
		old.channels[c.id] = true
		old.named[topic.Name] = append(old.named[topic.Name], len(w.channels))
		old.topics = append(old.topics, topic)
		w.channels = append(w.channels, c)
		w.counts = append(w.counts, counts[c.id])
	}
	w.stats = *s.statistics
	w.stats.counts = nil
	w.stats.chunks = uint32(len(s.chunks))
	for i := range s.chunks {
		w.chunkIndexes = s.chunks[i].append(w.chunkIndexes)
	}
	for i := range s.attachments {
		w.attachmentIndexes = s.attachments[i].append(w.attachmentIndexes)
	}
	for i := range s.metadata {
		w.metadataIndexes = s.metadata[i].append(w.metadataIndexes)
	}
}

// oldSchema takes a schema of the file, once.
func (w *writer) oldSchema(s *schema) {
	if w.old.schemas[s.id] {
		return
	}
	w.old.schemas[s.id] = true
	kept := *s
	kept.data = slices.Clone(s.data)
	alone := kept
	alone.id = 0
	k := string(alone.append(nil))
	if _, known := w.byID[k]; !known {
		w.byID[k] = len(w.schemas)
	}
	w.schemas = append(w.schemas, outSchema{schema: kept, written: true})
}

// continueSum goes on with the checksum of the data section. Other writers do not agree on what it covers: behind their
// data it is not known.
func (w *writer) continueSum(s *summary) error {
	b := make([]byte, 4)
	if err := iox.ReadFull(w.old.locked, b, s.dataEnd+recordHead); err != nil {
		return createError(w.path, "data end", err, "")
	}
	w.sum = binary.LittleEndian.Uint32(b)
	w.old.unsummed = w.sum == 0 || w.header.library != ownLibrary
	return nil
}

// freeID returns an id that the file does not use: the id that a new file would have, or the next one.
func freeID(old map[uint16]bool, id uint16, least uint16) uint16 {
	for old[id] || id < least {
		id++
	}
	return id
}

// continued returns the channel that a topic continues, -1 if the topic is new.
func (f *oldFile) continued(t *storage.Topic) (int, error) {
	var refused error
	same := false
	for _, i := range f.named[t.Name] {
		have := &f.topics[i]
		if err := t.Continues(have); err != nil {
			refused = err
			continue
		}
		if same = true; !f.inUse[i] {
			f.inUse[i] = true
			return i, nil
		}
	}
	if same {
		refused = nil // a name may have two types
	}
	return -1, refused
}

// add takes a new channel, whose index is given, and returns the topic of the writer.
func (f *oldFile) add(c *outChannel, index int) storage.TopicID {
	c.id = freeID(f.channels, c.id, 0)
	f.channels[c.id], f.added = true, true
	f.created = append(f.created, index)
	return storage.TopicID(len(f.created) - 1)
}

// changed reports whether anything was added to the file.
func (w *writer) changed() bool {
	return w.Appended > 0 || w.old.added || w.stats.attachments+w.stats.metadata != w.old.records
}

// commitOld puts the copy in the place of the file, unless nothing was added. The copy must read with all messages.
func (w *writer) commitOld() (err error) {
	defer func() {
		err = errors.Join(err, w.old.locked.Close())
		w.old.locked = nil
	}()
	if !w.changed() {
		return w.out.Abort()
	}
	fsys, temp := w.old.fs, w.out.Temp()
	f, err := fsys.Open(temp)
	if err != nil {
		return err
	}
	r, err := openFile(w.Ctx, temp, f, storage.ReadOptions{FS: fsys, Strict: true})
	if err != nil {
		return errors.Join(fmt.Errorf("the file with what was added does not read: %w", err), f.Close())
	}
	n := r.Info().Messages
	if err := r.Close(); err != nil {
		return err
	}
	if n != int64(w.stats.messages) || r.access != accessSummary {
		return fmt.Errorf("the file with what was added has %d messages, not %d: %w", n, w.stats.messages,
			storage.ErrCorrupt)
	}
	return w.out.Commit()
}

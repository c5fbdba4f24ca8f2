package mcap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A folderWriter writes a rosbag2 folder with one part or, if it is cut into segments,
// several. Each part is made by a Writer.
type folderWriter struct {
	state    chunked.State
	fs       storage.FS
	out      *iox.Output
	add      *ros2bag.Addition    // nil: it makes a folder
	path     string               // of the folder
	o        storage.WriteOptions // of the parts
	profile  ros2bag.Profile
	size     int64 // of a segment, in bytes of messages; 0: any
	duration int64 // of a segment, ns; 0: any
	packed   bool  // parts are compressed as a whole
	level    int   // of that

	parts []*outPart // the last one gets the messages
	known map[topicKey]bool
}

// An outPart is a part that is written.
type outPart struct {
	*writer
	span  ros2bag.Part // of its messages
	bytes int64        // of them
}

// createFolder starts a folder. See storage.Format.
func createFolder(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	fail := func(what string, err error, hint string) (storage.Writer, error) {
		return nil, &storage.Error{Format: folderName, Path: path, Offset: -1, What: what, Err: err, Hint: hint}
	}
	appends := o.Append
	o.Append = false
	if err := folderOptions.Check(&o); err != nil {
		return fail("option", err, "")
	}
	if other := o.Values[storage.NameStorage]; other != "" && other != mcapStorage.ID {
		return fail("storage "+other, storage.ErrUnsupported, "write it with the format of that storage")
	}
	level, packed, err := packFiles(&o)
	if err != nil {
		return fail("option", err, "")
	}
	if packed && appends {
		return fail("adding a part that is compressed as a whole", storage.ErrUnsupported, "omit --compression-mode; chunks can be compressed")
	}
	w := &folderWriter{path: path, packed: packed, level: level, fs: iox.FS(o.FS), o: o, size: o.SegmentSize, duration: o.SegmentDuration, known: map[topicKey]bool{}}
	w.state = chunked.State{Ctx: ctx, Fail: w.fail}
	if appends {
		return w.appendTo(ctx)
	}
	w.profile = ros2bag.ProfileFor(&o)
	if _, err := newWriter(ctx, path, o); err != nil {
		return nil, err
	}
	if w.out, err = iox.NewOutput(w.fs, path, o.Overwrite, !o.NoSync); err != nil {
		return fail("output", err, "")
	}
	if err := w.fs.Mkdir(w.out.Temp(), 0o777); err != nil {
		return nil, errors.Join(w.fail("output", err), w.out.Abort())
	}
	if err := w.addPart(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// addPart begins a part, with the channels of the part before it.
func (w *folderWriter) addPart() error {
	n := len(w.parts)
	if w.add != nil {
		n += w.add.First
	}
	name := mcapStorage.PartName(filepath.Base(w.out.Final()), n)
	part, err := newWriter(w.state.Ctx, filepath.Join(w.out.Final(), name), w.o)
	if err != nil {
		return err
	}
	part.restyle, part.schemed = true, true
	part.own = ownMetadata{values: maps.Clone(w.o.Metadata), always: true, profile: w.profile}
	part.header.profile, part.profiled = "", false
	if w.packed {
		name = ros2bag.PackedName(name)
		part.packing, part.copies = &packing{level: w.level}, false
	}
	part.state.OnBlock = w.state.OnBlock
	p := &outPart{writer: part}
	w.parts = append(w.parts, p)
	if err := p.open(w.fs, filepath.Join(w.out.Temp(), name)); err != nil {
		return err
	}
	if len(w.parts) > 1 {
		p.defineAs(w.parts[len(w.parts)-2].writer)
	}
	return nil
}

func (w *folderWriter) last() *outPart { return w.parts[len(w.parts)-1] }

func (w *folderWriter) fail(what string, err error) error {
	return &storage.Error{Format: folderName, Path: w.path, Offset: -1, What: what, Err: err}
}

// Identity returns that players know topics by name, type and encoding. See
// storage.Writer.
func (w *folderWriter) Identity() storage.Identity { return storage.IdentityType }

// CreateTopic makes a channel. See storage.Writer.
func (w *folderWriter) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if err := w.state.Usable(); err != nil {
		return 0, err
	}
	if t.Encoding == "" {
		t.Encoding = Format.Native
	}
	if err := w.add.Continue(&t); err != nil {
		return 0, w.fail("", err)
	}
	key := topicKey{name: t.Name, typ: t.Type, encoding: t.Encoding}
	if w.known[key] {
		return 0, w.fail(fmt.Sprintf("a second topic %.200q of type %.200q", t.Name, t.Type), storage.ErrUnsupported)
	}
	if _, ok := t.Metadata[metaQoS]; ok {
		t.Metadata = maps.Clone(t.Metadata)
		delete(t.Metadata, metaQoS)
	}
	id, err := w.last().CreateTopic(t)
	if err != nil {
		return 0, err
	}
	w.known[key] = true
	return id, nil
}

// Write adds a message. See storage.Writer.
func (w *folderWriter) Write(m *storage.Message) error {
	if err := w.state.Usable(); err != nil {
		return err
	}
	p, err := w.partOf(m)
	if err != nil {
		return w.state.Stop(err)
	}
	if err := p.Write(m); err != nil {
		return w.state.Stop(err)
	}
	p.span.Add(m.LogTime)
	p.bytes += int64(len(m.Data))
	return nil
}

// partOf returns the part that the next message belongs to.
func (w *folderWriter) partOf(m *storage.Message) (*outPart, error) {
	if p := w.last(); p.span.Messages > 0 && w.full(p.span, p.bytes, m) {
		if err := w.cut(); err != nil {
			return nil, err
		}
	}
	return w.last(), nil
}

// full reports whether a message would make a part with this span and these bytes of messages
// larger or longer than a segment.
func (w *folderWriter) full(span ros2bag.Part, bytes int64, m *storage.Message) bool {
	if w.size > 0 && bytes+int64(len(m.Data)) > w.size {
		return true
	}
	return w.duration > 0 && max(span.End, m.LogTime)-min(span.Start, m.LogTime) > w.duration
}

// cut ends a part and begins the next one. Chunks of the old part may still be on their way
// to its file; parts that have all of theirs are closed.
func (w *folderWriter) cut() error {
	if err := w.last().Flush(); err != nil {
		return err
	}
	for _, p := range w.parts {
		if !p.state.Finished() && p.settled() {
			if err := p.end(); err != nil {
				return err
			}
		}
	}
	return w.addPart()
}

// end writes what stands after the data of a part, and closes it.
func (p *outPart) end() error {
	_, err := p.state.Finish(p.finish, "")
	p.chunkIndexes = nil
	return err
}

// OnBlock hands full chunks to f. See storage.BlockWriter.
func (w *folderWriter) OnBlock(f func(storage.PendingBlock) error) {
	w.state.OnBlock = f
	w.last().OnBlock(f)
}

// Checkpoint ends the chunk. See storage.Checkpointer.
func (w *folderWriter) Checkpoint() error { return w.Flush() }

// Flush ends the chunk. See storage.BlockWriter.
func (w *folderWriter) Flush() error {
	if err := w.state.Usable(); err != nil {
		return err
	}
	if err := w.last().Flush(); err != nil {
		return w.state.Stop(err)
	}
	return nil
}

// CopyFrom prepares for the chunks of a file or of the parts of a folder. See
// storage.BlockCopier.
func (w *folderWriter) CopyFrom(r storage.Reader, topics []storage.TopicID) bool {
	return w.state.Ready() && len(w.parts) == 1 && w.last().CopyFrom(r, topics)
}

// CopyBlock writes a chunk as it is stored, unless a part ends within it. See
// storage.BlockCopier.
func (w *folderWriter) CopyBlock(b *storage.Batch) (bool, error) {
	if err := w.state.Usable(); err != nil {
		return false, err
	}
	if len(b.Messages) == 0 {
		return false, nil
	}
	p, err := w.partOf(&b.Messages[0])
	if err != nil {
		return false, w.state.Stop(err)
	}
	span, bytes := p.span, p.bytes
	for i := range b.Messages {
		m := &b.Messages[i]
		if span.Messages > 0 && w.full(span, bytes, m) {
			return false, nil
		}
		span.Add(m.LogTime)
		bytes += int64(len(m.Data))
	}
	ok, err := p.CopyBlock(b)
	if err != nil {
		return ok, w.state.Stop(err)
	}
	if ok {
		p.span, p.bytes = span, bytes
	}
	return ok, nil
}

// WriteAttachment copies an attachment into the current part. See storage.ExtraWriter.
func (w *folderWriter) WriteAttachment(a *storage.Attachment) error {
	return w.extra(func(p *writer) error { return p.WriteAttachment(a) })
}

// WriteMetadata writes a metadata record into the current part. See storage.ExtraWriter.
func (w *folderWriter) WriteMetadata(m *storage.MetadataRecord) error {
	return w.extra(func(p *writer) error { return p.WriteMetadata(m) })
}

func (w *folderWriter) extra(write func(*writer) error) error {
	if err := w.state.Usable(); err != nil {
		return err
	}
	p := w.last().writer
	err := write(p)
	if !p.state.Ready() {
		return w.state.Stop(err)
	}
	return err
}

// Finish finishes the parts and writes metadata.yaml. See storage.Writer.
func (w *folderWriter) Finish() (string, error) {
	temp := w.out.Temp()
	if w.add != nil {
		temp = ""
	}
	return w.state.Finish(w.finish, temp)
}

func (w *folderWriter) finish() error {
	if err := w.state.Ctx.Err(); err != nil {
		return err
	}
	var topics []ros2bag.Topic
	var parts []ros2bag.Part
	for _, p := range w.parts {
		if !p.state.Finished() {
			if err := p.end(); err != nil {
				return err
			}
		}
		topics = p.addTopics(topics)
		parts = append(parts, p.part())
	}
	meta := w.profile.Metadata(mcapStorage, w.o.Metadata, topics, parts)
	if w.add != nil {
		var err error
		if meta, err = w.add.Extend(meta); err != nil {
			return w.fail(ros2bag.MetadataName, err)
		}
	}
	if w.packed {
		meta.SetPacked()
	}
	if err := meta.WriteFile(w.fs, w.out.Temp(), !w.o.NoSync); err != nil {
		return w.fail(ros2bag.MetadataName, err)
	}
	return nil
}

// Commit moves the folder to its name. See storage.Writer.
func (w *folderWriter) Commit() error {
	if w.add != nil {
		return w.state.Commit(w.Finish, w.commitAdded)
	}
	return w.state.Commit(w.Finish, w.out.Commit)
}

// Close removes what was not committed. See storage.Writer.
func (w *folderWriter) Close() error {
	w.state.Close()
	var err error
	for _, p := range w.parts {
		err = errors.Join(err, p.closeFile())
	}
	if w.add != nil {
		return errors.Join(err, w.add.Close())
	}
	return errors.Join(err, w.out.Abort())
}

var (
	_ storage.Writer      = (*folderWriter)(nil)
	_ storage.BlockWriter = (*folderWriter)(nil)
	_ storage.BlockCopier = (*folderWriter)(nil)
	_ storage.ExtraWriter = (*folderWriter)(nil)
)

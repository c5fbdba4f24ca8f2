package mcap

import (
	"context"
	"maps"
	"path/filepath"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// A folderWriter writes a rosbag2 folder, whose parts are made by a Writer.
type folderWriter struct {
	ros2bag.Writer
	level int     // of parts that are compressed as a whole
	last  *writer // the part that takes the messages
}

// An outPart is a file as a part of a folder.
type outPart struct{ *writer }

// createFolder starts a folder. See storage.Format.
func createFolder(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	w, err := newFolderWriter(ctx, path, o)
	if err == nil {
		_, err = newWriter(ctx, path, w.Options)
	}
	if err == nil {
		err = w.Create()
	}
	if err != nil {
		return nil, err
	}
	return w, nil
}

// appendToFolder starts to add parts to a folder. See storage.Format.
func appendToFolder(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, []storage.Topic, error) {
	w, err := newFolderWriter(ctx, path, o)
	if err == nil && w.Packed {
		e := w.Fail("adding a part that is compressed as a whole", storage.ErrUnsupported)
		e.Hint = "omit --compression-mode; chunks can be compressed"
		err = e
	}
	var topics []storage.Topic
	if err == nil {
		topics, err = w.Append(openFolder, w.compressAs)
	}
	if err != nil {
		return nil, nil, err
	}
	return w, topics, nil
}

// newFolderWriter returns a writer with its options, without a place.
func newFolderWriter(ctx context.Context, path string, o storage.WriteOptions) (*folderWriter, error) {
	w := &folderWriter{}
	w.Storage, w.Begin = mcapStorage, w.begin
	w.Init(ctx, path, o)
	return w, w.checkOptions()
}

// checkOptions refuses what cannot be written.
func (w *folderWriter) checkOptions() (err error) {
	if err := folderOptions.Check(&w.Options); err != nil {
		return w.Fail("option", err)
	}
	if err := w.CheckStorage(); err != nil {
		return err
	}
	if w.level, w.Packed, err = packFiles(&w.Options); err != nil {
		return w.Fail("option", err)
	}
	return nil
}

// compressAs has parts that are added compressed like the most chunks of the recording, unless
// something is asked for.
func (w *folderWriter) compressAs(info *storage.Info) {
	o := &w.Options
	if o.Compression != "" || o.Values[storage.NamePreset] != "" {
		return
	}
	for _, name := range options.Choices(storage.NameCompression) {
		if info.Compression[name] > info.Compression[o.Compression] {
			o.Compression = name
		}
	}
}

// begin begins a part, with the channels of the part before it.
func (w *folderWriter) begin(p *ros2bag.OutPart, path string) (ros2bag.PartWriter, error) {
	part, err := newWriter(w.State.Ctx, filepath.Join(w.Out.Final(), p.Name), w.Options)
	if err != nil {
		return nil, err
	}
	part.restyle, part.schemed = true, true
	part.own = ownMetadata{values: maps.Clone(w.Options.Metadata), always: true, profile: w.Profile}
	part.header.profile, part.profiled = "", false
	if w.Packed {
		part.packing, part.copies = &packing{level: w.level}, false
	}
	part.State.OnBlock = w.State.OnBlock
	if err := part.open(w.FS, path); err != nil {
		return nil, err
	}
	if w.last != nil {
		part.defineAs(w.last)
	}
	w.last = part
	return outPart{part}, nil
}

// CreateTopic makes a channel, whose QoS profiles have one text. See ros2bag.PartWriter.
func (p outPart) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if _, ok := t.Metadata[metaQoS]; ok {
		t.Metadata = maps.Clone(t.Metadata)
		delete(t.Metadata, metaQoS)
	}
	return p.writer.CreateTopic(t)
}

// Cut ends the chunk. See ros2bag.PartWriter.
func (p outPart) Cut() error { return p.Flush(true) }

// Settle writes what stands after the data of a part, and closes it. See ros2bag.PartWriter.
func (p outPart) Settle(last bool) error {
	if p.Finished() || !last && !p.Settled() {
		return nil
	}
	_, err := p.State.Finish(p.finish, "")
	p.chunkIndexes = nil
	return err
}

// Complete has nothing to do. See ros2bag.PartWriter.
func (p outPart) Complete() error { return nil }

// Close closes the file. See ros2bag.PartWriter.
func (p outPart) Close() error { return p.closeFile() }

// CopyFrom prepares for the chunks of a file or of the parts of a folder. See
// storage.BlockCopier.
func (w *folderWriter) CopyFrom(readers []storage.Reader, topics []storage.TopicID) bool {
	return w.State.Ready() && len(w.Parts()) == 1 && w.last.CopyFrom(readers, topics)
}

// CopyBlock writes a chunk as it is stored, unless a part ends within it. See
// storage.BlockCopier.
func (w *folderWriter) CopyBlock(b *storage.Batch) (bool, error) {
	return w.Copy(b.Messages, func() (bool, error) { return w.last.CopyBlock(b) })
}

// WriteAttachment copies an attachment into the current part. See storage.ExtraWriter.
func (w *folderWriter) WriteAttachment(a *storage.Attachment) error {
	return w.extra(func() error { return w.last.WriteAttachment(a) })
}

// WriteMetadata writes a metadata record into the current part. See storage.ExtraWriter.
func (w *folderWriter) WriteMetadata(m *storage.MetadataRecord) error {
	return w.extra(func() error { return w.last.WriteMetadata(m) })
}

func (w *folderWriter) extra(write func() error) error {
	if err := w.State.Usable(); err != nil {
		return err
	}
	err := write()
	if !w.last.Ready() {
		return w.State.Stop(err)
	}
	return err
}

var (
	_ storage.Writer      = (*folderWriter)(nil)
	_ storage.BlockWriter = (*folderWriter)(nil)
	_ storage.BlockCopier = (*folderWriter)(nil)
	_ storage.ExtraWriter = (*folderWriter)(nil)
)

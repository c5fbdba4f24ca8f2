package ros2bag

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Writer writes a recording as parts of one Storage: a folder with metadata.yaml and one
// part or, if it is cut into segments, several; or a single file, which is a part by itself.
// The storage.Writer of a format embeds one, and adds what only its parts can do.
type Writer struct {
	Storage *Storage
	State   chunked.State
	Options storage.WriteOptions // of the parts
	Profile Profile
	Single  bool // there is no folder
	Packed  bool // parts are compressed as a whole
	FS      storage.FS
	Out     *iox.Output

	// Begin makes a part in a file of this path, of which p tells what is written. Close is
	// called for a part that comes with an error.
	Begin func(p *OutPart, path string) (PartWriter, error)

	// Amend adds to the metadata of some parts what only the format knows; nil: nothing.
	Amend func(*Metadata) error

	path   string     // of the recording
	add    *Addition  // nil: it makes a recording
	parts  []*OutPart // the last one takes the messages
	topics []Topic    // of all parts, without numbers of messages
	known  map[TopicKey]bool
}

// A PartWriter writes a part. What is full is handed out by State.OnBlock of the Writer.
type PartWriter interface {
	// CreateTopic makes a topic known to this part and the parts that follow.
	CreateTopic(t storage.Topic) (storage.TopicID, error)

	// Write adds a message.
	Write(m *storage.Message) error

	// OnBlock is called when State.OnBlock has changed.
	OnBlock(f func(storage.PendingBlock) error)

	// Flush hands out what is left. more is as for storage.BlockWriter.
	Flush(more bool) error

	// Cut is Flush at the end of a part that another part follows.
	Cut() error

	// Settle ends the messages of a part that gets no more, if all that was handed out came back.
	// If last is set, all must have come back. It may be called again.
	Settle(last bool) error

	// Complete ends the part, when the recording has all its topics.
	Complete() error

	// Close frees what is open.
	Close() error
}

// An OutPart is a part that is written, and what is written.
type OutPart struct {
	PartWriter
	Part
	bytes  int64   // of messages
	counts []int64 // of messages, by topic
}

// note counts a message.
func (p *OutPart) note(m *storage.Message) {
	p.Add(m.LogTime)
	p.bytes += int64(len(m.Data))
	if n := int(m.Topic) + 1 - len(p.counts); n > 0 {
		p.counts = append(p.counts, make([]int64, n)...)
	}
	p.counts[m.Topic]++
}

// TopicOf returns a topic with this number of messages as metadata.yaml has it.
func TopicOf(t *storage.Topic, messages int64) Topic {
	return Topic{Messages: messages, Name: t.Name, Type: t.Type, Format: t.Encoding,
		Hash: t.Metadata[storage.MetaTypeHash], QoS: slices.Clone(t.QoS)}
}

// Init prepares for an output at path. What is not set by then may be set before Create or
// Append is called.
func (w *Writer) Init(ctx context.Context, path string, o storage.WriteOptions) {
	w.State = chunked.State{Ctx: ctx, Fail: w.Wrap}
	w.FS, w.path, w.Options, w.known = iox.FS(o.FS), path, o, map[TopicKey]bool{}
	w.Profile = ProfileFor(&o)
}

// Options are the options of folders, whatever storage their parts have. rosbag2 knows one way to
// name parts, <folder>_<n>.
func (s *Storage) Options() storage.Options {
	ids := []string{SQLite, MCAP}
	if s.ID == MCAP {
		slices.Reverse(ids)
	}
	return storage.Options{
		{Name: storage.NameStorage, Kind: storage.OptionChoice, Values: ids, Help: "storage of the messages in a folder"},
		{Name: storage.NameSegmentSize, Kind: storage.OptionSize, Help: "begin a new file before one has more message data"},
		{Name: storage.NameSegmentDuration, Kind: storage.OptionDuration,
			Help: "begin a new file before one lasts longer, such as 60s"},
		{Name: storage.NameSegmentNames, Kind: storage.OptionChoice, Values: []string{"numbered"},
			Help: "OUT_0, OUT_1, ... in the folder"},
	}
}

// CheckStorage refuses an option that asks for parts of another storage.
func (w *Writer) CheckStorage() error {
	id := w.Options.Values[storage.NameStorage]
	if id == "" || id == w.Storage.ID {
		return nil
	}
	e := w.Fail("storage "+id, storage.ErrUnsupported)
	e.Hint = "a folder can have it, whose format is " + formatNames[id]
	return e
}

// Create starts a recording.
func (w *Writer) Create() (err error) {
	o := &w.Options
	if w.Out, err = iox.NewOutput(w.FS, w.path, o.Overwrite, !o.NoSync); err != nil {
		return w.Wrap("output", err)
	}
	if !w.Single {
		if err := w.FS.Mkdir(w.Out.Temp(), 0o777); err != nil {
			return errors.Join(w.Wrap("output", err), w.Out.Abort())
		}
	}
	return w.start()
}

// Append starts to add parts to a folder, which read opens, and returns its topics. options changes the options
// of new parts to what the recording has; nil: nothing is changed. See Addition.
func (w *Writer) Append(read inplace.Opener, options func(*storage.Info)) ([]storage.Topic, error) {
	add, info, err := w.Storage.NewAddition(w.State.Ctx, w.path, w.Options, read)
	if err != nil {
		return nil, w.Fail("recording to be added to", err)
	}
	w.add, w.Out, w.Profile, w.Options.Metadata = add, add.Out, add.Profile, add.Distro()
	if options != nil {
		options(info)
	}
	return add.topics, w.start()
}

// start begins the first part.
func (w *Writer) start() error {
	if err := w.addPart(); err != nil {
		return errors.Join(w.Wrap("", err), w.Close())
	}
	return nil
}

// addPart begins a part.
func (w *Writer) addPart() (err error) {
	name, path := filepath.Base(w.Out.Final()), w.Out.Temp()
	if !w.Single {
		n := len(w.parts)
		if w.add != nil {
			n += w.add.First
		}
		name = w.Storage.PartName(name, n)
		if path = filepath.Join(path, name); w.Packed {
			path = PackedName(path)
		}
	}
	p := &OutPart{Part: Part{Name: name}}
	w.parts = append(w.parts, p)
	p.PartWriter, err = w.Begin(p, path)
	return err
}

// Parts are the parts so far. The last one takes the messages.
func (w *Writer) Parts() []*OutPart { return w.parts }

// Last is the part that takes the messages.
func (w *Writer) Last() *OutPart { return w.parts[len(w.parts)-1] }

// Identity returns that players know topics by name, type and encoding. See storage.Writer.
func (w *Writer) Identity() storage.Identity { return storage.IdentityType }

// CreateTopic makes a topic known. The same name with another type or encoding is a topic of its
// own. Readers cannot distinguish two topics of the same name, type and encoding, so the second is
// refused with storage.ErrUnsupported. See storage.Writer.
func (w *Writer) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if err := w.State.Usable(); err != nil {
		return 0, err
	}
	if t.Encoding == "" {
		t.Encoding = cdr
	}
	if err := w.add.Continue(&t); err != nil {
		return 0, w.Fail("", err)
	}
	key := TopicKey{Name: t.Name, Type: t.Type, Encoding: t.Encoding}
	if w.known[key] {
		return 0, w.Fail(fmt.Sprintf("a second topic %.200q of type %.200q", t.Name, t.Type), storage.ErrUnsupported)
	}
	id, err := w.Last().CreateTopic(t)
	if err != nil {
		return 0, err
	}
	w.known[key] = true
	w.topics = append(w.topics, TopicOf(&t, 0))
	return id, nil
}

// Write adds a message. See storage.Writer.
func (w *Writer) Write(m *storage.Message) error {
	if err := w.State.Usable(); err != nil {
		return err
	}
	p, err := w.partOf(m)
	if err == nil {
		err = p.Write(m)
	}
	if err != nil {
		return w.State.Stop(w.Wrap("", err))
	}
	p.note(m)
	return nil
}

// partOf returns the part that the next message belongs to.
func (w *Writer) partOf(m *storage.Message) (*OutPart, error) {
	if p := w.Last(); p.Messages > 0 && w.full(&p.Part, p.bytes, m) {
		if err := w.cut(); err != nil {
			return nil, err
		}
	}
	return w.Last(), nil
}

// full reports whether a message would make a part with this span and these bytes of messages
// larger or longer than a segment.
func (w *Writer) full(span *Part, bytes int64, m *storage.Message) bool {
	o := &w.Options
	if o.SegmentSize > 0 && bytes+int64(len(m.Data)) > o.SegmentSize {
		return true
	}
	return o.SegmentDuration > 0 && uint64(max(span.End, m.LogTime))-uint64(min(span.Start, m.LogTime)) > uint64(
		o.SegmentDuration)
}

// Copy has the last part take messages as they are stored together, unless a part ends within them.
// copied reports whether it has done so.
func (w *Writer) Copy(messages []storage.Message, take func() (copied bool, err error)) (copied bool, err error) {
	if err := w.State.Usable(); err != nil {
		return false, err
	}
	if len(messages) == 0 {
		return false, nil
	}
	p, err := w.partOf(&messages[0])
	if err != nil {
		return false, w.State.Stop(w.Wrap("", err))
	}
	span, bytes := p.Part, p.bytes
	for i := range messages {
		m := &messages[i]
		if span.Messages > 0 && w.full(&span, bytes, m) {
			return false, nil
		}
		span.Add(m.LogTime)
		bytes += int64(len(m.Data))
	}
	copied, err = take()
	if err != nil {
		return copied, w.State.Stop(w.Wrap("", err))
	}
	if copied {
		for i := range messages {
			p.note(&messages[i])
		}
	}
	return copied, nil
}

// cut ends the messages of a part and begins the next one. What was handed out of the old part
// may still be on its way to its file while the new one is filled.
func (w *Writer) cut() error {
	if err := w.Last().Cut(); err != nil {
		return err
	}
	if err := w.addPart(); err != nil {
		return err
	}
	return w.Settle(false)
}

// Settle settles all parts but the last one, or all parts if last is set.
func (w *Writer) Settle(last bool) error {
	for i, p := range w.parts {
		if last || i < len(w.parts)-1 {
			if err := p.Settle(last); err != nil {
				return err
			}
		}
	}
	return nil
}

// OnBlock has what is full handed to f. See storage.BlockWriter.
func (w *Writer) OnBlock(f func(storage.PendingBlock) error) {
	w.State.OnBlock = f
	w.Last().OnBlock(f)
}

// Flush hands out what is left. See storage.BlockWriter.
func (w *Writer) Flush(more bool) error {
	if err := w.State.Usable(); err != nil {
		return err
	}
	if err := w.Last().Flush(more); err != nil {
		return w.State.Stop(w.Wrap("", err))
	}
	return nil
}

// Finish ends the parts and writes metadata.yaml. See storage.Writer.
func (w *Writer) Finish() (storage.Output, error) {
	temp := w.Out.Temp()
	if w.add != nil {
		temp = ""
	}
	return w.State.Finish(func() error { return w.Wrap("", w.finish()) }, temp)
}

func (w *Writer) finish() error {
	if err := w.State.Ctx.Err(); err != nil {
		return err
	}
	if err := w.Settle(true); err != nil {
		return err
	}
	for _, p := range w.parts {
		if err := p.Complete(); err != nil {
			return err
		}
	}
	if w.Single {
		return nil
	}
	meta, err := w.Metadata(w.parts...)
	if err == nil && w.add != nil {
		meta, err = w.add.Extend(meta)
	}
	if err == nil {
		if w.Packed {
			meta.SetPacked()
		}
		err = meta.WriteFile(w.FS, w.Out.Temp(), !w.Options.NoSync)
	}
	if err != nil {
		return w.Wrap(MetadataName, err)
	}
	return nil
}

// Metadata is what metadata.yaml has about some parts.
func (w *Writer) Metadata(parts ...*OutPart) (*Metadata, error) {
	list := make([]Part, len(parts))
	topics := make([]Topic, len(w.topics))
	copy(topics, w.topics)
	for i, p := range parts {
		list[i] = p.Part
		for topic, n := range p.counts {
			topics[topic].Messages += n
		}
	}
	m := w.Profile.Metadata(w.Storage, w.Options.Metadata, topics, list)
	if w.Amend == nil {
		return m, nil
	}
	return m, w.Amend(m)
}

// Commit moves the recording to its name, or what was added into its folder. See storage.Writer.
func (w *Writer) Commit() error {
	if w.add == nil {
		return w.State.Commit(w.Finish, w.Out.Commit)
	}
	return w.State.Commit(w.Finish, func() error {
		names := make([]string, len(w.parts))
		for i, p := range w.parts {
			names[i] = p.Name
		}
		return w.add.Commit(names)
	})
}

// Close removes what was not committed. See storage.Writer.
func (w *Writer) Close() error {
	w.State.Close()
	var err error
	for _, p := range w.parts {
		if p.PartWriter != nil {
			err = errors.Join(err, p.Close())
		}
	}
	if w.add != nil {
		return errors.Join(err, w.add.Close())
	}
	return errors.Join(err, w.Out.Abort())
}

// Fail makes an error about the output.
func (w *Writer) Fail(what string, err error) *storage.Error {
	return &storage.Error{Format: w.Storage.Format, Path: w.path, Offset: -1, What: what, Err: err}
}

// Wrap does the same, unless err is nil or tells enough.
func (w *Writer) Wrap(what string, err error) error {
	return w.Storage.Wrap(w.path, what, err)
}

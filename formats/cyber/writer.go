package cyber

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/encoding/protowire"
)

// maxName bounds the names of a channel and of its type, in bytes.
const maxName = 32 << 10

// A writer writes a recording that Apollo's RecordReader and RecordViewer both
// return in full. See storage.Writer for how it may be used.
//
// The viewer, and so cyber_recorder play, walks a recording in steps of one second, and skips
// messages of a chunk that come too late for their step: write messages in the order of time. Other
// messages are written all the same, in the order in which they came, with headers that are true; a
// reader that knows better finds them.
type writer struct {
	chunked.Writer[*outChunk]
	place           *outPlace
	header          *pb.Header // what is the same in all segments
	chunkSize       int64      // bytes of content in a chunk
	bodySize        int64      // bytes of a CHUNK_BODY, which small messages with long names fill first
	segmentSize     int64      // bytes of content; 0: no limit
	segmentDuration int64      // ns; 0: no limit

	trees    descTrees
	names    map[string]bool // of topics
	topics   []*outChannel   // index = TopicID
	channels []*outChannel   // in the order of their sections
	cached   int64           // bytes that the channels take in an INDEX
	seg      *outSegment     // the segment being filled

	open   *outSegment // whose file is being written; guarded by Mu, as broken
	broken error       // what stopped Append
}

// An outChannel is a channel being written.
type outChannel struct {
	name, typ string
	desc      []byte // ProtoDesc; shared between channels
	prefix    []byte // of a SingleMessage: the name, and the tag of the time
	count     int64  // messages in the segment being filled; of Write alone
}

// Identity returns that a channel is known by its name. See storage.Writer.
func (w *writer) Identity() storage.Identity { return storage.IdentityName }

// CreateTopic makes a channel. See storage.Writer. Of the topic its name, type
// and descriptors are kept. Apollo distinguishes channels by their name: a second
// topic of one name is refused. A topic that is refused does not stop the writer.
func (w *writer) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if err := w.Usable(); err != nil {
		return 0, err
	}
	if t.Encoding != encoding {
		return 0, w.refuse("a record has protobuf messages only", "topic %.80q: messages of encoding %q", t.Name, t.Encoding)
	}
	if t.Schema.Encoding != "" && t.Schema.Encoding != encoding {
		return 0, w.refuse("a record has protobuf descriptors only", "topic %.80q: definition of kind %q", t.Name,
			t.Schema.Encoding)
	}
	if !channelName(t.Name) || len(t.Type) > maxName {
		return 0, w.refuse(fmt.Sprintf("names are UTF-8 of 1 to %d bytes", maxName), "topic %.80q: names of %d and %d bytes",
			t.Name, len(t.Name), len(t.Type))
	}
	old, err := w.place.add.channel(&t)
	if err != nil {
		return 0, outError(w.place.path, "", err, "")
	}
	desc, err := w.trees.tree(t.Schema.Data, t.Type)
	if err != nil {
		return 0, outError(w.place.path, fmt.Sprintf("topic %.80q: descriptors", t.Name), err, "")
	}
	if text := t.Metadata[metaDesc]; len(desc) == 0 && isText([]byte(text)) {
		desc = []byte(text)
	}
	size := int64(len(desc) + len(t.Name) + len(t.Type))
	switch {
	case w.names[t.Name]:
		return 0, w.refuse("rename one of them, or leave it out",
			"a second topic %.80q: a channel has one type and one definition", t.Name)
	case w.cached+size > maxSection:
		return 0, w.refuse("write fewer topics into one recording", "descriptors of %d topics: an index of %d bytes",
			len(w.channels)+1, w.cached+size)
	}
	w.names[t.Name] = true
	if old == nil {
		old = &outChannel{name: t.Name, typ: t.Type, desc: desc, prefix: messagePrefix(t.Name)}
		w.cached += size
		w.channels = append(w.channels, old)
	}
	w.topics = append(w.topics, old)
	return storage.TopicID(len(w.topics) - 1), nil
}

// refuse returns the error for what a record cannot hold.
func (w *writer) refuse(hint, format string, args ...any) error {
	return outError(w.place.path, fmt.Sprintf(format, args...), storage.ErrUnsupported, hint)
}

// Write adds a message. See storage.Writer. Its time is LogTime; a record has
// no place for PublishTime and Sequence.
func (w *writer) Write(m *storage.Message) error {
	if !w.Ready() {
		return w.Usable()
	}
	if uint64(m.Topic) >= uint64(len(w.topics)) {
		return w.Stop(outError(w.place.path, fmt.Sprintf("there is no topic %d", m.Topic), nil, ""))
	}
	c := w.topics[m.Topic]
	content := int64(len(m.Data))
	size := int64(len(c.prefix)+protowire.SizeVarint(uint64(m.LogTime))+1+protowire.SizeVarint(uint64(content))) + content
	whole := 1 + int64(protowire.SizeVarint(uint64(size))) + size
	if whole > maxSection {
		return w.Stop(w.refuse("", "message of %d bytes", content))
	}
	if w.place.segmented && w.seg.ends(w, m.LogTime, content) {
		if err := w.nextSegment(); err != nil {
			return err
		}
	}
	k := w.Cur
	if k != nil && (k.raw+content > w.chunkSize || k.body+whole > w.bodySize || m.LogTime-k.begin > chunkInterval) {
		if err := w.Flush(true); err != nil {
			return err
		}
		k = nil
	}
	if k == nil {
		k = w.newChunk(m.LogTime)
	}
	w.seg.add(m.LogTime, content)
	c.count++
	lend := content > w.chunkSize && content >= chunked.MinLent // no other message follows in this chunk
	if k.add(c.prefix, m, size, whole, lend); lend {
		return w.Flush(true)
	}
	return nil
}

// Finish writes the rest of the last segment. See storage.Writer.
func (w *writer) Finish() (storage.Output, error) {
	out, err := w.State.Finish(w.finish, "")
	if err == nil {
		out.Path, out.Files = w.place.made(), w.place.files()
	}
	return out, err
}

// Commit moves the recording to its names. See storage.Writer.
func (w *writer) Commit() error { return w.State.Commit(w.Finish, w.commit) }

func (w *writer) commit() error {
	a := w.place.add
	switch {
	case a == nil:
		return w.place.commit()
	case w.Appended == 0 && !a.adds(w.channels):
		return w.place.abort()
	case a.file == nil:
		return errors.Join(w.place.commit(), a.close())
	}
	header, err := w.seg.header(w.header, w.seg.index)
	if err == nil {
		err = a.commit(header)
	}
	return errors.Join(err, a.close())
}

// finish writes what is left of the last segment.
func (w *writer) finish() error {
	if err := w.End(); err != nil {
		return cmp.Or(w.broken, err)
	}
	w.seal()
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if err := w.enter(w.seg); err != nil {
		return err
	}
	return w.leave()
}

// Close removes what was not committed. See storage.Writer.
func (w *writer) Close() error {
	w.State.Close()
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if w.broken == nil {
		w.broken = outError(w.place.path, "the writer is closed", os.ErrClosed, "")
	}
	var err error
	if w.open != nil && w.open.file != nil {
		err = w.open.file.Close()
		w.open.file = nil
	}
	return errors.Join(err, w.place.abort())
}

var (
	_ storage.Writer      = (*writer)(nil)
	_ storage.BlockWriter = (*writer)(nil)
)

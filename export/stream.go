package export

import (
	"context"
	"encoding/binary"
	"io"

	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/storage"
)

// The first batch of a stream has firstBlock bytes of messages, as its rows are to come early, each next one twice as
// many, up to maxBlock.
const firstBlock = 256 << 10

// Stream returns a format of outputs that are streams of Arrow IPC, written to out instead of the path of an output.
// One topic is a stream by itself. Streams of several topics come in pieces, each with a head:
//
//	u32   number of the topic, from 0 on, little endian
//	u64   bytes that follow
//	...   a piece of the stream of this topic: a whole number of IPC messages
//
// When the pieces of all topics have all messages up to a time, there is a piece of topic 0xffffffff with this log
// time, an i64 of ns, so that a reader who merges by time holds no more than what is between two of these marks. The
// first piece of each topic is its schema, whose metadata has its name as bagconv.topic.
func Stream(out io.Writer) *storage.Format {
	k := &kind{open: tables.NewArrowStream}
	var last *stream
	options := optionsOf(nil)
	k.format = &storage.Format{
		Name: "arrow stream", Layout: storage.Layout{Live: true},
		Holds: storage.Capacity{
			Carries:       func(string, string) bool { return true },
			Metadata:      []string{"*"},
			QoS:           true,
			PublishTime:   true,
			Sequence:      true,
			TopicMetadata: func(string) bool { return true },
		},
		Options: options,
		Create: func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
			set, err := settingsOf(options, &o)
			if err != nil {
				return nil, &storage.Error{Format: k.format.Name, Path: path, Offset: -1, What: "option", Err: err}
			}
			if last != nil && last.written { // the run begins again, which it does for this reason alone
				return nil, &storage.Error{Format: k.format.Name, Path: path, Offset: -1,
					What: "messages belong before the last one that was written: the index of the recording is wrong",
					Hint: "--order file writes them in the order of the file; bagconv recover writes a recording with a correct index",
					Err:  storage.ErrIndex}
			}
			last = &stream{out: out}
			w := &writer{ctx: ctx, kind: k, set: set, path: path, names: newNames(), place: last}
			w.blockBytes, w.grown = firstBlock, blockBytes(o.Memory)
			w.join()
			return &tableWriter{w, w, w, w}, nil
		},
	}
	return k.format
}

// A stream is a place whose files go into one stream.
type stream struct {
	out     io.Writer
	topics  []*streamTopic
	started bool // the number of topics is known

	written bool // something
}

// A streamTopic takes the stream of one topic.
type streamTopic struct {
	s      *stream
	number uint32
	part   []byte // of the piece that is not whole, or from before the begin
}

func (s *stream) create(string) (io.WriteCloser, error) {
	t := &streamTopic{s: s, number: uint32(len(s.topics))}
	s.topics = append(s.topics, t)
	return t, nil
}

// begin writes what came while the number of topics was not known.
func (s *stream) begin(w *writer) error {
	if s.started {
		return nil
	}
	s.started, w.rounds = true, len(s.topics) > 1
	for _, t := range s.topics {
		if err := t.flush(); err != nil {
			return err
		}
	}
	return nil
}

// Write takes a part of the stream.
func (t *streamTopic) Write(p []byte) (int, error) {
	if t.s.started && len(t.s.topics) == 1 {
		return len(p), t.piece(p)
	}
	t.part = append(t.part, p...)
	return len(p), nil
}

// maxPiece is how much memory of a piece is kept for the next one, in bytes.
const maxPiece = 16 << 20

// flush writes what was taken as a piece: it is a whole number of IPC messages.
func (t *streamTopic) flush() error {
	if !t.s.started {
		return nil
	}
	err := t.piece(t.part)
	if t.part = t.part[:0]; cap(t.part) > maxPiece {
		t.part = nil
	}
	return err
}

// piece writes a piece, with a head if there are several topics.
func (t *streamTopic) piece(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	t.s.written = true
	if len(t.s.topics) > 1 {
		if err := t.s.head(t.number, len(p)); err != nil {
			return err
		}
	}
	_, err := t.s.out.Write(p)
	return err
}

// head writes the head of a piece of n bytes.
func (s *stream) head(topic uint32, n int) error {
	head := binary.LittleEndian.AppendUint32(nil, topic)
	_, err := s.out.Write(binary.LittleEndian.AppendUint64(head, uint64(n)))
	return err
}

// A mark is a storage.PendingBlock that tells that all messages up to a log time are in the blocks before it.
type mark struct {
	s    *stream
	time int64
}

// markTopic is the number of a topic that marks have.
const markTopic = 1<<32 - 1

func (m *mark) Encode() error { return nil }

func (m *mark) Append() error {
	if err := m.s.head(markTopic, 8); err != nil {
		return err
	}
	_, err := m.s.out.Write(binary.LittleEndian.AppendUint64(nil, uint64(m.time)))
	return err
}

func (m *mark) Lent() bool { return false }

// Close writes the last piece.
func (t *streamTopic) Close() error { return t.flush() }

func (s *stream) finish(w *writer, _ []IndexTopic, _ []IndexFile) (string, error) {
	return "", s.begin(w)
}

func (s *stream) commit() error { return nil }

func (s *stream) close() error { return nil }

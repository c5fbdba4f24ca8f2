package convert

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// A fakeBag is a recording in memory, with every freedom that a real file has to
// be odd: blocks that overlap, indexes that lie, reads that fail.
type fakeBag struct {
	topics []storage.Topic
	blocks [][]storage.Message
	timed  func(i int) (start, end int64) // what the index says; nil: no times
	has    func(i int) []storage.TopicID  // the topics of a block, as the index says; nil: it does not
	parts  int                            // blocks have the times of so many together
	plain  bool                           // hide the blocks: only ReadNext
	fail   map[int]error                  // ReadBlock of block i
	format storage.Format
	files  []string // Info.Files
}

// source returns a job's source side. The path exists, because Run looks.
func (f *fakeBag) source(t *testing.T) (string, *storage.Format) {
	path := filepath.Join(t.TempDir(), "source")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	f.format = storage.Format{
		Name: "fake", Native: "cdr", PublishTime: true, Sequence: true,
		Sniff: func(storage.FS, string, []byte) bool { return true },
		Open: func(context.Context, string, storage.ReadOptions) (storage.Reader, error) {
			r := &fakeReader{bag: f}
			if f.plain {
				return struct{ storage.Reader }{r}, nil
			}
			return r, nil
		},
	}
	return path, &f.format
}

type fakeReader struct {
	bag        *fakeBag
	block, pos int
	data       []byte
	stored     bool // ReadBlock sets Batch.Stored
}

func (r *fakeReader) Info() (*storage.Info, error) {
	info := &storage.Info{Format: "fake", Files: r.bag.files}
	for i, t := range r.bag.topics {
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: t, ID: storage.TopicID(i)})
	}
	return info, nil
}

func (r *fakeReader) Damage() storage.Damage { return storage.Damage{} }
func (r *fakeReader) Close() error           { return nil }

func (r *fakeReader) ReadNext() (*storage.Message, error) {
	for r.block < len(r.bag.blocks) && r.pos == len(r.bag.blocks[r.block]) {
		r.block, r.pos = r.block+1, 0
	}
	if r.block == len(r.bag.blocks) {
		return nil, io.EOF
	}
	if err := r.bag.fail[r.block]; err != nil {
		return nil, err
	}
	m := r.bag.blocks[r.block][r.pos]
	r.pos++
	r.data = append(r.data[:0], m.Data...) // reused: a caller that keeps it will see it change
	m.Data = r.data
	return &m, nil
}

func (r *fakeReader) Blocks() ([]storage.Block, error) {
	out := make([]storage.Block, len(r.bag.blocks))
	for i, msgs := range r.bag.blocks {
		out[i] = storage.Block{Offset: int64(i), Size: 1, Messages: int64(len(msgs))}
		if r.bag.timed != nil {
			out[i].Start, out[i].End = r.bag.timed(i)
			out[i].Timed = true
		}
		if r.bag.has != nil {
			out[i].Topics = r.bag.has(i)
		}
		if r.bag.parts > 0 {
			out[i].Messages = -1
			out[i].Start, out[i].End, out[i].Timed = r.bag.group(i-i%r.bag.parts, r.bag.parts)
		}
	}
	return out, nil
}

func (r *fakeReader) Order() storage.Order {
	switch {
	case r.bag.timed != nil:
		return storage.OrderBlocks
	case r.bag.parts > 0:
		return storage.OrderParts
	}
	return storage.OrderNone
}

// group returns the times of n blocks from block i on.
func (f *fakeBag) group(i, n int) (start, end int64, some bool) {
	for _, msgs := range f.blocks[i:min(i+n, len(f.blocks))] {
		for _, m := range msgs {
			if !some {
				start, end, some = m.LogTime, m.LogTime, true
			}
			start, end = min(start, m.LogTime), max(end, m.LogTime)
		}
	}
	return start, end, true
}

func (r *fakeReader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if err := r.bag.fail[i]; err != nil {
		time.Sleep(time.Millisecond) // until others are at the blocks behind it
		return err
	}
	b.Messages, b.Buf = b.Messages[:0], b.Buf[:0]
	n := 0
	for _, m := range r.bag.blocks[i] {
		n += len(m.Data)
	}
	b.Buf = storage.Grow(b.Buf, n)[:0]
	for _, m := range r.bag.blocks[i] {
		at := len(b.Buf)
		b.Buf = append(b.Buf, m.Data...)
		m.Data = b.Buf[at:]
		b.Messages = append(b.Messages, m)
	}
	if r.stored {
		b.Stored = r.bag.blocks[i]
	}
	return nil
}

// A fakeSink keeps what it is given.
type fakeSink struct {
	topics   []storage.Topic
	messages []storage.Message
	attempts int
	closed   bool
	aborted  bool
	failAt   int // Write number, 1 is the first; 0: none
	format   storage.Format
	identity storage.Identity
}

var errFakeDisk = errors.New("disk on fire")

// targetOf is target with another writer in place of s, which embeds it.
func (s *fakeSink) targetOf(w storage.Writer) *storage.Format {
	f := s.target()
	create := f.Create
	f.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
		_, err := create(ctx, path, o)
		return w, err
	}
	return f
}

func (s *fakeSink) target() *storage.Format {
	s.format = storage.Format{
		Name: "fake", Native: "cdr", PublishTime: true, Sequence: true, Options: storage.Options{{Name: storage.NameCompression, Kind: storage.OptionChoice, Values: []string{"none"}}},
		Create: func(_ context.Context, path string, _ storage.WriteOptions) (storage.Writer, error) {
			s.attempts++
			s.topics, s.messages = nil, nil
			return s, os.WriteFile(path, nil, 0o666)
		},
	}
	return &s.format
}

// Identity keeps all topics apart, unless a test asks for names.
func (s *fakeSink) Identity() storage.Identity {
	if s.identity == storage.IdentityName {
		return s.identity
	}
	return storage.IdentityTopic
}

func (s *fakeSink) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	s.topics = append(s.topics, t)
	return storage.TopicID(len(s.topics) - 1), nil
}

func (s *fakeSink) Write(m *storage.Message) error {
	if s.failAt > 0 && len(s.messages)+1 == s.failAt {
		return errFakeDisk
	}
	c := *m
	c.Data = append([]byte(nil), m.Data...)
	s.messages = append(s.messages, c)
	return nil
}

func (s *fakeSink) Finish() (string, error) { return "", nil }
func (s *fakeSink) Commit() error           { s.closed = true; return nil }
func (s *fakeSink) Close() error            { s.aborted = s.aborted || !s.closed; return nil }

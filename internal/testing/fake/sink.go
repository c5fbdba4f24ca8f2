package fake

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// SameMessages fails the test unless both are equal.
func SameMessages(t *testing.T, got, want []storage.Message) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Topic != w.Topic || g.LogTime != w.LogTime || g.PublishTime != w.PublishTime || g.Sequence != w.Sequence ||
			!bytes.Equal(g.Data, w.Data) {
			t.Fatalf("message %d is %+v, want %+v", i, g, w)
		}
	}
}

// A Sink keeps what it gets.
type Sink struct {
	Topics     []storage.Topic
	Messages   []storage.Message
	Attempts   int
	Closed     bool
	Aborted    bool
	FailAt     int // Write number, 1 is the first; 0: none
	Format     storage.Format
	TellsApart storage.Identity
}

// ErrDisk is what Sink.Write fails with.
var ErrDisk = errors.New("disk on fire")

// TargetOf is Target with another writer in place of s, which embeds it.
func (s *Sink) TargetOf(w storage.Writer) *storage.Format {
	f := s.Target()
	create := f.Create
	f.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
		_, err := create(ctx, path, o)
		return w, err
	}
	return f
}

// Target returns a format whose writer is s.
func (s *Sink) Target() *storage.Format {
	s.Format = storage.Format{
		Name: "fake", Holds: storage.Capacity{
			Native:      "cdr",
			PublishTime: true,
			Sequence:    true,
		},
		Options: storage.Options{{Name: storage.NameCompression, Kind: storage.OptionChoice, Values: []string{"none"}}},
		Create: func(_ context.Context, path string, _ storage.WriteOptions) (storage.Writer, error) {
			s.Attempts++
			s.Topics, s.Messages = nil, nil
			return s, os.WriteFile(path, nil, 0o666)
		},
	}
	return &s.Format
}

// Identity keeps all topics apart, unless a test asks for names.
func (s *Sink) Identity() storage.Identity {
	if s.TellsApart == storage.IdentityName {
		return s.TellsApart
	}
	return storage.IdentityTopic
}

// CreateTopic keeps a topic.
func (s *Sink) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	s.Topics = append(s.Topics, t)
	return storage.TopicID(len(s.Topics) - 1), nil
}

// Write keeps a copy of a message, or fails.
func (s *Sink) Write(m *storage.Message) error {
	if s.FailAt > 0 && len(s.Messages)+1 == s.FailAt {
		return ErrDisk
	}
	c := *m
	c.Data = append([]byte(nil), m.Data...)
	s.Messages = append(s.Messages, c)
	return nil
}

// Finish does nothing.
func (s *Sink) Finish() (storage.Output, error) { return storage.Output{}, nil }

// Commit sets Closed.
func (s *Sink) Commit() error { s.Closed = true; return nil }

// Close sets Aborted, if Commit was not called.
func (s *Sink) Close() error { s.Aborted = s.Aborted || !s.Closed; return nil }

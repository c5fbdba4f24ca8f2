package storagetest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// RunReader runs what the suite has for a format that is only read, on the recording at path: a sound file with more
// than one block, if the format has blocks.
func RunReader(t *testing.T, f *storage.Format, path string) {
	t.Helper()
	c := &Config{Format: f, Name: filepath.Base(path), sample: path}
	t.Run("Recordings", func(t *testing.T) {
		path, want := c.recording(t, storage.WriteOptions{}, Recording{})
		c.check(t, path, want)
	})
	t.Run("Aliasing", c.aliasing)
	t.Run("Concurrent", c.concurrent)
	t.Run("SourceUntouched", c.sourceUntouched)
	t.Run("Elsewhere", c.otherFS)
	t.Run("Cancelled", c.cancelled)
	t.Run("ReadFaults", c.readFaults)
}

// recording writes r into a folder of its own; of a format that is only read it is a copy of the sample, and what the
// sample has.
func (c *Config) recording(t *testing.T, o storage.WriteOptions, r Recording) (string, Recording) {
	t.Helper()
	path := filepath.Join(t.TempDir(), c.Name)
	if c.sample == "" {
		if err := WriteAll(c.Format, path, o, r); err != nil {
			t.Fatal(err)
		}
		return path, r
	}
	b, err := os.ReadFile(c.sample)
	if err == nil {
		err = os.WriteFile(path, b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.Format.Open(context.Background(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	info := s.Info()
	r = Recording{Metadata: info.Metadata}
	for _, topic := range info.Topics {
		r.Topics = append(r.Topics, topic.Topic)
	}
	if r.Messages, err = ReadAll(s); err == nil {
		r.Attachments, r.Records, err = ReadExtras(s)
	}
	if err != nil || len(r.Messages) == 0 {
		t.Fatalf("%d messages, %v", len(r.Messages), err)
	}
	return path, r
}

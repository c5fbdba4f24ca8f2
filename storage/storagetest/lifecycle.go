package storagetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

func (c *Config) small() Recording {
	return c.Generate(11, Spec{Topics: 3, Messages: 400, MaxSize: 3000, Step: 1_000_000, Jitter: 2_000_000})
}

// lifecycle: what must be refused, and that errors stay.
func (c *Config) lifecycle(t *testing.T) {
	ctx := context.Background()
	for name, wrong := range map[string]func(w storage.Writer) error{
		"message of no topic": func(w storage.Writer) error {
			return w.Write(&storage.Message{Topic: 7, LogTime: start, PublishTime: start})
		},
		"topic id that overflows": func(w storage.Writer) error {
			return w.Write(&storage.Message{Topic: 1<<32 - 1, LogTime: start, PublishTime: start})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, c.Name)
			w, err := c.Format.Create(ctx, path, storage.WriteOptions{NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.CreateTopic(c.topic("/a")); err != nil {
				t.Fatal(err)
			}
			if err := wrong(w); err == nil {
				t.Error("was not refused")
			}
			if err := w.Write(&storage.Message{LogTime: start, PublishTime: start}); err == nil {
				t.Error("the writer goes on after an error")
			}
			if err := w.Commit(); err == nil {
				t.Error("Commit forgets the error")
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			c.nothingLeft(t, dir)
		})
	}
	t.Run("nothing before Commit, nothing more after", func(t *testing.T) {
		dir := t.TempDir()
		path := filepath.Join(dir, c.Name)
		w, err := c.Format.Create(ctx, path, storage.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := fill(w, c.small()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("there is something under the final name before Commit")
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("%d entries beside each other, want the output alone", len(entries))
		}
		if err := w.Write(&storage.Message{LogTime: start, PublishTime: start}); err == nil {
			t.Error("Write after Commit succeeds")
		}
		if _, err := w.CreateTopic(c.topic("/late")); err == nil {
			t.Error("CreateTopic after Commit succeeds")
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 1 {
			t.Errorf("%d entries beside each other after CreateTopic, want the output alone", len(entries))
		}
		for range 2 {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := os.Stat(path); err != nil {
			t.Error("Close after Commit took the output away")
		}
	})
	c.limits(t)
}

// limits tries times that the format cannot store.
func (c *Config) limits(t *testing.T) {
	if c.Format.Holds.MinTime != 0 || c.Format.Holds.MaxTime != 0 {
		t.Run("times beyond the limits", func(t *testing.T) {
			for _, at := range []int64{c.Format.Holds.MinTime - 1, c.Format.Holds.MaxTime + 1} {
				r := Recording{Topics: []storage.Topic{c.topic("/a")}, Messages: []storage.Message{{LogTime: at, PublishTime: at}}}
				if err := WriteAll(c.Format, filepath.Join(t.TempDir(), c.Name), storage.WriteOptions{}, r); !errors.Is(err,
					storage.ErrUnsupported) {
					t.Errorf("time %d: %v", at, err)
				}
			}
		})
	}
}

// nothingLeft fails when a folder has anything in it.
func (c *Config) nothingLeft(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Errorf("left behind: %s", e.Name())
	}
}

// existing outputs are refused, or replaced when that is asked for.
func (c *Config) existing(t *testing.T) {
	path := filepath.Join(t.TempDir(), c.Name)
	first, second := c.small(), c.Generate(12, Spec{Topics: 2, Messages: 10, MaxSize: 20, Step: 5})
	if err := WriteAll(c.Format, path, storage.WriteOptions{}, first); err != nil {
		t.Fatal(err)
	}
	if err := WriteAll(c.Format, path, storage.WriteOptions{}, second); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an existing output: %v", err)
	}
	c.check(t, path, first)
	if err := WriteAll(c.Format, path, storage.WriteOptions{Overwrite: true}, second); err != nil {
		t.Fatal(err)
	}
	c.check(t, path, second)
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d entries beside each other, want the output alone", len(entries))
	}
}

// finish: an output can be read before it has its name, and does not get it without
// Commit.
func (c *Config) finish(t *testing.T) {
	want := c.small()
	for _, commits := range []bool{true, false} {
		dir := t.TempDir()
		path := filepath.Join(dir, c.Name)
		w, err := c.Format.Create(context.Background(), path, storage.WriteOptions{NoSync: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := fill(w, want); err != nil {
			t.Fatal(err)
		}
		made, err := w.Finish()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Error("there is something under the final name before Commit")
		}
		c.check(t, made.Path, want)
		if commits {
			if err := w.Commit(); err != nil {
				t.Error(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if !commits {
			c.nothingLeft(t, dir)
			continue
		}
		c.check(t, path, want)
	}
}

// closing without Commit leaves nothing, at any moment, twice.
func (c *Config) closing(t *testing.T) {
	all := c.small()
	for _, n := range []int{-1, 0, 1, len(all.Messages)} {
		dir := t.TempDir()
		w, err := c.Format.Create(context.Background(), filepath.Join(dir, c.Name), storage.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if n >= 0 {
			if err := fill(w, Recording{Topics: all.Topics, Messages: all.Messages[:n]}); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
		c.nothingLeft(t, dir)
		if err := w.Write(&storage.Message{LogTime: start, PublishTime: start}); err == nil {
			t.Error("Write after Close succeeds")
		}
		if err := w.Commit(); err == nil {
			t.Error("Commit after Close succeeds")
		}
	}
}

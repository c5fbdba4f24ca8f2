package storagetest

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// CheckQuery asks for something of a recording that may be damaged. What comes
// must be in order and what was asked for. If neither an error nor a warning
// reports that something is wrong it must be what ReadNext returns. The reader must be
// new; a format without a Querier passes.
func CheckQuery(t testing.TB, r storage.Reader, ask storage.Query) {
	t.Helper()
	q := storage.ReaderCapabilities(r).Query
	if q == nil {
		return
	}
	got, err := collect(q, ask, -1)
	start, end := ask.Range()
	for i, m := range got {
		switch {
		case m.LogTime < start || m.LogTime > end, ask.Topics != nil && !slices.Contains(ask.Topics, m.Topic):
			t.Fatalf("%+v: message %d is of topic %d at %d", ask, i, m.Topic, m.LogTime)
		case i > 0 && (ask.Reverse && got[i-1].LogTime < m.LogTime || !ask.Reverse && got[i-1].LogTime > m.LogTime):
			t.Fatalf("%+v: message %d is at %d, after one at %d", ask, i, m.LogTime, got[i-1].LogTime)
		case ask.Limit > 0 && int64(i) >= ask.Limit:
			t.Fatalf("%+v: message %d", ask, i)
		}
	}
	if err != nil {
		var e *storage.Error
		if !errors.As(err, &e) || e.Path == "" {
			t.Fatalf("%+v: an error without a place: %v", ask, err)
		}
		return
	}
	all, err := ReadAll(r)
	if err != nil {
		return
	}
	info := InfoOf(r)
	if slices.ContainsFunc(info.Warnings, func(w storage.Warning) bool { return w.Damage }) {
		return
	}
	if d := Diff(got, Select(all, ask)); d != "" {
		t.Fatalf("%+v: no damage is reported, and %s", ask, d)
	}
}

// queryDamage flips bytes of a small recording and cuts it off: 160 times, and 400 with BAGCONV_EXHAUSTIVE=1.
func (c *Config) queryDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), c.Name)
	want := c.Generate(28, Spec{Topics: 2, Messages: 60, MaxSize: 300, Step: 1000, Jitter: 3000})
	if err := WriteAll(c.Format, path, storage.WriteOptions{NoSync: true, ChunkSize: 2 << 10}, want); err != nil {
		t.Fatal(err)
	}
	file := largest(t, path)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(28, 1))
	for i := range samples.Pick(400, 160, 160) {
		b := slices.Clone(whole)
		at := rng.IntN(len(b))
		if i%8 == 0 {
			b = b[:at]
		} else {
			b[at] ^= byte(1 + rng.IntN(255))
		}
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, ask := range []storage.Query{{}, {Topics: []storage.TopicID{0}, Reverse: true}} {
			r, err := c.Format.Open(context.Background(), path, storage.ReadOptions{Strict: i%16 == 15})
			if err != nil {
				continue
			}
			if info := r.Info(); len(info.Topics) > 0 {
				CheckQuery(t, r, ask)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if t.Failed() {
				t.Fatalf("byte %d of %d", at, len(b))
			}
		}
	}
}

// largest returns the largest file of a recording.
func largest(t *testing.T, path string) (file string) {
	t.Helper()
	size := int64(-1)
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		st, err := d.Info()
		if err == nil && st.Size() > size {
			file, size = p, st.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// queryFaults lets each operation of a query fail in turn.
func (c *Config) queryFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), c.Name)
	want := c.Generate(29, Spec{Topics: 2, Messages: 40, MaxSize: 2000, Step: 1000})
	if err := WriteAll(c.Format, path, storage.WriteOptions{NoSync: true, ChunkSize: 10 << 10}, want); err != nil {
		t.Fatal(err)
	}
	for n := int64(1); ; n++ {
		disk := &faultio.FS{FS: iox.OS, N: n}
		r, err := c.Format.Open(context.Background(), path, storage.ReadOptions{FS: disk})
		var got []storage.Message
		if err == nil {
			q := storage.ReaderCapabilities(r).Query
			if q == nil {
				t.Skip("the format has no index to ask")
			}
			got, err = collect(q, storage.Query{}, -1)
			if closing := r.Close(); err == nil {
				err = closing
			}
		}
		if !disk.Fired() {
			if err != nil || n < 3 {
				t.Errorf("after %d operations: %v", n, err)
			}
			return
		}
		if err == nil && len(got) != len(want.Messages) {
			t.Errorf("operation %d fails, and %d of %d messages are given without an error", n, len(got), len(want.Messages))
		}
		if err != nil && !errors.Is(err, faultio.ErrFault) {
			t.Errorf("operation %d: the error hides its cause: %v", n, err)
		}
	}
}

package virtual

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/multi"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// recordings lists recordings of all formats, damaged ones too.
func recordings(t testing.TB) []string {
	t.Helper()
	return samples.Recordings(t, func(path string) bool {
		_, err := all.Registry().Detect(path)
		return err == nil
	})
}

// jobOf returns the conversion of a recording to MCAP.
func jobOf(t testing.TB, path string, change func(*convert.Job)) convert.Job {
	t.Helper()
	formats := all.Registry()
	source, err := formats.Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	job := convert.Job{Source: path, SourceFormat: source, SinkFormat: formats.Lookup("mcap"),
		Sink: filepath.Join(t.TempDir(), "out.mcap")}
	job.Write.NoSync, job.Write.Compression, job.Write.ChunkSize = true, "none", 4<<10
	if change != nil {
		change(&job)
	}
	return job
}

// compareVirtual compares a virtual output with the one that Run writes: whole, in ranges by
// several readers, and from a layout that was encoded.
func compareVirtual(t *testing.T, job convert.Job, ranges int) (chunks int) {
	t.Helper()
	ctx := context.Background()
	_, failed := convert.Run(ctx, job)
	l, err := newLayout(ctx, job)
	if failed != nil || err != nil {
		if (failed == nil) != (err == nil) {
			t.Errorf("written: %v; virtual: %v", failed, err)
		}
		return 0
	}
	defer l.Close()
	want, err := os.ReadFile(job.Sink)
	if err != nil {
		t.Fatal(err)
	}
	text, err := l.encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := decodeLayout(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range []*layout{l, again} {
		v := newView(job, l, newCache(max(64<<10, l.Size/4))) // it forgets most chunks
		got := make([]byte, l.Size)
		if n, err := v.ReadAt(ctx, got, 0); err != nil || n != len(got) {
			t.Fatalf("layout %d: %d of %d bytes, %v", i, n, len(got), err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("layout %d: %d bytes that differ from the %d that are written, from %d on", i, len(got), len(want),
				differ(got, want))
		}
		if n, err := v.ReadAt(ctx, got[:10], l.Size-3); n != 3 || err != io.EOF {
			t.Errorf("beyond the end: %d, %v", n, err)
		}
		var readers sync.WaitGroup
		for r := range 8 {
			readers.Go(func() {
				random := rand.New(rand.NewSource(int64(r)))
				for range ranges / (8 + 8*i) {
					from := random.Intn(len(want))
					b := make([]byte, random.Intn(min(len(want)-from, 20_000))+1)
					if _, err := v.ReadAt(ctx, b, int64(from)); err != nil && err != io.EOF || !bytes.Equal(b, want[from:][:len(b)]) {
						t.Errorf("%d bytes at %d: %v, or they differ", len(b), from, err)
						return
					}
				}
			})
		}
		readers.Wait()
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	}
	return len(l.Chunks)
}

// differ returns where two texts begin to differ.
func differ(a, b []byte) int {
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// TestVirtual: every recording as an MCAP that is not written has the bytes of the one that is.
func TestVirtual(t *testing.T) {
	chunks := 0
	for _, path := range recordings(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			ranges := 40
			if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
				ranges = 1000
			}
			chunks += compareVirtual(t, jobOf(t, path, nil), ranges)
		})
	}
	if chunks < 100 {
		t.Errorf("only %d chunks", chunks)
	}
}

// TestVirtualFlags: so has it with each way to select, to change, to order and to compress.
func TestVirtualFlags(t *testing.T) {
	edit := func(f func(*selection.Edit) error) func(*convert.Job) {
		return func(j *convert.Job) {
			if err := f(&j.Edit); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := map[string]func(*convert.Job){
		"file order": func(j *convert.Job) { j.Order = convert.OrderFile },
		"dedupe":     func(j *convert.Job) { j.Dedupe = true },
		"cut": func(j *convert.Job) {
			start, err := selection.ParseTime("0.3s")
			if err != nil {
				t.Fatal(err)
			}
			j.Select.Start = start
		},
		"ros1": func(j *convert.Job) { j.Encoding = "ros1" },
		"keep": func(j *convert.Job) { j.Encoding = convert.EncodingKeep },
		"every": edit(func(e *selection.Edit) error {
			r, err := selection.ParseEvery("*=3")
			e.Rates = append(e.Rates, r)
			return err
		}),
		"throttle": edit(func(e *selection.Edit) error {
			r, err := selection.ParseThrottle("*=7")
			e.Rates = append(e.Rates, r)
			return err
		}),
		"offset": edit(func(e *selection.Edit) (err error) {
			e.Offset,
				err = selection.ParseOffset("+1h")
			return err
		}),
		"restamp header": edit(func(e *selection.Edit) error { e.Restamp = selection.RestampHeader; return nil }),
		"restamp log":    edit(func(e *selection.Edit) error { e.Restamp = selection.RestampLog; return nil }),
		"lz4":            func(j *convert.Job) { j.Write.Compression = "lz4" },
		"zstd":           func(j *convert.Job) { j.Write.Compression = "zstd" },
		"copied":         func(j *convert.Job) { j.Write.Compression, j.Write.ChunkSize = "lz4", 0 },
		"1 byte":         func(j *convert.Job) { j.Write.ChunkSize = 1 },
	}
	paths := recordings(t)
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			chunks := 0
			for i, path := range paths {
				if os.Getenv("BAGCONV_EXHAUSTIVE") == "" && i%6 != len(name)%6 {
					continue // each way has others
				}
				chunks += compareVirtual(t, jobOf(t, path, change), 8)
			}
			if chunks < 5 {
				t.Errorf("only %d chunks", chunks)
			}
		})
	}
}

// writeLarge writes an MCAP of n messages of 100 kB, of two topics, from a time on.
func writeLarge(t *testing.T, path, compression string, n int, start int64) {
	t.Helper()
	w, err := all.Registry().Lookup("mcap").Create(context.Background(), path, storage.WriteOptions{NoSync: true,
		Compression: compression})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var ids []storage.TopicID
	for _, name := range []string{"/a", "/b"} {
		id, err := w.CreateTopic(storage.Topic{Name: name, Type: "std_msgs/msg/String", Encoding: "cdr",
			Schema: storage.Schema{Encoding: "ros2msg", Data: []byte("string data\n")}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	random := rand.New(rand.NewSource(start))
	for i := range n {
		m := make([]byte, 100_000)
		copy(m, []byte{0, 1, 0, 0, 0x98, 0x86, 1, 0}) // 99,992 bytes of text
		for k := 8; k < len(m)-1; k++ {
			m[k] = byte('a' + random.Intn(4))
		}
		m[len(m)-1] = 0
		at := start + int64(i)*10_000_000
		if err := w.Write(&storage.Message{Topic: ids[i%2], LogTime: at, PublishTime: at, Data: m}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestVirtualCopies: chunks that a conversion copies as they are stored are the same, too, also
// between others, and those of recordings that are merged, and those that memory is too small for.
func TestVirtualCopies(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.mcap"), filepath.Join(dir, "b.mcap")
	const start = 1_700_000_000_000_000_000
	writeLarge(t, a, "lz4", 60, start)
	writeLarge(t, b, "lz4", 60, start+255_000_000) // they overlap
	copied := func(j *convert.Job) { j.Write.Compression, j.Write.ChunkSize = "lz4", 0 }
	job := jobOf(t, a, copied)
	compareVirtual(t, job, 40)
	if n := copies(t, job); n < 4 {
		t.Errorf("%d chunks are copies", n)
	}
	cut := jobOf(t, a, copied)
	var err error
	if cut.Select.Start, err = selection.ParseTime("0.123s"); err != nil {
		t.Fatal(err)
	}
	compareVirtual(t, cut, 40)
	if n := copies(t, cut); n < 2 || n >= copies(t, job) {
		t.Errorf("%d chunks after a cut are copies", n)
	}
	formats := all.Registry()
	merged := jobOf(t, a, copied)
	merged.Source = "a.mcap, b.mcap"
	merged.SourceFormat = multi.Format([]multi.Input{{Path: a, Format: formats.Lookup("mcap")},
		{Path: b, Format: formats.Lookup("mcap")}})
	compareVirtual(t, merged, 40)
	small := jobOf(t, a, func(j *convert.Job) { j.MaxMemory = 1 })
	small.Source, small.SourceFormat = merged.Source, merged.SourceFormat
	compareVirtual(t, small, 40)
}

// copies counts the chunks of a layout that are copies.
func copies(t *testing.T, job convert.Job) (n int) {
	t.Helper()
	l, err := newLayout(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range l.Chunks {
		if c.Copied >= 0 {
			n++
		}
	}
	return n
}

// TestVirtualChanged: a source that changes is an error, never a mixture.
func TestVirtualChanged(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "demo.bag"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "in.bag")
	for name, change := range map[string]func() error{
		"another time": func() error { return os.Chtimes(path, time.Now(), time.Now().Add(time.Hour)) },
		"cut":          func() error { return os.Truncate(path, int64(len(data)/2)) },
		"gone":         func() error { return os.Remove(path) },
		"other bytes, same time": func() error { // found by the sum of the chunk
			st, err := os.Stat(path)
			if err != nil {
				return err
			}
			other := bytes.ReplaceAll(data, []byte("wheel_l"), []byte("wheel_x"))
			if bytes.Equal(other, data) {
				return errors.New("nothing to change in demo.bag")
			}
			return errors.Join(os.WriteFile(path, other, 0o644), os.Chtimes(path, st.ModTime(), st.ModTime()))
		},
	} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		job := jobOf(t, path, nil)
		l, err := newLayout(ctx, job)
		if err != nil {
			t.Fatal(err)
		}
		v := newView(job, l, newCache(1<<20))
		if err := change(); err != nil {
			t.Fatal(name, err)
		}
		if n, err := v.ReadAt(ctx, make([]byte, l.Size), 0); !errors.Is(err, recording.ErrChanged) &&
			!errors.Is(err, storage.ErrTruncated) {
			t.Errorf("%s: %d of %d bytes, %v", name, n, l.Size, err)
		}
		_ = v.Close()
		_ = l.Close()
	}
}

// TestLayoutText: no bytes make decodeLayout panic, and none but its own are taken.
func TestLayoutText(t *testing.T) {
	l, err := newLayout(context.Background(), jobOf(t, filepath.Join("..", "..", "..", "testdata", "tiny.bag"), nil))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	text, err := l.encode()
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		for _, bad := range [][]byte{text[:i], append(append(bytes.Clone(text[:i]), text[i]^1), text[i+1:]...)} {
			if _, err := decodeLayout(bad); !errors.Is(err, storage.ErrCorrupt) || !strings.HasPrefix(err.Error(), "no layout") {
				t.Fatalf("byte %d: %v", i, err)
			}
		}
	}
}

// TestVirtualIndex: where the index names topics otherwise than the data, a virtual output is what Run writes without
// it.
func TestVirtualIndex(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "recordings", "ros1", "generated",
		"orphan-connection.bag"))
	if err != nil {
		t.Fatal(err)
	}
	head := []byte("topic=/chatter")
	index := int(binary.LittleEndian.Uint64(data[bytes.Index(data, []byte("index_pos="))+len("index_pos="):]))
	names := 0
	for at := index; ; names++ {
		n := bytes.Index(data[at:], head)
		if n < 0 {
			break
		}
		at += n + len(head)
		wrong := bytes.Clone(data)
		wrong[at-1] ^= 1
		path := filepath.Join(t.TempDir(), "wrong.bag")
		if err := os.WriteFile(path, wrong, 0o600); err != nil {
			t.Fatal(err)
		}
		if compareVirtual(t, jobOf(t, path, nil), 16) == 0 {
			t.Error("nothing was compared")
		}
	}
	if names == 0 {
		t.Error("the index names nothing")
	}
}

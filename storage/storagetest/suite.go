package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// recordings writes each case and reads it back in every way: with each codec if BAGCONV_EXHAUSTIVE=1 or there are
// few messages, else with two of them by turns.
func (c *Config) recordings(t *testing.T) {
	cases, codecs := c.cases(), c.Format.Options.Choices(storage.NameCompression)
	for i, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			want := cases[name]
			for k, codec := range codecs {
				if samples.Pick(0, len(want.Messages), 0) > 1000 && (i+k)%len(codecs) > 1 {
					continue
				}
				path := filepath.Join(t.TempDir(), c.Name)
				if err := WriteAll(c.Format, path, storage.WriteOptions{Compression: codec, NoSync: true}, want); err != nil {
					t.Fatalf("%s: %v", codec, err)
				}
				c.check(t, path, want)
				if testing.Short() {
					break
				}
			}
		})
	}
}

// check reads a recording in every way and compares.
func (c *Config) check(t *testing.T, path string, want Recording) {
	t.Helper()
	if !c.Format.Claims(nil, path) {
		t.Error("Sniff does not know its own output")
	}
	r := c.open(t, path, storage.ReadOptions{Strict: true})
	defer r.Close()
	info := r.Info()
	want = c.kept(want)
	ids := match(t, info, want)
	c.checkInfo(t, info, want, ids)
	checkExtras(t, r, want)
	got, err := ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	renumber(t, got, ids)
	if d := Diff(got, want.Messages); d != "" {
		t.Errorf("ReadNext: %s", d)
	}
	if _, err := r.ReadNext(); err != io.EOF {
		t.Errorf("ReadNext after the end: %v", err)
	}
	if b := storage.ReaderCapabilities(r).Blocks; b != nil {
		got, err := ReadBlocks(b, 4)
		if err != nil {
			t.Fatal(err)
		}
		renumber(t, got, ids)
		if d := Diff(got, want.Messages); d != "" {
			t.Errorf("ReadBlock: %s", d)
		}
		checkBlocks(t, r, want)
	}
}

func (c *Config) checkInfo(t *testing.T, info *storage.Info, want Recording, ids []storage.TopicID) {
	t.Helper()
	if info.Format != c.Format.Name || info.Size <= 0 || len(info.Files) == 0 {
		t.Errorf("info says format %q, %d bytes, %d files", info.Format, info.Size, len(info.Files))
	}
	// A topic without a definition may be worth a warning.
	bare := slices.ContainsFunc(want.Topics, func(t storage.Topic) bool { return t.Schema.Encoding == "" })
	for _, w := range info.Warnings {
		if w.Damage || !bare && w.Code != c.OverlapCode {
			t.Errorf("a warning: %+v", w)
		}
	}
	counts := make([]int64, len(want.Topics))
	var first, last int64
	for i, m := range want.Messages {
		counts[m.Topic]++
		if i == 0 {
			first, last = m.LogTime, m.LogTime
		}
		first, last = min(first, m.LogTime), max(last, m.LogTime)
	}
	if info.Messages != int64(len(want.Messages)) || info.Start != first || info.End != last {
		t.Errorf("info says %d messages from %d to %d; want %d from %d to %d", info.Messages, info.Start, info.End,
			len(want.Messages), first, last)
	}
	if len(info.Topics) != len(want.Topics) {
		t.Errorf("info has %d topics, want %d", len(info.Topics), len(want.Topics))
	}
	for i, topic := range info.Topics {
		if topic.ID != storage.TopicID(i) {
			t.Errorf("topic %d has id %d", i, topic.ID)
		}
		if topic.Messages != counts[ids[i]] {
			t.Errorf("info says %d messages of %q, want %d", topic.Messages, topic.Name, counts[ids[i]])
		}
	}
	got := maps.Clone(info.Metadata)
	if _, asked := want.Metadata[storage.MetaDistro]; !asked {
		delete(got, storage.MetaDistro) // a format may add what it is made for
	}
	if !maps.Equal(got, want.Metadata) {
		t.Errorf("info says of the recording %q; want %q", got, want.Metadata)
	}
}

// aliasing: data is good until the next call, and a batch until it is read into
// again. ReadAll and ReadBlocks spoil and hold memory; here one message is held
// while nothing is called, and one batch while another is read twice.
func (c *Config) aliasing(t *testing.T) {
	path, want := c.recording(t, storage.WriteOptions{NoSync: true, ChunkSize: 64 << 10},
		c.Generate(13, Spec{Topics: 2, Messages: 3000, MaxSize: 3000, Step: 1000}))
	r := c.open(t, path, storage.ReadOptions{})
	defer r.Close()
	for i := range want.Messages {
		m, err := r.ReadNext()
		if err != nil {
			t.Fatal(err)
		}
		r.Info() // does not end the message's life
		if !bytes.Equal(m.Data, want.Messages[i].Data) {
			t.Fatalf("message %d changes before the next call", i)
		}
	}
	b := storage.ReaderCapabilities(r).Blocks
	if b == nil {
		return
	}
	blocks, _, err := b.Blocks(context.Background(), nil)
	if err != nil || len(blocks) < 2 {
		t.Logf("%d blocks, %v: nothing to compare", len(blocks), err)
		return
	}
	var kept, other storage.Batch
	ctx := context.Background()
	if err := b.ReadBlock(ctx, 0, &kept); err != nil {
		t.Fatal(err)
	}
	before := clone(kept.Messages)
	for i := range blocks {
		if err := b.ReadBlock(ctx, i, &other); err != nil {
			t.Fatal(err)
		}
		for k := range other.Messages {
			for j := range other.Messages[k].Data {
				other.Messages[k].Data[j] = 0xdd
			}
		}
	}
	if d := Diff(kept.Messages, before); d != "" {
		t.Errorf("a batch changes while another is read: %s", d)
	}
	if err := b.ReadBlock(ctx, 0, &other); err != nil {
		t.Fatal(err)
	}
	if d := Diff(other.Messages, before); d != "" {
		t.Errorf("a block read again is another: %s", d)
	}
}

// concurrent reads all blocks many times over.
func (c *Config) concurrent(t *testing.T) {
	path, want := c.recording(t, storage.WriteOptions{NoSync: true, ChunkSize: 32 << 10},
		c.Generate(14, Spec{Topics: 4, Messages: 5000, MaxSize: 500, Step: 1000, Jitter: 5000}))
	r := c.open(t, path, storage.ReadOptions{})
	defer r.Close()
	b := storage.ReaderCapabilities(r).Blocks
	if b == nil {
		t.Skip("the format has no blocks")
	}
	for _, workers := range []int{1, 2, 8} {
		got, err := ReadBlocks(b, workers)
		if err != nil {
			t.Fatal(err)
		}
		if d := Diff(got, want.Messages); d != "" {
			t.Errorf("%d workers: %s", workers, d)
		}
	}
}

// blockWriter: the same bytes with OnBlock and without.
func (c *Config) blockWriter(t *testing.T) {
	for _, codec := range c.Format.Options.Choices(storage.NameCompression) {
		dir := t.TempDir()
		a, b := filepath.Join(dir, "a", c.Name), filepath.Join(dir, "b", c.Name)
		for _, p := range []string{a, b} {
			if err := os.Mkdir(filepath.Dir(p), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		want := c.Generate(15, Spec{Topics: 4, Messages: 4000, MaxSize: 2000, Step: 1000})
		o := withChunks(c.Format, storage.WriteOptions{Compression: codec, NoSync: true, ChunkSize: 100 << 10})
		w, err := c.Format.Create(context.Background(), a, o)
		if err != nil {
			t.Fatal(err)
		}
		has := storage.WriterCapabilities(w).Blocks != nil
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if !has {
			t.Skip("the writer hands out no blocks")
		}
		if err := WriteAll(c.Format, a, o, want); err != nil {
			t.Fatal(err)
		}
		if err := WriteBlocks(c.Format, b, o, want); err != nil {
			t.Fatal(err)
		}
		if x, y := digest(t, a), digest(t, b); x != y {
			t.Errorf("%s: OnBlock gives another output", codec)
		}
	}
}

// deterministic: the same recording is written with the same bytes.
func (c *Config) deterministic(t *testing.T) {
	var first string
	for i := range 3 {
		path := filepath.Join(t.TempDir(), c.Name)
		if err := WriteAll(c.Format, path, storage.WriteOptions{NoSync: true}, c.small()); err != nil {
			t.Fatal(err)
		}
		if d := digest(t, path); i == 0 {
			first = d
		} else if d != first {
			t.Error("the same recording gives other bytes")
		}
	}
}

// digest returns a hash over names, times and contents of a file, or of all in a folder.
func digest(t *testing.T, path string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(path, p)
		b, err := os.ReadFile(p)
		fmt.Fprintf(h, "%s %d\n", rel, len(b))
		h.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

package storagetest

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// constant: Info does not change by reading, and what reading finds is in Damage, after
// what opening has found; of sound recordings and of damaged ones, 60, or 150 with BAGCONV_EXHAUSTIVE=1.
func (c *Config) constant(t *testing.T) {
	path := filepath.Join(t.TempDir(), c.Name)
	if err := WriteAll(c.Format, path, storage.WriteOptions{NoSync: true, ChunkSize: 2 << 10}, c.small()); err != nil {
		t.Fatal(err)
	}
	if d := c.checkConstant(t, path); len(d.Warnings) > 0 || d.Lost != (storage.Lost{}) {
		t.Errorf("reading a sound recording finds %+v", d)
	}
	file := largest(t, path)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(31, 1))
	for range samples.Pick(150, 60, 60) {
		b := slices.Clone(whole)
		at := rng.IntN(len(b))
		b[at] ^= byte(1 + rng.IntN(255))
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if c.checkConstant(t, path); t.Failed() {
			t.Fatalf("byte %d of %d", at, len(b))
		}
	}
}

// checkConstant reads a recording in every way, if it can be opened. It returns what was
// found to be damaged since then.
func (c *Config) checkConstant(t *testing.T, path string) (since storage.Damage) {
	t.Helper()
	r, err := c.Format.Open(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return since
	}
	defer r.Close()
	before := r.Info().Clone()
	if found := r.Damage(); !same(found, before.Damage) {
		t.Errorf("after opening Damage is %+v, and Info has %+v", found, before.Damage)
	}
	spoiled := r.Info() // belongs to us
	spoilInfo(spoiled)
	_, _ = ReadAll(r) // an error is about damage, which is not tested here
	if b := storage.ReaderCapabilities(r).Blocks; b != nil {
		_, _ = ReadBlocks(b, 2)
	}
	_, _, _ = ReadExtras(r)
	after := r.Info()
	if !reflect.DeepEqual(before, after) {
		t.Errorf("Info was\n%+v\nand is after reading\n%+v", before, after)
	}
	since = r.Damage()
	for _, w := range before.Warnings {
		i := slices.Index(since.Warnings, w)
		if i < 0 {
			t.Errorf("Damage has forgotten %+v", w)
			continue
		}
		since.Warnings = slices.Delete(since.Warnings, i, i+1)
	}
	if since.Lost == before.Lost {
		since.Lost = storage.Lost{}
	}
	return since
}

func same(a, b storage.Damage) bool { return a.Lost == b.Lost && slices.Equal(a.Warnings, b.Warnings) }

// spoilInfo changes all that an Info points to.
func spoilInfo(info *storage.Info) {
	clear(info.Files)
	clear(info.Facts)
	clear(info.Warnings)
	for i := range info.Topics {
		t := &info.Topics[i]
		clear(t.Metadata)
		clear(t.QoS)
		t.Name = "spoiled"
	}
	clear(info.Metadata)
	clear(info.Compression)
}

// InfoOf returns what Info of a reader does, with the damage that was met until now.
func InfoOf(r storage.Reader) *storage.Info {
	info := r.Info()
	info.Damage = r.Damage()
	return info
}

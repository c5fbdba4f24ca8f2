package rosbag2

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// lazily runs f with all recordings taken for large ones, whose blocks are not looked
// for when they are opened.
func lazily(f func()) {
	defer func(was int64) { eager = was }(eager)
	eager = -1
	f()
}

// eager is the last argument of openReader in tests.
var eager = int64(eagerBytes)

// open is Open, where lazily may make a difference.
func open(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	return openEager(ctx, path, o, eager)
}

// TestLazyBlocks: blocks that are found late are the same, and so is what is reported about
// them, of a sound database and of one with a damaged tree.
func TestLazyBlocks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bag")
	var rows []storage.Message
	data := make([]byte, 400)
	for i := range 20000 {
		rows = append(rows, storage.Message{LogTime: int64(i), Data: data})
	}
	write(t, dir, storage.WriteOptions{}, sampleTopics()[:1], rows)
	path := filepath.Join(dir, "bag_0.db3")
	db, err := os.ReadFile(path)
	check(t, err)

	type result struct {
		blocks, rows int
		lost         storage.Lost
		warned       bool
		strict       error
	}
	read := func() (x result) {
		r, err := open(context.Background(), dir, storage.ReadOptions{})
		check(t, err)
		defer func() { check(t, r.Close()) }()
		for _, err = r.ReadNext(); err == nil; _, err = r.ReadNext() {
			x.rows++
		}
		if err != io.EOF {
			t.Fatal(err)
		}
		list, _, err := r.(storage.BlockReader).Blocks(context.Background(), nil)
		check(t, err)
		info := storagetest.InfoOf(r)
		x.blocks, x.lost, x.warned = len(list), info.Lost, len(info.Warnings) > 0
		_, _, x.strict = try(t, dir, true)
		return x
	}
	tree, leaf := 0, 0
	for at := pageSize; at < len(db); at += pageSize {
		switch {
		case db[at] == 5:
			tree = at
		case db[at] == 13 && at > len(db)/2 && leaf == 0:
			leaf = at
		}
	}
	for _, broken := range []int{0, leaf, tree} {
		b := append([]byte(nil), db...)
		if broken > 0 {
			clear(b[broken:][:pageSize])
		}
		check(t, os.WriteFile(path, b, 0o666))
		early := read()
		var late result
		lazily(func() { late = read() })
		if (early.strict == nil) != (broken == 0) || (late.strict == nil) != (broken == 0) {
			t.Errorf("broken at %d: strict reading gives %v, late %v", broken, early.strict, late.strict)
		}
		early.strict, late.strict = nil, nil
		if early != late || early.warned != (broken > 0) || early.rows == 0 {
			t.Errorf("broken at %d: %+v, late %+v", broken, early, late)
		}
	}
}

// TestLazyDamage is the damage of other tests, met late.
func TestLazyDamage(t *testing.T) {
	lazily(func() {
		t.Run("DamagedPage", TestDamagedPage)
		t.Run("Garbage", TestGarbage)
		t.Run("TreeOfManyWays", TestTreeOfManyWays)
		t.Run("SalvageRandom", TestSalvageRandom)
	})
}

// TestLazyClosed: a reader that is closed has no blocks.
func TestLazyClosed(t *testing.T) {
	path, _ := smallBag(t, t.TempDir())
	lazily(func() {
		r, err := open(context.Background(), path, storage.ReadOptions{})
		check(t, err)
		check(t, r.Close())
		if list, _, err := r.(storage.BlockReader).Blocks(context.Background(), nil); err == nil {
			t.Errorf("%d blocks", len(list))
		}
	})
}

package all

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// exhaustive reports whether all damages are made, and not a sample of them.
func exhaustive() bool { return os.Getenv("BAGCONV_EXHAUSTIVE") != "" }

// inPlace returns small recordings of each format: those of testdata, and with BAGCONV_EXHAUSTIVE up to 12
// samples that have one file.
func inPlace(t *testing.T) []reindexed {
	list := toReindex(t)
	if !exhaustive() {
		return list
	}
	for _, x := range slices.Clone(list) {
		if x.format.Folder {
			continue
		}
		var more []reindexed
		for _, pattern := range []string{"ros1/*/*", "mcap/*/*", "cyber/*/*"} {
			for _, path := range samples.Glob(t, pattern+x.format.Extensions[0]) {
				b, err := os.ReadFile(path)
				if err == nil && len(b) > 500 && len(b) < 12_000 {
					more = append(more, reindexed{x.format, filepath.Base(path), b})
				}
			}
		}
		slices.SortFunc(more, func(a, b reindexed) int { return cmp.Compare(len(a.whole), len(b.whole)) })
		list = append(list, more[:min(len(more), 12)]...)
	}
	return list
}

// change writes a damaged file, has it get an index, and then adds to it: all that could be read before can be
// read after each of the two, and what is refused stays as it was.
func (x *reindexed) change(t *testing.T, j *judge, b []byte, more storagetest.Recording) error {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, x.file)
	path := file
	if x.format.Folder {
		path = filepath.Dir(file)
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		name string
		do   func() error
	}{
		{"reindex", func() error {
			_, err := x.format.Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
			return err
		}},
		{"append", func() error {
			return storagetest.WriteAll(x.format, path, storage.WriteOptions{NoSync: true, Append: true}, more)
		}},
	}
	for _, step := range steps {
		if step.name == "append" && !x.format.Appends {
			continue
		}
		before, was := content(x.format, path, t), filesIn(t, filepath.Dir(file))
		err := step.do()
		if err != nil {
			if now := filesIn(t, filepath.Dir(file)); !maps.EqualFunc(was, now, bytes.Equal) {
				return fmt.Errorf("%s has refused (%w), and changed something", step.name, err)
			}
			continue
		}
		j.keep(t, x.format.Name, was, filesIn(t, filepath.Dir(file)))
		after := content(x.format, path, t)
		for m, n := range before {
			if after[m] < n {
				return fmt.Errorf("%s: %.80s could be read %d times, and now %d", step.name, m, n, after[m])
			}
		}
	}
	return nil
}

// filesIn returns the contents of the files of a folder.
func filesIn(t *testing.T, dir string) map[string][]byte {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = b
	}
	return files
}

// first returns the first message of a recording and its topic, to be added once more.
func (x *reindexed) first(t *testing.T) storagetest.Recording {
	path := filepath.Join(t.TempDir(), filepath.Base(x.file))
	if err := os.WriteFile(path, x.whole, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := x.format.Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		return storagetest.Recording{}
	}
	defer r.Close()
	info := r.Info()
	m, err := r.ReadNext()
	if err != nil {
		return storagetest.Recording{}
	}
	added := *m
	added.Topic, added.Data = 0, bytes.Clone(m.Data)
	return storagetest.Recording{Topics: []storage.Topic{info.Topics[m.Topic].Topic}, Messages: []storage.Message{added}}
}

// TestInPlaceBytes: of a file with one changed byte, reindex and append lose nothing that can be read.
func TestInPlaceBytes(t *testing.T) {
	j := newJudge(t)
	for _, x := range inPlace(t) {
		t.Run(x.format.Name+"/"+filepath.Base(x.file), func(t *testing.T) {
			t.Parallel()
			more := x.first(t)
			step := max(1, len(x.whole)/40)
			if exhaustive() {
				step = 1
			}
			for at := 0; at < len(x.whole); at += step {
				for kind, value := range []byte{0, 255, x.whole[at] ^ 1<<(at%8)} {
					if value == x.whole[at] || !exhaustive() && kind != at/step%3 {
						continue
					}
					b := bytes.Clone(x.whole)
					b[at] = value
					if err := x.change(t, j, b, more); err != nil {
						t.Errorf("byte %d is %d: %v", at, value, err)
					}
				}
			}
		})
	}
}

// TestInPlaceDamage: the same with one to four damages: bytes that are flipped, zeroed, set, swapped, missing or
// there twice.
func TestInPlaceDamage(t *testing.T) {
	rounds := 40
	if exhaustive() {
		rounds = 10_000
	}
	list, j := inPlace(t), newJudge(t)
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 22))
			for n := range rounds / 4 {
				x := list[rng.IntN(len(list))]
				b := bytes.Clone(x.whole)
				how := ""
				for range 1 + rng.IntN(4) {
					var what string
					b, what = damaged(rng, b)
					how += what
				}
				if err := x.change(t, j, b, x.first(t)); err != nil {
					t.Errorf("round %d, %s%s: %v", n, x.file, how, err)
				}
			}
		})
	}
}

// damaged returns bytes with one more damage, and what it is.
func damaged(rng *rand.Rand, b []byte) ([]byte, string) {
	n := []int{1, 1, 4, 26, 44, 145}[rng.IntN(6)]
	if len(b) < 2*n+1 {
		return b, ""
	}
	at, kind := rng.IntN(len(b)-2*n), rng.IntN(6)
	switch kind {
	case 0:
		b[at] ^= 1 << rng.IntN(8)
	case 1:
		clear(b[at : at+n])
	case 2:
		copy(b[at:], bytes.Repeat([]byte{255}, n))
	case 3:
		swapped := slices.Concat(b[at+n:at+2*n], b[at:at+n])
		copy(b[at:], swapped)
	case 4:
		b = slices.Delete(b, at, at+n)
	case 5:
		b = slices.Insert(b, at, bytes.Clone(b[at:at+n])...)
	}
	return b, fmt.Sprintf(" %c%d+%d", "fz1sdc"[kind], at, n)
}

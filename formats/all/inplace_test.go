package all

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// exhaustive reports whether all is tried, and not a sample of it.
func exhaustive() bool { return os.Getenv("BAGCONV_EXHAUSTIVE") != "" }

// howMany returns how often each kind of recording is tried: the number of the variable, which scripts/inplace sets, or
// few.
func howMany(t *testing.T, variable string, few int) int {
	text := os.Getenv(variable)
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A changed is a small recording that is changed in place.
type changed struct {
	kind   string // recordings of one kind are tried together
	format *storage.Format
	name   string            // of the file, or of the folder
	files  map[string][]byte // by name
	more   storagetest.Recording
}

func (x *changed) String() string { return x.kind + "/" + x.name }

// fileNames returns the names of the files, in order.
func (x *changed) fileNames() []string { return slices.Sorted(maps.Keys(x.files)) }

// bytes returns how many bytes the files have.
func (x *changed) bytes() (n int) {
	for _, b := range x.files {
		n += len(b)
	}
	return n
}

// put writes files, and returns the path of the recording and the folder of the files.
func (x *changed) put(t *testing.T, files map[string][]byte) (path, dir string) {
	dir, err := os.MkdirTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	if path = filepath.Join(dir, x.name); x.folder() {
		dir = path
		if err := os.Mkdir(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return path, dir
}

func (x *changed) folder() bool { return x.format.Layout.Folder && filepath.Ext(x.name) == "" }

// steps are the changes in place, in their order.
func (x *changed) steps() []string {
	list := []string{"reindex"}
	if x.format.AppendTo != nil {
		list = append(list, "append")
	}
	return list
}

// do does a step on a file system; nil is the operating system's.
func (x *changed) do(t *testing.T, step, path string, fsys storage.FS) error {
	if step == "append" {
		return storagetest.WriteAll(storagetest.Adding(x.format), path, storage.WriteOptions{NoSync: true, FS: fsys}, x.more)
	}
	_, err := x.format.Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true, FS: fsys})
	return err
}

// change writes damaged files, has them get an index unless skip says "reindex", and then adds to them: all that could
// be read before can be read after each of the two, and what is refused stays as it was. refused is why the first
// step was refused.
func (x *changed) change(t *testing.T, j *judge, files map[string][]byte, skip string) (refused, err error) {
	path, dir := x.put(t, files)
	defer os.RemoveAll(filepath.Dir(path))
	before, was := content(x.format, path, t), files
	for _, step := range x.steps() {
		if step == skip {
			continue
		}
		err := x.do(t, step, path, nil)
		now := filesIn(t, dir)
		if err != nil {
			if step == "reindex" {
				refused = err
			}
			if !maps.EqualFunc(was, now, bytes.Equal) {
				return refused, fmt.Errorf("%s has refused (%w), and changed something", step, err)
			}
			continue
		}
		j.keep(t, x.kind, was, now)
		after := content(x.format, path, t)
		if err := less(before, after); err != nil {
			return refused, fmt.Errorf("%s: %w", step, err)
		}
		if step == "append" && total(after) < total(before)+len(x.more.Messages) {
			return refused, fmt.Errorf("%d messages, %d were added, and %d are read", total(before), len(x.more.Messages),
				total(after))
		}
		before, was = after, now
	}
	return refused, nil
}

// less returns an error if messages are missing that could be read before.
func less(before, after map[string]int) error {
	for m, n := range before {
		if after[m] < n {
			return fmt.Errorf("%.80s could be read %d times, and now %d", m, n, after[m])
		}
	}
	return nil
}

func total(content map[string]int) (n int) {
	for _, k := range content {
		n += k
	}
	return n
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

// inPlace returns small recordings of each kind from testdata: files, parts without their folder, folders and single
// databases. With BAGCONV_EXHAUSTIVE it adds up to 12 samples of each format that are one file.
func inPlace(t *testing.T) (kinds map[string][]*changed) {
	kinds = map[string][]*changed{}
	add := func(f *storage.Format, kind, name string, files map[string][]byte) {
		x := &changed{kind: kind, format: f, name: name, files: files}
		x.more = x.first(t)
		kinds[kind] = append(kinds[kind], x)
	}
	for _, x := range toReindex(t) {
		if x.format.Layout.Folder {
			add(x.format, x.format.Name, filepath.Dir(x.file), map[string][]byte{filepath.Base(x.file): x.whole})
			continue
		}
		add(x.format, x.format.Name, x.file, map[string][]byte{x.file: x.whole})
		if !exhaustive() {
			continue
		}
		var more []*changed
		for _, pattern := range []string{"ros1/*/*", "mcap/*/*", "cyber/*/*"} {
			for _, path := range samples.Glob(t, pattern+x.format.Extensions[0]) {
				name := filepath.Base(path)
				if b, err := os.ReadFile(path); err == nil && len(b) > 500 && len(b) < 12_000 {
					more = append(more, &changed{name: name, files: map[string][]byte{name: b}})
				}
			}
		}
		slices.SortFunc(more, func(a, b *changed) int { return cmp.Compare(a.bytes(), b.bytes()) })
		for _, m := range more[:min(len(more), 12)] {
			add(x.format, x.format.Name, m.name, m.files)
		}
	}
	for i, files := range foldersInPlace(t) {
		f := Registry().Lookup(folderKinds[i].format)
		add(f, f.Name, "rec", files)
	}
	singles := databases(t)
	for _, name := range slices.Sorted(maps.Keys(singles)) {
		add(Registry().Lookup("db3"), "db3file", name, map[string][]byte{name: singles[name]})
	}
	return kinds
}

// databases returns single databases: of a part, also without the index of times, one that tells of a write-ahead log,
// and one with trees of several pages.
func databases(t *testing.T) map[string][]byte {
	list := map[string][]byte{}
	for _, x := range toReindex(t) {
		if x.format.Name == "db3" {
			list["part.db3"], list["log.db3"] = x.whole, bytes.Clone(x.whole)
			list["log.db3"][18], list["log.db3"][19] = 2, 2
		}
	}
	rec := storagetest.Recording{Topics: []storage.Topic{textTopic("/a")}}
	for i := range int64(60) {
		rec.Messages = append(rec.Messages, storage.Message{LogTime: 1e18 + i*37%60, PublishTime: 1e18 + i,
			Data: append([]byte("\x00\x01\x00\x00\xff\x00\x00\x00"), bytes.Repeat([]byte{byte(i)}, int(i*i))...)})
	}
	path := filepath.Join(t.TempDir(), "trees.db3")
	f := Registry().Lookup("db3")
	if err := storagetest.WriteAll(f, path, storage.WriteOptions{NoSync: true}, rec); err != nil {
		t.Fatal(err)
	}
	list["trees.db3"] = filesOf(t, path)["trees.db3"]
	bare := filepath.Join(t.TempDir(), "bare.db3")
	if err := os.WriteFile(bare, list["part.db3"], 0o666); err != nil {
		t.Fatal(err)
	}
	file, err := iox.OS.OpenFile(bare, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	db, err := sqlite.Open(sqlite.Options{File: sqlite.Plain{File: file}})
	if err == nil {
		err = errors.Join(db.Exec("PRAGMA journal_mode=OFF; DROP INDEX timestamp_idx"), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	list["bare.db3"] = filesOf(t, bare)["bare.db3"]
	return list
}

// first returns the first message of a recording and its topic, to be added once more.
func (x *changed) first(t *testing.T) storagetest.Recording {
	path, _ := x.put(t, x.files)
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

// workers is in how many parts the tries of a kind are divided, which run side by side.
const workers = 4

// divided runs f for each part of the tries of each kind.
func divided(t *testing.T, f func(t *testing.T, list []*changed, part int)) {
	for kind, list := range inPlace(t) {
		for part := range workers {
			t.Run(fmt.Sprintf("%s/%d", kind, part), func(t *testing.T) {
				t.Parallel()
				f(t, list, part)
			})
		}
	}
}

// TestInPlaceBytes: of a recording with one changed byte (0, 255, a flipped bit), reindex and append lose nothing that
// can be read. The bytes are all, or as many as are asked for, evenly over the recordings of a kind.
func TestInPlaceBytes(t *testing.T) {
	j := newJudge(t)
	tries := howMany(t, "BAGCONV_INPLACE_BYTES", 80)
	divided(t, func(t *testing.T, list []*changed, part int) {
		all := 0
		for _, x := range list {
			all += 3 * x.bytes()
		}
		done := 0
		for n := part; n < min(tries, all); n += workers {
			x, at := list[0], int(int64(n)*int64(all)/int64(min(tries, all)))
			for i := 0; at >= 3*list[i].bytes(); i++ {
				at -= 3 * list[i].bytes()
				x = list[i+1]
			}
			files, what := x.withByte(at/3, at%3)
			if _, err := x.change(t, j, files, ""); err != nil {
				t.Errorf("%s: %s: %v", x, what, err)
			}
			done++
		}
		t.Logf("%d changed bytes", done)
	})
}

// withByte returns the files with another byte at an offset of all of them, in one of three ways.
func (x *changed) withByte(at, way int) (files map[string][]byte, what string) {
	files = maps.Clone(x.files)
	for _, name := range x.fileNames() {
		b := files[name]
		if at >= len(b) {
			at -= len(b)
			continue
		}
		b = bytes.Clone(b)
		b[at] = []byte{0, 255, b[at] ^ 1<<(at%8)}[way]
		files[name] = b
		return files, fmt.Sprintf("byte %d of %s is %d", at, name, b[at])
	}
	return files, ""
}

// TestInPlaceDamage: the same with one to four damages: bytes that are flipped, zeroed, set, swapped, missing or
// there twice.
func TestInPlaceDamage(t *testing.T) {
	j := newJudge(t)
	rounds := howMany(t, "BAGCONV_INPLACE_ROUNDS", 40)
	divided(t, func(t *testing.T, list []*changed, part int) {
		rng := rand.New(rand.NewPCG(uint64(part), 22))
		for n := range rounds / workers {
			x := list[rng.IntN(len(list))]
			files, how := x.withDamages(rng)
			if _, err := x.change(t, j, files, ""); err != nil {
				t.Errorf("round %d, %s%s: %v", n, x, how, err)
			}
		}
		t.Logf("%d rounds", rounds/workers)
	})
}

// withDamages returns the files with one to four damages, and what these are.
func (x *changed) withDamages(rng *rand.Rand) (files map[string][]byte, how string) {
	files = maps.Clone(x.files)
	names := x.fileNames()
	for range 1 + rng.IntN(4) {
		name := names[rng.IntN(len(names))]
		b, what := damaged(rng, bytes.Clone(files[name]))
		files[name] = b
		how += strings.Replace(what, " ", " "+name+":", 1)
	}
	return files, how
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

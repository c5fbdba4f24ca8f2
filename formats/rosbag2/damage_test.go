package rosbag2

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// edit changes a database with the engine.
func edit(t testing.TB, path string, sql ...string) {
	t.Helper()
	f, err := iox.OS.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	d, err := sqlite.Open(sqlite.Options{File: sqlite.Plain{File: f}})
	check(t, err)
	check(t, d.Exec("PRAGMA journal_mode=OFF"))
	for _, s := range sql {
		check(t, d.Exec(s))
	}
	check(t, d.Close())
	check(t, f.Close())
}

// smallBag is a single file of few pages, with an overflow chain and a tree of
// two levels, for the loops that break it byte by byte.
func smallBag(t testing.TB, dir string) (path string, rows []storage.Message) {
	path = filepath.Join(dir, "small.db3")
	for i := range 40 {
		n := 150
		if i == 20 {
			n = 9000
		}
		data := make([]byte, n)
		data[1] = 1
		for j := 4; j < n; j++ {
			data[j] = byte(i + j)
		}
		rows = append(rows, storage.Message{Topic: storage.TopicID(i % 2), LogTime: int64(i), Data: data})
	}
	write(t, path, storage.WriteOptions{}, sampleTopics()[:2], rows)
	return path, rows
}

// try opens and reads a damaged file. It returns the rows, whether something was
// reported, and the error. A panic or a hang fails the test.
func try(t testing.TB, path string, strict bool) (rows int, said bool, err error) {
	return tryFS(t, nil, path, strict)
}

// tryBytes is try with a file in memory.
func tryBytes(t testing.TB, file []byte, strict bool) (rows int, said bool, err error) {
	return tryFS(t, memFS{"/x/bad.db3": file}, "/x/bad.db3", strict)
}

func tryFS(t testing.TB, fsys storage.FS, path string, strict bool) (rows int, said bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	r, err := open(ctx, path, storage.ReadOptions{Strict: strict, FS: fsys})
	if err != nil {
		var e *storage.Error
		if !errors.As(err, &e) || e.Path == "" {
			t.Fatalf("error without a place: %v", err)
		}
		return 0, true, err
	}
	defer func() { check(t, r.Close()) }()
	for {
		_, e := r.ReadNext()
		if e == io.EOF {
			break
		}
		if e != nil {
			if errors.Is(e, context.DeadlineExceeded) {
				t.Fatal("it hangs")
			}
			err = e
			break
		}
		rows++
	}
	info := storagetest.InfoOf(r)
	return rows, len(info.Warnings) > 0, err
}

// stride is how many bytes the loops go on: few enough steps for a quick run, a third of those wanted for the
// gate, all with BAGCONV_EXHAUSTIVE=1, and not a divisor of the page size.
func stride(size, want int) int {
	want /= samples.Pick(1, 3, 10)
	return max(1, size/want|1)
}

// TestTruncated cuts a file at many places: what is left of it is read, and
// what is missing is reported.
func TestTruncated(t *testing.T) {
	dir := t.TempDir()
	path, rows := smallBag(t, dir)
	db, err := os.ReadFile(path)
	check(t, err)
	best := 0
	for n := 0; n < len(db); n += stride(len(db), 6000) {
		got, said, err := tryBytes(t, db[:n], false)
		if !said {
			t.Fatalf("cut at %d of %d: %d rows, nothing said", n, len(db), got)
		}
		if err == nil {
			best = max(best, got)
		}
		if _, _, err := tryBytes(t, db[:n], true); err == nil {
			t.Fatalf("cut at %d of %d: strict reading gave no error", n, len(db))
		}
	}
	if best < len(rows)/2 {
		t.Errorf("at most %d rows of %d were salvaged", best, len(rows))
	}
}

// TestFlipped flips bytes: no panic, no hang, no memory out of proportion. What
// is read is whole, unless the flip is in a payload.
func TestFlipped(t *testing.T) {
	dir := t.TempDir()
	path, rows := smallBag(t, dir)
	db, err := os.ReadFile(path)
	check(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n := 0
	for i := 0; i < len(db); i += stride(len(db), 9000) {
		for _, x := range []byte{0xff, 1 << (i % 8)} {
			db[i] ^= x
			got, _, _ := tryBytes(t, db, false)
			if got > 2*len(rows) {
				t.Fatalf("byte %d: %d rows of %d", i, got, len(rows))
			}
			db[i] ^= x
			n++
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(n); each > 4<<20 {
		t.Errorf("%d bytes for each of %d readings", each, n)
	}
	if after.Sys > 1<<30 {
		t.Errorf("%d bytes of memory", after.Sys)
	}
}

// TestGarbage writes random bytes over random places of larger files.
func TestGarbage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db3")
	write(t, path, storage.WriteOptions{}, sampleTopics(), sampleRows())
	db, err := os.ReadFile(path)
	check(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	sum, runs := 0, 60
	for range runs {
		b := slices.Clone(db)
		for range 1 + rng.IntN(4) {
			at := 4096 + rng.IntN(len(b)-8192)
			for j := range 1 + rng.IntN(600) {
				b[at+j] = byte(rng.Uint32())
			}
		}
		got, _, _ := tryBytes(t, b, false)
		sum += got
	}
	if mean := sum / runs; mean < len(sampleRows())/2 {
		t.Errorf("on average %d rows of %d were salvaged", mean, len(sampleRows()))
	}
}

// TestDamagedPage breaks one leaf: the rows of the other ranges are still read.
func TestDamagedPage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.db3")
	var rows []storage.Message
	data := make([]byte, 400)
	for i := range 20000 {
		rows = append(rows, storage.Message{LogTime: int64(i), Data: data})
	}
	write(t, path, storage.WriteOptions{}, sampleTopics()[:1], rows)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	_, err = f.WriteAt(make([]byte, pageSize), 500*pageSize)
	check(t, err)
	check(t, f.Close())
	got, said, err := try(t, path, false)
	if err != nil || !said || got < len(rows)*3/4 || got == len(rows) {
		t.Errorf("%d rows of %d, said %v, %v", got, len(rows), said, err)
	}
	if _, _, err := try(t, path, true); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("strict: %v", err)
	}
}

// TestHostileHeader sets the sizes of the header to their extremes.
func TestHostileHeader(t *testing.T) {
	dir := t.TempDir()
	path, _ := smallBag(t, dir)
	db, err := os.ReadFile(path)
	check(t, err)
	for _, c := range []struct{ at, n int }{{16, 2}, {20, 1}, {28, 4}, {52, 4}, {56, 4}, {18, 2}} {
		for v := range 5 {
			b := slices.Clone(db)
			for j := range c.n {
				b[c.at+j] = []byte{0, 1, 2, 0x7f, 0xff}[v]
			}
			tryBytes(t, b, false)
		}
	}
	for _, text := range []string{"", "SQLite format 3\x00", "hello", strings.Repeat("x", 5000),
		"version https://git-lfs.github.com/spec/v1\n"} {
		if _, _, err := tryBytes(t, []byte(text), false); err == nil {
			t.Errorf("%.20q was opened", text)
		}
	}
	edit(t, path, "DROP TABLE messages")
	if _, _, err := try(t, path, false); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("no table messages: %v", err)
	}
}

// TestTreeOfManyWays makes each page of a tree the hundredfold child of the one
// before: a hundred to the tenth leaves, in ten pages.
func TestTreeOfManyWays(t *testing.T) {
	for _, table := range []string{"topics", "messages"} {
		path := filepath.Join(t.TempDir(), "x.db3")
		write(t, path, storage.WriteOptions{}, sampleTopics(), sampleRows())
		f, err := iox.OS.Open(path)
		check(t, err)
		d, err := sqlite.Open(sqlite.Options{File: sqlite.Plain{File: f}, ReadOnly: true})
		check(t, err)
		root, _, err := d.One("SELECT rootpage FROM sqlite_master WHERE name = ?", table)
		check(t, err)
		check(t, d.Close())
		check(t, f.Close())
		db, err := os.ReadFile(path)
		check(t, err)
		last := len(db) / pageSize
		leaf := slices.Clone(db[(root-1)*pageSize : root*pageSize])
		if table == "messages" { // its root is not a leaf: take that of topics, any rows will do
			leaf = slices.Clone(leaf)
			leaf[0] = 13
		}
		for k := range 11 {
			number := last - 11 + k
			if k == 0 {
				number = int(root)
			}
			page := db[(number-1)*pageSize : number*pageSize]
			child := uint32(last - 11 + k + 1)
			clear(page)
			page[0] = 5
			binary.BigEndian.PutUint16(page[3:], 100)
			binary.BigEndian.PutUint32(page[8:], child)
			for c := range 100 {
				at := pageSize - 5*(c+1)
				binary.BigEndian.PutUint16(page[12+2*c:], uint16(at))
				binary.BigEndian.PutUint32(page[at:], child)
				page[at+4] = byte(c)
			}
			binary.BigEndian.PutUint16(page[5:], pageSize-500)
		}
		copy(db[(last-1)*pageSize:], leaf)
		begin := time.Now()
		rows, said, err := tryBytes(t, db, false)
		if rows > len(sampleRows()) || !said || time.Since(begin) > 10*time.Second {
			t.Errorf("%s: %d rows, said %v, %v, after %v", table, rows, said, err, time.Since(begin))
		}
	}
}

// What makeWAL needs of the format.
const (
	walHeaderLen = 32
	walFrameLen  = 24
)

// TestBlocks: all blocks together have ReadNext's messages; large and small rows
// make blocks of bounded size; and concurrent reading returns the same.
func TestBlocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bag")
	small, big := make([]byte, 40), make([]byte, 1<<20)
	var rows []storage.Message
	for i := range 60000 {
		rows = append(rows, storage.Message{Topic: storage.TopicID(i % 3), LogTime: int64(i), Data: small[:i%40]})
	}
	for i := range 40 {
		rows = append(rows, storage.Message{Topic: 4, LogTime: int64(60000 + i), Data: big[:1000000+i]})
	}
	for i := range 1000 {
		rows = append(rows, storage.Message{Topic: 1, LogTime: int64(70000 + i), Data: big[:i%7*3000]})
	}
	write(t, path, storage.WriteOptions{}, sampleTopics(), rows)
	r, err := open(context.Background(), path, storage.ReadOptions{})
	check(t, err)
	defer r.Close()
	br := storage.ReaderCapabilities(r).Blocks
	blocks, _, err := br.Blocks(context.Background(), nil)
	check(t, err)
	type result struct {
		batch storage.Batch
		err   error
	}
	results := make([]result, len(blocks))
	done := make(chan int)
	for i := range blocks {
		go func() {
			results[i].err = br.ReadBlock(context.Background(), i, &results[i].batch)
			done <- i
		}()
	}
	for range blocks {
		<-done
	}
	k := 0
	for i := range results {
		check(t, results[i].err)
		size := 0
		for _, m := range results[i].batch.Messages {
			if m.LogTime != rows[k].LogTime || m.Topic != rows[k].Topic || len(m.Data) != len(rows[k].Data) {
				t.Fatalf("block %d: message %d differs", i, k)
			}
			size += len(m.Data)
			k++
		}
		if size > 2*blockBytes {
			t.Errorf("block %d has %d bytes", i, size)
		}
	}
	if k != len(rows) || len(blocks) < 20 {
		t.Errorf("%d rows of %d in %d blocks", k, len(rows), len(blocks))
	}
	readAll(t, path, storage.ReadOptions{Strict: true})
}

func TestCancel(t *testing.T) {
	path := bag(t, sampleRows())
	ctx, cancel := context.WithCancel(context.Background())
	r, err := open(ctx, path, storage.ReadOptions{})
	check(t, err)
	cancel()
	if _, err := r.ReadNext(); !errors.Is(err, context.Canceled) {
		t.Errorf("ReadNext: %v", err)
	}
	check(t, r.Close())
	w, err := createWriter(ctx, filepath.Join(t.TempDir(), "x"), storage.WriteOptions{})
	if err == nil {
		if err = w.Commit(); !errors.Is(err, context.Canceled) {
			t.Errorf("Commit: %v", err)
		}
		check(t, w.Close())
	}
}

// withoutCustom is the topics as the tables alone have them.
func withoutCustom(topics []storage.Topic) []storage.Topic {
	for i := range topics {
		hash := topics[i].Metadata[storage.MetaTypeHash]
		topics[i].Metadata = map[string]string{}
		if hash != "" {
			topics[i].Metadata[storage.MetaTypeHash] = hash
		}
		if topics[i].Name == "/again" {
			topics[i].Schema = topics[0].Schema
		}
	}
	return topics
}

package rosbag2

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// brokenBag is a recording of n rows and what may be done to its bytes. Rows are
// distinguished by their times, which count from 0.
type brokenBag struct {
	dir, db string
	file    []byte
	rows    []storage.Message
	pages   [][]int // of each row: its leaf, then its overflow pages, counted from 0
	root    map[string]int
}

func newBrokenBag(t *testing.T, n int) *brokenBag {
	t.Helper()
	b := &brokenBag{dir: filepath.Join(t.TempDir(), "bag"), root: map[string]int{}}
	b.db = filepath.Join(b.dir, "bag_0.db3")
	rng := rand.New(rand.NewPCG(uint64(n), 5))
	for i := range n {
		size := 100 + rng.IntN(600)
		if i%40 == 0 {
			size = rng.IntN(30_000)
		}
		data := make([]byte, 4+size)
		data[1] = 1
		for j := 4; j < len(data); j++ {
			data[j] = byte(rng.Uint32())
		}
		// So that each topic has another number of messages.
		topic := storage.TopicID(0)
		for int(topic) < 4 && rng.IntN(3) > 0 {
			topic++
		}
		b.rows = append(b.rows, storage.Message{Topic: topic, LogTime: int64(i), Data: data})
	}
	write(t, b.dir, storage.WriteOptions{}, sampleTopics()[:5], b.rows)
	var err error
	b.file, err = os.ReadFile(b.db)
	check(t, err)
	f, err := iox.OS.Open(b.db)
	check(t, err)
	d, err := sqlite.Open(sqlite.Options{File: sqlite.Plain{File: f}, ReadOnly: true})
	check(t, err)
	check(t, d.Query("SELECT name, rootpage FROM sqlite_master", func(s *sqlite.Stmt) error {
		b.root[s.Text(0)] = int(s.Int(1)) - 1
		return nil
	}))
	check(t, d.Close())
	check(t, f.Close())
	b.visit(b.root["messages"])
	if len(b.pages) != n {
		t.Fatalf("%d rows have a place, of %d", len(b.pages), n)
	}
	return b
}

func (b *brokenBag) page(no int) []byte { return b.file[no*pageSize:][:pageSize] }

// visit finds the pages of all rows, in a file that is sound.
func (b *brokenBag) visit(no int) {
	p := b.page(no)
	u16 := func(at int) int { return int(binary.BigEndian.Uint16(p[at:])) }
	child := func(p []byte) int { return int(binary.BigEndian.Uint32(p)) - 1 }
	for i := range u16(3) {
		if p[0] == 5 {
			b.visit(child(p[u16(12+2*i):]))
			continue
		}
		pages := []int{no}
		size := len(b.rows[len(b.pages)].Data)
		if size > pageSize-60 {
			end := pageSize
			if i > 0 {
				end = u16(8 + 2*(i-1))
			}
			for next := child(p[end-4:]); next >= 0; next = child(b.page(next)) {
				pages = append(pages, next)
			}
		}
		b.pages = append(b.pages, pages)
	}
	if p[0] == 5 {
		b.visit(child(p[8:]))
	}
}

// whole reports which rows have none of the broken pages.
func (b *brokenBag) whole(broken func(page int) bool) (list []int) {
	for i, pages := range b.pages {
		if !slices.ContainsFunc(pages, broken) {
			list = append(list, i)
		}
	}
	return list
}

// read reads a damaged file beside the recording's metadata.yaml, block by block,
// and wants each whole row once and nothing else but rows that were touched.
func (b *brokenBag) read(t *testing.T, file []byte, whole []int, what string, names bool) *storage.Info {
	t.Helper()
	check(t, os.WriteFile(b.db, file, 0o666))
	r, err := open(context.Background(), b.dir, storage.ReadOptions{})
	if err != nil {
		t.Errorf("%s: %v, with %d whole rows", what, err, len(whole))
		return nil
	}
	defer r.Close()
	info := storagetest.InfoOf(r)
	count := make([]int, len(b.rows))
	wrong := 0
	var batch storage.Batch
	list, _, err := r.(*reader).Blocks(context.Background(), nil)
	check(t, err)
	for i := range list {
		check(t, r.(*reader).ReadBlock(context.Background(), i, &batch))
		for _, m := range batch.Messages {
			if m.LogTime < 0 || m.LogTime >= int64(len(b.rows)) {
				wrong++
				continue
			}
			w := &b.rows[m.LogTime]
			if !slices.Equal(m.Data, w.Data) || names && info.Topics[m.Topic].Name != sampleTopics()[w.Topic].Name {
				wrong++
				continue
			}
			count[m.LogTime]++
		}
	}
	missing, twice := 0, 0
	for _, i := range whole {
		switch count[i] {
		case 0:
			missing++
		case 1:
		default:
			twice++
		}
	}
	if missing+twice > 0 || wrong > len(b.rows)-len(whole) {
		t.Errorf("%s: of %d whole rows %d are missing, %d come twice; %d are wrong", what, len(whole), missing, twice, wrong)
	}
	info = storagetest.InfoOf(r)
	if len(whole) < len(b.rows) && len(info.Warnings) == 0 {
		t.Errorf("%s: rows are lost, and nothing is reported", what)
	}
	return info
}

// TestSalvageRoot: of 20,000 rows the root page is zero, and the last 2 MB are gone.
func TestSalvageRoot(t *testing.T) {
	b := newBrokenBag(t, 20_000)
	file := slices.Clone(b.file[:len(b.file)-2<<20])
	clear(file[b.root["messages"]*pageSize:][:pageSize])
	whole := b.whole(func(page int) bool { return (page+1)*pageSize > len(file) })
	if len(whole) < 10_000 || len(whole) == len(b.rows) {
		t.Fatalf("%d rows are whole", len(whole))
	}
	info := b.read(t, file, whole, "root and end", true)
	lost := int64(len(b.rows) - len(whole))
	if info.Lost.Bytes < 2<<20 || info.Lost.Blocks < 2<<20/pageSize || info.Lost.Messages < lost ||
		info.Lost.Messages > lost+5 || !slices.Contains(codes(info), "truncated") {
		t.Errorf("%d rows are lost, Info says %+v; %v", lost, info.Lost, codes(info))
	}
	if _, err := open(context.Background(), b.dir, storage.ReadOptions{Strict: true}); err == nil {
		t.Error("strict reading opens it")
	}
}

// TestSalvageTopics: without the table of topics they come from the metadata, and
// without that they have numbers.
func TestSalvageTopics(t *testing.T) {
	b := newBrokenBag(t, 2000)
	all := b.whole(func(int) bool { return false })
	broken := slices.Clone(b.file)
	broken[b.root["topics"]*pageSize] = 7
	b.read(t, broken, all, "topics of the wrong kind: from metadata.yaml", true)
	gone := slices.Clone(b.file)
	for _, no := range []int{0, b.root["topics"]} {
		clear(gone[no*pageSize:][:pageSize])
	}
	if info := b.read(t, gone, all, "from metadata.yaml, no header", true); !slices.Contains(codes(info), "topics") ||
		len(info.Topics) != 5 {
		t.Errorf("%v", info.Warnings)
	}
	noHeader := slices.Clone(b.file)
	clear(noHeader[:pageSize])
	info := b.read(t, noHeader, all, "from the pages", true)
	want, _ := readAll(t, b.dir, storage.ReadOptions{})
	check(t, os.WriteFile(b.db, b.file, 0o666))
	sound, soundInfo := readAll(t, b.dir, storage.ReadOptions{})
	if !slices.EqualFunc(want, sound, func(a, b row) bool {
		return a.topic == b.topic && a.typ == b.typ &&
			slices.Equal(a.data, b.data)
	}) {
		t.Error("a file without a header gives others rows")
	}
	for i, topic := range soundInfo.Topics {
		got := info.Topics[i]
		if got.Type != topic.Type || got.Messages != topic.Messages || string(got.Schema.Data) != string(topic.Schema.Data) ||
			len(got.QoS) != len(topic.QoS) {
			t.Errorf("topic %s: %+v, want %+v", topic.Name, got, topic)
		}
	}
	check(t, os.Remove(filepath.Join(b.dir, ros2bag.MetadataName)))
	clear(gone[b.root["metadata"]*pageSize:][:pageSize])
	info = b.read(t, gone, all, "by number", false)
	for _, topic := range info.Topics {
		if !strings.HasPrefix(topic.Name, "/topic_") || topic.Type == "" || topic.Messages == 0 {
			t.Errorf("topic %+v", topic.Topic)
		}
	}
	if len(info.Topics) != 5 || !slices.Contains(codes(info), "unknown-topic") {
		t.Errorf("%d topics, %v", len(info.Topics), codes(info))
	}
}

// TestSalvageOrder: metadata in another order than the ids, as rosbag2 writes it.
func TestSalvageOrder(t *testing.T) {
	b := newBrokenBag(t, 2000)
	path := filepath.Join(b.dir, ros2bag.MetadataName)
	text, err := os.ReadFile(path)
	check(t, err)
	m, _, err := ros2bag.ParseMetadata(t.Context(), text, ros2bag.QoSCache{})
	check(t, err)
	slices.Reverse(m.Topics)
	reversed, err := m.Encode(true)
	check(t, err)
	check(t, os.WriteFile(path, []byte(reversed), 0o666))
	for _, no := range []int{0, b.root["topics"]} {
		clear(b.file[no*pageSize:][:pageSize])
	}
	b.read(t, b.file, b.whole(func(int) bool { return false }), "reversed", true)
}

// TestSalvageLeaf: one leaf is broken, which is found while reading: all rows but
// its own are there, and Info counts what is lost.
func TestSalvageLeaf(t *testing.T) {
	for name, breakIt := range map[string]func(page []byte){
		"zero":    func(p []byte) { clear(p) },
		"swapped": nil,
		"cells":   func(p []byte) { p[3] = 0xff },
		"a cell":  func(p []byte) { p[8], p[9] = 0, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBrokenBag(t, 5000)
			file := slices.Clone(b.file)
			leaf := b.pages[2500][0]
			page := file[leaf*pageSize:][:pageSize]
			touched := leaf
			if breakIt == nil { // two leaves change places: nothing is lost
				other := b.pages[4000][0]
				copy(page, b.page(other))
				copy(file[other*pageSize:][:pageSize], b.page(leaf))
				touched = -1
			} else {
				breakIt(page)
			}
			whole := b.whole(func(page int) bool { return page == touched })
			info := b.read(t, file, whole, name, true)
			if info.Lost.Blocks == 0 || info.Lost.Bytes < pageSize || info.Lost.Messages > int64(len(b.rows)-len(whole)) ||
				name == "zero" && info.Lost.Messages != int64(len(b.rows)-len(whole)) {
				t.Errorf("of %d rows %d are whole; Info says %+v, %v", len(b.rows), len(whole), info.Lost, info.Warnings)
			}
		})
	}
}

// TestSalvageRandom breaks pages at random, 500 times in all with the damages of
// package sqlitefile's own test.
func TestSalvageRandom(t *testing.T) {
	b := newBrokenBag(t, 3000)
	pages := len(b.file) / pageSize
	runs := 150
	if testing.Short() {
		runs = 30
	}
	for i := range runs {
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		file := slices.Clone(b.file)
		if rng.IntN(2) == 0 {
			file = file[:(1+rng.IntN(pages-1))*pageSize]
		}
		broken := map[int]bool{}
		for range rng.IntN(6) {
			no := rng.IntN(len(file) / pageSize)
			if rng.IntN(4) == 0 {
				no = min(rng.IntN(12), no) // where the small tables and the roots are
			}
			broken[no] = true
			page := file[no*pageSize:][:pageSize]
			if rng.IntN(2) == 0 {
				clear(page)
			} else {
				for j := range page {
					page[j] = byte(rng.Uint32())
				}
			}
		}
		whole := b.whole(func(page int) bool { return broken[page] || (page+1)*pageSize > len(file) })
		if len(whole) > 0 {
			b.read(t, file, whole, fmt.Sprint("damage ", i), false)
		}
	}
}

// TestSalvageColumns: a table with another column is read by SQLite; where that meets
// damage, the rows are taken from their pages.
func TestSalvageColumns(t *testing.T) {
	for _, lost := range []string{"root", "leaf"} {
		path, _ := unevenBag(t, t.TempDir(), 5000, 100)
		edit(t, path, "DELETE FROM metadata", "ALTER TABLE messages ADD COLUMN note TEXT",
			"UPDATE messages SET note='x' WHERE id%2=0")
		b, err := os.ReadFile(path)
		check(t, err)
		table, leaf := 0, 0
		for no := range len(b) / pageSize {
			switch page := b[no*pageSize:]; {
			case page[0] == 5 && table == 0:
				table = no
			case page[0] == 13 && binary.BigEndian.Uint16(page[3:]) > 10:
				leaf = no
			}
		}
		no, least := table, 5000
		if lost == "leaf" {
			no, least = leaf, 4900
		}
		clear(b[no*pageSize:][:pageSize])
		rows, info := readAll(t, "/x/x.db3", storage.ReadOptions{FS: memFS{"/x/x.db3": b}})
		if len(rows) < least || int64(len(rows)) != info.Messages || !slices.Contains(codes(info), "salvaged") {
			t.Errorf("without a %s: %d rows of 5000, Info has %d: %v", lost, len(rows), info.Messages, info.Warnings)
		}
	}
}

package rosbag1

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestScanEqualsIndex reads bags without their index: the same comes out.
func TestScanEqualsIndex(t *testing.T) {
	var paths []string
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		paths = append(paths, filepath.Join("testdata", codec+".bag"))
	}
	paths = append(paths, samples.Glob(t, "ros1/*/*.bag")...)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, i, err := openBytes(t, b, storage.ReadOptions{})
		if err != nil || damaged(i) {
			continue // other tests have these
		}
		at := strings.Index(string(b[:min(len(b), 4096)]), "index_pos=") + 10
		if at < 10 {
			continue // a version without an index
		}
		indexPos := binary.LittleEndian.Uint64(b[at:])
		if indexPos == 0 {
			continue
		}
		binary.LittleEndian.PutUint64(b[at:], 0)
		t.Run(filepath.Base(path), func(t *testing.T) {
			got, j, err := openBytes(t, b, storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			equalMessages(t, got, want)
			if j.Messages != i.Messages || len(j.Topics) != len(i.Topics) || j.Start != i.Start || j.End != i.End {
				t.Errorf("info %+v, want %+v", j, i)
			}
			for k, topic := range j.Topics {
				if topic.Messages != i.Topics[k].Messages || topic.Name != i.Topics[k].Name {
					t.Errorf("topic %+v, want %+v", topic, i.Topics[k])
				}
			}
		})
	}
	if len(paths) < 3 {
		t.Fatal("no bags")
	}
}

// TestScanTimes: time 0 is the least of the times in an index.
func TestScanTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.bag")
	write(t, path, storage.WriteOptions{NoSync: true}, []storage.Message{{LogTime: 0}, {LogTime: 5},
		{LogTime: 9, Topic: 1}})
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(b, (&writer{}).fileHeader(0))
	r, err := openReader(context.Background(), "x.bag", storage.ReadOptions{FS: memFS{b: b}})
	if err != nil {
		t.Fatal(err)
	}
	blocks, _, _ := r.(*reader).Blocks(context.Background(), nil)
	if i := info(t, r.(*reader)); i.Start != 0 || i.End != 9 || len(blocks) != 1 || blocks[0].Start != 0 ||
		blocks[0].End != 9 {
		t.Errorf("from %d to %d, blocks %+v", i.Start, i.End, blocks)
	}
}

// TestManyChunks opens a bag with more chunks than are verified.
func TestManyChunks(t *testing.T) {
	for _, codec := range Format.Options.Choices(storage.NameCompression) {
		path := filepath.Join(t.TempDir(), "a.bag")
		messages := testMessages(300)
		write(t, path, storage.WriteOptions{Compression: codec, ChunkSize: 100, NoSync: true}, messages)
		src := open(t, path, storage.ReadOptions{Strict: true}).src
		r, err := openV2(src, &storage.ReadOptions{Strict: true}, 7)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		equalMessages(t, readAll(t, r), messages)
		i := info(t, r)
		if n := i.Compression[codec]; n != int64(len(r.blocks)) || len(r.blocks) < 50 || len(i.Warnings) > 0 {
			t.Errorf("%d of %d chunks, warnings %v", n, len(r.blocks), i.Warnings)
		}
		for _, b := range r.blocks {
			if b.RawSize <= 0 || b.Size <= 0 {
				t.Errorf("block %+v", b)
			}
		}
	}
}

// bag puts records together.
type bag struct{ b []byte }

func newBag() *bag { return &bag{(&writer{}).fileHeader(0)} }

func (b *bag) record(data string, fields ...string) *bag {
	var h []byte
	for i := 0; i < len(fields); i += 2 {
		h = appendField(h, fields[i], fields[i+1])
	}
	b.b = binary.LittleEndian.AppendUint32(b.b, uint32(len(h)))
	b.b = append(b.b, h...)
	b.b = binary.LittleEndian.AppendUint32(b.b, uint32(len(data)))
	b.b = append(b.b, data...)
	return b
}

func u32(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }

func (b *bag) conn(id uint32, topic, typ string) *bag {
	data := appendField(appendField(nil, "type", typ), "md5sum", "*")
	return b.record(string(data), "op", "\x07", "conn", u32(id), "topic", topic)
}

func (b *bag) message(id uint32, data string) *bag {
	return b.record(data, "op", "\x02", "time", u32(1)+u32(2_000_000_000), "conn", u32(id))
}

// chunk makes a plain chunk of another bag's records.
func (b *bag) chunk(records *bag) *bag {
	return b.record(string(records.b), "size", u32(uint32(len(records.b))), "op", "\x05", "compression", "none")
}

// TestOddRecords reads what a bag may have and none of our writers make.
func TestOddRecords(t *testing.T) {
	for name, c := range map[string]struct {
		bag      *bag
		messages int
		warning  string
		topics   []string
	}{
		"id of 32 bits": {newBag().chunk((&bag{}).conn(4e9, "/b", "B").message(4e9, "x").conn(7, "/a", "A").message(7, "y")),
			2, "unindexed", []string{"/a", "/b"}},
		"no connection": {newBag().chunk((&bag{}).conn(1, "/a", "A").message(1, "x").message(2, "y")), 1, "no-connection",
			[]string{"/a"}},
		"redefined": {newBag().chunk((&bag{}).conn(1, "/a", "A").message(1, "x").conn(1, "/a", "B").message(1, "y")), 2,
			"redefined", []string{"/a"}},
		"repeated": {newBag().chunk((&bag{}).conn(1, "/a", "A").message(1, "x").conn(1, "/a", "A").message(1, "y")), 2,
			"unindexed", []string{"/a"}},
		"unknown op": {newBag().record("zz", "op", "\x63", "note", "n").chunk((&bag{}).conn(1, "/a", "A").record("z", "op",
			"\x63").message(1, "x")), 1, "unindexed", []string{"/a"}},
		"no chunk": {newBag().conn(1, "/a", "A").message(1, "x").message(1, "y"), 2, "unindexed", []string{"/a"}},
		"empty chunk": {newBag().chunk(&bag{}).chunk((&bag{}).conn(1, "/a", "A").message(1, "x")), 1, "unindexed",
			[]string{"/a"}},
		"compression": {newBag().record("abcde", "size", u32(9), "op", "\x05", "compression",
			"rar").chunk((&bag{}).conn(1, "/a", "A").message(1, "x")), 1, "compression", []string{"/a"}},
		"junk": {newBag().chunk((&bag{}).conn(1, "/a", "A").message(1, "x")).junk(999).chunk((&bag{}).message(1, "y")),
			2, "gap", []string{"/a"}},
		"bad fields": {newBag().record("\x03\x00\x00\x00abc", "op", "\x07", "conn", u32(1), "topic", "/a"), 0, "connection",
			nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, i, err := openBytes(t, c.bag.b, storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != c.messages || i.Messages != int64(c.messages) {
				t.Errorf("%d messages, %d in the info, want %d", len(got), i.Messages, c.messages)
			}
			var topics, codes []string
			for _, topic := range i.Topics {
				topics = append(topics, topic.Name)
			}
			for _, w := range i.Warnings {
				codes = append(codes, w.Code)
			}
			if strings.Join(topics, " ") != strings.Join(c.topics, " ") {
				t.Errorf("topics %v, want %v", topics, c.topics)
			}
			if !strings.Contains(strings.Join(codes, " "), c.warning) || damaged(i) != (c.warning != "unindexed" &&
				c.warning != "connection") {
				t.Errorf("warnings %v, want %s", i.Warnings, c.warning)
			}
			for _, m := range got {
				if m.LogTime != 3e9 {
					t.Errorf("time %d", m.LogTime)
				}
			}
		})
	}
}

func (b *bag) junk(n int) *bag {
	for i := range n {
		b.b = append(b.b, byte(i*7))
	}
	return b
}

// TestConcurrent reads all blocks at once.
func TestConcurrent(t *testing.T) {
	b, _ := smallBag(t, "lz4")
	copy(b[5200:], "damage")
	r, err := openReader(context.Background(), "x.bag", storage.ReadOptions{FS: memFS{b: b}})
	if err != nil {
		t.Fatal(err)
	}
	blocks, _, _ := r.(*reader).Blocks(context.Background(), nil)
	done := make(chan int)
	for i := range blocks {
		for range 4 {
			go func() {
				var batch storage.Batch
				if err := r.(*reader).ReadBlock(context.Background(), i, &batch); err != nil {
					t.Error(err)
				}
				r.Info()
				done <- len(batch.Messages)
			}()
		}
	}
	for range 4 * len(blocks) {
		<-done
	}
}

// TestHeaderLength: whichever bit of the length of the file header is wrong, all messages are read.
func TestHeaderLength(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bag")
	whole, err := os.ReadFile("../../testdata/tiny.bag")
	if err != nil {
		t.Fatal(err)
	}
	count := func() (int, []storage.Warning) {
		r, err := openReader(t.Context(), path, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		messages, err := storagetest.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return len(messages), r.Damage().Warnings
	}
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	want, _ := count()
	at := len(versionLine) + 4 + int(binary.LittleEndian.Uint32(whole[len(versionLine):]))
	for bit := range 32 {
		b := bytes.Clone(whole)
		b[at+bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if got, warnings := count(); got != want || len(warnings) == 0 {
			t.Errorf("bit %d: %d of %d messages, %v", bit, got, want, warnings)
		}
	}
}

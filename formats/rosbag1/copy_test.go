package rosbag1

import (
	"bytes"
	"context"
	"encoding/binary"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// copyBag writes all of r to path: the blocks that repack names are packed anew,
// those that can be copied are, and the others are packed anew, too. It returns
// how many were copied. edit changes a topic, and leaves it out with false.
func copyBag(t testing.TB, r *Reader, path string, o storage.WriteOptions, threshold int, edit func(*storage.Topic) bool, repack func(i int) bool) int {
	t.Helper()
	sw, err := Create(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	w := sw.(*Writer)
	if threshold > 0 {
		w.threshold = threshold
	}
	topics := make([]storage.TopicID, len(r.conns.list))
	for i, info := range info(t, r).Topics {
		topics[i] = storage.NoTopic
		if edit == nil || edit(&info.Topic) {
			if topics[i], err = w.CreateTopic(info.Topic); err != nil {
				t.Fatal(err)
			}
		}
	}
	copies := w.CopyFrom(r, topics)
	var b storage.Batch
	for i := range r.blocks {
		if err := r.ReadBlock(context.Background(), i, &b); err != nil {
			t.Fatal(err)
		}
		if copies && (repack == nil || !repack(i)) {
			copied, err := w.CopyBlock(&b)
			if err != nil {
				t.Fatal(err)
			}
			if copied {
				clear(b.Buf) // no reference is kept
				clear(b.Scratch)
				continue
			}
		}
		for _, m := range b.Messages {
			if m.Topic = topics[m.Topic]; m.Topic == storage.NoTopic {
				continue
			}
			if err := w.Write(&m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.copied
}

// sameBag holds a bag against another: read by the index, by a scan, and by
// queries, which go by the index entries.
func sameBag(t *testing.T, path string, want []storage.Message, names []string) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unindexed := bytes.Clone(raw)
	copy(unindexed, (&Writer{}).fileHeader(0))
	for _, b := range [][]byte{raw, unindexed} {
		sr, err := Open(context.Background(), path, storage.ReadOptions{Strict: true, FS: memFS{b: b}})
		if err != nil {
			t.Fatal(err)
		}
		r := sr.(*Reader)
		i := info(t, r)
		got := readAll(t, r)
		if len(got) != len(want) || i.Messages != int64(len(want)) {
			t.Fatalf("%d messages, %d in the info, want %d", len(got), i.Messages, len(want))
		}
		for k := range got {
			g, w := &got[k], &want[k]
			if i.Topics[g.Topic].Name+i.Topics[g.Topic].Metadata["callerid"] != names[w.Topic] || g.LogTime != w.LogTime || !bytes.Equal(g.Data, w.Data) {
				t.Fatalf("message %d is %+v, want %+v", k, g, w)
			}
		}
	}
	r := open(t, path, storage.ReadOptions{Strict: true})
	sorted := slices.Clone(want)
	slices.SortStableFunc(sorted, func(a, b storage.Message) int { return int(a.LogTime - b.LogTime) })
	k := 0
	for m, err := range r.Query(context.Background(), storage.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		if m.LogTime != sorted[k].LogTime || !bytes.Equal(m.Data, sorted[k].Data) {
			t.Fatalf("message %d of a query is %+v, want %+v", k, m, sorted[k])
		}
		k++
	}
	if k != len(want) {
		t.Errorf("a query gives %d of %d messages", k, len(want))
	}
}

var testNames = func() (names []string) {
	for _, t := range testTopics {
		names = append(names, t.Name+t.Metadata["callerid"])
	}
	return names
}()

// TestCopy: a bag with copied chunks is the one whose messages are written one by
// one, wherever the change from one to the other comes.
func TestCopy(t *testing.T) {
	messages := testMessages(600)
	for _, codec := range Format.Compressions {
		t.Run(codec, func(t *testing.T) {
			dir := t.TempDir()
			in, out := filepath.Join(dir, "in.bag"), filepath.Join(dir, "out.bag")
			write(t, in, storage.WriteOptions{Compression: codec, ChunkSize: 2000, NoSync: true}, messages)
			n := len(open(t, in, storage.ReadOptions{}).blocks)
			for name, c := range map[string]struct {
				repack func(i int) bool
				want   int
			}{
				"all":          {nil, n - 1}, // the last one is small
				"second":       {func(i int) bool { return i%2 == 0 }, (n - 1) / 2},
				"but first":    {func(i int) bool { return i == 0 }, n - 2},
				"but the last": {func(i int) bool { return i > n-3 }, n - 2},
			} {
				o := storage.WriteOptions{Compression: codec, Overwrite: true, NoSync: true}
				if got := copyBag(t, open(t, in, storage.ReadOptions{}), out, o, 2000, nil, c.repack); got != c.want {
					t.Errorf("%s: %d of %d chunks are copied, want %d", name, got, n, c.want)
				}
				sameBag(t, out, messages, testNames)
			}
			a, _ := os.ReadFile(in)
			o := storage.WriteOptions{Compression: codec, Overwrite: true, NoSync: true}
			copyBag(t, open(t, in, storage.ReadOptions{}), out, o, 2000, nil, nil)
			if b, _ := os.ReadFile(out); !bytes.Equal(a, b) {
				t.Error("a bag of ours that is copied as a whole is another")
			}
		})
	}
}

// TestCopyRefused: what asks for other chunks than the bag has is never copied.
func TestCopyRefused(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.bag"), filepath.Join(dir, "out.bag")
	messages := testMessages(600)
	write(t, in, storage.WriteOptions{Compression: "lz4", ChunkSize: 2000, NoSync: true}, messages)
	for name, c := range map[string]struct {
		o         storage.WriteOptions
		threshold int
	}{
		"another compression": {storage.WriteOptions{Compression: "bz2"}, 2000},
		"none":                {storage.WriteOptions{}, 2000},
		"a level":             {storage.WriteOptions{Compression: "lz4", Level: 3}, 2000},
		"a chunk size":        {storage.WriteOptions{Compression: "lz4", ChunkSize: 2000}, 0},
		"small chunks":        {storage.WriteOptions{Compression: "lz4"}, 5000},
	} {
		c.o.Overwrite, c.o.NoSync = true, true
		if n := copyBag(t, open(t, in, storage.ReadOptions{}), out, c.o, c.threshold, nil, nil); n != 0 {
			t.Errorf("%s: %d chunks are copied", name, n)
		}
		sameBag(t, out, messages, testNames)
	}
}

// A rawChunk makes a plain chunk record by record, and bags of such chunks.
type rawChunk struct{ b []byte }

func (c *rawChunk) message(conn uint32, at int64) {
	b := append([]byte(messageHead), 1)
	binary.LittleEndian.PutUint32(b[13:], conn)
	putTime(b[34:], at)
	b[42] = 1
	c.b = append(c.b, b...)
}

// connection has its fields in another order than the Writer.
func (c *rawChunk) connection(conn uint32, t *storage.Topic) {
	h := appendOp(appendField(appendU32Field(nil, "conn", conn), "topic", t.Name), opConnection)
	fields := maps.Clone(t.Metadata)
	fields["topic"], fields["type"], fields["message_definition"] = t.Name, t.Type, string(t.Schema.Data)
	keys := slices.Sorted(maps.Keys(fields))
	slices.Reverse(keys)
	var data []byte
	for _, k := range keys {
		data = appendField(data, k, fields[k])
	}
	c.record(h, data)
}

func (c *rawChunk) record(header, data []byte) {
	c.b = binary.LittleEndian.AppendUint32(c.b, uint32(len(header)))
	c.b = append(c.b, header...)
	c.b = binary.LittleEndian.AppendUint32(c.b, uint32(len(data)))
	c.b = append(c.b, data...)
}

// bag has no index.
func rawBag(codec *compress.Codec, chunks ...*rawChunk) []byte {
	file := rawChunk{(&Writer{}).fileHeader(0)}
	for _, c := range chunks {
		packed, _ := codec.Encode(nil, c.b, 0)
		h := appendOp(appendField(nil, "compression", codec.Name()), opChunk)
		file.record(appendU32Field(h, "size", uint32(len(c.b))), packed)
	}
	return file.b
}

// TestCopyOdd: chunks that are copied, and those that are not for what they are.
func TestCopyOdd(t *testing.T) {
	topics := []storage.Topic{testTopics[0], testTopics[1], testTopics[2]}
	renamed := topics[0]
	renamed.Name, renamed.Metadata = "/old", topics[0].Metadata
	first := &rawChunk{} // defines all but 2
	for i := range 2 {
		first.connection(uint32(i), &topics[i])
		first.message(uint32(i), int64(i))
	}
	for name, c := range map[string]struct {
		copied bool
		make   func(c *rawChunk)
	}{
		"sound":                       {true, func(c *rawChunk) {}},
		"defined anew":                {true, func(c *rawChunk) { c.connection(1, &topics[1]) }},
		"defined before its messages": {true, func(c *rawChunk) { c.connection(2, &topics[2]); c.message(2, 5) }},
		"defined after a message":     {false, func(c *rawChunk) { c.message(2, 5); c.connection(2, &topics[2]) }},
		"a known one defined later":   {true, func(c *rawChunk) { c.message(1, 5); c.connection(1, &topics[1]) }},
		"other latching": {false, func(c *rawChunk) {
			other := topics[0]
			other.Metadata = maps.Clone(other.Metadata)
			other.Metadata["latching"] = "0"
			c.connection(0, &other)
		}},
		"other definition": {false, func(c *rawChunk) {
			other := topics[0]
			other.Schema.Data = []byte("string data \n")
			c.connection(0, &other)
		}},
		"another record": {false, func(c *rawChunk) { c.record(appendOp(nil, 99), []byte("x")) }},
		"time that carries": {false, func(c *rawChunk) {
			c.message(0, 7)
			binary.LittleEndian.PutUint32(c.b[len(c.b)-9:], 1_000_000_007)
		}},
		"bytes that are no record": {false, func(c *rawChunk) { c.b = append(c.b, "junk junk junk junk"...) }},
		"chunk in a chunk": {false, func(c *rawChunk) {
			var inner rawChunk
			inner.message(0, 8)
			h := appendOp(appendField(nil, "compression", "none"), opChunk)
			c.record(appendU32Field(h, "size", uint32(len(inner.b))), inner.b)
		}},
	} {
		for _, codec := range []*compress.Codec{compress.None, compress.LZ4, compress.BZ2} {
			t.Run(name+"/"+codec.Name(), func(t *testing.T) {
				second := &rawChunk{}
				second.message(0, 3)
				c.make(second)
				if c.copied {
					second.message(1, 4)
				}
				last := &rawChunk{}
				last.connection(2, &topics[2])
				last.message(2, 9)
				open := func(b []byte) *Reader {
					r, err := Open(context.Background(), "x.bag", storage.ReadOptions{FS: memFS{b: b}})
					if err != nil {
						t.Fatal(err)
					}
					return r.(*Reader)
				}
				b := rawBag(codec, first, second, last)
				want := readAll(t, open(b))
				out := filepath.Join(t.TempDir(), "out.bag")
				n := copyBag(t, open(b), out, storage.WriteOptions{Compression: codec.Name(), NoSync: true}, 10, nil, nil)
				if want := 2; c.copied && n != want+1 || !c.copied && n != want {
					t.Errorf("%d of 3 chunks are copied", n)
				}
				sameBag(t, out, want, testNames)
			})
		}
	}
}

// TestCopyTopics: connections that are left out or changed keep their chunks from
// being copied, and others keep their ids as far as no gap is left.
func TestCopyTopics(t *testing.T) {
	var chunks []*rawChunk
	for i := range 3 { // each connection alone, and then together
		c := &rawChunk{}
		c.connection(uint32(i), &testTopics[i])
		c.message(uint32(i), int64(i))
		chunks = append(chunks, c)
	}
	all, pair := &rawChunk{}, &rawChunk{}
	for i := range 3 {
		all.message(uint32(i), 10+int64(i))
	}
	pair.message(0, 20)
	pair.message(1, 21)
	b := rawBag(compress.LZ4, append(chunks, all, pair)...)
	for name, c := range map[string]struct {
		edit func(*storage.Topic) bool
		want int
		left int // messages
	}{
		"all":           {func(*storage.Topic) bool { return true }, 5, 8},
		"the last out":  {func(t *storage.Topic) bool { return t.Name != "/empty" }, 3, 6},
		"the first out": {func(t *storage.Topic) bool { return t.Metadata["callerid"] != "/talker" }, 1, 5}, // 1 stays, 2 becomes 0
		"renamed": {func(t *storage.Topic) bool {
			if t.Name == "/empty" {
				t.Name = "/void"
			}
			return true
		}, 4, 8}, // all but the chunk that defines it
		"another latching": {func(t *storage.Topic) bool { t.Metadata["latching"] = "1"; return true }, 3, 8},
	} {
		t.Run(name, func(t *testing.T) {
			sr, err := Open(context.Background(), "x.bag", storage.ReadOptions{FS: memFS{b: b}})
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out.bag")
			if n := copyBag(t, sr.(*Reader), out, storage.WriteOptions{Compression: "lz4", NoSync: true}, 10, c.edit, nil); n != c.want {
				t.Errorf("%d of 5 chunks are copied, want %d", n, c.want)
			}
			r := open(t, out, storage.ReadOptions{Strict: true})
			for i, conn := range r.conns.list {
				if conn.id != uint32(i) {
					t.Errorf("connection %d of %d has id %d", i, len(r.conns.list), conn.id)
				}
			}
			if n := len(readAll(t, r)); n != c.left {
				t.Errorf("%d messages, want %d", n, c.left)
			}
		})
	}
}

// TestCopyDamaged: no chunk is copied in which a byte has changed, unless it reads
// as it should and says the same.
func TestCopyDamaged(t *testing.T) {
	for _, codec := range []string{"lz4", "bz2"} {
		whole, messages := smallBag(t, codec)
		step := 7
		if testing.Short() {
			step = 101
		}
		for at := headerSize + 8 + len(versionLine); at < len(whole); at += step {
			b := bytes.Clone(whole)
			b[at] ^= 0x55
			o := storage.ReadOptions{FS: memFS{b: b}}
			sr, err := Open(context.Background(), "x.bag", o)
			if err != nil {
				t.Fatal(err)
			}
			want := readAll(t, sr.(*Reader))
			sr, _ = Open(context.Background(), "x.bag", o)
			out := filepath.Join(t.TempDir(), "out.bag")
			copyBag(t, sr.(*Reader), out, storage.WriteOptions{Compression: codec, NoSync: true}, 300, nil, nil)
			got := readAll(t, open(t, out, storage.ReadOptions{Strict: true}))
			if len(got) != len(want) || len(got) > len(messages) {
				t.Fatalf("%s, byte %d: %d messages, want %d", codec, at, len(got), len(want))
			}
			for i := range got {
				if got[i].LogTime != want[i].LogTime || !bytes.Equal(got[i].Data, want[i].Data) {
					t.Fatalf("%s, byte %d: message %d is %+v, want %+v", codec, at, i, got[i], want[i])
				}
			}
		}
	}
}

// copiedBags writes bags of which two thirds of the chunks are copied.
func copiedBags(t *testing.T, messages []storage.Message) (paths []string) {
	dir := t.TempDir()
	for _, codec := range Format.Compressions {
		in, out := filepath.Join(dir, "in.bag"), filepath.Join(dir, codec+"-copied.bag")
		write(t, in, storage.WriteOptions{Compression: codec, ChunkSize: 2000, Overwrite: true, NoSync: true}, messages)
		repack := func(i int) bool { return i%3 == 0 }
		if n := copyBag(t, open(t, in, storage.ReadOptions{}), out, storage.WriteOptions{Compression: codec, NoSync: true}, 2000, nil, repack); n < 4 {
			t.Fatalf("%d chunks are copied", n)
		}
		paths = append(paths, out)
	}
	return paths
}

func BenchmarkCopy(b *testing.B) {
	dir := b.TempDir()
	in, out := filepath.Join(dir, "in.bag"), filepath.Join(dir, "out.bag")
	benchMatrix(b, func(b *testing.B, codec string, size, n int) {
		b.SetBytes(writeBench(b, in, codec, size, n))
		r := open(b, in, storage.ReadOptions{})
		for _, packed := range []bool{false, true} {
			b.Run(map[bool]string{false: "copied", true: "packed"}[packed], func(b *testing.B) {
				for b.Loop() {
					copyBag(b, r, out, storage.WriteOptions{Compression: codec, NoSync: true, Overwrite: true}, 0, nil, func(int) bool { return packed })
				}
			})
		}
	})
}

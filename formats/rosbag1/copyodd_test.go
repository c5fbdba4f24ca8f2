package rosbag1

import (
	"context"
	"encoding/binary"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

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
	file := rawChunk{(&writer{}).fileHeader(0)}
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
		"defined for later":           {true, func(c *rawChunk) { c.connection(2, &topics[2]) }},
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
		for _, codec := range []*compress.Codec{compress.LZ4, compress.BZ2} {
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
				open := func(b []byte) *reader {
					r, err := openReader(context.Background(), "x.bag", storage.ReadOptions{FS: memFS{b: b}})
					if err != nil {
						t.Fatal(err)
					}
					return r.(*reader)
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
		"all":          {func(*storage.Topic) bool { return true }, 5, 8},
		"the last out": {func(t *storage.Topic) bool { return t.Name != "/empty" }, 3, 6},
		// 1 stays, 2 becomes 0
		"the first out": {func(t *storage.Topic) bool { return t.Metadata["callerid"] != "/talker" }, 1, 5},
		"renamed": {func(t *storage.Topic) bool {
			if t.Name == "/empty" {
				t.Name = "/void"
			}
			return true
		}, 4, 8}, // all but the chunk that defines it
		"another latching": {func(t *storage.Topic) bool { t.Metadata["latching"] = "1"; return true }, 3, 8},
	} {
		t.Run(name, func(t *testing.T) {
			sr, err := openReader(context.Background(), "x.bag", storage.ReadOptions{FS: memFS{b: b}})
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "out.bag")
			if n := copyBag(t, sr.(*reader), out, storage.WriteOptions{Compression: "lz4", NoSync: true}, 10, c.edit,
				nil); n != c.want {
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

// TestCopyDefines: connections are where a scan by index records looks for them,
// in chunks that have messages of a connection not known yet.
func TestCopyDefines(t *testing.T) {
	chunk := func(conn uint32, at int64, n int, defines ...uint32) *rawChunk {
		c := &rawChunk{}
		for _, id := range defines {
			c.connection(id, &testTopics[id])
		}
		for i := range n {
			c.message(conn, at+int64(i))
		}
		return c
	}
	for name, c := range map[string]struct {
		chunks []*rawChunk
		repack int
		want   int // copied
	}{
		"by a copied one without messages of it": {[]*rawChunk{chunk(0, 0, 10, 0), chunk(0, 10, 10, 1), chunk(1, 20, 10)}, -1,
			2},
		"in a packed one that defines no other": {[]*rawChunk{chunk(0, 0, 10, 0), chunk(0, 10, 2, 1), chunk(1, 20, 10)}, 1,
			1},
		"in a packed one that defines another": {[]*rawChunk{chunk(0, 0, 2, 0, 1), chunk(1, 10, 10), chunk(0, 20, 10)}, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := rawBag(compress.LZ4, c.chunks...)
			var want []storage.Message
			var r *reader
			for range 2 {
				sr, err := openReader(context.Background(), "x.bag", storage.ReadOptions{FS: memFS{b: b}})
				if err != nil {
					t.Fatal(err)
				}
				if r = sr.(*reader); want == nil {
					want = readAll(t, r)
				}
			}
			out := filepath.Join(t.TempDir(), "out.bag")
			n := copyBag(t, r, out, storage.WriteOptions{Compression: "lz4", NoSync: true}, 900, nil,
				func(i int) bool { return i == c.repack })
			if n != c.want {
				t.Errorf("%d of 3 chunks are copied, want %d", n, c.want)
			}
			sameBag(t, out, want, testNames)
		})
	}
}

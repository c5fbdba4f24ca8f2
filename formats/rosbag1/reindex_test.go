package rosbag1

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// openBag writes a bag with some chunks that was not closed: its index is gone.
func openBag(t testing.TB, codec string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.bag")
	var messages []storage.Message
	for i := range 40 {
		messages = append(messages, storage.Message{LogTime: int64(1e18) + int64(i)*1e6, Topic: storage.TopicID(i % 2), Data: bytes.Repeat([]byte{byte(i)}, i)})
	}
	rec := storagetest.Recording{Messages: messages, Topics: []storage.Topic{
		{Name: "/a", Type: "p/A", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("uint8[] a\n")}, Metadata: map[string]string{"md5sum": "0123456789abcdef0123456789abcdef"}},
		{Name: "/b", Type: "p/B", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("uint8[] b\n")}, Metadata: map[string]string{"md5sum": "1123456789abcdef0123456789abcdef"}},
	}}
	if err := storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true, Compression: codec, ChunkSize: 500}, rec); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var h header
	if err := h.parseRecord(b[len(versionLine):]); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte("index_pos=")) + len("index_pos=")
	copy(b[at:at+8], make([]byte, 8))
	return b[:h.indexPos]
}

// hasIndex reports whether a bag has an index that is used.
func hasIndex(t testing.TB, path string) bool {
	r, err := Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Error(err)
		return false
	}
	defer r.Close()
	return r.(*Reader).why == nil
}

// TestReindexCut: a bag without an index that is cut at any byte gets one, or stays as it
// is; the same messages are read of it as before.
func TestReindexCut(t *testing.T) {
	for _, codec := range []string{"none", "lz4"} {
		t.Run(codec, func(t *testing.T) {
			c := storagetest.Reindexing{Format: Format, Name: "x.bag", Bytes: openBag(t, codec), Indexed: hasIndex}
			if n, of := c.Cuts(t, len(versionLine)+headerSize+9); n < of/20 {
				t.Errorf("%d of %d cuts got an index", n, of)
			}
		})
	}
}

// TestReindexLastIndex: of a bag that ends within the INDEX_DATA records of its last chunk, or before
// them, the chunk is read and gets them, whatever its compression.
func TestReindexLastIndex(t *testing.T) {
	for _, codec := range []string{"none", "lz4", "bz2"} {
		whole := openBag(t, codec)
		end, h := 0, header{} // of the last chunk
		for p := len(versionLine); p < len(whole); p += h.headLen + int(h.dataSize()) {
			if err := h.parseRecord(whole[p:]); err != nil {
				t.Fatal(err)
			}
			if h.op == opChunk {
				end = p + h.headLen + int(h.dataSize())
			}
		}
		want, _, err := openBytes(t, whole, storage.ReadOptions{})
		if err != nil || len(want) != 40 {
			t.Fatal(len(want), err)
		}
		path := filepath.Join(t.TempDir(), "x.bag")
		for n := end; n <= len(whole); n++ {
			if err := os.WriteFile(path, whole[:n], 0o666); err != nil {
				t.Fatal(err)
			}
			changes, err := Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
			if err != nil || len(changes) != 1 {
				t.Fatalf("%s, %d of %d bytes: %v, %v", codec, n, len(whole), changes, err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got, info, err := openBytes(t, b, storage.ReadOptions{Strict: true, CheckIndexes: true})
			if err != nil || len(info.Warnings) > 0 {
				t.Fatalf("%s, %d of %d bytes: %v, %v", codec, n, len(whole), info, err)
			}
			equalMessages(t, got, want)
			if n < len(whole) && !bytes.Equal(b[:len(whole)][len(versionLine)+headerSize+8:], whole[len(versionLine)+headerSize+8:]) {
				t.Fatalf("%s, %d bytes: the INDEX_DATA records are others", codec, n)
			}
		}
	}
}

// TestReindexFaults: after a fault or a kill at any operation the bag reads as before, and the
// next run writes the index.
func TestReindexFaults(t *testing.T) {
	t.Parallel()
	whole := openBag(t, "none")
	whole = whole[:bytes.LastIndex(whole, []byte("compression="))+150] // within a message of the last chunk
	c := storagetest.Reindexing{Format: Format, Name: "x.bag", Bytes: whole, Indexed: hasIndex}
	c.Faults(t)
}

// TestReindexReadsLittle: of a bag of 10 GB without an index, little more than the headers of its
// records is read.
func TestReindexReadsLittle(t *testing.T) {
	head := openBag(t, "none")
	head = head[:len(versionLine)+8+headerSize]
	c := storagetest.Reindexing{Format: Format, Name: "x.bag", Indexed: hasIndex}
	c.ReadsLittle(t, 64<<20, head, func(n int, _, hole int64) (front, behind []byte) {
		now := int64(1e18) + int64(n)*1e9
		record := func(dst []byte, data int64, fields func([]byte) []byte) []byte {
			at := len(dst)
			dst = fields(append(dst, 0, 0, 0, 0))
			binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
			return binary.LittleEndian.AppendUint32(dst, uint32(data))
		}
		var content []byte
		if n == 0 {
			text := appendField(appendField(appendField(appendField(nil, "topic", "/a"), "type", "p/A"), "md5sum", "0123456789abcdef0123456789abcdef"), "message_definition", "uint8[] a\n")
			content = record(nil, int64(len(text)), func(b []byte) []byte {
				return appendField(appendOp(appendU32Field(b, "conn", 0), opConnection), "topic", "/a")
			})
			content = append(content, text...)
		}
		at := len(content)
		content = record(content, hole, func(b []byte) []byte {
			b = appendField(appendOp(appendU32Field(b, "conn", 0), opMessage), "time", "12345678")
			putTime(b[len(b)-8:], now)
			return b
		})
		size := int64(len(content)) + hole
		front = record(nil, size, func(b []byte) []byte {
			return appendU32Field(appendField(appendOp(b, opChunk), "compression", "none"), "size", uint32(size))
		})
		return append(front, content...), appendIndex(nil, 0, []indexed{{start: now, count: int64(at)}})
	})
}

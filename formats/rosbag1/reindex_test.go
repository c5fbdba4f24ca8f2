package rosbag1

import (
	"bytes"
	"errors"
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
		messages = append(messages, storage.Message{LogTime: int64(1e18) + int64(i)*1e6, Topic: storage.TopicID(i % 2),
			Data: bytes.Repeat([]byte{byte(i)}, i)})
	}
	rec := storagetest.Recording{Messages: messages, Topics: []storage.Topic{
		{Name: "/a", Type: "p/A", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("uint8[] a\n")},
			Metadata: map[string]string{"md5sum": "0123456789abcdef0123456789abcdef"}},
		{Name: "/b", Type: "p/B", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("uint8[] b\n")},
			Metadata: map[string]string{"md5sum": "1123456789abcdef0123456789abcdef"}},
	}}
	if err := storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true, Compression: codec, ChunkSize: 500},
		rec); err != nil {
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
	r, err := openReader(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Error(err)
		return false
	}
	defer r.Close()
	return r.(*reader).why == nil
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
			changes, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
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
			if n < len(whole) && !bytes.Equal(b[:len(whole)][len(versionLine)+headerSize+8:],
				whole[len(versionLine)+headerSize+8:]) {
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

// reordered returns a bag whose INDEX_DATA records have their fields in another order.
func reordered(t *testing.T, b []byte) []byte {
	t.Helper()
	b = bytes.Clone(b)
	other := indexOrder{"ver", "op", "count", "conn"}
	n := 0
	for p, h := len(versionLine), (header{}); p < len(b); p += h.headLen + int(h.dataSize()) {
		if err := h.parseRecord(b[p:]); err != nil {
			t.Fatal(err)
		}
		if h.op == opIndex {
			copy(b[p:], other.appendHead(nil, h.conn, h.count))
			n++
		}
	}
	if n == 0 {
		t.Fatal("no INDEX_DATA record")
	}
	return b
}

// oneOrder checks that all INDEX_DATA records of a bag have their fields in the order of the first one, which
// PyPI's rosbags takes for all.
func oneOrder(t *testing.T, path string, least int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	orders, n := map[indexOrder]bool{}, 0
	for p, h := len(versionLine), (header{}); p < len(b); p += h.headLen + int(h.dataSize()) {
		if err := h.parseRecord(b[p:]); err != nil {
			t.Fatal(err)
		}
		var o indexOrder
		if h.op == opIndex && o.parse(b[p+4:p+h.headLen-4]) {
			orders[o] = true
			n++
		}
	}
	if len(orders) != 1 || n < least {
		t.Errorf("%d INDEX_DATA records in %d orders", n, len(orders))
	}
}

// TestIndexOrder: what reindex and append add has the order of header fields that the bag has.
func TestIndexOrder(t *testing.T) {
	for _, codec := range []string{"none", "lz4"} {
		bag := reordered(t, openBag(t, codec))
		end := bytes.LastIndex(bag, []byte("compression=")) // in the header of the last chunk
		last := bytes.Index(bag[end:], []byte("ver=\x01")) + end - 8
		path := filepath.Join(t.TempDir(), "x.bag")
		if err := os.WriteFile(path, bag[:last], 0o666); err != nil {
			t.Fatal(err)
		}
		if changes, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); err != nil || len(changes) != 1 {
			t.Fatalf("%s: %v, %v", codec, changes, err)
		}
		oneOrder(t, path, 4)
		writeAs(t, adding, path, storage.WriteOptions{NoSync: true},
			[]storage.Message{{LogTime: 2e18, Data: []byte("added")}})
		oneOrder(t, path, 5)
	}
}

// TestReindexIndexData: a bag whose INDEX_DATA points elsewhere is not called right, and stays as it is.
func TestReindexIndexData(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bag")
	if err := os.WriteFile(path, openBag(t, "none"), 0o666); err != nil {
		t.Fatal(err)
	}
	for i := range 2 { // with its trailer, and without
		if i == 0 {
			if _, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); err != nil {
				t.Fatal(err)
			}
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			b = openBag(t, "none")
		}
		at := bytes.Index(b, usualOrder.appendHead(nil, 0, 0)[:17]) + indexHead + 8 // the offset of the first entry
		b[at] ^= 0x55
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err = reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
		var e *storage.Error
		if !errors.Is(err, storage.ErrUnsupported) || !errors.As(err, &e) || e.Hint != copyHint {
			t.Errorf("%d: %v", i, err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, b) {
			t.Errorf("%d: the bag has changed", i)
		}
	}
}

// TestReindexPartialChunk: a compressed chunk at the end of which nothing can be read gives way.
func TestReindexPartialChunk(t *testing.T) {
	for _, codec := range []string{"lz4", "bz2"} {
		bag := openBag(t, codec)
		end := bytes.LastIndex(bag, []byte("compression="))
		path := filepath.Join(t.TempDir(), "x.bag")
		if err := os.WriteFile(path, bag[:end+60], 0o666); err != nil {
			t.Fatal(err)
		}
		if changes, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); err != nil ||
			len(changes) != 1 || !hasIndex(t, path) {
			t.Errorf("%s: %v, %v", codec, changes, err)
		}
	}
}

// TestReindexOwnerless: a bag with messages of a connection that nothing defines gets no index, and stays as it is.
func TestReindexOwnerless(t *testing.T) {
	for _, broken := range []bool{false, true} {
		b := openBag(t, "none")
		data := bytes.Index(b, bytes.Repeat([]byte{20}, 20))
		at := bytes.LastIndex(b[:data], []byte("conn=")) + len("conn=")
		copy(b[at:], []byte{77, 0, 0, 0})
		if broken { // another message of the chunk is damaged too
			data = bytes.Index(b, bytes.Repeat([]byte{21}, 21))
			b[data-4] ^= 0x10
		}
		path := filepath.Join(t.TempDir(), "x.bag")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
		var e *storage.Error
		if !errors.Is(err, storage.ErrUnsupported) || !errors.As(err, &e) || e.Hint != copyHint {
			t.Errorf("broken %v: %v", broken, err)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, b) {
			t.Errorf("broken %v: the bag has changed", broken)
		}
	}
}

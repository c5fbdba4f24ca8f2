package rosbag1

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/faultio"
	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
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

// readBack reads a bag, and tells whether it has an index.
func readBack(t testing.TB, path string) (list []storage.Message, indexed bool) {
	t.Helper()
	r, err := Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		return nil, false
	}
	defer r.Close()
	for _, m := range readAll(t, r) {
		m.Data = bytes.Clone(m.Data)
		list = append(list, m)
	}
	return list, r.(*Reader).why == nil
}

// TestReindexCut: a bag without an index that is cut at any byte gets one, or stays as it
// is; the same messages are read of it as before.
func TestReindexCut(t *testing.T) {
	for _, codec := range []string{"none", "lz4"} {
		whole := openBag(t, codec)
		path := filepath.Join(t.TempDir(), "x.bag")
		step, written := 1, 0
		if testing.Short() {
			step = 7
		}
		for n := len(whole); n > len(versionLine)+headerSize+8; n -= step {
			if err := os.WriteFile(path, whole[:n], 0o666); err != nil {
				t.Fatal(err)
			}
			before, _ := readBack(t, path)
			changes, err := Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true, DryRun: true})
			if b, _ := os.ReadFile(path); !bytes.Equal(b, whole[:n]) {
				t.Fatalf("%s cut at %d: a dry run has changed it", codec, n)
			}
			again, e := Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
			if (e == nil) != (err == nil) || len(again) != len(changes) {
				t.Fatalf("%s cut at %d: %v, and %v in a dry run", codec, n, e, err)
			}
			after, indexed := readBack(t, path)
			if d := storagetest.Diff(after, before); d != "" {
				t.Fatalf("%s cut at %d: %v: %s; %+v", codec, n, e, d, again)
			}
			if b, _ := os.ReadFile(path); e != nil && (!bytes.Equal(b, whole[:n]) || !errors.Is(e, storage.ErrUnsupported)) {
				t.Fatalf("%s cut at %d: refused, and changed: %v", codec, n, e)
			}
			if e == nil && !indexed {
				r, _ := Open(t.Context(), path, storage.ReadOptions{})
				t.Fatalf("%s cut at %d: the index is not used: %+v", codec, n, r.(*Reader).why)
			}
			if e == nil {
				written++
			}
		}
		if written < 5 {
			t.Errorf("%s: only %d cuts could be written", codec, written)
		}
	}
}

// TestReindexFaults: after a fault or a kill at any operation the bag reads as before, and the
// next run writes the index.
func TestReindexFaults(t *testing.T) {
	whole := openBag(t, "none")
	whole = whole[:bytes.LastIndex(whole, []byte("compression="))+150] // within a message of the last chunk
	for _, fault := range []faultio.Fault{faultio.Error, faultio.Short, faultio.Death} {
		for at := int64(1); ; at++ {
			path := filepath.Join(t.TempDir(), "x.bag")
			if err := os.WriteFile(path, whole, 0o666); err != nil {
				t.Fatal(err)
			}
			want, _ := readBack(t, path)
			fsys := &faultio.FS{FS: iox.OS, N: at, Fault: fault, NoSync: true}
			_, err := Reindex(t.Context(), path, storage.ReindexOptions{FS: fsys})
			if !fsys.Fired() {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
			got, done := readBack(t, path)
			if d := storagetest.Diff(got, want); d != "" {
				t.Fatalf("operation %d: %v: %s", at, err, d)
			}
			if b, _ := os.ReadFile(path); !done && err != nil && fault != faultio.Death && !bytes.Equal(b, whole) && !exists(inplace.JournalPath(path)) {
				t.Fatalf("operation %d: %v, and the bag is changed", at, err)
			}
			if _, err := Reindex(t.Context(), path, storage.ReindexOptions{}); err != nil {
				t.Fatalf("operation %d: the next run: %v", at, err)
			}
			if got, indexed := readBack(t, path); !indexed || storagetest.Diff(got, want) != "" {
				t.Fatalf("operation %d: the next run has written no index", at)
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

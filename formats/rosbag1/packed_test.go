package rosbag1

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// pack compresses a bag as a whole.
func pack(t testing.TB, name string, b []byte) []byte {
	if name == "bzip2" {
		out, err := compress.BZ2.Encode(nil, b, 9)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestPacked: bags of all versions that are compressed as a whole, whole and cut.
func TestPacked(t *testing.T) {
	v2, messages := smallBag(t, "lz4")
	bags := map[string][]byte{"2.0": v2}
	want := map[string][]storage.Message{"2.0": messages}
	for i := range oldForms[:4] {
		f := &oldForms[i]
		want[f.name] = f.messages(3000, 30)
		bags[f.name] = f.write(want[f.name])
	}
	for i := range packings {
		p := &packings[i]
		for name, b := range bags {
			packed := pack(t, p.name, b)
			path := filepath.Join(t.TempDir(), "x.bag"+p.extension)
			if err := os.WriteFile(path, packed, 0o666); err != nil {
				t.Fatal(err)
			}
			if !sniff(nil, path, packed[:min(len(packed), storage.SniffLen)]) || Format.Layout.Stem("x.bag"+p.extension) != "x" {
				t.Errorf("%s %s is not known", p.name, name)
			}
			r, err := openReader(t.Context(), path, storage.ReadOptions{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			equalMessages(t, readAll(t, r), want[name])
			if i := info(t, r); i.Size != int64(len(packed)) || len(i.Facts) != 1 || !strings.Contains(i.Facts[0].Value,
				p.name) {
				t.Errorf("%s %s: %d bytes, facts %v", p.name, name, i.Size, i.Facts)
			}
			r.Close()

			if err := os.WriteFile(path, packed[:len(packed)/3], 0o666); err != nil {
				t.Fatal(err)
			}
			r, err = openReader(t.Context(), path, storage.ReadOptions{})
			if err != nil {
				if !errors.Is(err, storage.ErrTruncated) {
					t.Errorf("%s %s cut: %v", p.name, name, err)
				}
				continue
			}
			if got := readAll(t, r); len(got) >= len(want[name]) || !damaged(info(t, r)) {
				t.Errorf("%s %s cut: %d messages, warnings %v", p.name, name, len(got), info(t, r).Warnings)
			}
			r.Close()
		}
	}
}

// TestPackedOther: what is compressed and is not a bag is none.
func TestPackedOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.bag.gz")
	for _, b := range [][]byte{pack(t, "gzip", []byte("a letter")), []byte("\x1f\x8b\x08\x00"), []byte("BZh9....")} {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if sniff(nil, path, b) {
			t.Errorf("%q is a bag", b)
		}
		if _, err := openReader(t.Context(), path, storage.ReadOptions{}); err == nil {
			t.Errorf("%q was opened", b)
		}
	}
}

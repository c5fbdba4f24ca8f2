package mcap

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// unclosed writes a file with some chunks, and an attachment and metadata, whose recorder was
// killed: what follows the chunks is gone.
func unclosed(t testing.TB, codec string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.mcap")
	rec := storagetest.Recording{Topics: []storage.Topic{
		{Name: "/a", Type: "p/msg/A", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("uint8[] a\n")}},
		{Name: "/b", Type: "p/msg/B", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("uint8[] b\n")}},
	}}
	rec.Attachments = []storagetest.Attachment{{Name: "a.txt", MediaType: "text/plain", Content: []byte("text")}}
	rec.Records = []storagetest.MetadataRecord{{Name: "robot", Values: map[string]string{"name": "r2"}}}
	for i := range 40 {
		rec.Messages = append(rec.Messages, storage.Message{LogTime: int64(1e18) + int64(i)*1e6,
			Topic: storage.TopicID(i % 2), Data: bytes.Repeat([]byte{byte(i)}, i)})
	}
	if err := storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true, Compression: codec, ChunkSize: 500},
		rec); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f := footer{}
	if err := f.parse(b[len(b)-len(magic)-footerSize:]); err != nil {
		t.Fatal(err)
	}
	return b[:f.summaryStart-recordHead-4]
}

// hasSummary reports whether a file has a summary that is right.
func hasSummary(t testing.TB, path string) bool {
	r, err := openReader(t.Context(), path, storage.ReadOptions{Strict: true, CheckIndexes: true})
	if err != nil {
		t.Error(err)
		return false
	}
	defer r.Close()
	if _, err := storagetest.ReadAll(r); err != nil {
		t.Error(err)
	}
	for _, w := range r.Damage().Warnings {
		if w.Code != "unclosed" {
			t.Error(w)
		}
	}
	return r.(*reader).access == "summary"
}

// TestReindexCut: a file without a summary that is cut at any byte gets one, or stays as it is.
func TestReindexCut(t *testing.T) {
	for _, codec := range []string{"none", "zstd"} {
		t.Run(codec, func(t *testing.T) {
			c := storagetest.Reindexing{Format: Format, Name: "x.mcap", Bytes: unclosed(t, codec), Indexed: hasSummary}
			if n, of := c.Cuts(t, len(magic)); n < of/4 {
				t.Errorf("%d of %d cuts got an index", n, of)
			}
		})
	}
}

// TestReindexFaults: with half of a Message Index at the end, and with an old summary that is
// longer than the new one.
func TestReindexFaults(t *testing.T) {
	t.Parallel()
	b := unclosed(t, "none")
	b = b[:bytes.LastIndex(b, []byte("\x07\x36\x00\x00\x00\x00\x00\x00\x00"))+30] // of 3 messages
	c := storagetest.Reindexing{Format: Format, Name: "x.mcap", Bytes: b, Indexed: hasSummary}
	c.Faults(t)
	c.Bytes = append(unclosed(t, "none"), make([]byte, 2000)...)
	c.Faults(t)
}

// TestReindexSamples: files of any kind have the same messages afterwards, in the same order,
// and their summary is right; or they are refused and stay as they are.
func TestReindexSamples(t *testing.T) {
	written, refused := 0, 0
	for _, path := range append(samples.Glob(t, "mcap/generated/*.mcap"), samples.Glob(t, "mcap/pypi+mcap/*.mcap")...) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(t.TempDir(), "x.mcap")
		if err := os.WriteFile(copied, b, 0o666); err != nil {
			t.Fatal(err)
		}
		before, _ := listOf(t, copied)
		changes, err := reindex(t.Context(), copied, storage.ReindexOptions{NoSync: true})
		after, r := listOf(t, copied)
		if d := storagetest.Diff(after, before); d != "" {
			t.Errorf("%s: %v: %s", path, err, d)
		}
		now, _ := os.ReadFile(copied)
		switch {
		case err != nil:
			refused++
			if !bytes.Equal(now, b) {
				t.Errorf("%s: refused, and changed: %v", path, err)
			}
			continue
		case len(changes) > 0:
			written++
		case !bytes.Equal(now, b):
			t.Errorf("%s: it was changed, and Reindex reports no change", path)
		}
		if r.access != "summary" {
			t.Errorf("%s: the summary is not used: %s", path, r.access)
		}
		for _, w := range r.Damage().Warnings {
			if strings.Contains(" unclosed summary statistics zero-tail truncated trailing ", " "+w.Code+" ") {
				t.Errorf("%s: %+v", path, w)
			}
		}
		if again, err := reindex(t.Context(), copied, storage.ReindexOptions{NoSync: true}); err != nil || len(again) > 0 {
			t.Errorf("%s: a second run: %v, %+v", path, err, again)
		}
	}
	if written < 15 || refused < 5 {
		t.Errorf("%d written, %d refused", written, refused)
	}
}

// listOf reads a file, if it can be opened.
func listOf(t *testing.T, path string) ([]storage.Message, *reader) {
	t.Helper()
	r, err := openReader(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		return nil, nil
	}
	list, err := storagetest.ReadAll(r)
	if err != nil || r.Close() != nil {
		t.Fatal(err)
	}
	return list, r.(*reader)
}

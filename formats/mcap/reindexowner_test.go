package mcap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// refusesReindex reports whether Reindex refuses a file with the next step, and leaves it as it is.
func refusesReindex(t *testing.T, b []byte) bool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.mcap")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
	now, _ := os.ReadFile(path)
	if err == nil {
		return false
	}
	var e *storage.Error
	if !errors.Is(err, storage.ErrUnsupported) || !errors.As(err, &e) || e.Hint != copyHint || !bytes.Equal(now, b) {
		t.Errorf("refused, changed %v: %v", !bytes.Equal(now, b), err)
	}
	return true
}

// withoutChunkIndex returns a file whose summary has no Chunk Index of the last chunk, and where that chunk is.
func withoutChunkIndex(t *testing.T, b []byte) (out []byte, chunk int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.mcap")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list, chunks := recordsOf(t, b, opChunkIndex), recordsOf(t, b, opChunk)
	at := list[len(list)-1]
	h, err := parseHead(b[at:])
	if err != nil {
		t.Fatal(err)
	}
	b = slices.Delete(b, at, at+recordHead+int(h.length))
	foot := b[len(b)-len(magic)-footerSize:]
	clear(foot[8:footerSize]) // the summary has no offsets and no checksum
	return b, chunks[len(chunks)-1]
}

// TestReindexOwnerless: a chunk with a message of a channel that nothing defines gets no entry in an index, whatever
// else is wrong with it: Python's reader ends at such a message.
func TestReindexOwnerless(t *testing.T) {
	missed, _ := withoutChunkIndex(t, unclosed(t, "none"))
	for name, c := range map[string]struct {
		b       []byte
		message int // its data are as many bytes of this value
	}{"no summary": {unclosed(t, "none"), 20}, "no index of the chunk": {missed, 39}} {
		for _, sums := range []bool{true, false} {
			b := bytes.Clone(c.b)
			if !sums {
				clearSums(t, b)
			}
			if refusesReindex(t, b) {
				t.Fatalf("%s, checksums %v: the sound file is refused", name, sums)
			}
			at := bytes.LastIndex(b, bytes.Repeat([]byte{byte(c.message)}, c.message)) - messageFixed
			if at < recordHead || b[at-recordHead] != opMessage {
				t.Fatalf("%s: there is no message at byte %d", name, at-recordHead)
			}
			binary.LittleEndian.PutUint16(b[at:], 77)
			if !refusesReindex(t, b) {
				t.Errorf("%s, checksums %v: it is listed in a new index", name, sums)
			}
		}
	}
}

// TestReindexHiddenDamage: a damaged chunk of which an index has no entry gets none: readers that use the index do not
// meet the damage.
func TestReindexHiddenDamage(t *testing.T) {
	for _, codec := range []string{"none", "zstd", "lz4"} {
		b, at := withoutChunkIndex(t, unclosed(t, codec))
		if refusesReindex(t, b) {
			t.Fatalf("%s: the sound file is refused", codec)
		}
		b[at+recordHead+60] ^= 0x55
		if !refusesReindex(t, b) {
			t.Errorf("%s: it is listed in a new index", codec)
		}
	}
}

// TestReindexOldSummary: what a sound summary says of a chunk stays, if a byte of the chunk's header or of its Message
// Index changes, or the file is refused: readers that believe the summary read the chunk before and after.
func TestReindexOldSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.mcap")
	if err := os.WriteFile(path, unclosed(t, "zstd"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries := func(b []byte) (all []byte) {
		for _, at := range recordsOf(t, b, opChunkIndex) {
			h, err := parseHead(b[at:])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, b[at:at+recordHead+int(h.length)]...)
		}
		return all
	}
	want := entries(b)
	changed, refused := 0, 0
	for _, op := range []byte{opChunk, opMessageIndex} {
		for _, start := range recordsOf(t, b, op) {
			h, err := parseHead(b[start:])
			if err != nil {
				t.Fatal(err)
			}
			for at := start; at < start+recordHead+min(int(h.length), chunkHead); at++ {
				for _, bit := range []byte{1, 1 << (at % 8)} {
					damaged := bytes.Clone(b)
					damaged[at] ^= bit
					changed++
					if err := os.WriteFile(path, damaged, 0o666); err != nil {
						t.Fatal(err)
					}
					if _, err := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); err != nil {
						refused++
						continue
					}
					if now, err := os.ReadFile(path); err != nil || !bytes.Equal(entries(now), want) {
						t.Errorf("byte %d of the record %#x at byte %d: other entries of chunks (%v)", at-start, op, start, err)
					}
				}
			}
		}
	}
	if changed < 500 || refused == changed || refused == 0 {
		t.Errorf("%d of %d were refused", refused, changed)
	}
}

// TestReindexTexts: a text that is not UTF-8 does not get into a summary, and a channel does not without its schema:
// Python's reader takes a summary as a whole.
func TestReindexTexts(t *testing.T) {
	b := unclosed(t, "none")
	clearSums(t, b)
	if refusesReindex(t, b) {
		t.Fatal("the sound file is refused")
	}
	for _, text := range []string{"/a", "cdr", "p/msg/B", "ros2msg", "a.txt", "text/plain", "robot"} {
		for _, at := range []int{bytes.Index(b, []byte(text)), bytes.LastIndex(b, []byte(text))} {
			odd := bytes.Clone(b)
			if odd[at+len(text)-1] ^= 0x80; !refusesReindex(t, odd) {
				t.Errorf("%q at byte %d is not UTF-8, and gets into a summary", text, at)
			}
		}
	}
	odd := bytes.Clone(b)
	topic := bytes.Index(odd, []byte("\x02\x00\x00\x00/b"))
	if odd[topic-2] == 0 || odd[topic-1] != 0 {
		t.Fatalf("the schema of the channel is not at byte %d", topic-2)
	}
	if odd[topic-2] = 77; !refusesReindex(t, odd) {
		t.Error("a channel whose schema nothing defines gets into a summary")
	}
}

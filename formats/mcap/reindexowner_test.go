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
	_, err := Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
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
	if _, err := Reindex(t.Context(), path, storage.ReindexOptions{NoSync: true}); err != nil {
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

// TestReindexOwnerless: a chunk with a message of a channel that nothing defines gets no entry in an index, whatever else is
// wrong with it: Python's reader ends at such a message.
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

package ulog

import (
	"context"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// checkSections lists the messages of a file, which must cover it without a hole, and returns how many are messages of
// topics.
func checkSections(t testing.TB, b []byte) (messages int64) {
	t.Helper()
	r, err := openReader(context.Background(), "x.ulg", storage.ReadOptions{FS: memory(b)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l := r.(storage.SectionLister)
	var at int64
	for s, err := range l.Sections(context.Background(), storage.SectionRecords) {
		if err != nil {
			t.Fatal(err)
		}
		if int64(s.Offset) != at || s.Size <= 0 {
			t.Fatalf("%+v, and byte %d should be listed", s, at)
		}
		at += s.Size
		messages += max(int64(s.Messages), 0)
	}
	if at != int64(len(b)) {
		t.Fatalf("%d of %d bytes are listed", at, len(b))
	}
	for _, kind := range []storage.SectionKind{storage.SectionChunks, storage.SectionConnections, storage.SectionParts} {
		for s, err := range l.Sections(context.Background(), kind) {
			if err != nil || s.Messages < 0 {
				t.Fatalf("%+v, %v", s, err)
			}
		}
	}
	return messages
}

// TestSections: all bytes are listed, damage included.
func TestSections(t *testing.T) {
	for _, l := range []*log{each(), sample(3000), {b: append(each().b, make([]byte, 100)...)}} {
		if got, want := checkSections(t, l.b), mustRead(t, l).info.Messages; got != want {
			t.Errorf("%d messages are listed, %d read", got, want)
		}
	}
}

package rosbag2

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// sectionsOf lists the sections of a kind of a recording.
func sectionsOf(t *testing.T, path string, kind storage.SectionKind) (list []storage.Section, err error) {
	t.Helper()
	r, err := openReader(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	for s, err := range storage.ReaderCapabilities(r).Sections.Sections(context.Background(), kind) {
		if err != nil {
			return nil, err
		}
		list = append(list, *s)
	}
	return list, nil
}

// TestSections lists pages, topics and parts of what is written, whole, cut and damaged.
func TestSections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	rows := sampleRows()
	rows = slices.DeleteFunc(rows, func(m storage.Message) bool { return len(m.Data) > 20_000 })
	write(t, path, storage.WriteOptions{NoSync: true}, sampleTopics(), rows)
	db := filepath.Join(path, "x_0.db3")
	b, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	messages := storage.Known(0)
	pages, err := sectionsOf(t, path, storage.SectionRecords)
	if err != nil || len(pages) != len(b)/4096 {
		t.Fatal(len(pages), err)
	}
	for i, p := range pages {
		if p.Offset != storage.Known(i)*4096 || p.Size != 4096 || p.Broken != "" || p.Kind == "" {
			t.Errorf("%+v", p)
		}
		messages += max(0, p.Messages)
	}
	parts, err := sectionsOf(t, path, storage.SectionParts)
	if err != nil || len(parts) != 1 || parts[0].Messages != storage.Known(len(rows)) || messages != parts[0].Messages {
		t.Errorf("%d messages in pages, parts %+v, %v", messages, parts, err)
	}
	topics, err := sectionsOf(t, path, storage.SectionConnections)
	if err != nil || len(topics) != len(sampleTopics()) {
		t.Errorf("%+v, %v", topics, err)
	}
	if _, err := sectionsOf(t, path, storage.SectionChunks); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("chunks: %v", err)
	}
	lone := filepath.Join(t.TempDir(), "x.db3")
	broken := 0
	for i := 0; i < len(b); i += max(512, len(b)/100) {
		flipped := append([]byte(nil), b...)
		flipped[i] ^= 0xff
		for _, damaged := range [][]byte{b[:i], flipped} {
			if err := os.WriteFile(lone, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			at := int64(0)
			list, _ := sectionsOf(t, lone, storage.SectionRecords)
			for _, p := range list {
				if int64(p.Offset) != at {
					t.Errorf("%d bytes: %+v stands at byte %d", len(damaged), p, at)
				}
				if at += p.Size; p.Broken != "" {
					broken++
				}
			}
			if len(list) > 0 && at != int64(len(damaged)) {
				t.Errorf("the list ends at byte %d of %d", at, len(damaged))
			}
		}
	}
	if broken == 0 {
		t.Error("no damage was listed")
	}
}

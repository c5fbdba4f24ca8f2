package cyber

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// expected is what an independent section walk finds in a file.
type expected struct {
	Begin, End int64
	Channels   map[string]struct {
		Messages int64
		Type     string
	}
	Undeclared map[string]int64
	Messages   int64
	Hash       string `json:"messages_sha256_time_order"`
	Notes      []string
	Complete   bool
}

// TestData compares what is read of every record with what others read, or wrote.
func TestData(t *testing.T) {
	for path, want := range samples.Expected[expected](t, "cyber/expected.json") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r, err := openReader(context.Background(), path, storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			info := storagetest.InfoOf(r)
			for _, w := range info.Warnings {
				t.Logf("%s at %d: %s", w.Code, w.Offset, w.Message)
			}
			for _, f := range info.Facts {
				t.Logf("%s: %s", f.Key, f.Value)
			}
			t.Logf("expected notes: %v, lost: %+v", want.Notes, info.Lost)
			if info.Messages != want.Messages || info.Messages > 0 && (info.Start != want.Begin || info.End != want.End) {
				t.Errorf("%d messages from %d to %d, want %d from %d to %d", info.Messages, info.Start, info.End, want.Messages,
					want.Begin, want.End)
			}
			if len(info.Topics) != len(want.Channels)+len(want.Undeclared) {
				t.Errorf("%d topics, want %d and %d", len(info.Topics), len(want.Channels), len(want.Undeclared))
			}
			for _, topic := range info.Topics {
				ch, ok := want.Channels[topic.Name]
				if !ok {
					ch.Messages = want.Undeclared[topic.Name]
				}
				if topic.Messages != ch.Messages || topic.Type != ch.Type {
					t.Errorf("%s: %d of %q, want %d of %q", topic.Name, topic.Messages, topic.Type, ch.Messages, ch.Type)
				}
			}
			msgs, err := storagetest.ReadBlocks(r.(storage.BlockReader), 4)
			if err != nil {
				t.Fatal(err)
			}
			if got := timeOrderHash(info, msgs); got != want.Hash {
				t.Errorf("hash %s, want %s", got, want.Hash)
			}
			next, err := storagetest.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if d := storagetest.Diff(next, msgs); d != "" {
				t.Errorf("ReadNext and blocks: %s", d)
			}
		})
	}
}

// timeOrderHash is what expected.json calls messages_sha256_time_order.
func timeOrderHash(info *storage.Info, msgs []storage.Message) string {
	msgs = slices.Clone(msgs)
	slices.SortStableFunc(msgs, func(a, b storage.Message) int {
		switch {
		case a.LogTime < b.LogTime:
			return -1
		case a.LogTime > b.LogTime:
			return 1
		}
		return 0
	})
	h := sha256.New()
	for _, m := range msgs {
		b := binary.LittleEndian.AppendUint64(nil, uint64(m.LogTime))
		b = append(b, info.Topics[m.Topic].Name...)
		b = append(b, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(m.Data)))
		h.Write(b)
		h.Write(m.Data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestDataSegments opens segments by their stem.
func TestDataSegments(t *testing.T) {
	stems := map[string][]string{} // the segments of each
	for _, path := range samples.Glob(t, "cyber/generated/seg*.record.*") {
		stem := path[:strings.Index(path, ".record.")+len(".record")]
		stems[stem] = append(stems[stem], path)
	}
	if len(stems) == 0 {
		t.Fatal("there are no segments")
	}
	for path, paths := range stems {
		type size struct{ messages, topics, missing int }
		stem := filepath.Base(path)
		// The limit of the last segment of seg-v60 shows that another followed.
		want := map[string]size{"seg.record": {10, 8, 0}, "seg-v10.record": {940, 13, 0},
			"seg-v60.record": {317, 13, 1}}[stem]
		r, err := openReader(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		info := storagetest.InfoOf(r)
		if info.Messages != int64(want.messages) || len(info.Topics) != want.topics || len(info.Files) != len(paths) ||
			len(info.Warnings) != want.missing {
			t.Errorf("%s: %d messages in %d topics and %d files, %v", stem, info.Messages, len(info.Topics), len(info.Files),
				info.Warnings)
		}
		if !Format.Sniff(nil, path, nil) {
			t.Errorf("%s is not recognised", stem)
		}
	}
}

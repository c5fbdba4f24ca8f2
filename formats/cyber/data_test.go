package cyber

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

const dataDir = "../../../shared/data/cyber"

// expected is what an independent section walk says of a file.
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

// TestData holds every record of the data folder against the results of others.
func TestData(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(dataDir, "expected.json"))
	if os.IsNotExist(err) {
		t.Skip("no data folder")
	}
	var files map[string]expected
	if err != nil || json.Unmarshal(b, &files) != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			r, err := Open(context.Background(), filepath.Join(dataDir, name), storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			info, err := storagetest.InfoOf(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range info.Warnings {
				t.Logf("%s at %d: %s", w.Code, w.Offset, w.Message)
			}
			for _, f := range info.Facts {
				t.Logf("%s: %s", f.Key, f.Value)
			}
			t.Logf("expected notes: %v, lost: %+v", want.Notes, info.Lost)
			if info.Messages != want.Messages || info.Messages > 0 && (info.Start != want.Begin || info.End != want.End) {
				t.Errorf("%d messages from %d to %d, want %d from %d to %d", info.Messages, info.Start, info.End, want.Messages, want.Begin, want.End)
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

// TestDataSegments opens the segments of the data folder by their stem.
func TestDataSegments(t *testing.T) {
	// The limit of the last segment of seg-v60 shows that another followed.
	for stem, want := range map[string]int64{"seg-v10.record": 940, "seg-v60.record": 317} {
		missing := 0
		if stem == "seg-v60.record" {
			missing = 1
		}
		path := filepath.Join(dataDir, "generated", stem)
		paths, err := filepath.Glob(path + ".*")
		if err != nil || len(paths) == 0 {
			t.Skip("no data folder")
		}
		r, err := Open(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		info, _ := storagetest.InfoOf(r)
		if info.Messages != want || len(info.Topics) != 13 || len(info.Files) != len(paths) || len(info.Warnings) != missing {
			t.Errorf("%s: %d messages in %d topics and %d files, %v", stem, info.Messages, len(info.Topics), len(info.Files), info.Warnings)
		}
		if !Format.Sniff(nil, path, nil) {
			t.Errorf("%s is not recognised", stem)
		}
	}
}

package rosbag2

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

type row struct {
	topic string
	typ   string
	time  int64
	data  []byte
}

// readAll reads a recording by ReadNext.
func readAll(t testing.TB, path string, o storage.ReadOptions) ([]row, *storage.Info) {
	t.Helper()
	r, err := open(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { check(t, r.Close()) }()
	var rows []row
	before := storagetest.InfoOf(r)
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			break
		}
		check(t, err)
		topic := before.Topics[m.Topic]
		rows = append(rows, row{topic.Name, topic.Type, m.LogTime, slices.Clone(m.Data)})
	}
	info := storagetest.InfoOf(r)
	return rows, info
}

type expected struct {
	End      *int64 `json:"end_ns"`
	Start    *int64 `json:"start_ns"`
	Messages int64  `json:"messages"`
	SHA      string `json:"payload_sha256"`
	Topics   map[string]struct {
		Count  int64  `json:"count"`
		Format string `json:"format"`
		Type   string `json:"type"`
	} `json:"topics"`
}

// payloadSHA is payload_sha256 of expected.json.
func payloadSHA(rows []row) string {
	h := sha256.New()
	sort.SliceStable(rows, func(i, j int) bool { return rows[i].time < rows[j].time })
	for _, r := range rows {
		var b []byte
		b = binary.LittleEndian.AppendUint64(b, uint64(r.time))
		b = append(b, r.topic...)
		b = append(b, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(r.data)))
		h.Write(b)
		h.Write(r.data)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestRealFiles reads each single database of the collection. The hashes in
// expected.json are of the bytes in the file, so those of compressed messages
// are compared with the messages compressed again in the folder test below.
func TestRealFiles(t *testing.T) {
	for path, want := range samples.Expected[expected](t, "rosbag2/expected.json") {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			rows, info := readAll(t, path, storage.ReadOptions{})
			if info.Messages != want.Messages || int64(len(rows)) != want.Messages {
				t.Errorf("%d messages, read %d, want %d", info.Messages, len(rows), want.Messages)
			}
			if want.Start != nil && (info.Start != *want.Start || info.End != *want.End) {
				t.Errorf("times %d to %d, want %d to %d", info.Start, info.End, *want.Start, *want.End)
			}
			if len(info.Topics) != len(want.Topics) {
				t.Errorf("%d topics, want %d", len(info.Topics), len(want.Topics))
			}
			for _, topic := range info.Topics {
				w := want.Topics[topic.Name]
				if topic.Type != w.Type || topic.Encoding != w.Format || topic.Messages != w.Count {
					t.Errorf("topic %s: %s %s %d, want %v", topic.Name, topic.Type, topic.Encoding, topic.Messages, w)
				}
			}
			if info.Compression["zstd"] > 0 && !strings.HasSuffix(path, ".zstd") {
				return
			}
			if got := payloadSHA(rows); got != want.SHA {
				t.Errorf("payload hash %s, want %s", got, want.SHA)
			}
			for _, w := range info.Warnings {
				if w.Code != "one-part" {
					t.Errorf("warning: %+v", w)
				}
			}
		})
	}
}

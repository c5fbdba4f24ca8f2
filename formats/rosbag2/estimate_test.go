package rosbag2

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// readFS counts the bytes that are read.
type readFS struct {
	storage.FS
	bytes atomic.Int64
}

type readFile struct {
	storage.File
	fs *readFS
}

func (f *readFS) Open(name string) (storage.File, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	return &readFile{file, f}, nil
}

func (f *readFile) ReadAt(p []byte, off int64) (int, error) {
	f.fs.bytes.Add(int64(len(p)))
	return f.File.ReadAt(p, off)
}

// unevenBag has n messages of a size on six topics: half of all, a quarter, the rest,
// those of the first tenth alone, one in a hundred, and the very last message.
func unevenBag(t testing.TB, dir string, n, size int) (path string, counts []int64) {
	counts = make([]int64, 6)
	var topics []storage.Topic
	for i := range counts {
		topics = append(topics, storage.Topic{Name: fmt.Sprintf("/t%d", i), Type: "std_msgs/msg/String", Encoding: encoding,
			Metadata: map[string]string{}})
	}
	data := make([]byte, size)
	data[1] = 1
	rows := make([]storage.Message, n)
	for i := range rows {
		topic := 2
		switch {
		case i == n-1:
			topic = 5
		case i%100 == 7:
			topic = 4
		case i < n/10 && i%4 == 3:
			topic = 3
		case i%2 == 0:
			topic = 0
		case i%4 == 1:
			topic = 1
		}
		counts[topic]++
		rows[i] = storage.Message{Topic: storage.TopicID(topic), LogTime: int64(i*10 + i%3), Data: data}
	}
	path = filepath.Join(dir, "uneven.db3")
	write(t, path, storage.WriteOptions{NoSync: true}, topics, rows)
	return path, counts
}

// glance opens a recording for Info alone.
func glance(t *testing.T, path string, above int64) (*storage.Info, storage.Reader, int64) {
	t.Helper()
	fsys := &readFS{FS: iox.OS}
	r, err := open(context.Background(), path, storage.ReadOptions{InfoOnlyAbove: above, FS: fsys})
	check(t, err)
	t.Cleanup(func() { check(t, r.Close()) })
	info := storagetest.InfoOf(r)
	return info, r, fsys.bytes.Load()
}

// near reports whether an estimate is within five standard errors of a sample of rows,
// had each been taken by itself.
func near(got, want, all, sample int64) bool {
	p := float64(want) / float64(all)
	return math.Abs(float64(got-want)) <= 5*float64(all)*math.Sqrt(p*(1-p)/float64(sample))+5
}

// TestEstimate: without metadata the counts of a large file are estimated from a
// bounded part of it, times are exact, and no topic is missing.
func TestEstimate(t *testing.T) {
	for _, c := range []struct{ n, size, sample int }{{150_000, 100, 8192}, {12_000, 5000, 1024}} {
		path, counts := unevenBag(t, t.TempDir(), c.n, c.size)
		st, err := os.Stat(path)
		check(t, err)

		info, r, bytes := glance(t, path, 1) // the metadata table counts
		if info.Estimated || info.Messages != int64(c.n) || bytes > 1<<20 {
			t.Errorf("with metadata: %d messages, estimated %v, %d bytes read", info.Messages, info.Estimated, bytes)
		}
		if _, err := r.ReadNext(); err == nil {
			t.Error("a reader for Info alone reads")
		}
		if _, _, err := r.(storage.BlockReader).Blocks(context.Background(), nil); err == nil {
			t.Error("a reader for Info alone has blocks")
		}
		if err := r.(storage.BlockReader).ReadBlock(context.Background(), 0, &storage.Batch{}); err == nil {
			t.Error("a reader for Info alone reads a block")
		}

		edit(t, path, "DELETE FROM metadata")
		exact, _, _ := glance(t, path, st.Size())
		if exact.Estimated || exact.Messages != int64(c.n) {
			t.Errorf("a small file: %d messages, estimated %v", exact.Messages, exact.Estimated)
		}
		info, _, bytes = glance(t, path, 1)
		if !info.Estimated || info.Messages != int64(c.n) || info.Start != exact.Start || info.End != exact.End {
			t.Errorf("%d of %d messages from %d to %d, estimated %v", info.Messages, c.n, info.Start, info.End, info.Estimated)
		}
		if limit := int64(sampleRounds * roundWindows * 24 << 10); bytes > limit || bytes > st.Size()*2/3 {
			t.Errorf("%d bytes of %d read", bytes, st.Size())
		}
		for i, topic := range info.Topics {
			if exact.Topics[i].Messages != counts[i] {
				t.Errorf("%s: counted %d, want %d", topic.Name, exact.Topics[i].Messages, counts[i])
			}
			if !near(topic.Messages, counts[i], int64(c.n), int64(c.sample)) {
				t.Errorf("%s: estimated %d, there are %d", topic.Name, topic.Messages, counts[i])
			}
		}

		edit(t, path, "DROP INDEX timestamp_idx")
		if info, _, _ = glance(t, path, 1); !info.Estimated || info.Start > exact.End/100 || info.End < exact.End/100*99 ||
			info.Start < exact.Start || info.End > exact.End {
			t.Errorf("without an index: from %d to %d, want about %d to %d", info.Start, info.End, exact.Start, exact.End)
		}
		edit(t, path, "DELETE FROM messages WHERE id%3=1", "DELETE FROM topics WHERE id=2")
		if info, _, _ = glance(t, path, 1); !near(info.Messages, int64(c.n/3*2), int64(c.n), int64(c.sample)) ||
			len(info.Topics) != 6 {
			t.Errorf("with a third gone: %d of %d messages on %d topics", info.Messages, c.n, len(info.Topics))
		}
	}
}

// TestEstimateDamage: where the sample meets damage, the rows are counted, and what is
// sound is found.
func TestEstimateDamage(t *testing.T) {
	path, _ := unevenBag(t, t.TempDir(), 20_000, 100)
	edit(t, path, "DELETE FROM metadata")
	b, err := os.ReadFile(path)
	check(t, err)
	for at := 8 * pageSize; at < len(b)/2; at += pageSize {
		if b[at] == 13 {
			b[at] = 99
		}
	}
	check(t, os.WriteFile(path, b, 0o600))
	info, _, _ := glance(t, path, 1)
	if info.Estimated || info.Messages == 0 || info.Messages > 15_000 || len(info.Warnings) == 0 {
		t.Errorf("%d messages, estimated %v, warnings %v", info.Messages, info.Estimated, info.Warnings)
	}
	if _, err := open(context.Background(), path, storage.ReadOptions{InfoOnlyAbove: 1, Strict: true}); !storage.IsDamage(
		err) {
		t.Errorf("strict: %v", err)
	}
}

// TestEstimateCount: metadata.yaml that counts more than there are rowids is wrong, one
// that counts fewer may be right.
func TestEstimateCount(t *testing.T) {
	for count, want := range map[int64]bool{20_000: true, 5000: false} {
		path, _ := unevenBag(t, t.TempDir(), 10_000, 100)
		edit(t, path, "DELETE FROM metadata")
		m := ros2bag.Metadata{Version: 5, StorageID: "sqlite3", Messages: count, Paths: []string{"uneven.db3"}}
		text, err := m.Encode(true)
		check(t, err)
		check(t, os.WriteFile(filepath.Join(filepath.Dir(path), ros2bag.MetadataName), []byte(text), 0o600))
		info, _, _ := glance(t, filepath.Dir(path), 1)
		said := false
		for _, w := range info.Warnings {
			said = said || w.Code == "count" && w.Damage
		}
		if !info.Estimated || said != want || want && info.Lost.Messages != 10_000 {
			t.Errorf("%d counted: %+v, lost %d", count, info.Warnings, info.Lost.Messages)
		}
	}
}

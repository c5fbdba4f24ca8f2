package rosbag2

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

// TestCheckpoint: what was written before a checkpoint can be read of a recording that is never
// finished, with topics and definitions, in each part; and one that is finished is as it must be.
func TestCheckpoint(t *testing.T) {
	topics := sampleTopics()[:6] // a type without / is not recognized in a damaged file
	for name, o := range map[string]storage.WriteOptions{
		"bag.db3": {}, "bag": {}, "parts": {SegmentSize: 30_000},
		"rows": {Values: map[string]string{"compression": "zstd", "compression-mode": "message"}},
		"foxy": {Profile: "foxy"}, "jazzy": {Profile: "jazzy", SegmentSize: 30_000},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			o.NoSync = true
			x, err := createWriter(t.Context(), path, o)
			check(t, err)
			w := x.(*writer)
			var blocks []storage.PendingBlock
			w.OnBlock(func(b storage.PendingBlock) error { blocks = append(blocks, b); return nil })
			appendBlocks := func() {
				for _, b := range blocks {
					check(t, b.Encode())
					check(t, b.Append())
				}
				blocks = nil
			}
			var rows []storage.Message
			for i, topic := range topics {
				_, err := w.CreateTopic(topic)
				check(t, err)
				for k := range 10 * (i + 1) {
					m := storage.Message{Topic: storage.TopicID((i + k) % (i + 1)), LogTime: int64(len(rows)),
						Data: bytes.Repeat([]byte{byte(k)}, 40*k)}
					check(t, w.Write(&m))
					rows = append(rows, m)
				}
				check(t, w.Flush(true))
				appendBlocks()
				checkLeft(t, w.Out.Temp(), topics[:i+1], rows)
			}
			check(t, w.Flush(false))
			appendBlocks()
			check(t, w.Commit())
			compare(t, path, topics, rows)
			files := []string{path}
			if !w.Single {
				files, err = filepath.Glob(filepath.Join(path, "*.db3"))
				check(t, err)
			}
			for _, f := range files {
				if n := sound(t, f); n == 0 {
					t.Errorf("%s has no messages", f)
				}
			}
		})
	}
}

// TestCheckpointPacked: a part that cannot be read before its end is refused.
func TestCheckpointPacked(t *testing.T) {
	w, err := createWriter(t.Context(), filepath.Join(t.TempDir(), "bag"), storage.WriteOptions{NoSync: true,
		Compression: "zstd"})
	check(t, err)
	defer w.Close()
	var refused *storage.OptionError
	if err := w.(storage.BlockWriter).Flush(true); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
}

// checkLeft reads an unfinished recording.
func checkLeft(t *testing.T, path string, topics []storage.Topic, rows []storage.Message) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	got, info := readAll(t, path, storage.ReadOptions{})
	if len(got) != len(rows) || len(info.Topics) != len(topics) {
		t.Fatalf("%d rows and %d topics, want %d and %d", len(got), len(info.Topics), len(rows), len(topics))
	}
	for i := range topics {
		if !reflect.DeepEqual(info.Topics[i].Topic, topics[i]) {
			t.Errorf("topic %d:\n got %+v\nwant %+v", i, info.Topics[i].Topic, topics[i])
		}
	}
	for i := range rows {
		if got[i].time != rows[i].LogTime || got[i].topic != topics[rows[i].Topic].Name ||
			!bytes.Equal(got[i].data, rows[i].Data) {
			t.Fatalf("row %d differs", i)
		}
	}
}

// TestCheckpointKilled: whatever operation is the last, what was written before a checkpoint is there,
// with its topics and their definitions.
func TestCheckpointKilled(t *testing.T) {
	topics := sampleTopics()[:4]
	step := int64(1)
	if testing.Short() {
		step = 7
	}
	for _, name := range []string{"bag", "bag.db3"} {
		for n, ended := int64(1), false; !ended; n += step {
			path := filepath.Join(t.TempDir(), name)
			disk := &faultio.FS{FS: iox.OS, Fault: faultio.Death, N: n, NoSync: true}
			o := storage.WriteOptions{FS: disk, NoSync: true}
			if name == "bag" {
				o.SegmentSize = 20_000
			}
			flushed, err := recordUntil(t, path, o, topics)
			if ended = err == nil; ended {
				compare(t, path, topics, flushed)
				break
			}
			if len(flushed) == 0 {
				continue
			}
			left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*.part", "new", "*"))
			check(t, err)
			if len(left) == 0 { // its last step was done
				left = []string{path}
			}
			got, info := readAll(t, left[0], storage.ReadOptions{})
			if len(got) < len(flushed) {
				t.Errorf("%s, operation %d: %d rows of %d", name, n, len(got), len(flushed))
			}
			for i, m := range flushed {
				if i < len(got) && (got[i].time != m.LogTime || got[i].topic != topics[m.Topic].Name) {
					t.Fatalf("%s, operation %d: row %d is %+v", name, n, i, got[i])
				}
			}
			for _, x := range info.Topics {
				if len(x.Schema.Data) == 0 {
					t.Errorf("%s, operation %d: topic %s has no definition", name, n, x.Name)
				}
			}
		}
	}
}

// recordUntil writes with checkpoints until there is an error, and returns the rows of before the last
// checkpoint that was done.
func recordUntil(t *testing.T, path string, o storage.WriteOptions, topics []storage.Topic) (flushed []storage.Message,
	err error) {
	x, err := createWriter(t.Context(), path, o)
	if err != nil {
		return nil, err
	}
	w := x.(*writer)
	defer w.Close()
	var blocks []storage.PendingBlock
	w.OnBlock(func(b storage.PendingBlock) error { blocks = append(blocks, b); return nil })
	appendBlocks := func() (err error) {
		for _, b := range blocks {
			err = errors.Join(err, b.Encode(), b.Append())
		}
		blocks = nil
		return err
	}
	var rows []storage.Message
	for i, topic := range topics {
		if _, err := w.CreateTopic(topic); err != nil {
			return flushed, err
		}
		for k := range 20 {
			m := storage.Message{Topic: storage.TopicID(k % (i + 1)), LogTime: int64(len(rows)),
				Data: bytes.Repeat([]byte{byte(k)}, 100*k)}
			if err := w.Write(&m); err != nil {
				return flushed, err
			}
			rows = append(rows, m)
		}
		if err := errors.Join(w.Flush(true), appendBlocks()); err != nil {
			return flushed, err
		}
		flushed = rows[:len(rows):len(rows)]
	}
	if err := errors.Join(w.Flush(false), appendBlocks()); err != nil {
		return flushed, err
	}
	return flushed, w.Commit()
}

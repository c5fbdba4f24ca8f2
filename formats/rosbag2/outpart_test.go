package rosbag2

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

// TestSegments: a recording cut by size or duration has the same messages, each
// part within its limit and whole by itself; the way of writing changes no byte.
func TestSegments(t *testing.T) {
	rows := sampleRows()[7:]
	slices.SortStableFunc(rows, func(a, b storage.Message) int { return cmp.Compare(a.LogTime, b.LogTime) })
	for name, o := range map[string]storage.WriteOptions{
		"size": {SegmentSize: 200_000}, "duration": {SegmentDuration: 1_000_000, SegmentNames: "numbered"},
		"both": {SegmentSize: 300_000, SegmentDuration: 900_000}, "tiny": {SegmentSize: 1},
	} {
		t.Run(name, func(t *testing.T) {
			in := rows
			if name == "tiny" {
				in = rows[:40]
			}
			plain, blocks := filepath.Join(t.TempDir(), "bag"), filepath.Join(t.TempDir(), "bag")
			write(t, plain, o, sampleTopics(), in)
			writeBlocks(t, blocks, o, sampleTopics(), in)
			got, info := readAll(t, plain, storage.ReadOptions{Strict: true})
			if len(got) != len(in) || len(info.Files) < 4 || len(info.Topics) != len(sampleTopics()) ||
				info.Messages != int64(len(in)) {
				t.Fatalf("%d rows of %d in %d files, %d topics", len(got), len(in), len(info.Files), len(info.Topics))
			}
			for i, r := range got {
				if r.time != in[i].LogTime || !bytes.Equal(r.data, in[i].Data) || r.topic != sampleTopics()[in[i].Topic].Name {
					t.Fatalf("row %d differs", i)
				}
			}
			for i, file := range info.Files {
				if filepath.Base(file) != fmt.Sprintf("bag_%d.db3", i) {
					t.Errorf("part %d is called %s", i, file)
				}
				a, err := os.ReadFile(file)
				check(t, err)
				b, err := os.ReadFile(filepath.Join(blocks, filepath.Base(file)))
				check(t, err)
				if !bytes.Equal(a, b) {
					t.Errorf("part %d has other bytes when blocks are handed out", i)
				}
				part, pi := readAll(t, file, storage.ReadOptions{Strict: true})
				size := 0
				for _, r := range part {
					size += len(r.data)
				}
				if len(part) == 0 || len(pi.Topics) != len(sampleTopics()) || int64(len(part)) != pi.Messages ||
					o.SegmentSize > 0 && int64(size) > o.SegmentSize && len(part) > 1 || o.SegmentDuration > 0 &&
					pi.End-pi.Start > o.SegmentDuration {
					t.Errorf("part %d: %d messages of %d bytes, %d topics, %d ns", i, len(part), size, len(pi.Topics), pi.End-pi.Start)
				}
			}
			for _, path := range []string{plain, blocks} {
				if entries, err := os.ReadDir(path); err != nil || len(entries) != len(info.Files)+1 {
					t.Errorf("%d files in the folder: %v", len(entries), err)
				}
			}
		})
	}
	for name, o := range map[string]storage.WriteOptions{"x": {SegmentSize: -1}, "y": {SegmentNames: "odd"},
		"z.db3": {SegmentSize: 5}} {
		dir := t.TempDir()
		if _, err := createWriter(context.Background(), filepath.Join(dir, name), o); !errors.Is(err,
			storage.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
		if entries, _ := os.ReadDir(dir); len(entries) > 0 {
			t.Errorf("%s: leaves %v", name, entries)
		}
	}
}

// writeBlocks writes as a conversion does: pages are written by another goroutine.
func writeBlocks(t *testing.T, path string, o storage.WriteOptions, topics []storage.Topic, rows []storage.Message) {
	t.Helper()
	o.NoSync = true
	s, err := createWriter(context.Background(), path, o)
	check(t, err)
	w := s.(*writer)
	blocks := make(chan storage.PendingBlock, 2)
	done := make(chan error)
	go func() {
		var err error
		for b := range blocks {
			err = errors.Join(err, b.Encode(), b.Append())
		}
		done <- err
	}()
	w.OnBlock(func(b storage.PendingBlock) error { blocks <- b; return nil })
	for _, topic := range topics {
		_, err := w.CreateTopic(topic)
		check(t, err)
	}
	for i := range rows {
		check(t, w.Write(&rows[i]))
	}
	check(t, w.Flush(false))
	close(blocks)
	check(t, errors.Join(<-done, w.Commit()))
}

// TestSegmentFaults: each operation on the disk fails in turn while a recording of
// several parts is written: an error, and nothing is left.
func TestSegmentFaults(t *testing.T) {
	rows := sampleRows()[7:25]
	for _, fault := range []faultio.Fault{faultio.Error, faultio.Short} {
		n := int64(1)
		for ; ; n++ {
			dir := t.TempDir()
			fsys := &faultio.FS{FS: iox.OS, N: n, Fault: fault}
			err := func() (err error) {
				w, err := createWriter(context.Background(), filepath.Join(dir, "bag"), storage.WriteOptions{SegmentSize: 100,
					FS: fsys})
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, w.Close()) }()
				for _, topic := range sampleTopics() {
					if _, err := w.CreateTopic(topic); err != nil {
						return err
					}
				}
				for i := range rows {
					if err := w.Write(&rows[i]); err != nil {
						return err
					}
				}
				return w.Commit()
			}()
			if !fsys.Fired() {
				check(t, err)
				break
			}
			entries, _ := os.ReadDir(dir)
			if err == nil && len(entries) == 1 && entries[0].Name() == "bag" {
				continue // it was about the lock of the staging folder, which is no more than a convenience
			}
			if !errors.Is(err, faultio.ErrFault) || len(entries) > 0 {
				t.Fatalf("operation %d: %v; left are %v", n, err, entries)
			}
		}
		if n < 50 {
			t.Errorf("only %d operations", n)
		}
	}
}

// TestRefereeSegments has PyPI rosbags open a recording of several parts.
func TestRefereeSegments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bag")
	rows := sampleRows()
	for i := range rows {
		rows[i].Topic = 0
	}
	topics := sampleTopics()[:1]
	topics[0].Metadata = map[string]string{
		storage.MetaTypeHash: "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"}
	write(t, path, storage.WriteOptions{SegmentSize: 1_000_000}, topics, rows)
	referee(t, path, len(rows))
	parts, err := filepath.Glob(filepath.Join(path, "*"+db3.Ext))
	check(t, err)
	if len(parts) < 3 {
		t.Errorf("%d parts", len(parts))
	}
	for _, part := range parts {
		integrity(t, part)
	}
}

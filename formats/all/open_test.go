package all_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestOpen: Open opens a recording whatever it is, under any name, and nothing
// else: a bag, a record, its segments by their stem and one by one, a rosbag2 folder,
// its database alone.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	made := func(name, format string, o storage.WriteOptions) string {
		path := filepath.Join(dir, name)
		o.NoSync = true
		_, err := convert.Run(context.Background(), convert.Job{
			Source: "../../testdata/demo.bag", SourceFormat: all.Registry().Lookup("bag"), Sink: path,
			SinkFormat: all.Registry().Lookup(format), Write: o,
		})
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	count := func(path string) int {
		r, err := all.Open(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return 0
		}
		defer r.Close()
		n := 0
		for ; ; n++ {
			if _, err := r.ReadNext(); err == io.EOF {
				break
			} else if err != nil {
				t.Errorf("%s: %v", path, err)
				break
			}
		}
		info := storagetest.InfoOf(r)
		if info.Messages != int64(n) {
			t.Errorf("%s: %d messages, %v", path, n, err)
		}
		for _, w := range info.Warnings {
			if w.Code != "one-part" {
				t.Errorf("%s: %v", path, w)
			}
		}
		return n
	}
	const messages = 636
	folder := made("folder.bag", "db3", storage.WriteOptions{}) // a name means nothing
	databases, err := filepath.Glob(folder + "/*.db3")
	if err != nil || len(databases) != 1 {
		t.Fatal(databases, err)
	}
	stem := made("drive.record", "record", storage.WriteOptions{SegmentDuration: 300_000_000, SegmentNames: "old"})
	for _, path := range []string{
		"../../testdata/demo.bag", made("lz4", "bag", storage.WriteOptions{Compression: "lz4"}),
		made("bz2.db3", "bag", storage.WriteOptions{Compression: "bz2"}),
		made("whole", "record", storage.WriteOptions{}), stem, folder, databases[0],
	} {
		if n := count(path); n != messages {
			t.Errorf("%s: %d messages", path, n)
		}
	}
	if n := count(stem+".00000") + count(stem+".00001") + count(stem+".00002") + count(stem+".00003"); n != messages {
		t.Errorf("%d messages in the segments", n)
	}

	text := filepath.Join(dir, "notes.bag")
	if err := os.WriteFile(text, []byte("hello\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, t.TempDir()} {
		if _, err := all.Open(context.Background(), path, storage.ReadOptions{}); !errors.Is(err, storage.ErrUnknownFormat) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := all.Open(context.Background(), filepath.Join(dir, "none.bag"), storage.ReadOptions{}); !errors.Is(err,
		os.ErrNotExist) {
		t.Error(err)
	}
}

// TestNoFileSystem: where formats take a file system, nil is the operating system's.
func TestNoFileSystem(t *testing.T) {
	dir := t.TempDir()
	for _, f := range all.Registry().Formats() {
		for _, name := range []string{"x", "x.record", "x.record.00001", "x_0.db3", "x_0.mcap", "x.bag", "x_1.bag"} {
			path := filepath.Join(dir, name)
			for range 2 { // without the file, and with it
				f.Claims(nil, path)
				if f.Layout.RecordingOf != nil {
					f.Layout.RecordingOf(nil, path)
				}
				_, _ = f.FilesOf(nil, path)
				_, _ = f.FilesOf(nil, dir)
				if f.Layout.Recordings != nil {
					f.Layout.Recordings(nil, dir, []string{name})
				}
				if err := os.WriteFile(path, []byte("text"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

package rosbag2

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

// FuzzReader opens and reads any bytes as a database, with any log or journal beside it: no
// panic, no hang, errors with a place, and no more messages than the bytes can have.
func FuzzReader(f *testing.F) {
	path, _ := smallBag(f, f.TempDir())
	db, err := os.ReadFile(path)
	check(f, err)
	edit(f, path, "DELETE FROM messages WHERE id<9")
	now, err := os.ReadFile(path)
	check(f, err)
	f.Add(db, []byte(nil))
	f.Add(db, makeWAL(db, now, pageSize, true))
	c := crashes(f, 512, "OFF", 10)[1]
	f.Add(c.db, c.journal)
	f.Add(db[:len(db)/2], []byte(nil))
	f.Add(db[pageSize:], []byte(nil))
	f.Fuzz(func(t *testing.T, db, wal []byte) {
		fsys := memFS{"/x/bad.db3": db}
		switch {
		case strings.HasPrefix(string(wal), sqlite.JournalMagic):
			fsys["/x/bad.db3-journal"] = wal
			r, err := open(t.Context(), "/x/bad.db3", storage.ReadOptions{FS: fsys, Uncommitted: true})
			if err == nil {
				for err == nil {
					_, err = r.ReadNext()
				}
				check(t, r.Close())
			}
		case len(wal) > 0:
			fsys["/x/bad.db3-wal"] = wal
		}
		n, _, err := tryFS(t, fsys, "/x/bad.db3", false)
		var e *storage.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		if n > len(db)+len(wal) {
			t.Fatalf("%d messages out of %d bytes", n, len(db)+len(wal))
		}
	})
}

// FuzzFolder: metadata.yaml is any text, beside a database that is sound.
func FuzzFolder(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "bag")
	write(f, dir, storage.WriteOptions{}, sampleTopics(), sampleRows()[:20])
	text, err := os.ReadFile(filepath.Join(dir, ros2bag.MetadataName))
	check(f, err)
	db, err := os.ReadFile(filepath.Join(dir, "bag_0.db3"))
	check(f, err)
	f.Add(string(text))
	f.Add("rosbag2_bagfile_information: {version: 9, relative_file_paths: [bag_0.db3], message_count: 20}")
	f.Fuzz(func(t *testing.T, text string) {
		fsys := memFS{"/x/metadata.yaml": []byte(text), "/x/bag_0.db3": db}
		r, err := open(context.Background(), "/x", storage.ReadOptions{FS: fsys})
		var e *storage.Error
		if err != nil {
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			return
		}
		defer r.Close()
		n := 0
		for {
			_, err := r.ReadNext()
			if err == io.EOF {
				break
			}
			check(t, err)
			n++
		}
		if n != 20 {
			t.Fatalf("%d messages of 20", n)
		}
	})
}

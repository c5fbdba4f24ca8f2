package cyber

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestSegmentsFinish: segments can be read as one, by their folder, before they have
// their names, and are gone if they do not get them.
func TestSegmentsFinish(t *testing.T) {
	rec := suite("").Generate(3, storagetest.Spec{Topics: 3, Messages: 300, MaxSize: 100, Step: 100_000_000})
	dir := t.TempDir()
	w, err := createWriter(context.Background(), filepath.Join(dir, "x.record"), storage.WriteOptions{SegmentSize: 2000})
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range rec.Topics {
		_, e := w.CreateTopic(topic)
		err = errors.Join(err, e)
	}
	for i := range rec.Messages {
		err = errors.Join(err, w.Write(&rec.Messages[i]))
	}
	made, e := w.Finish()
	if err = errors.Join(err, e); err != nil {
		t.Fatal(err)
	}
	r, err := openReader(context.Background(), made.Path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := storagetest.ReadAll(r)
	if d := storagetest.Diff(got, rec.Messages); d != "" || err != nil {
		t.Error(d, err)
	}
	r.Close()
	err = w.Close()
	if left, _ := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, and %v is left", err, left)
	}
}

// TestSegments cuts by size and by time, under new names and old, and reads the
// segments again as one recording.
func TestSegments(t *testing.T) {
	rec := suite("").Generate(3, storagetest.Spec{Topics: 3, Messages: 300, MaxSize: 100, Step: 100_000_000})
	for name, o := range map[string]storage.WriteOptions{
		"size": {SegmentSize: 2000}, "time": {SegmentDuration: 5e9, SegmentNames: namesOld},
		"both": {SegmentSize: 9000, SegmentDuration: 7e9, ChunkSize: 500},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			stem := filepath.Join(dir, "x.record")
			if err := storagetest.WriteBlocks(Format, stem, o, rec); err != nil {
				t.Fatal(err)
			}
			files, _ := filepath.Glob(stem + ".*")
			if _, err := os.Stat(stem); !errors.Is(err, fs.ErrNotExist) || len(files) < 2 {
				t.Fatalf("%v, %v", files, err)
			}
			total := 0
			for i, f := range files {
				if !strings.HasPrefix(f, fmt.Sprintf("%s.%05d", stem, i)) ||
					(len(f) > len(stem)+6) != (o.SegmentNames != namesOld) {
					t.Errorf("segment %d is called %s", i, f)
				}
				w := walkFile(t, f)
				total += len(w.viewed)
				if len(w.channels) != 3 && i < len(files)-1 && i > 0 {
					t.Errorf("segment %d has %d channels", i, len(w.channels))
				}
				h := w.header
				var raw int
				for _, m := range w.messages {
					raw += len(m.Content)
				}
				if o.SegmentSize > 0 && raw > int(o.SegmentSize) || o.SegmentDuration > 0 &&
					h.GetEndTime()-h.GetBeginTime() > uint64(o.SegmentDuration) {
					t.Errorf("segment %d of %d bytes and %d ns", i, raw, h.GetEndTime()-h.GetBeginTime())
				}
			}
			if total != len(rec.Messages) {
				t.Errorf("the viewer shows %d of %d", total, len(rec.Messages))
			}
			for _, path := range []string{stem, dir} {
				if !Format.Sniff(nil, path, nil) {
					t.Errorf("%s is not recognised", path)
				}
				r, err := openReader(context.Background(), path, storage.ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				got, err := storagetest.ReadAll(r)
				if err != nil {
					t.Fatal(err)
				}
				if d := storagetest.Diff(got, rec.Messages); d != "" {
					t.Error(d)
				}
				if info := storagetest.InfoOf(r); len(info.Warnings) > 0 || len(info.Topics) != 3 || len(info.Files) != len(files) {
					t.Errorf("%v", info)
				}
				r.Close()
			}
			if err := storagetest.WriteAll(Format, stem, o, rec); !errors.Is(err, fs.ErrExist) {
				t.Errorf("existing segments: %v", err)
			}
			// Another recording takes the place of all of them.
			fewer := storagetest.Recording{Topics: rec.Topics, Messages: rec.Messages[:50]}
			over := o
			over.Overwrite = true
			if err := storagetest.WriteAll(Format, stem, over, fewer); err != nil {
				t.Fatal(err)
			}
			left, _ := os.ReadDir(dir)
			r, err := openReader(context.Background(), stem, storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if info := storagetest.InfoOf(r); info.Messages != 50 || len(left) != len(info.Files) {
				t.Errorf("%d messages, %d files left", info.Messages, len(left))
			}
			r.Close()
		})
	}
}

// TestSegmentTimes orders segments by their times, not by their names.
func TestSegmentTimes(t *testing.T) {
	dir := t.TempDir()
	for name, at := range map[string]uint64{"x.record.00001": 10, "x.record.00000": 20,
		"x.record.00002.20261120174713": 15} {
		r := newRecord(nil).channel("/a", "test.String", testDesc()).chunk(msg{"/a", at, fmt.Sprint(at)})
		if err := os.WriteFile(filepath.Join(dir, name), r.b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r, err := openReader(context.Background(), dir, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := storagetest.ReadAll(r)
	if err != nil || len(got) != 3 || got[0].LogTime != 10 || got[1].LogTime != 15 || got[2].LogTime != 20 {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "other.record"), newRecord(nil).b, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := openReader(context.Background(), dir, storage.ReadOptions{}); !errors.Is(err, storage.ErrUnsupported) ||
		!strings.Contains(err.Error(), "other.record") {
		t.Errorf("two recordings in a folder: %v", err)
	}
}

// TestSegmentFaults lets each operation of writing segments fail in turn:
// nothing of them is left, and what stood there before is.
func TestSegmentFaults(t *testing.T) {
	rec := suite("").Generate(4, storagetest.Spec{Topics: 2, Messages: 40, MaxSize: 50, Step: 1_000_000_000})
	o := storage.WriteOptions{SegmentDuration: 10e9, Overwrite: true}
	for n := int64(1); ; n++ {
		dir := t.TempDir()
		stem := filepath.Join(dir, "x.record")
		if err := storagetest.WriteAll(Format, stem, storage.WriteOptions{SegmentDuration: 15e9, SegmentNames: namesOld},
			rec); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadDir(dir)
		f := &faultio.FS{FS: iox.OS, N: n}
		o.FS = f
		err := storagetest.WriteAll(Format, stem, o, rec)
		if !f.Fired() {
			if err != nil {
				t.Fatal(err)
			}
			return
		}
		if err == nil {
			continue // removing what was replaced may fail
		}
		after, _ := os.ReadDir(dir)
		if !errors.Is(err, faultio.ErrFault) || len(after) != len(before) {
			t.Errorf("operation %d: %v; %d files before, %d after", n, err, len(before), len(after))
		}
	}
}

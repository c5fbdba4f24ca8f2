package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	bagconvert "github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A countingFS counts the bytes that are read.
type countingFS struct {
	storage.FS
	bytes atomic.Int64
}

type countingFile struct {
	storage.File
	fs *countingFS
}

func (f *countingFS) Open(name string) (storage.File, error) {
	file, err := f.FS.Open(name)
	return &countingFile{file, f}, err
}

func (f *countingFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.fs.bytes.Add(int64(n))
	return n, err
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.fs.bytes.Add(int64(n))
	return n, err
}

// drive writes 100 s of a bag: /imu at 100 Hz with 1 kB, and /tf_static and
// /map, which are latched, at the start and at 30 s.
func drive(t testing.TB, path string) {
	w, err := all.Registry().Lookup("bag").Create(context.Background(), path, storage.WriteOptions{ChunkSize: 64 << 10,
		NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	topic := func(name, latching string) storage.TopicID {
		id, err := w.CreateTopic(storage.Topic{
			Name: name, Type: "std_msgs/String", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
				Data: []byte("string data\n")},
			Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1", storage.MetaLatching: latching},
		})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	imu, static, plan := topic("/imu", "0"), topic("/tf_static", "1"), topic("/map", "1")
	data := make([]byte, 1000)
	data[0], data[1] = 996&0xff, 996>>8
	for i := range int64(10_000) {
		at := int64(1_700_000_000_000_000_000) + i*10e6
		for id, when := range map[storage.TopicID]int64{imu: i, static: 0, plan: 3000} {
			if i == when {
				if err := w.Write(&storage.Message{Topic: id, LogTime: at, PublishTime: at, Data: data}); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// TestCutBytes: a cut of 10 s out of 100 s reads the blocks of these 10 s, those
// that latched topics need, and what opening reads.
func TestCutBytes(t *testing.T) {
	dir := t.TempDir()
	bag, record := filepath.Join(dir, "in.bag"), filepath.Join(dir, "in.record")
	drive(t, bag)
	convert(t, bag, record, "--chunk-size", "64K")
	for path, format := range map[string]string{bag: "bag", record: "record"} {
		t.Run(format, func(t *testing.T) {
			f := all.Registry().Lookup(format)
			fs := &countingFS{FS: iox.FS(nil)}
			info, blocks := looked(t, f, path, fs)
			opened := fs.bytes.Swap(0)

			start, err := selection.ParseTime("60")
			if err != nil {
				t.Fatal(err)
			}
			job := bagconvert.Job{
				Source: path, SourceFormat: f, Sink: filepath.Join(dir, format+"-cut.bag"),
				SinkFormat: all.Registry().Lookup("bag"),
				Read:       storage.ReadOptions{FS: fs}, Select: selection.Selection{Start: start, Duration: 10e9},
			}
			for _, latch := range []string{"none", "auto"} {
				if job.Edit.Latch, err = selection.ParseLatch([]string{latch}); err != nil {
					t.Fatal(err)
				}
				choice, err := job.Select.Resolve(info)
				if err != nil {
					t.Fatal(err)
				}
				want := opened
				for i, needed := range choice.Blocks(blocks) {
					b := &blocks[i]
					back := format == "bag" && b.Start < choice.First && b.End >= info.Start+30e9 // where the last message of /map is
					if needed {
						want += b.Size
					}
					if latch == "auto" && (back || i == 0) {
						want += b.Size
					}
				}
				fs.bytes.Store(0)
				job.Write.Overwrite = true
				report, err := bagconvert.Run(context.Background(), job)
				if err != nil {
					t.Fatal(err)
				}
				n, wantMessages := fs.bytes.Load(), int64(1000)
				if format == "bag" && latch == "auto" {
					wantMessages += 2
				} else if latch == "auto" {
					wantMessages++ // a record cannot mark /map as latched
				}
				if report.Sink.Messages != wantMessages {
					t.Errorf("%s: %d messages, want %d", latch, report.Sink.Messages, wantMessages)
				}
				if n > want+want/50 {
					t.Errorf("%s: %d bytes read, want %d", latch, n, want)
				}
				t.Logf("--latch %s: %d of %d bytes read, %d of them to open", latch, n, info.Size, opened)
			}
		})
	}
}

// looked opens a recording, and returns what is known before anything is read.
func looked(t *testing.T, f *storage.Format, path string, fs storage.FS) (*storage.Info, []storage.Block) {
	t.Helper()
	r, err := f.Open(context.Background(), path, storage.ReadOptions{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	info := storagetest.InfoOf(r)
	blocks, _, err := storage.ReaderCapabilities(r).Blocks.Blocks(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return info, blocks
}

// TestCutQuery: a database is cut by its index of timestamps.
func TestCutQuery(t *testing.T) {
	dir := t.TempDir()
	bag, db3 := filepath.Join(dir, "in.bag"), filepath.Join(dir, "in")
	drive(t, bag)
	convert(t, bag, db3+"/")
	f := all.Registry().Lookup("db3")
	start, err := selection.ParseTime("60")
	if err != nil {
		t.Fatal(err)
	}
	for _, latch := range []string{"none", "auto"} {
		fs := &countingFS{FS: iox.FS(nil)}
		job := bagconvert.Job{
			Source: db3, SourceFormat: f, Sink: filepath.Join(dir, latch+".bag"), SinkFormat: all.Registry().Lookup("bag"),
			Read: storage.ReadOptions{FS: fs}, Select: selection.Selection{Start: start, Duration: 10e9},
		}
		if job.Edit.Latch, err = selection.ParseLatch([]string{latch}); err != nil {
			t.Fatal(err)
		}
		looked(t, f, db3, fs)
		limit, want := fs.bytes.Swap(0), int64(1000)
		report, err := bagconvert.Run(context.Background(), job)
		if err != nil {
			t.Fatal(err)
		}
		n := fs.bytes.Load()
		if latch == "none" { // a twelfth of the messages
			limit += report.Source.Size / 8
		} else { // what is before the cut has to be looked at, up to /tf_static at the start
			limit, want = limit+report.Source.Size*3/4, 1002
		}
		if n > limit || report.Sink.Messages != want {
			t.Errorf("--latch %s: %d of %d bytes read for %d messages", latch, n, report.Source.Size, report.Sink.Messages)
		}
		t.Logf("--latch %s: %d of %d bytes read", latch, n, report.Source.Size)
	}
}

// TestCutSamples compares cuts of real recordings, in their own format, with a
// filter of all their messages.
func TestCutSamples(t *testing.T) {
	dir := t.TempDir()
	cuts := 0
	for _, path := range slices.Concat(sorted(bags(t)), folders(t), records(t)) {
		info, all := read(t, path)
		if len(all) < 2 || info.End-info.Start < 4 || len(info.Warnings) > 0 {
			continue
		}
		first, length := info.Start+(info.End-info.Start)/4, (info.End-info.Start)/2
		var want []storage.Message
		for _, m := range all {
			if m.LogTime >= first && m.LogTime < first+length {
				want = append(want, m)
			}
		}
		if len(want) == 0 {
			continue
		}
		cuts++
		out := filepath.Join(dir, fmt.Sprintf("%d", cuts))
		convert(t, path, out, "--to", info.Format, "--latch", "none", "-S", fmt.Sprintf("@%d.%09d", first/1e9, first%1e9),
			"-u", fmt.Sprintf("%dns", length))
		if info.Format == "db3" {
			out += "/"
		}
		cut, got := read(t, out)
		if len(got) != len(want) {
			t.Errorf("%s: %d messages, want %d", path, len(got), len(want))
			continue
		}
		slices.SortStableFunc(want, func(a, b storage.Message) int { return cmp.Compare(a.LogTime, b.LogTime) })
		slices.SortStableFunc(got, func(a, b storage.Message) int { return cmp.Compare(a.LogTime, b.LogTime) })
		for i := range got {
			g, w := &got[i], &want[i]
			if g.LogTime != w.LogTime || !bytes.Equal(g.Data, w.Data) || cut.Topics[g.Topic].Name != info.Topics[w.Topic].Name {
				t.Errorf("%s: message %d: %s at %d, want %s at %d", path, i, cut.Topics[g.Topic].Name, g.LogTime,
					info.Topics[w.Topic].Name, w.LogTime)
				break
			}
		}
	}
	if cuts < 20 { // those of testdata alone
		t.Errorf("only %d recordings were cut", cuts)
	}
}

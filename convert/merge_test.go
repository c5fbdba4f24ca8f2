package convert_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/multi"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// writePacked makes a recording with compressed chunks of 600 KB, at a level that a Writer does not use unless it is
// asked. It has 300 messages of 5 KB.
func writePacked(t *testing.T, format *storage.Format, codec string, start int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in."+format.Name)
	rec := storagetest.Recording{Topics: []storage.Topic{
		{Name: "/a", Type: "p/msg/T", Encoding: format.Holds.Native}, {Name: "/b", Type: "p/msg/T", Encoding: format.Holds.Native},
	}}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		m := storage.Message{Topic: storage.TopicID(i % 2), LogTime: start + int64(i)*ms, Data: make([]byte, 5000)}
		for k := range m.Data {
			m.Data[k] = byte(random.IntN(8))
		}
		m.PublishTime = m.LogTime
		rec.Messages = append(rec.Messages, m)
	}
	if err := storagetest.WriteAll(format, path, storage.WriteOptions{Compression: codec, Level: 9, ChunkSize: 600 << 10,
		NoSync: true}, rec); err != nil {
		t.Fatal(err)
	}
	return path
}

// queried returns the messages of a recording in the order of time, by its index.
func queried(t *testing.T, path string) (list []storage.Message) {
	t.Helper()
	r, err := all.Registry().Open(context.Background(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for m, err := range storage.ReaderCapabilities(r).Query.Query(context.Background(), storage.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		c := *m
		c.Data = bytes.Clone(m.Data)
		list = append(list, c)
	}
	return list
}

// TestMergeCopies: inputs that follow each other in time keep their chunks; inputs that overlap in time keep them in
// the order of the inputs, and the index of the output has their messages in the order of time all the same.
func TestMergeCopies(t *testing.T) {
	for name, codec := range map[string]string{"bag": "lz4", "mcap": "zstd"} {
		for how, c := range map[string]struct {
			second int64
			order  convert.Order
			copies bool
			note   bool
		}{
			"one after the other":     {1e18 + 5000*ms, convert.OrderTime, true, false},
			"that overlap":            {1e18 + 100*ms, convert.OrderTime, false, false},
			"that overlap, in a row":  {1e18 + 100*ms, convert.OrderFile, true, true},
			"the other way, in a row": {1e18 - 5000*ms, convert.OrderFile, true, true},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				format := all.Registry().Lookup(name)
				var inputs []multi.Input
				var want []storage.Message
				for _, start := range []int64{1e18, c.second} {
					path := writePacked(t, format, codec, start)
					inputs = append(inputs, multi.Input{Path: path, Format: format})
					want = append(want, queried(t, path)...)
				}
				job := convert.Job{Source: "both", SourceFormat: multi.Format(inputs), SinkFormat: format, Order: c.order,
					Sink: filepath.Join(t.TempDir(), "out."+name)}
				job.Write.NoSync = true
				report, err := convert.Run(context.Background(), job)
				if err != nil {
					t.Fatal(err)
				}
				note := slices.ContainsFunc(report.Notes, func(n convert.Note) bool { return n.Code == "times-go-back" })
				if report.Sink.Messages != int64(len(want)) || note != c.note {
					t.Errorf("%d messages, notes %v", report.Sink.Messages, report.Notes)
				}
				out, err := os.ReadFile(job.Sink)
				if err != nil {
					t.Fatal(err)
				}
				for _, in := range inputs {
					b, err := os.ReadFile(in.Path)
					if err != nil {
						t.Fatal(err)
					}
					middle := b[len(b)/2:][:1000] // of a chunk in the middle
					if bytes.Contains(out, middle) != c.copies {
						t.Errorf("the chunks of %s are copied: %v", in.Path, !c.copies)
					}
				}
				slices.SortStableFunc(want, func(a, b storage.Message) int { return int(a.LogTime - b.LogTime) })
				if !slices.EqualFunc(want, queried(t, job.Sink), func(a, b storage.Message) bool {
					return a.Topic == b.Topic && a.LogTime == b.LogTime && bytes.Equal(a.Data, b.Data)
				}) {
					t.Error("the index of the output has other messages")
				}
			})
		}
	}
}

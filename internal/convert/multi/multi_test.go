package multi_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/formats/mcap"
	"github.com/bagconv/bagconv/internal/convert/multi"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A message of the reference: what must come out, by topic name.
type want struct {
	topic string
	time  int64
	data  string
}

// recordings writes n small recordings of std_msgs/String that overlap in time,
// as bags and rosbag2 folders in turn, and returns all their messages.
func recordings(t *testing.T, dir string, n int) (inputs []multi.Input, all []want) {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 9))
	formats := registry().Formats()
	for i := range n {
		f := formats[0]
		topic := storage.Topic{Name: "/shared", Type: "std_msgs/String", Encoding: "ros1",
			Metadata: map[string]string{"md5sum": "992ce8a1687cec8c8bd883ec73ca41d1"},
			Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")}}
		if i%2 == 1 {
			f = registry().Lookup("db3")
			topic = storage.Topic{Name: "/shared", Type: "std_msgs/msg/String", Encoding: "cdr",
				Schema: storage.Schema{Encoding: "ros2msg", Data: []byte("string data\n")}}
		}
		own := topic
		own.Name = fmt.Sprintf("/own_%d", i)
		rec := storagetest.Recording{Topics: []storage.Topic{topic, own}}
		at := int64(1_700_000_000_000_000_000) + rng.Int64N(1e9)
		shift := int64(i%3-1) * 50_000_000
		for k := range 200 {
			at += rng.Int64N(20_000_000)
			text := fmt.Sprintf("%d/%d %s", i, k, strings.Repeat("x", rng.IntN(60)))
			data := append([]byte{byte(len(text)), 0, 0, 0}, text...)
			if f.Name == "db3" {
				data = append([]byte{0, 1, 0, 0, byte(len(text) + 1), 0, 0, 0}, text+"\x00"...)
			}
			m := storage.Message{Topic: storage.TopicID(k & 1), LogTime: at, PublishTime: at, Data: data}
			rec.Messages = append(rec.Messages, m)
			all = append(all, want{rec.Topics[m.Topic].Name, at + shift, text})
		}
		path := filepath.Join(dir, fmt.Sprintf("in%d", i))
		if err := storagetest.WriteAll(f, path, storage.WriteOptions{ChunkSize: 2000, NoSync: true}, rec); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, multi.Input{Path: path, Format: f, Shift: shift})
	}
	slices.SortStableFunc(all, func(a, b want) int { return cmp.Compare(a.time, b.time) })
	return inputs, all
}

func registry() *storage.Registry { return all.Registry() }

// TestMerge compares the merge of many recordings of two formats with a sort of
// all their messages.
func TestMerge(t *testing.T) {
	dir := t.TempDir()
	inputs, all := recordings(t, dir, 50)
	for _, name := range []string{"bag", "db3", "record"} {
		sink := registry().Lookup(name)
		out := filepath.Join(dir, "out_"+name)
		report, err := convert.Run(context.Background(), convert.Job{
			Source: "several", SourceFormat: multi.Format(inputs), Sink: out, SinkFormat: sink,
			Write: storage.WriteOptions{NoSync: true},
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := sink.Open(context.Background(), out, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		info := r.Info()
		if name != "bag" && len(info.Topics) != 51 || report.Source.Messages != int64(len(all)) {
			t.Errorf("%s: %d topics, %d messages read", name, len(info.Topics), report.Source.Messages)
		}
		got, err := storagetest.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(all) {
			t.Fatalf("%s: %d messages, want %d", name, len(got), len(all))
		}
		for i, m := range got {
			w := all[i]
			if m.LogTime != w.time || info.Topics[m.Topic].Name != w.topic || !bytes.Contains(m.Data, []byte(w.data)) {
				t.Fatalf("%s: message %d is on %s at %d with %q, want %v", name, i, info.Topics[m.Topic].Name, m.LogTime, m.Data, w)
			}
		}
	}
}

// TestReader: the suite's two routes agree, and what is known of each input is
// there.
func TestReader(t *testing.T) {
	inputs, all := recordings(t, t.TempDir(), 5)
	f := multi.Format(inputs)
	r, err := f.Open(context.Background(), "five", storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	blocks, err := storagetest.ReadBlocks(r.(storage.BlockReader), 3)
	if err != nil {
		t.Fatal(err)
	}
	next, err := storagetest.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if d := storagetest.Diff(next, blocks); d != "" {
		t.Error(d)
	}
	info := r.Info()
	if len(info.Topics) != 10 || info.Messages != 1000 || info.Start != all[0].time || info.End != all[len(all)-1].time ||
		len(info.Files) != 5 {
		t.Errorf("%d topics, %d messages from %d to %d in %v", len(info.Topics), info.Messages, info.Start, info.End,
			info.Files)
	}
}

// TestDifferent: recordings that mean different things by one name and type stay
// apart.
func TestDifferent(t *testing.T) {
	dir := t.TempDir()
	db3 := registry().Lookup("db3")
	var inputs []multi.Input
	for i, text := range []string{"int32 a\n", "int64 a\n"} {
		data := [][]byte{{0, 1, 0, 0, 7, 0, 0, 0}, {0, 1, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0}}[i]
		rec := storagetest.Recording{
			Topics: []storage.Topic{{Name: "/t", Type: "a_msgs/msg/T", Encoding: "cdr",
				Schema: storage.Schema{Encoding: "ros2msg", Data: []byte(text)}}},
			Messages: []storage.Message{{LogTime: int64(i + 1), PublishTime: int64(i + 1), Data: data}},
		}
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := storagetest.WriteAll(db3, path, storage.WriteOptions{NoSync: true}, rec); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, multi.Input{Path: path, Format: db3})
	}
	for _, name := range []string{"bag", "db3", "record"} {
		sink := registry().Lookup(name)
		out := filepath.Join(dir, "out_"+name)
		if _, err := convert.Run(context.Background(), convert.Job{Source: "two", SourceFormat: multi.Format(inputs),
			Sink: out, SinkFormat: sink}); err != nil {
			t.Fatal(err)
		}
		r, err := sink.Open(context.Background(), out, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		info := r.Info()
		if len(info.Topics) != 2 || info.Topics[0].Messages != 1 || bytes.Equal(info.Topics[0].Schema.Data,
			info.Topics[1].Schema.Data) {
			t.Errorf("%s: %+v", name, info.Topics)
		}
	}
}

// TestExtras: attachments and metadata records of all are there, equal ones once; those of a
// recording that is shifted at their new times.
func TestExtras(t *testing.T) {
	extrasOf(t, 0, 4)
	attachments := extrasOf(t, 1000, 8)
	for i := range 4 {
		if a, b := attachments[i], attachments[4+i]; a.Name != b.Name || b.LogTime != a.LogTime+1000 ||
			b.CreateTime != a.CreateTime {
			t.Errorf("%q at %d and %q at %d", a.Name, a.LogTime, b.Name, b.LogTime)
		}
	}
}

// extrasOf returns the attachments of two equal recordings, of which one is shifted: so many.
func extrasOf(t *testing.T, by int64, want int) []storagetest.Attachment {
	t.Helper()
	dir := t.TempDir()
	var inputs []multi.Input
	for i, name := range []string{"a.mcap", "b.mcap"} {
		rec := storagetest.SampleExtras(storagetest.Recording{Topics: []storage.Topic{{Name: "/a", Type: "a_msgs/msg/A",
			Encoding: "cdr"}}})
		path := filepath.Join(dir, name)
		if err := storagetest.WriteAll(mcap.Format, path, storage.WriteOptions{NoSync: true}, rec); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, multi.Input{Path: path, Format: mcap.Format, Shift: int64(i) * by})
	}
	r, err := multi.Format(inputs).Open(context.Background(), dir, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	attachments, records, err := storagetest.ReadExtras(r)
	if err != nil || len(attachments) != want || len(records) != 3 {
		t.Fatalf("%d attachments, %d metadata records, %v", len(attachments), len(records), err)
	}
	return attachments
}

// timeless is a reader of blocks whose times only reading can tell.
type timeless struct{ storage.Reader }

func (r timeless) Blocks(ctx context.Context, _ *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	list, _, err := r.Reader.(storage.BlockReader).Blocks(ctx, nil)
	return list, storage.OrderNone, err
}
func (r timeless) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	return r.Reader.(storage.BlockReader).ReadBlock(ctx, i, b)
}

// TestTimeless: after one recording could not tell the times of its blocks, those of all can still be read.
func TestTimeless(t *testing.T) {
	inputs, all := recordings(t, t.TempDir(), 3)
	f := *inputs[1].Format
	f.Open = func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
		r, err := inputs[0].Format.Open(ctx, path, o)
		return timeless{r}, err
	}
	inputs[1] = multi.Input{Path: inputs[0].Path, Format: &f}
	r, err := multi.Format(inputs).Open(context.Background(), "three", storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	within := &storage.TimeRange{First: math.MinInt64, Last: math.MaxInt64}
	if _, order, err := r.(storage.BlockReader).Blocks(context.Background(), within); order != storage.OrderNone ||
		err != nil {
		t.Fatalf("promise %d, %v", order, err)
	}
	blocks, err := storagetest.ReadBlocks(r.(storage.BlockReader), 3)
	if err != nil || len(blocks) != len(all) {
		t.Errorf("%d messages, not %d: %v", len(blocks), len(all), err)
	}
}

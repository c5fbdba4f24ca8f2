package convert

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/formats/rosbag1"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// A copyingSink is a fake.Sink that takes blocks as they are stored, and counts them.
type copyingSink struct {
	fake.Sink
	topics []storage.TopicID // of CopyFrom
	refuse int               // each so many blocks; 0: none
	asked  int
	copied int
}

func (s *copyingSink) target() *storage.Format {
	f := s.Sink.Target()
	create := f.Create
	f.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
		s.asked, s.copied = 0, 0
		_, err := create(ctx, path, o)
		return s, err
	}
	return f
}

func (s *copyingSink) CopyFrom(r []storage.Reader, topics []storage.TopicID) bool {
	s.topics = topics
	r[0].(*fake.Reader).Stored = true
	return true
}

func (s *copyingSink) CopyBlock(b *storage.Batch) (bool, error) {
	s.asked++
	if s.refuse > 0 && s.asked%s.refuse == 0 {
		return false, nil
	}
	want := b.Stored.([]storage.Message)
	if len(b.Messages) != len(want) {
		return false, fmt.Errorf("%d messages of a block of %d", len(b.Messages), len(want))
	}
	s.copied++
	for i := range want { // the block as it was read, whatever has become of its messages
		m := want[i]
		m.Topic = s.topics[m.Topic]
		if err := s.Write(&m); err != nil {
			return false, err
		}
	}
	return true, nil
}

// TestCopyOrder compares runs that copy blocks with a stable sort: the order is
// that of runs that do not, whatever the source knows of its times.
func TestCopyOrder(t *testing.T) {
	copied := 0
	for seed := range uint64(40) {
		jitter := []int64{0, 5, 12, 300}[seed%4]
		for name, setup := range map[string]func(f *fake.Bag){
			"true index": func(f *fake.Bag) { f.Timed = f.Honest() },
			"zero index": func(f *fake.Bag) { f.Timed = func(int) (int64, int64) { return 0, 0 } },
			"parts":      func(f *fake.Bag) { f.Grouped = 4 },
			"no index":   func(f *fake.Bag) {},
		} {
			for _, order := range []Order{OrderTime, OrderFile} {
				for _, threads := range []int{1, 8} {
					f, s := fake.Random(seed, 40, 6, jitter), &copyingSink{refuse: int(seed % 3)}
					setup(f)
					j := fakeJob(t, f, &s.Sink)
					j.SinkFormat, j.Order, j.Threads = s.target(), order, threads
					r, err := Run(context.Background(), j)
					if err != nil {
						t.Fatal(err)
					}
					fake.SameMessages(t, s.Messages, f.Want(order))
					if n := int64(len(s.Messages)); r.Source.Messages != n || r.Sink.Messages != n {
						t.Fatalf("%s: report %+v", name, r)
					}
					copied += s.copied
					if jitter == 0 && seed%3 == 0 && s.copied < 25 || order == OrderFile && seed%3 == 0 && s.copied < 25 {
						t.Errorf("%s, seed %d: %d blocks are copied", name, seed, s.copied)
					}
				}
			}
		}
	}
	if copied == 0 {
		t.Error("no block was copied")
	}
}

// TestCopyError: an error of CopyBlock ends the run.
func TestCopyError(t *testing.T) {
	f, s := fake.Random(3, 40, 6, 0), &copyingSink{}
	f.Timed = f.Honest()
	s.FailAt = 50
	j := fakeJob(t, f, &s.Sink)
	j.SinkFormat = s.target()
	if _, err := Run(context.Background(), j); !errors.Is(err, fake.ErrDisk) || !s.Aborted || s.copied == 0 {
		t.Fatalf("%v, aborted %v, %d copied", err, s.Aborted, s.copied)
	}
}

// A chunkWriter is what the writer of bags is.
type chunkWriter interface {
	storage.Writer
	storage.BlockWriter
	storage.BlockCopier
}

// A countingWriter counts the chunks that a bag's writer copies.
type countingWriter struct {
	chunkWriter
	copied *int
}

func (w countingWriter) CopyBlock(b *storage.Batch) (bool, error) {
	ok, err := w.chunkWriter.CopyBlock(b)
	if ok {
		*w.copied++
	}
	return ok, err
}

// copyJob converts a bag of 12 chunks of two topics, a second each, to a bag.
func copyJob(t *testing.T, codec string, change func(i int, m *storage.Message)) (Job, *int) {
	t.Helper()
	dir := t.TempDir()
	in := filepath.Join(dir, "in.bag")
	w, err := rosbag1.Format.Create(context.Background(), in, storage.WriteOptions{Compression: codec, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/a", "/b"} {
		_, err := w.CreateTopic(storage.Topic{Name: name, Type: "std_msgs/String", Encoding: "ros1",
			Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")},
			Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1"}})
		if err != nil {
			t.Fatal(err)
		}
	}
	data := make([]byte, 200_000) // 4 make a chunk
	for i := range 48 {
		for k := range data {
			data[k] = byte(k*k/97 + i)
		}
		m := storage.Message{Topic: storage.TopicID(i % 2), LogTime: 1e18 + int64(i)*25e7, Data: data}
		if i >= 40 {
			m.Topic = 0 // alone in the last chunks
		}
		if change != nil {
			change(i, &m)
		}
		m.PublishTime = m.LogTime
		if err := w.Write(&m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	copied := new(int)
	sink := *rosbag1.Format
	sink.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
		*copied = 0
		w, err := rosbag1.Format.Create(ctx, path, o)
		if err != nil {
			return nil, err
		}
		return countingWriter{w.(chunkWriter), copied}, nil
	}
	return Job{Source: in, SourceFormat: rosbag1.Format, Sink: filepath.Join(dir, "out.bag"), SinkFormat: &sink,
		Write: storage.WriteOptions{Compression: codec, NoSync: true, Overwrite: true}}, copied
}

// TestCopyBag: chunks are copied or not, and the output holds the same as without.
func TestCopyBag(t *testing.T) {
	at := func(s float64) selection.Time { return selection.At(1e18 + int64(s*1e9)) }
	every, err := selection.ParseEvery("/a=2")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		want   int // chunks
		change func(i int, m *storage.Message)
		damage func(b []byte) // of the file
		edit   func(j *Job)
	}{
		"whole":              {want: 12},
		"order of the file":  {want: 12, edit: func(j *Job) { j.Order = OrderFile }},
		"cut within chunks":  {want: 5, edit: func(j *Job) { j.Select.Start, j.Select.End = at(2.6), at(8.6) }},
		"cut between chunks": {want: 4, edit: func(j *Job) { j.Select.Start, j.Select.End = at(3), at(8) }},
		"topic": {want: 2,
			edit: func(j *Job) { j.Select.Topics = []selection.Pattern{selection.Exactly("/a")} }},
		"other topic": {want: 0,
			edit: func(j *Job) { j.Select.Topics = []selection.Pattern{selection.Exactly("/b")} }},
		"every second message": {want: 0, edit: func(j *Job) { j.Edit.Rates = []selection.Rate{every} }},
		"offset":               {want: 0, edit: func(j *Job) { j.Edit.Offset = 5 }},
		"renamed":              {want: 11, edit: func(j *Job) { j.Edit.Prefix = "/robot" }},
		"chunk size":           {want: 0, edit: func(j *Job) { j.Write.ChunkSize = 768 << 10 }},
		"overlap of two chunks": {want: 10,
			change: func(i int, m *storage.Message) { m.LogTime += map[int]int64{16: -3e8}[i] }},
		"a chunk out of order": {want: 11,
			change: func(i int, m *storage.Message) { m.LogTime += map[int]int64{18: -3e8}[i] }},
		"a wrong index": {want: 12, damage: func(b []byte) { // the index puts one chunk last
			at := bytes.LastIndex(b, []byte("start_time="))
			at = bytes.LastIndex(b[:at], []byte("start_time="))
			binary.LittleEndian.PutUint32(b[at+11:], 2e9)
			at = bytes.LastIndex(b[:at], []byte("end_time="))
			binary.LittleEndian.PutUint32(b[at+9:], 2e9)
		}},
		"a damaged chunk":        {want: 11, damage: func(b []byte) { b[len(b)/2] ^= 0xff }},
		"equal times everywhere": {want: 12, change: func(i int, m *storage.Message) { m.LogTime = 1e18 }},
	} {
		codecs := []string{"lz4", "bz2"}
		if name != "cut between chunks" || testing.Short() { // bz2 is slow
			codecs = codecs[:1]
		}
		for _, codec := range codecs {
			t.Run(name+"/"+codec, func(t *testing.T) {
				j, copied := copyJob(t, codec, c.change)
				if c.edit != nil {
					c.edit(&j)
				}
				if c.damage != nil {
					b, err := os.ReadFile(j.Source)
					if err != nil {
						t.Fatal(err)
					}
					c.damage(b)
					if err := os.WriteFile(j.Source, b, 0o666); err != nil {
						t.Fatal(err)
					}
				}
				var first []byte
				for _, j.Threads = range []int{1, 8} {
					r, err := Run(context.Background(), j)
					if err != nil {
						t.Fatal(err)
					}
					if *copied != c.want {
						t.Errorf("%d threads: %d chunks are copied, want %d", j.Threads, *copied, c.want)
					}
					b, err := os.ReadFile(j.Sink)
					if err != nil {
						t.Fatal(err)
					}
					if first == nil {
						first = b
					} else if string(first) != string(b) {
						t.Error("8 threads give another output than 1")
					}
					plain := j
					plain.Sink, plain.Write.ChunkSize = filepath.Join(t.TempDir(), "plain.bag"), 768<<10
					p, err := Run(context.Background(), plain)
					if err != nil || *copied != 0 {
						t.Fatalf("%v, %d chunks are copied", err, *copied)
					}
					if fmt.Sprint(r.Topics, r.Losses, r.Lost, r.Warnings, r.Source.Messages, r.Sink.Messages) != fmt.Sprint(p.Topics,
						p.Losses, p.Lost, p.Warnings, p.Source.Messages, p.Sink.Messages) {
						t.Errorf("report %+v, without copying %+v", r, p)
					}
					sameBags(t, j.Sink, plain.Sink)
				}
			})
		}
	}
}

// sameBags compares the messages of two bags in the order of their files with
// each other, and what is reported about them.
func sameBags(t *testing.T, a, b string) {
	t.Helper()
	type message struct {
		topic, data string
		time        int64
	}
	read := func(path string) (all []message, counts string) {
		r, err := rosbag1.Format.Open(context.Background(), path, storage.ReadOptions{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		info := storagetest.InfoOf(r)
		byName := map[string]int64{}
		for _, topic := range info.Topics {
			byName[topic.Name] += topic.Messages
		}
		for {
			m, err := r.ReadNext()
			if err != nil {
				return all, fmt.Sprint(byName, info.Messages, info.Start, info.End, len(info.Topics), info.Warnings)
			}
			all = append(all, message{info.Topics[m.Topic].Name, string(m.Data), m.LogTime})
		}
	}
	x, xInfo := read(a)
	y, yInfo := read(b)
	if xInfo != yInfo {
		t.Errorf("info says %s, without copying %s", xInfo, yInfo)
	}
	if len(x) != len(y) {
		t.Fatalf("%d messages, without copying %d", len(x), len(y))
	}
	for i := range x {
		if x[i] != y[i] {
			t.Fatalf("message %d is of %s at %d, without copying of %s at %d, or its data differs", i, x[i].topic, x[i].time,
				y[i].topic, y[i].time)
		}
	}
}

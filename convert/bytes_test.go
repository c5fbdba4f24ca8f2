package convert_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/multi"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// The tests of this file count the bytes that are read and written, at the files: in
// proportion to what is asked, whatever the format.

const ms = 1_000_000 // ns

// A sample is a recording of about 12 MB: 3,000 messages of 4 KB, one each ms, on the
// topics /often, /second, and /rare, which has ten of them beside each other.
type sample struct {
	format *storage.Format
	path   string
}

func rare(i int) bool { return i >= 1500 && i < 1510 }

// write makes a sample; at is the time of message i, in ms.
func write(t *testing.T, name string, at func(i int) int64) sample {
	t.Helper()
	return writeSized(t, name, 4096, 256<<10, at)
}

// writeSized makes one with messages and blocks of other sizes.
func writeSized(t *testing.T, name string, size int, block int64, at func(i int) int64) sample {
	t.Helper()
	s := sample{all.Registry().Lookup(name), filepath.Join(t.TempDir(), "in."+name)}
	rec := storagetest.Recording{Topics: []storage.Topic{
		{Name: "/often", Type: "p/msg/T", Encoding: s.format.Holds.Native},
		{Name: "/second", Type: "p/msg/T", Encoding: s.format.Holds.Native},
		{Name: "/rare", Type: "p/msg/T", Encoding: s.format.Holds.Native},
	}}
	for i := range 3000 {
		m := storage.Message{Topic: storage.TopicID(i % 2), LogTime: 1e18 + at(i)*ms, Data: make([]byte, size)}
		if rare(i) {
			m.Topic = 2
		}
		m.PublishTime = m.LogTime
		copy(m.Data, fmt.Sprintf("%06d", i))
		rec.Messages = append(rec.Messages, m)
	}
	if err := storagetest.WriteAll(s.format, s.path, storage.WriteOptions{Compression: "none", ChunkSize: block,
		NoSync: true}, rec); err != nil {
		t.Fatal(err)
	}
	return s
}

func inOrder(i int) int64 { return int64(i) }

// A cost is what opening a sample reads, its index above all, and the sizes of its blocks.
type cost struct {
	open   int64
	blocks []storage.Block
}

func (s sample) cost(t *testing.T) (c cost) {
	t.Helper()
	counter := &faultio.Counter{FS: iox.FS(nil)}
	r, err := s.format.Open(context.Background(), s.path, storage.ReadOptions{FS: counter})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if c.blocks, _, err = storage.ReaderCapabilities(r).Blocks.Blocks(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	c.open = counter.Read.Load()
	return c
}

// edge is what reading a block, or writing a file, may take beside it: pages at its ends
// that it shares with others, or headers. In bytes.
const edge = 64 << 10

// of returns the bytes of opening, and of the blocks that f takes.
func (c cost) of(f func(b *storage.Block) bool) int64 {
	n := c.open
	for i := range c.blocks {
		if f(&c.blocks[i]) {
			n += c.blocks[i].Size + edge
		}
	}
	return n
}

// atMost reports more than 1.1 times what is needed.
func atMost(t *testing.T, what string, n, need int64) {
	t.Helper()
	if float64(n) > 1.1*float64(need) {
		t.Errorf("%s: %d bytes, %.2f times the %d that are needed", what, n, float64(n)/float64(need), need)
	}
}

// sizeOf adds up the files at or below a path.
func sizeOf(t *testing.T, path string) (n int64) {
	t.Helper()
	err := filepath.Walk(path, func(_ string, st os.FileInfo, err error) error {
		if err == nil && st.Mode().IsRegular() {
			n += st.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// run converts a sample within its format, and returns how many messages were written.
func (s sample) run(t *testing.T, counter *faultio.Counter, edit func(*convert.Job)) (messages, size int64) {
	t.Helper()
	job := convert.Job{Source: s.path, SourceFormat: s.format, Sink: filepath.Join(t.TempDir(), "out"),
		SinkFormat: s.format}
	job.Read.FS, job.Write.FS, job.Write.NoSync = counter, counter, true
	edit(&job)
	report, err := convert.Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	return report.Sink.Messages, sizeOf(t, job.Sink)
}

// TestBytesOfTopic: of a topic only those blocks are read that the index has it in.
func TestBytesOfTopic(t *testing.T) {
	for _, name := range []string{"bag", "record", "db3", "mcap"} {
		t.Run(name, func(t *testing.T) {
			s := write(t, name, inOrder)
			c := s.cost(t)
			need := c.of(func(b *storage.Block) bool { return len(b.Topics) == 0 || slices.Contains(b.Topics, 2) })
			if name == "bag" && need > sizeOf(t, s.path)/10 {
				t.Errorf("the blocks with the topic, by the index, have %d bytes", need)
			}
			counter := &faultio.Counter{FS: iox.FS(nil)}
			n, size := s.run(t, counter,
				func(j *convert.Job) { j.Select.Topics = []selection.Pattern{selection.Exactly("/rare")} })
			if n != 10 {
				t.Errorf("%d messages", n)
			}
			atMost(t, "read", counter.Read.Load(), need)
			atMost(t, "written", counter.Written.Load(), size+edge)
		})
	}
}

// TestBytesOfFew: a few messages of a recording of large ones are read alone, where its
// blocks do not have their topics: by the heads of the others.
func TestBytesOfFew(t *testing.T) {
	for _, name := range []string{"record", "db3", "mcap"} {
		t.Run(name, func(t *testing.T) {
			s := writeSized(t, name, 20<<10, 256<<10, inOrder)
			counter := &faultio.Counter{FS: iox.FS(nil)}
			n, _ := s.run(t, counter, func(j *convert.Job) { j.Select.Topics = []selection.Pattern{selection.Exactly("/rare")} })
			if n != 10 {
				t.Errorf("%d messages", n)
			}
			if size := sizeOf(t, s.path); counter.Read.Load() > size/2 {
				t.Errorf("%d bytes are read of %d", counter.Read.Load(), size)
			}
		})
	}
}

// TestSplitDisorder: where to cut by size is found also in a recording whose messages are
// far out of order.
func TestSplitDisorder(t *testing.T) {
	for _, name := range []string{"bag", "record", "db3", "mcap"} {
		t.Run(name, func(t *testing.T) {
			s := write(t, name, func(i int) int64 { return int64((i + 1500) % 3000) })
			job := convert.Job{Source: s.path, SourceFormat: s.format}
			windows, _, err := convert.Windows(context.Background(), &job, convert.Cut{Size: 1000 * 4096})
			if err != nil || len(windows) != 3 || windows[1].First != 1e18+1000*ms || windows[2].First != 1e18+2000*ms {
				t.Errorf("%v, %v", windows, err)
			}
		})
	}
}

// TestBytesOfLimit: the first message of a recording is read alone, with no more than the
// block that it lies in.
func TestBytesOfLimit(t *testing.T) {
	for _, name := range []string{"bag", "record", "db3", "mcap"} {
		t.Run(name, func(t *testing.T) {
			s := write(t, name, inOrder)
			first := int64(0)
			need := s.cost(t).of(func(*storage.Block) bool { first++; return first == 1 })
			counter := &faultio.Counter{FS: iox.FS(nil)}
			n := 0
			ref := recording.Ref{Path: s.path, Format: s.format, Read: storage.ReadOptions{FS: counter}}
			_, err := recording.Read(context.Background(), ref, recording.Query{Expected: 1},
				recording.Each{Write: func(m *storage.Message) error {
					if n++; string(m.Data[:6]) != "000000" {
						t.Errorf("message %q comes first", m.Data[:6])
					}
					return recording.ErrEnough
				}})
			if err != nil || n != 1 {
				t.Errorf("%d messages, %v", n, err)
			}
			atMost(t, "read", counter.Read.Load(), need)
		})
	}
}

// TestBytesOfMerge: recordings that overlap in time are read and written once.
func TestBytesOfMerge(t *testing.T) {
	for _, name := range []string{"bag", "record", "db3", "mcap"} {
		t.Run(name, func(t *testing.T) {
			var inputs []multi.Input
			need := int64(0)
			for i := range 2 {
				s := write(t, name, func(k int) int64 { return 2*int64(k) + int64(i) })
				inputs = append(inputs, multi.Input{Path: s.path, Format: s.format})
				need += s.cost(t).of(func(*storage.Block) bool { return true })
			}
			counter := &faultio.Counter{FS: iox.FS(nil)}
			s := sample{inputs[0].Format, filepath.Join(t.TempDir(), "both")}
			n, size := s.run(t, counter, func(j *convert.Job) { j.SourceFormat = multi.Format(inputs) })
			if n != 6000 {
				t.Errorf("%d messages", n)
			}
			atMost(t, "read", counter.Read.Load(), need)
			atMost(t, "written", counter.Written.Load(), size+edge)
		})
	}
}

// TestBytesOfSmall: a recording of small messages in large chunks is read once, though nobody knows the times within
// its chunks.
func TestBytesOfSmall(t *testing.T) {
	for _, name := range []string{"bag", "record", "mcap"} {
		t.Run(name, func(t *testing.T) {
			s := writeSized(t, name, 1900, 2<<20, inOrder)
			counter := &faultio.Counter{FS: iox.FS(nil)}
			if n, _ := s.run(t, counter, func(*convert.Job) {}); n != 3000 {
				t.Errorf("%d messages", n)
			}
			atMost(t, "read", counter.Read.Load(), sizeOf(t, s.path)+edge)
		})
	}
}

// TestBytesOfDisorder: a recording far out of order is written once, in order.
func TestBytesOfDisorder(t *testing.T) {
	for _, name := range []string{"bag", "record", "db3", "mcap"} {
		t.Run(name, func(t *testing.T) {
			s := write(t, name, func(i int) int64 { return int64((i + 1500) % 3000) })
			need := s.cost(t).of(func(*storage.Block) bool { return true })
			counter := &faultio.Counter{FS: iox.FS(nil)}
			n, size := s.run(t, counter, func(*convert.Job) {})
			if n != 3000 {
				t.Errorf("%d messages", n)
			}
			atMost(t, "read", counter.Read.Load(), need)
			atMost(t, "written", counter.Written.Load(), size+edge)
		})
	}
}

// TestBytesOfSplit: however many outputs there are, the source is read once and what is
// written are the outputs. They are those that single runs make.
func TestBytesOfSplit(t *testing.T) {
	byTopic := func(j *convert.Job, i int) {
		j.Select.Topics = []selection.Pattern{selection.Exactly([]string{"/often", "/second", "/rare"}[i])}
	}
	byTime := func(j *convert.Job, i int) {
		j.Select.Start, j.Select.End = selection.At(1e18+int64(i)*1000*ms), selection.At(1e18+int64(i+1)*1000*ms)
	}
	for _, name := range []string{"bag", "record", "db3", "mcap"} {
		for how, edit := range map[string]func(*convert.Job, int){"topic": byTopic, "time": byTime} {
			t.Run(name+" by "+how, func(t *testing.T) {
				s := write(t, name, inOrder)
				need := s.cost(t).of(func(*storage.Block) bool { return true })
				counter := &faultio.Counter{FS: iox.FS(nil)}
				dir := t.TempDir()
				var jobs []*convert.Job
				for i := range 3 {
					job := &convert.Job{Source: s.path, SourceFormat: s.format, Sink: filepath.Join(dir, fmt.Sprintf("out%d", i)),
						SinkFormat: s.format}
					job.Read.FS, job.Write.FS, job.Write.NoSync = counter, counter, true
					edit(job, i)
					jobs = append(jobs, job)
				}
				stage, err := convert.NewStage(filepath.Join(dir, "out"), jobs[0])
				if err != nil {
					t.Fatal(err)
				}
				for _, job := range jobs {
					job.Stage = stage
				}
				reports, err := convert.RunAll(context.Background(), jobs)
				if err == nil {
					err = stage.Commit()
				}
				if err != nil {
					t.Fatal(err)
				}
				sum, size := int64(0), int64(0)
				for i, r := range reports {
					sum, size = sum+r.Sink.Messages, size+sizeOf(t, jobs[i].Sink)+edge
				}
				if sum != 3000 {
					t.Errorf("%d messages", sum)
				}
				atMost(t, "read", counter.Read.Load(), need)
				atMost(t, "written", counter.Written.Load(), size)
				for i, job := range jobs {
					single := *job
					single.Stage, single.Sink = nil, filepath.Join(dir, fmt.Sprintf("single%d", i))
					if _, err := convert.Run(context.Background(), single); err != nil {
						t.Fatal(err)
					}
					sameFiles(t, job.Sink, single.Sink)
				}
			})
		}
	}
}

// sameFiles compares the messages of two recordings.
func sameFiles(t *testing.T, a, b string) {
	t.Helper()
	read := func(path string) []storage.Message {
		r, err := all.Registry().Open(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		list, err := storagetest.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	x, y := read(a), read(b)
	if !slices.EqualFunc(x, y, func(m, n storage.Message) bool {
		return m.Topic == n.Topic && m.LogTime == n.LogTime && string(m.Data) == string(n.Data)
	}) {
		t.Errorf("%s has %d messages, %s %d, or they differ", a, len(x), b, len(y))
	}
}

package main

import (
	"context"
	le "encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	bagconvert "github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestLost cuts recordings of all formats at many places, and compares what
// a conversion reports as lost, and what it has written, with the whole recording:
//
//	sum      written and lost messages are those of the whole, unless the report has more
//	         losses than it counts; they are never more
//	counted  what the file itself counts is counted: by the header of a record,
//	         metadata.yaml of a rosbag2 folder, the index of a bag whose chunks are
//	         all there
//	nothing  where all messages are written none is lost; where some are missing
//	         that the file counts, there is damage
//	bytes    no more bytes are lost than the whole has, and, where messages that the
//	         file counts are lost, all that was cut off
//	time     where the file has the times of all, the time that is lost and that of
//	         what is written is the time of the whole
//	once     a cut is one warning of damage
//
// The places are the same in each run: 15 in each file, and 50 with BAGCONV_EXHAUSTIVE=1.
func TestLost(t *testing.T) {
	t.Parallel()
	cuts := samples.Pick(50, 15, 8)
	dir := t.TempDir()
	var list []string
	for _, made := range []struct {
		name  string
		flags []string
	}{
		{"plain.bag", []string{"--chunk-size", "64K"}}, {"lz4.bag", []string{"--chunk-size", "64K", "--compression", "lz4"}},
		{"file.db3", nil}, {"folder/", nil}, {"chunks.record", []string{"--chunk-size", "64K"}},
	} {
		out := filepath.Join(dir, made.name)
		convert(t, append([]string{"../../testdata/demo.bag", dir + "/" + made.name}, made.flags...)...)
		list = append(list, filepath.Clean(out))
	}
	list = append(list, "../../testdata/tiny.bag", "../../testdata/tiny.record")
	list = append(list, sampleRecordings(t)...)
	runs := 0
	for _, path := range list {
		whole, err := cutRun(t, path, "", 0)
		if err != nil || whole.Lossy() {
			continue // no recording, or one that is damaged already
		}
		if bag := whole.Source; bag.Format == "bag" && bag.Version < "2" &&
			!(&cut{t: t, file: path, size: math.MaxInt64, part: whole}).counts() {
			continue // a bag before 2.0 without an index shows nothing of a cut between two messages
		}
		for _, file := range whole.Source.Files {
			st, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(uint64(st.Size()), 12))
			for range min(cuts, int(st.Size())) {
				size := rng.Int64N(st.Size())
				c := &cut{t: t, path: path, file: file, size: size, of: st.Size(), whole: whole}
				if c.part, err = cutRun(t, path, file, size); err == nil {
					runs++
					c.check()
				} else if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrTruncated) &&
					!errors.Is(err, storage.ErrUnsupported) {
					t.Errorf("%s, %d bytes of %s: %v", path, size, file, err)
				}
			}
		}
	}
	t.Logf("%d recordings, %d runs", len(list), runs)
	if runs < 7*cuts/2 {
		t.Errorf("only %d cut recordings could be read", runs)
	}
}

// sampleRecordings are all but MCAP files.
func sampleRecordings(t *testing.T) (list []string) {
	for _, dir := range slices.Concat(samples.Glob(t, "ros*"), samples.Glob(t, "cyber"), samples.Glob(t, "findings-1")) {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case !d.IsDir():
				list = append(list, path)
				return nil
			}
			if _, err := os.Stat(filepath.Join(path, "metadata.yaml")); err == nil {
				list = append(list, path)
				return fs.SkipDir
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// cutRun converts a recording of which one file ends after size bytes to nowhere; an
// empty name cuts none.
func cutRun(t *testing.T, path, file string, size int64) (*cutResult, error) {
	t.Helper()
	f, err := all.Registry().Detect(path)
	if err != nil {
		return nil, err
	}
	sink := &countingSink{}
	r, err := bagconvert.Run(context.Background(), bagconvert.Job{
		Source: path, SourceFormat: f, Sink: filepath.Join(t.TempDir(), "nowhere"), Threads: 2,
		SinkFormat: &storage.Format{Name: f.Name, Holds: storage.Capacity{
			Native:   f.Holds.Native,
			Metadata: []string{"*"},
		},
			Create: func(context.Context, string, storage.WriteOptions) (storage.Writer, error) { return sink, nil }},
		Read: storage.ReadOptions{FS: &cutFS{iox.OS, file, size}},
	})
	return &cutResult{r, sink}, err
}

// A cutResult is what became of a conversion.
type cutResult struct {
	*bagconvert.Report
	*countingSink
}

// length is the time from the first message to the last, ns.
func (r *cutResult) length() int64 { return r.last - r.first }

// A cut is a recording of which one file is cut.
type cut struct {
	t           *testing.T
	path, file  string
	size, of    int64 // bytes that the file has, and those that it should have
	whole, part *cutResult
}

// check checks the rules of TestLost.
func (c *cut) check() {
	lost, all, read := c.part.Lost, c.whole.messages, c.part.messages
	knows := c.counts()
	damage := 0
	for _, w := range c.part.Warnings {
		if w.Damage {
			damage++
		}
	}
	c.hold("sum", lost.Messages+read == all || lost.Uncounted && lost.Messages+read < all)
	if knows {
		c.hold("counted", !lost.Uncounted && lost.Messages+read == all)
	}
	if read == all {
		blind := !knows && c.part.Source.Format != "record" // what is cut of a chunk or table may have been none
		c.hold("nothing", lost.Messages == 0 && (!lost.Uncounted || blind) && lost.Duration == 0)
	} else if knows {
		c.hold("nothing", damage > 0 && c.part.Lossy())
		// its index is cut, and with it the only connections: nothing states the size
		unnamed := c.part.Source.Format == "bag"
		// records that are longer than their header states
		if !c.odd("stale-tail") && !c.odd("empty-chunk") && !unnamed && !c.headless() {
			c.hold("bytes", lost.Bytes >= c.of-c.size)
		}
		if read > 0 && !c.odd("header-wrong") && !unnamed && c.timed() {
			c.hold("time", lost.Duration == c.whole.length()-c.part.length())
		}
	}
	c.hold("bytes", lost.Bytes <= c.of)
	c.hold("once", damage <= 1)
}

// headless reports whether a database ends within its header, which has its size.
func (c *cut) headless() bool { return c.part.Source.Format == "db3" && c.size < 100 }

// timed reports whether the duration that a metadata.yaml has is that of the messages.
func (c *cut) timed() bool {
	text, err := os.ReadFile(filepath.Join(c.path, "metadata.yaml"))
	m := yamlDuration.FindSubmatch(text)
	return err != nil || m != nil && string(m[1]) == fmt.Sprint(c.whole.length())
}

// odd reports whether the whole recording has a warning.
func (c *cut) odd(code string) bool {
	return slices.ContainsFunc(c.whole.Warnings, func(w storage.Warning) bool { return w.Code == code })
}

// hold fails for a rule that is broken.
func (c *cut) hold(rule string, ok bool) {
	c.t.Helper()
	if !ok {
		c.t.Errorf("%s: %s, with %d of %d bytes of %s: %d of %d messages are written, lost are %+v; %v", rule, c.path, c.size,
			c.of,
			filepath.Base(c.file), c.part.messages, c.whole.messages, c.part.Lost, c.part.Warnings)
	}
}

var (
	yamlCount    = regexp.MustCompile(`(?m)^  message_count: (\d+)$`)
	yamlDuration = regexp.MustCompile(`(?m)^  duration:\n    nanoseconds: (\d+)$`)
	indexPos     = regexp.MustCompile(`(?s)index_pos=(.{8})`)
)

// counts reports whether what is left of the recording counts its messages.
func (c *cut) counts() bool {
	switch c.part.Source.Format {
	case "record": // the header
		r, err := all.Open(context.Background(), c.path, storage.ReadOptions{})
		if err != nil {
			c.t.Fatal(err)
		}
		defer r.Close()
		info := storagetest.InfoOf(r)
		return c.size >= 2064 && slices.Contains(info.Facts, storage.Fact{Key: "complete", Value: "yes"})
	case "db3": // metadata.yaml
		text, err := os.ReadFile(filepath.Join(c.path, "metadata.yaml"))
		m := yamlCount.FindSubmatch(text)
		return err == nil && m != nil && string(m[1]) == fmt.Sprint(c.whole.messages)
	case "bag": // nothing, but then all chunks are there
		head := make([]byte, 4096)
		f, err := os.Open(c.file)
		if err != nil {
			c.t.Fatal(err)
		}
		defer f.Close()
		n, _ := f.ReadAt(head, 0)
		m := indexPos.FindSubmatch(head[:n])
		if m == nil {
			return false
		}
		pos := int64(le.LittleEndian.Uint64(m[1])) // 0 in one that was not closed
		return pos > 0 && c.size >= pos
	}
	return false
}

// A countingSink takes messages and keeps their number and times.
type countingSink struct {
	topics      storage.TopicID
	messages    int64
	first, last int64
}

func (s *countingSink) CreateTopic(storage.Topic) (storage.TopicID, error) {
	s.topics++
	return s.topics - 1, nil
}

func (s *countingSink) Write(m *storage.Message) error {
	if s.messages++; s.messages == 1 {
		s.first, s.last = m.LogTime, m.LogTime
	}
	s.first, s.last = min(s.first, m.LogTime), max(s.last, m.LogTime)
	return nil
}

func (s *countingSink) Identity() storage.Identity      { return storage.IdentityTopic }
func (s *countingSink) Finish() (storage.Output, error) { return storage.Output{}, nil }
func (s *countingSink) Commit() error                   { return nil }
func (s *countingSink) Close() error                    { return nil }

// A cutFS has one file that ends early.
type cutFS struct {
	storage.FS
	path string
	size int64
}

// A cutFile ends after size bytes.
type cutFile struct {
	storage.File
	*io.SectionReader
}

type cutInfo struct {
	os.FileInfo
	size int64
}

func (c *cutFS) Open(name string) (storage.File, error) {
	f, err := c.FS.Open(name)
	if err != nil || filepath.Clean(name) != filepath.Clean(c.path) {
		return f, err
	}
	return cutFile{f, io.NewSectionReader(f, 0, c.size)}, nil
}

func (c *cutFS) Stat(name string) (os.FileInfo, error) {
	st, err := c.FS.Stat(name)
	if err != nil || filepath.Clean(name) != filepath.Clean(c.path) {
		return st, err
	}
	return cutInfo{st, c.size}, nil
}

func (f cutFile) Read(p []byte) (int, error)               { return f.SectionReader.Read(p) }
func (f cutFile) ReadAt(p []byte, at int64) (int, error)   { return f.SectionReader.ReadAt(p, at) }
func (f cutFile) Seek(at int64, whence int) (int64, error) { return f.SectionReader.Seek(at, whence) }
func (f cutFile) Stat() (os.FileInfo, error) {
	st, err := f.File.Stat()
	return cutInfo{st, f.SectionReader.Size()}, err
}

func (i cutInfo) Size() int64 { return i.size }

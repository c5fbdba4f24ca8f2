package cyber

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
	"google.golang.org/protobuf/proto"
)

// written is a recording of n messages of 100 bytes, 10 ms apart, in small chunks.
func written(t testing.TB, path string, n int, o storage.WriteOptions) {
	t.Helper()
	rec := storagetest.Recording{Topics: []storage.Topic{{Name: "/a", Type: "test.String", Encoding: encoding,
		Schema: storage.Schema{Encoding: encoding, Data: testSet()}}}}
	for i := range n {
		at := int64(1e18) + int64(i)*10_000_000
		rec.Messages = append(rec.Messages, storage.Message{LogTime: at, PublishTime: at, Data: bytes.Repeat([]byte{byte(i)},
			100)})
	}
	o.NoSync = true
	if err := storagetest.WriteAll(Format, path, o, rec); err != nil {
		t.Fatal(err)
	}
}

// completeHeader is that of a recorder that has ended after n messages.
func completeHeader(n uint64) *pb.Header {
	return &pb.Header{MajorVersion: proto.Uint32(1), MinorVersion: proto.Uint32(0), IsComplete: proto.Bool(true),
		MessageNumber: proto.Uint64(n)}
}

// damages are the warnings of damage.
func damages(info *storage.Info) (list []storage.Warning) {
	for _, w := range info.Warnings {
		if w.Damage {
			list = append(list, w)
		}
	}
	return list
}

// TestCut cuts a record at many places, borders of sections among them: what is lost
// and what is read is what its header counts, in messages, bytes and time, and it is
// reported once.
func TestCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.record")
	const all = 60
	written(t, path, all, storage.WriteOptions{ChunkSize: 1000})
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	step := 1
	if testing.Short() {
		step = 13
	}
	borders := map[int]bool{}
	for _, e := range scanned(t, whole) {
		borders[int(e.at)] = true
	}
	for n := headerEnd; n <= len(whole); n++ {
		if n%step != 0 && !borders[n] {
			continue
		}
		msgs, info, err := openBytes(t, whole[:n], storage.ReadOptions{})
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		lost, read := info.Lost, int64(len(msgs))
		if lost.Messages+read != all || lost.Uncounted || info.Messages != read {
			t.Fatalf("cut at %d: %d are read, %d in the info, and lost are %+v", n, read, info.Messages, lost)
		}
		if read == all {
			if lost != (storage.Lost{}) || damaged(info) {
				t.Fatalf("cut at %d: all is there, and lost are %+v; %v", n, lost, info.Warnings)
			}
			continue
		}
		if lost.Duration != (all-max(read, 1))*10_000_000 {
			t.Fatalf("cut at %d: %d are read, and %d ns are lost", n, read, lost.Duration)
		}
		if least := int64(len(whole) - n); lost.Bytes < least || lost.Bytes > least+200 {
			t.Fatalf("cut at %d of %d: %d bytes are lost", n, len(whole), lost.Bytes)
		}
		want := fmt.Sprintf("the file is cut off: it has %d of %d bytes", n, len(whole))
		if list := damages(info); len(info.Warnings) != 1 || len(list) != 1 || list[0].Message != want {
			t.Fatalf("cut at %d: %v", n, info.Warnings)
		}
		for _, f := range info.Facts {
			if f.Key == "complete" && f.Value != fmt.Sprintf("no: %d of the 60 messages of the header are missing",
				lost.Messages) {
				t.Fatalf("cut at %d: complete is %q", n, f.Value)
			}
		}
		if _, _, err := openBytes(t, whole[:n], storage.ReadOptions{Strict: true}); !isOurs(err) {
			t.Fatalf("cut at %d: strict: %v", n, err)
		}
	}
}

// scanned lists the sections of a record.
func scanned(t *testing.T, b []byte) []entry {
	t.Helper()
	s := scanner{f: &file{r: &reader{fs: memFS{b: b}, topics: newTopics()}, file: memFile{b: b}, size: int64(len(b)),
		channels: map[string]*channel{}}}
	s.w = s.f.window()
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s.entries
}

// TestLostInChunk destroys the start of a message in each chunk of a record whose
// index is sound: when all is read, the headers of the chunks show how many are lost.
func TestLostInChunk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.record")
	written(t, path, 60, storage.WriteOptions{ChunkSize: 1000})
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	chunks := int64(0)
	for _, e := range scanned(t, b) {
		if e.typ == 2 {
			chunks++
			copy(b[e.at+sectionHead:], "\xff\xff\xff")
		}
	}
	msgs, info, err := openBytes(t, b, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if l := info.Lost; l.Messages != chunks || l.Blocks != chunks || l.Uncounted || int64(len(msgs))+l.Messages != 60 ||
		len(damages(info)) != int(chunks) {
		t.Errorf("%d chunks, %d messages are read, lost are %+v; %v", chunks, len(msgs), l, info.Warnings)
	}
}

// TestAbsurdHeader: a header that counts more than a file of that size can hold is
// not believed.
func TestAbsurdHeader(t *testing.T) {
	h := completeHeader(1 << 60)
	r := newRecord(h).channel("/a", "test.String", testDesc()).chunk(three...)
	if _, info, err := openBytes(t, r.b, storage.ReadOptions{}); err != nil || info.Lost.Messages != 0 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestMissingSegments removes segments: those that the numbers show are named, and
// the time between their neighbours is lost.
func TestMissingSegments(t *testing.T) {
	for name, c := range map[string]struct {
		remove   []int
		warning  string
		duration int64
	}{
		"none":   {},
		"one":    {[]int{2}, "segment 00002 is missing", 110_000_000},
		"two":    {[]int{1, 2}, "segments 00001 to 00002 are missing", 210_000_000},
		"first":  {[]int{0}, "segment 00000 is missing", 0},
		"apart":  {[]int{1, 3}, "segment 00003 is missing", 220_000_000},
		"a last": {[]int{5}, "", 0}, // which nothing shows: bagconv ends segments below their limit
	} {
		t.Run(name, func(t *testing.T) {
			stem := filepath.Join(t.TempDir(), "x.record")
			written(t, stem, 60, storage.WriteOptions{SegmentSize: 1000, SegmentNames: namesOld})
			for _, n := range c.remove {
				if err := os.Remove(fmt.Sprintf("%s.%05d", stem, n)); err != nil {
					t.Fatal(err)
				}
			}
			for _, path := range []string{stem, filepath.Dir(stem)} {
				r, err := openReader(context.Background(), path, storage.ReadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				info := storagetest.InfoOf(r)
				text := fmt.Sprint(damages(info))
				if (c.warning == "") != (len(damages(info)) == 0) || !strings.Contains(text, c.warning) {
					t.Errorf("%v", info.Warnings)
				}
				if info.Lost.Uncounted != (c.warning != "") || info.Lost.Duration != c.duration {
					t.Errorf("lost are %+v", info.Lost)
				}
				r.Close()
			}
		})
	}
}

// TestLastSegment: a recorder that has reached a limit begins another segment.
func TestLastSegment(t *testing.T) {
	dir := t.TempDir()
	h := completeHeader(3)
	h.SegmentRawSize = proto.Uint64(10)
	for i, m := range [][]msg{three, three} {
		b := newRecord(h).channel("/a", "test.String", testDesc()).channel("/b", "test.String", testDesc()).chunk(m...).b
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("x.record.%05d", i)), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r, err := openReader(context.Background(), filepath.Join(dir, "x.record"), storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if info := storagetest.InfoOf(r); !strings.Contains(fmt.Sprint(damages(info)), "segment 00002 is missing") {
		t.Errorf("%v", info.Warnings)
	}
}

// TestOnePart: a segment that is named itself is read alone, and the name of all of
// the recording is named.
func TestOnePart(t *testing.T) {
	stem := filepath.Join(t.TempDir(), "x.record")
	written(t, stem, 60, storage.WriteOptions{SegmentSize: 1000, SegmentNames: namesOld})
	warnings := func(path string) string {
		r, err := openReader(context.Background(), path, storage.ReadOptions{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		info := storagetest.InfoOf(r)
		return fmt.Sprint(info.Warnings)
	}
	if got, want := warnings(stem+".00002"), "this is part 3 of 6 of one recording; to read all of it, name "+
		stem; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if name, parts := Format.Layout.RecordingOf(nil, stem+".00001"); name != stem || len(parts) != 6 || parts[0] != stem+
		".00000" {
		t.Errorf("%s, %v", name, parts)
	}
	if name, _ := Format.Layout.RecordingOf(nil, stem); name != "" {
		t.Errorf("the stem is a part of %s", name)
	}
	for n := range 6 {
		if n != 2 {
			_ = os.Remove(fmt.Sprintf("%s.%05d", stem, n))
		}
	}
	if got, want := warnings(stem+
		".00002"), "this is part 3 of a recording; the other parts are not in its folder"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestUnreadableSegment: a segment of which nothing can be read costs that one.
func TestUnreadableSegment(t *testing.T) {
	for name, destroy := range map[string]func([]byte) []byte{
		"empty": func([]byte) []byte { return nil },
		"noise": func(b []byte) []byte { return bytes.Repeat([]byte("noise"), len(b)/5) },
	} {
		t.Run(name, func(t *testing.T) {
			stem := filepath.Join(t.TempDir(), "x.record")
			written(t, stem, 60, storage.WriteOptions{SegmentSize: 1000, SegmentNames: namesOld})
			b, err := os.ReadFile(stem + ".00002")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(stem+".00002", destroy(b), 0o666); err != nil {
				t.Fatal(err)
			}
			r, err := openReader(context.Background(), stem, storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			info := storagetest.InfoOf(r)
			if list := damages(info); len(list) != 1 || list[0].Code != "part" || info.Messages != 50 || !info.Lost.Uncounted {
				t.Errorf("%d messages, lost are %+v; %v", info.Messages, info.Lost, info.Warnings)
			}
			if _, err := openReader(context.Background(), stem, storage.ReadOptions{Strict: true}); !isOurs(err) {
				t.Errorf("strict: %v", err)
			}
		})
	}
}

// TestDamagedHeader destroys the header of a record, in parts and in whole, and moves
// it: all messages are read, with a warning of damage.
func TestDamagedHeader(t *testing.T) {
	whole := tiny(t)
	all, _, err := openBytes(t, whole, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	patched := func(at int, with string) []byte {
		b := bytes.Clone(whole)
		copy(b[at:], with)
		return b
	}
	for name, c := range map[string]struct {
		b     []byte
		sniff bool
	}{
		"type":    {patched(0, "\x04"), true},
		"size":    {patched(8, "\xff\xff\xff"), true},
		"version": {patched(17, "\x09"), true},
		"field":   {patched(16, "\xff\xff\xff\xff"), false},
		"all":     {patched(0, strings.Repeat("\xff", headerEnd)), false},
		"moved":   {append([]byte("123"), whole...), false},
		"gone":    {whole[headerEnd:], false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sniffFile(c.b[:storage.SniffLen]); got != c.sniff {
				t.Errorf("is taken for a record: %v", got)
			}
			msgs, info, err := openBytes(t, c.b, storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if d := storagetest.Diff(msgs, all); d != "" || len(damages(info)) != 1 || info.Lost.Messages > 0 {
				t.Errorf("%s; lost are %+v, %v", d, info.Lost, info.Warnings)
			}
			if _, _, err := openBytes(t, c.b, storage.ReadOptions{Strict: true}); !isOurs(err) {
				t.Errorf("strict: %v", err)
			}
		})
	}
}

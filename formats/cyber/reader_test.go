package cyber

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/proto"
)

var three = []msg{{"/a", 10, "one"}, {"/b", 20, "two"}, {"/a", 30, "three"}}

// TestOddFiles reads what writers and accidents leave behind.
func TestOddFiles(t *testing.T) {
	start := func() *record {
		return newRecord(nil).channel("/a", "test.String", testDesc()).channel("/b", "test.String", testDesc())
	}
	later := []msg{{"/a", 40, "four"}, {"/b", 50, "five"}}
	swallowed := start()
	swallowed.section(1, chunkHeader(three...)).claim(2, int64(len(body(three...)))+30, body(three...)).chunk(later...)
	short := start()
	short.section(1, chunkHeader(three...)).claim(2, 20, body(three...)).chunk(later...)
	odd := start()
	odd.section(1, chunkHeader(three[0])).section(2,
		[]byte("\x0a\x13\x1a\x03one\x20\x05\x10\x09\x0a\x02/x\x10\x0a\x0a\x02/a"))
	cases := map[string]struct {
		r     *record
		texts string // the contents in the order of reading
		codes string // of the warnings, but for those that an unfinished file has
		loses bool
		topic int
	}{
		"plain":    {start().chunk(three...).chunk(later...), "one two three four five", "", false, 2},
		"no chunk": {start(), "", "", false, 2},
		"nothing":  {newRecord(nil), "", "", false, 0},
		"empty chunk": {start().section(1, nil).section(2, nil).chunk(three...), "one two three", "empty-chunk",
			false, 2},
		"empty body with count": {start().section(1, chunkHeader(three...)).section(2, nil).chunk(later...), "four five",
			"empty-chunk", true, 2},
		"header without chunk": {start().section(1, chunkHeader(three...)).chunk(later...), "four five", "bad-section",
			true, 2},
		"chunk without header": {start().section(2, body(three...)).chunk(later...), "one two three four five", "", false,
			2},
		"zero tail": {start().chunk(three...).bytes(make([]byte, 5000)...), "one two three", "zero-tail", true,
			2},
		"zeros between": {start().chunk(three...).bytes(make([]byte, 5000)...).chunk(later...),
			"one two three four five", "bad-section", true, 2},
		"junk between": {start().chunk(three...).bytes([]byte(strings.Repeat("junk", 99))...).chunk(later...),
			"one two three four five", "bad-section", true, 2},
		"a size that is too big": {swallowed, "one two three four five", "bad-section", true, 2},
		"a size over the end": {start().section(1, chunkHeader(three...)).claim(2, 1<<40, body(three...)).chunk(later...),
			"one two three four five", "bad-section", true, 2},
		"a size that is small": {short, "one two three four five", "bad-section", true, 2},
		"a negative size": {start().section(1, chunkHeader(three...)).claim(2, -5, body(three...)).chunk(later...),
			"four five", "bad-section", true, 2},
		"an unknown section": {start().section(9, []byte("?")).chunk(three...), "one two three", "bad-section", true, 2},
		"undeclared": {newRecord(nil).channel("/a", "test.String", testDesc()).chunk(three...), "one two three",
			"undeclared-channel", false, 2},
		"no descriptors": {newRecord(nil).channel("/a", "test.String", nil).chunk(three[0]), "one", "no-descriptor",
			false, 1},
		"declared again": {start().chunk(three...).channel("/a", "test.Other", testDesc()).chunk(later...),
			"one two three four five", "redeclared", false, 3},
		"declared twice alike": {start().chunk(three...).channel("/a", "test.String", testDesc()).chunk(later...),
			"one two three four five", "", false, 2},
		"fields in odd order": {odd, "one", "", false, 2},
		"late channel": {newRecord(nil).chunk(three...).channel("/a", "test.String", testDesc()).channel("/b",
			"test.String", testDesc()), "one two three", "", false, 2},
		"out of order": {start().chunk(later...).chunk(three...), "four five one two three", "overlap", false, 2},
		"time over int64": {start().chunk(msg{"/a", 1, "one"}, msg{"/a", 1<<64 - 1, "before 1970"}), "one before 1970", "",
			false, 2},
		"compress flag": {newRecord(&pb.Header{MajorVersion: proto.Uint32(1), Compress: pb.CompressType_COMPRESS_LZ4.Enum()}).
			channel("/a", "test.String", testDesc()).chunk(three[0]), "one", "compress-flag", false, 1},
		"damage within a chunk": {start().section(1, chunkHeader(append(three, later...)...)).
			section(2, append(append(body(three...), "\xff\xffdamage"...), body(later...)...)), "one two three four five",
			"chunk-data", true, 2},
		"a message that is too long": {start().section(1, chunkHeader(append(three, later...)...)).
			section(2, append(append(body(three...), "\x0a\x7f\x0a\x02/a"...), body(later...)...)), "one two three four five",
			"chunk-data", true, 2},
		"index within": {start().chunk(three...).section(3, []byte("\x0a\x04\x08\x04\x10\x01")).bytes([]byte("old bytes")...),
			"one two three", "index-wrong stale-tail", false, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			msgs, info, err := openBytes(t, c.r.b, storage.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, m := range msgs {
				texts = append(texts, string(m.Data))
			}
			if got := strings.Join(texts, " "); got != c.texts || info.Messages != int64(len(msgs)) {
				t.Errorf("read %q (%d in the info), want %q; %v", got, info.Messages, c.texts, info.Warnings)
			}
			got := codes(info)
			for _, code := range strings.Fields(c.codes) {
				if !got[code] {
					t.Errorf("no warning %q in %v", code, info.Warnings)
				}
			}
			if len(c.codes) == 0 {
				for code := range got {
					if code != "no-index" && code != "incomplete" {
						t.Errorf("warning %q", code)
					}
				}
			}
			if damaged(info) != c.loses || len(info.Topics) != c.topic {
				t.Errorf("damage %v, %d topics, want %v and %d; %v", damaged(info), len(info.Topics), c.loses, c.topic,
					info.Warnings)
			}
			_, _, err = openBytes(t, c.r.b, storage.ReadOptions{Strict: true})
			if (err != nil) != c.loses || err != nil && !isOurs(err) {
				t.Errorf("strict: %v", err)
			}
		})
	}
}

// tiny is the small record of testdata/.
func tiny(t testing.TB) []byte {
	b, err := os.ReadFile("../../testdata/tiny.record")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTruncated cuts a record at every byte of its chunks: the messages that are
// whole come back, in order, and the more the later the cut.
func TestTruncated(t *testing.T) {
	r := newRecord(nil).channel("/a", "test.String", testDesc()).channel("/b", "test.String", testDesc())
	first := len(r.b)
	var want []string
	for i := range 4 {
		m := []msg{{"/a", uint64(10 * i), fmt.Sprint("a", i)}, {"/b", uint64(10*i + 1), fmt.Sprint("b", i)},
			{"/a", uint64(10*i + 2), strings.Repeat("x", 300)}}
		r.chunk(m...)
		for _, m := range m {
			want = append(want, m.content)
		}
	}
	last := 0
	for n := 0; n <= len(r.b); n++ {
		msgs, info, err := openBytes(t, r.b[:n], storage.ReadOptions{})
		if n < sectionHead+2 {
			if err == nil || !isOurs(err) {
				t.Fatalf("cut at %d: %v", n, err)
			}
			continue
		}
		if err != nil {
			if n < headerEnd && isOurs(err) {
				continue
			}
			t.Fatalf("cut at %d: %v", n, err)
		}
		if len(msgs) < last || len(msgs) > last+1 {
			t.Fatalf("cut at %d: %d messages after %d", n, len(msgs), last)
		}
		last = len(msgs)
		for i, m := range msgs {
			if string(m.Data) != want[i] {
				t.Fatalf("cut at %d: message %d is %q", n, i, m.Data)
			}
		}
		if info.Messages != int64(len(msgs)) {
			t.Fatalf("cut at %d: info has %d messages, %d are read", n, info.Messages, len(msgs))
		}
		if n > first && n < len(r.b) && len(msgs)%3 != 0 && !damaged(info) {
			t.Fatalf("cut at %d: no damage is reported: %v", n, info.Warnings)
		}
	}
	if last != len(want) {
		t.Errorf("%d messages of %d", last, len(want))
	}
}

// TestFlipped changes each byte of a small record: it is read or refused, and
// most of its messages come back.
func TestFlipped(t *testing.T) {
	whole := tiny(t)
	all, _, err := openBytes(t, whole, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	step := samples.Pick(1, 3, 11) // all with BAGCONV_EXHAUSTIVE=1
	lost := 0
	for i := 0; i < len(whole); i += step {
		b := append([]byte(nil), whole...)
		b[i] ^= 1 << (i % 8)
		msgs, _, err := openBytes(t, b, storage.ReadOptions{})
		if err != nil {
			if i >= headerEnd || !isOurs(err) {
				t.Fatalf("byte %d: %v", i, err)
			}
			continue
		}
		if len(msgs) < len(all)-1 {
			lost++
			if testing.Verbose() {
				t.Logf("byte %d: %d of %d messages", i, len(msgs), len(all))
			}
		}
	}
	if lost > 40/step+2 {
		t.Errorf("%d of %d flips lose more than one message", lost, len(whole)/step)
	}
}

// TestHostileLengths claims sizes that are not there.
func TestHostileLengths(t *testing.T) {
	for _, typ := range []uint32{0, 1, 2, 3, 4, 5, 1 << 31} {
		for _, size := range []int64{-1, 0, 1, 1 << 20, 1 << 30, 1 << 40, 1<<63 - 1, -1 << 63} {
			r := newRecord(nil).channel("/a", "test.String", testDesc()).claim(typ, size,
				[]byte("\x0a\x80\x80\x80\x80\x80\x80\x80\x80\x7f")).chunk(three[0])
			msgs, _, err := openBytes(t, r.b, storage.ReadOptions{})
			if err != nil {
				t.Errorf("type %d, size %d: %v", typ, size, err)
			}
			if len(msgs) != 1 && typ != 3 && size >= 0 && size < 20 {
				t.Errorf("type %d, size %d: %d messages", typ, size, len(msgs))
			}
		}
	}
}

// TestNoRecord refuses what is none.
func TestNoRecord(t *testing.T) {
	for name, b := range map[string]string{
		"empty": "", "bag": "#ROSBAG V2.0\n" + strings.Repeat(" ", 5000),
		"lfs":   "version https://git-lfs.github.com/spec/v1\n",
		"zeros": string(make([]byte, 5000)),
	} {
		if _, _, err := openBytes(t, []byte(b), storage.ReadOptions{}); !isOurs(err) {
			t.Errorf("%s: %v", name, err)
		}
		if sniffFile([]byte(b)) {
			t.Errorf("%s is taken for a record", name)
		}
	}
	if _, err := openReader(context.Background(), filepath.Join(t.TempDir(), "none"), storage.ReadOptions{}); !errors.Is(
		err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	v2 := newRecord(&pb.Header{MajorVersion: proto.Uint32(2)})
	if _, _, err := openBytes(t, v2.b, storage.ReadOptions{}); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("version 2: %v", err)
	}
}

// TestLargeChunk reads a chunk that is many blocks, with messages that are
// larger than one, and compares the parts with each other.
func TestLargeChunk(t *testing.T) {
	var msgs []msg
	for i := range 900 {
		size := 10_000
		if i%300 == 50 {
			size = 9 << 20
		}
		msgs = append(msgs, msg{[]string{"/a", "/b"}[i%2], uint64(i), strings.Repeat(string(rune('a'+i%26)), size)})
	}
	r := newRecord(nil).channel("/a", "test.String", testDesc()).channel("/b", "test.String", testDesc()).chunk(msgs...)
	for _, measured := range []bool{true, false} {
		if !measured {
			r.index(t, msgs)
		}
		got, info, err := openBytes(t, r.b, storage.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if f := info.Facts[1].Value; (f == "measured") != measured {
			t.Errorf("counts are %s: %v", f, info.Warnings)
		}
		if len(got) != len(msgs) {
			t.Fatalf("%d messages", len(got))
		}
		for i, m := range got {
			if string(m.Data) != msgs[i].content || m.LogTime != int64(msgs[i].time) {
				t.Fatalf("message %d", i)
			}
		}
	}
}

// index ends a record of two channels and one chunk.
func (r *record) index(t *testing.T, msgs []msg) {
	t.Helper()
	s := scanner{f: &file{r: &reader{fs: memFS{b: r.b}, topics: newTopics()}, file: memFile{b: r.b}, size: int64(len(r.b)),
		channels: map[string]*channel{}}}
	s.w = s.f.window()
	if err := s.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	count := map[string]uint64{}
	for _, m := range msgs {
		count[m.channel]++
	}
	x := &pb.Index{}
	for _, e := range s.entries {
		one := &pb.SingleIndex{Type: pb.SectionType(e.typ).Enum(), Position: proto.Uint64(uint64(e.at))}
		switch pb.SectionType(e.typ) {
		case pb.SectionType_SECTION_CHANNEL:
			one.Cache = &pb.SingleIndex_ChannelCache{ChannelCache: &pb.ChannelCache{MessageNumber: proto.Uint64(count[e.name]),
				Name: &e.name}}
		case pb.SectionType_SECTION_CHUNK_HEADER:
			one.Cache = &pb.SingleIndex_ChunkHeaderCache{ChunkHeaderCache: &pb.ChunkHeaderCache{
				MessageNumber: proto.Uint64(uint64(e.count)), BeginTime: proto.Uint64(uint64(e.from)),
				EndTime: proto.Uint64(uint64(e.to))}}
		default:
			one.Cache = &pb.SingleIndex_ChunkBodyCache{ChunkBodyCache: &pb.ChunkBodyCache{
				MessageNumber: proto.Uint64(uint64(e.count))}}
		}
		x.Indexes = append(x.Indexes, one)
	}
	r.section(3, marshal(x))
}

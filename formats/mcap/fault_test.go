package mcap

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

var testTopics = []storage.Topic{
	{Name: "/chatter", Type: "std_msgs/msg/String", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
		Data: []byte("string data\n")},
		Metadata: map[string]string{"offered_qos_profiles": "- history: 3", storage.MetaTypeHash: "RIHS01_df66"}},
	{Name: "/odd", Encoding: "json", Metadata: map[string]string{}},
}

// testMessages makes messages of two topics, in order, whose data differ.
func testMessages(n int) []storage.Message {
	var out []storage.Message
	for i := range n {
		at := 1_700_000_000_000_000_000 + int64(i)*100_000_000
		data := fmt.Appendf(nil, "message %d %s", i, bytes.Repeat([]byte{byte('a' + i%26)}, 20+i%7*9))
		out = append(out, storage.Message{Topic: storage.TopicID(i % 3 / 2), LogTime: at, PublishTime: at - 1000,
			Sequence: uint32(i), Data: data})
	}
	return out
}

// write writes a file with an attachment and a metadata record.
func write(t testing.TB, path string, o storage.WriteOptions, l layout, messages []storage.Message) {
	t.Helper()
	o.NoSync = true
	sw, err := createWriter(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	w := sw.(*writer)
	w.layout = l
	for _, topic := range testTopics {
		if _, err := w.CreateTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.writeMetadata(metadata{"robot", []pair{{"name", "r2"}}}); err != nil {
		t.Fatal(err)
	}
	for i := range messages {
		if err := w.Write(&messages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(false); err != nil {
		t.Fatal(err)
	}
	if err := w.writeAttachment(attachment{5, 4, "calib.yaml", "text/yaml", 10},
		bytes.NewReader([]byte("camera: 1\n"))); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// A small is a small file and how it is made.
type small struct {
	name  string
	codec string
	layout
}

var smalls = []small{
	{"none", "none", fullLayout},
	{"lz4", "lz4", fullLayout},
	{"zstd", "zstd", fullLayout},
	{"unchunked", "none", layout{schemas: true, channels: true, statistics: true}},
	{"no summary", "zstd", layout{chunks: true, messageIndexes: true}},
}

// file returns the bytes of a file with several chunks, and its messages.
func (s *small) file(t testing.TB) ([]byte, []storage.Message) {
	path := filepath.Join(t.TempDir(), "x.mcap")
	messages := testMessages(24)
	write(t, path, storage.WriteOptions{Compression: s.codec, ChunkSize: 500}, s.layout, messages)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b, messages
}

// TestTruncated cuts a file at every byte: the messages that are whole in it come
// back, in order, and the damage is reported.
func TestTruncated(t *testing.T) {
	for _, s := range smalls {
		t.Run(s.name, func(t *testing.T) {
			whole, messages := s.file(t)
			ends := messageEnds(t, whole)
			for n := range len(whole) {
				got, i, _, err := openBytes(t, whole[:n], storage.ReadOptions{})
				if n < len(magic) {
					if err == nil {
						t.Fatalf("cut at %d: no error", n)
					}
					continue
				}
				if err != nil {
					t.Fatalf("cut at %d: %v", n, err)
				}
				want := 0
				for want < len(ends) && ends[want] <= int64(n) {
					want++
				}
				if len(got) < want || s.codec == "none" && len(got) > want {
					t.Fatalf("cut at %d: %d messages, want %d: %+v", n, len(got), want, i.Warnings)
				}
				equalMessages(t, got, messages[:len(got)])
				if i.Messages != int64(len(got)) {
					t.Fatalf("cut at %d: info has %d messages, %d are read", n, i.Messages, len(got))
				}
				if len(i.Warnings) == 0 {
					t.Fatalf("cut at %d: nothing is told", n)
				}
				if _, _, _, err := openBytes(t, whole[:n], storage.ReadOptions{Strict: true}); (err != nil) != damaged(i) {
					t.Fatalf("cut at %d: strict reading: %v, %+v", n, err, i.Warnings)
				}
			}
			if len(ends) != len(messages) {
				t.Errorf("%d ends of messages, want %d", len(ends), len(messages))
			}
		})
	}
}

// messageEnds returns how many bytes of a file are needed for each message: for one in
// a chunk that is compressed, all of the chunk.
func messageEnds(t *testing.T, b []byte) (ends []int64) {
	for c := (cursor{b: b, next: len(magic)}); c.step() && c.op != opDataEnd; {
		switch c.op {
		case opMessage:
			ends = append(ends, int64(c.next))
		case opChunk:
			var k chunk
			var d chunked.Damage
			if err := k.parse(c.body, uint64(len(c.body))); err != nil {
				t.Fatal(err)
			}
			for in := (cursor{b: k.decode(nil, 0, &d)}); in.step(); {
				end := int64(c.next)
				if k.compression == "" {
					end = int64(c.at + recordHead + k.head + in.next)
				}
				if in.op == opMessage {
					ends = append(ends, end)
				}
			}
		}
	}
	return ends
}

// TestFlipped flips every byte of a file, by turns in one of two ways, with BAGCONV_EXHAUSTIVE=1 in both: nothing
// breaks, messages that are not touched come back, and what is lost or may be wrong is reported.
func TestFlipped(t *testing.T) {
	for _, s := range smalls {
		t.Run(s.name, func(t *testing.T) {
			whole, messages := s.file(t)
			intact := map[string]bool{}
			for _, m := range messages {
				intact[contents(&m, testTopics[m.Topic].Name)] = true
			}
			b := make([]byte, len(whole))
			for at := range whole {
				if testing.Short() && at%5 != 0 {
					continue
				}
				for k, mask := range []byte{0x01, 0xff} {
					if at%2 != k && samples.Pick(0, 1, 0) == 1 {
						continue
					}
					copy(b, whole)
					b[at] ^= mask
					got, i, _, err := openBytes(t, b, storage.ReadOptions{})
					if err != nil {
						if at >= len(magic) {
							t.Fatalf("byte %d ^ %#x: %v", at, mask, err)
						}
						continue
					}
					same := 0
					for _, m := range got {
						if intact[contents(&m, i.Topics[m.Topic].Name)] {
							same++
						}
					}
					lost := len(messages) - len(got)
					if (lost != 0 || same < len(got) && s.chunks) && !damaged(i) {
						t.Fatalf("byte %d ^ %#x: %d messages, %d as they were, and the report is %+v: %+v", at, mask, len(got), same,
							i.Lost, i.Warnings)
					}
					if !i.Lost.Uncounted && int(i.Lost.Messages) != max(0, lost) {
						t.Fatalf("byte %d ^ %#x: %d messages are lost, and the report is %+v: %+v", at, mask, lost, i.Lost, i.Warnings)
					}
					if s.codec == "none" && same < len(messages)-2 {
						t.Errorf("byte %d ^ %#x: only %d messages of %d are as they were: %+v", at, mask, same, len(messages), i.Warnings)
					}
				}
			}
		})
	}
}

func contents(m *storage.Message, topic string) string {
	return fmt.Sprintln(topic, m.LogTime, m.PublishTime, m.Sequence, string(m.Data))
}

// TestHostileSizes opens files whose lengths lie: memory stays small. At each place there is one of three lies by
// turns, and with BAGCONV_EXHAUSTIVE=1 each.
func TestHostileSizes(t *testing.T) {
	var before, after runtime.MemStats
	for _, s := range smalls {
		whole, _ := s.file(t)
		b := make([]byte, len(whole))
		for i, lie := range []uint64{1 << 30, 1 << 62, 1<<64 - 1} {
			for at := len(magic) + samples.Pick(0, i, 0); at+8 <= len(whole); at += samples.Pick(1, 3, 1) {
				if testing.Short() && at%5 != 0 {
					continue
				}
				copy(b, whole)
				binary.LittleEndian.PutUint64(b[at:], lie)
				runtime.ReadMemStats(&before)
				openBytes(t, b, storage.ReadOptions{CheckIndexes: true})
				runtime.ReadMemStats(&after)
				if d := after.TotalAlloc - before.TotalAlloc; d > 64<<20 {
					t.Fatalf("%s: %#x at byte %d: %d bytes of memory", s.name, lie, at, d)
				}
			}
		}
	}
}

// TestRefused: the errors for files that are not MCAP, or cannot be read at all.
func TestRefused(t *testing.T) {
	whole, _ := smalls[0].file(t)
	text := bytes.ReplaceAll(whole, []byte("\r\n"), []byte("\n"))
	version := bytes.Clone(whole)
	version[5] = '1'
	for _, c := range []struct {
		name  string
		b     []byte
		err   error
		sniff bool
	}{
		{"nothing", nil, storage.ErrCorrupt, false},
		{"text", []byte("this is not a recording\n"), storage.ErrCorrupt, false},
		{"CR LF turned into LF", text, storage.ErrCorrupt, true},
		{"another major version", version, storage.ErrUnsupported, true},
		{"half a magic", whole[:6], storage.ErrTruncated, true},
	} {
		if _, _, _, err := openBytes(t, c.b, storage.ReadOptions{}); !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
		if sniff(nil, "", c.b) != c.sniff {
			t.Errorf("%s: sniff says %v", c.name, !c.sniff)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range smalls {
		whole, _ := s.file(f)
		f.Add(whole)
		f.Add(whole[:len(whole)*2/3])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		openBytes(t, b, storage.ReadOptions{CheckIndexes: true})
		openBytes(t, b, storage.ReadOptions{Strict: true})
	})
}

func FuzzChunk(f *testing.F) {
	for _, s := range smalls[:3] {
		whole, _ := s.file(f)
		for c := (cursor{b: whole, next: len(magic)}); c.step(); {
			if c.op == opChunk {
				f.Add(bytes.Clone(c.body))
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var c chunk
		var d chunked.Damage
		if c.parse(b, uint64(len(b))); c.head == 0 {
			return
		}
		records := c.decode(nil, 0, &d)
		at := 0
		k := cursor{b: records}
		for k.step() {
			if k.at < at || k.next <= k.at || k.next > len(records) {
				t.Fatalf("a record at %d to %d after %d", k.at, k.next, at)
			}
			at = k.next
		}
	})
}

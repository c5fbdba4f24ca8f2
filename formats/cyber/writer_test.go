package cyber

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// A walked is a file as Apollo's classes see it: RecordFileReader walks the
// sections, RecordViewer drops what is outside the times of header and chunks.
type walked struct {
	header   *pb.Header
	index    *pb.Index
	channels []*pb.Channel
	chunks   []*pb.ChunkHeader
	messages []*pb.SingleMessage
	viewed   []*pb.SingleMessage
	disused  int // sections that were an index
}

// walkFile reads a file with nothing of the reader's code, and checks what
// Apollo's reader checks: canonical sections, adjacent to the byte.
func walkFile(t *testing.T, path string) *walked {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w := &walked{header: &pb.Header{}}
	section := func(at int) (int, []byte) {
		if at+16 > len(b) {
			t.Fatalf("no section at %d of %d", at, len(b))
		}
		if pad := b[at+4 : at+8]; !bytes.Equal(pad, make([]byte, 4)) {
			t.Errorf("padding %x in the section header at %d", pad, at)
		}
		n := int(binary.LittleEndian.Uint64(b[at+8:]))
		return int(binary.LittleEndian.Uint32(b[at:])), b[at+16 : at+16+n]
	}
	parse := func(p []byte, m proto.Message) {
		if err := proto.Unmarshal(p, m); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(marshal(m), p) {
			t.Errorf("%T is not canonical", m)
		}
	}
	typ, p := section(0)
	if parse(p, w.header); typ != 0 || b[16+len(p)] != '0' || len(bytes.Trim(b[17+len(p):2064], "\x00")) > 0 {
		t.Errorf("header of type %d with wrong padding", typ)
	}
	positions := map[uint64]int{}
	var pending *pb.ChunkHeader
	at := 2064
	for at < len(b) {
		typ, p := section(at)
		positions[uint64(at)] = typ
		if len(p) == 0 && typ != 3 {
			t.Errorf("empty section of type %d at %d", typ, at)
		}
		switch typ {
		case 1:
			pending = &pb.ChunkHeader{}
			parse(p, pending)
			w.chunks = append(w.chunks, pending)
		case 2:
			c := &pb.ChunkBody{}
			parse(p, c)
			var raw uint64
			for _, m := range c.Messages {
				w.messages = append(w.messages, m)
				raw += uint64(len(m.Content))
				if at := m.GetTime(); at >= pending.GetBeginTime() && at <= pending.GetEndTime() {
					w.viewed = append(w.viewed, m)
				}
			}
			if uint64(len(c.Messages)) != pending.GetMessageNumber() || raw != pending.GetRawSize() {
				t.Errorf("chunk header %v of %d messages with %d bytes", pending, len(c.Messages), raw)
			}
		case 3:
			w.index = &pb.Index{}
			parse(p, w.index)
			if uint64(at) != w.header.GetIndexPosition() || at+16+len(p) != len(b) {
				t.Errorf("index at %d of %d bytes, header says %d", at, len(p), w.header.GetIndexPosition())
			}
		case 4:
			c := &pb.Channel{}
			parse(p, c)
			if len(c.ProtoReflect().GetUnknown()) == 0 {
				w.channels = append(w.channels, c)
				break
			}
			if w.disused++; !slices.ContainsFunc(w.channels, func(old *pb.Channel) bool {
				return old.GetName() == c.GetName() && old.GetMessageType() == c.GetMessageType() && bytes.Equal(old.GetProtoDesc(),
					c.GetProtoDesc())
			}) {
				t.Errorf("the section at %d is that of no channel: %s", at, c.GetName())
			}
		default:
			t.Fatalf("section of type %d at %d", typ, at)
		}
		at += 16 + len(p)
	}
	h := w.header
	w.viewed = slices.DeleteFunc(w.viewed, func(m *pb.SingleMessage) bool {
		return m.GetTime() < h.GetBeginTime() ||
			m.GetTime() > h.GetEndTime()
	})
	if h.GetSize() != uint64(len(b)) || !h.GetIsComplete() || h.GetMessageNumber() != uint64(len(w.messages)) ||
		h.GetChunkNumber() != uint64(len(w.chunks)) || h.GetChannelNumber() != uint64(len(w.channels)) {
		t.Errorf("header %v of %d bytes, %d messages, %d chunks", h, len(b), len(w.messages), len(w.chunks))
	}
	for i, c := range w.chunks[min(1, len(w.chunks)):] {
		if c.GetBeginTime() < w.chunks[i].GetEndTime() {
			t.Errorf("chunk %d overlaps", i+1)
		}
	}
	counts := map[string]uint64{}
	for _, m := range w.messages {
		counts[m.GetChannelName()]++
	}
	for _, x := range w.index.GetIndexes() {
		if typ, ok := positions[x.GetPosition()]; !ok || typ != int(x.GetType()) {
			t.Errorf("index says %v", x)
		}
		if c := x.GetChannelCache(); c != nil && c.GetMessageNumber() != counts[c.GetName()] {
			t.Errorf("index says %d messages of %s, there are %d", c.GetMessageNumber(), c.GetName(), counts[c.GetName()])
		}
	}
	if len(w.index.GetIndexes()) != len(positions)-1-w.disused {
		t.Errorf("%d entries in the index for %d sections", len(w.index.GetIndexes()), len(positions))
	}
	return w
}

func suite(name string) *storagetest.Config {
	return &storagetest.Config{
		Format: Format, Encoding: encoding, Name: name, Type: "test.String",
		Schema: storage.Schema{Encoding: encoding, Data: testSet()},
		Others: []storagetest.Definition{
			{Type: "other.String", Schema: definition(testFile("other.proto", "other"))},
			{Type: "test.String", Schema: definition(testFile("test.proto", "test"))},
		},
	}
}

func definition(files ...*descriptorpb.FileDescriptorProto) storage.Schema {
	return storage.Schema{Encoding: encoding, Data: marshal(&descriptorpb.FileDescriptorSet{File: files})}
}

// TestViewer: Apollo's reader and viewer return all that was written.
func TestViewer(t *testing.T) {
	c := suite("x.record")
	for name, o := range map[string]storage.WriteOptions{
		"default": {}, "small chunks": {ChunkSize: 300}, "one message each": {ChunkSize: 1},
	} {
		t.Run(name, func(t *testing.T) {
			rec := c.Generate(1, storagetest.Spec{Topics: 5, Messages: 400, MaxSize: 200, Step: 300_000_000})
			path := filepath.Join(t.TempDir(), "x.record")
			if err := storagetest.WriteBlocks(Format, path, o, rec); err != nil {
				t.Fatal(err)
			}
			w := walkFile(t, path)
			if len(w.viewed) != len(rec.Messages) {
				t.Fatalf("the viewer shows %d of %d messages", len(w.viewed), len(rec.Messages))
			}
			for i, m := range w.viewed {
				want := &rec.Messages[i]
				if m.GetTime() != uint64(want.LogTime) || !bytes.Equal(m.Content, want.Data) ||
					m.GetChannelName() != rec.Topics[want.Topic].Name {
					t.Fatalf("message %d differs", i)
				}
			}
			for _, k := range w.chunks {
				if k.GetEndTime()-k.GetBeginTime() > chunkInterval {
					t.Errorf("a chunk of %d ns", k.GetEndTime()-k.GetBeginTime())
				}
			}
		})
	}
}

// TestHeader: what the options and metadata become in the header, and back.
func TestHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.record")
	meta := map[string]string{metaMapName: "sunnyvale", metaMapVersion: "1.5", metaVehicleName: "mkz", "other": "x"}
	rec := suite("").Generate(2, storagetest.Spec{Topics: 1, Messages: 3, MaxSize: 9, Step: 1})
	if err := storagetest.WriteAll(Format, path, storage.WriteOptions{Metadata: meta}, rec); err != nil {
		t.Fatal(err)
	}
	h := walkFile(t, path).header
	if h.GetMajorVersion() != 1 || h.GetChunkRawSize() != 16<<20 || h.GetChunkInterval() != 20e9 ||
		h.SegmentInterval == nil || h.Compress == nil || h.MinorVersion == nil {
		t.Errorf("%v", h)
	}
	r, err := openReader(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := storagetest.InfoOf(r)
	delete(meta, "other")
	if fmt.Sprint(info.Metadata) != fmt.Sprint(meta) || len(info.Warnings) > 0 {
		t.Errorf("%v, %v", info.Metadata, info.Warnings)
	}
}

// TestRefused: what a record cannot hold costs the one topic, and no other.
func TestRefused(t *testing.T) {
	set := testSet()
	topic := func(name, typ, enc string, schema []byte) storage.Topic {
		return storage.Topic{Name: name, Type: typ, Encoding: enc, Schema: storage.Schema{Encoding: encoding, Data: schema}}
	}
	other := marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{testFile("other.proto",
		"test")}})
	for name, topics := range map[string][]storage.Topic{
		"encoding":    {topic("/a", "test.String", "cdr", set)},
		"two types":   {topic("/a", "test.String", encoding, set), topic("/a", "base.String", encoding, set)},
		"two schemas": {topic("/a", "test.String", encoding, set), topic("/a", "test.String", encoding, other)},
		"no name":     {topic("", "test.String", encoding, set)},
		"not UTF-8":   {topic("/bad\xff", "test.String", encoding, set)},
		"corrupt":     {topic("/a", "a.String", encoding, []byte("\x0a\xff"))},
		"bomb":        {topic("/a", "t0.String", encoding, bomb(60))},
	} {
		dir := t.TempDir()
		w, err := createWriter(context.Background(), filepath.Join(dir, "x.record"), storage.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, topic := range topics {
			_, err = w.CreateTopic(topic)
		}
		if !errors.Is(err, storage.ErrUnsupported) && !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		id, err := w.CreateTopic(topic("/sound", "test.String", encoding, set))
		if err == nil {
			err = errors.Join(w.Write(&storage.Message{Topic: id, Data: []byte("x")}), w.Commit())
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r, err := openReader(context.Background(), filepath.Join(dir, "x.record"), storage.ReadOptions{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		if info := storagetest.InfoOf(r); len(info.Topics) != len(topics) || info.Messages != 1 || len(info.Warnings) > 0 {
			t.Errorf("%s: %+v", name, info)
		}
		r.Close()
	}
	for name, o := range map[string]storage.WriteOptions{
		"compression": {Compression: "lz4"}, "profile": {Profile: "humble"}, "names": {SegmentNames: "odd"},
		"chunk": {ChunkSize: -1},
		"size":  {SegmentSize: -1}, "duration": {SegmentDuration: -1}, "level": {Level: 1},
	} {
		if _, err := createWriter(context.Background(), filepath.Join(t.TempDir(), "x"), o); !errors.Is(err,
			storage.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// bomb is a set of files that each import the next two: a tree of 2^n nodes.
func bomb(n int) []byte {
	set := &descriptorpb.FileDescriptorSet{}
	for i := range n {
		var imports []string
		if i+2 < n {
			imports = []string{fmt.Sprintf("f%d", i+1), fmt.Sprintf("f%d", i+2)}
		}
		set.File = append(set.File, testFile(fmt.Sprintf("f%d", i), fmt.Sprintf("t%d", i), imports...))
	}
	return marshal(set)
}

// TestReferee compares what we write with PyPI's cyber_record.
func TestReferee(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	rec := suite("").Generate(5, storagetest.Spec{Topics: 4, Messages: 500, MaxSize: 1, Step: 100_000_000})
	for i := range rec.Messages { // a test.String each
		text := strings.Repeat("x", rng.IntN(100))
		rec.Messages[i].Data = append([]byte{0x0a, byte(len(text))}, text...)
	}
	path := filepath.Join(t.TempDir(), "x.record")
	if err := storagetest.WriteAll(Format, path, storage.WriteOptions{ChunkSize: 3000}, rec); err != nil {
		t.Fatal(err)
	}
	out := cyberRecord(t, path)
	var want strings.Builder
	for _, m := range rec.Messages {
		fmt.Fprintln(&want, rec.Topics[m.Topic].Name, m.LogTime, len(m.Data)-2)
	}
	if out != want.String() {
		t.Errorf("cyber_record reads %.300s..., want %.300s...", out, want.String())
	}
}

// cyberRecord returns the topic, time and length of the text of each message of a file of
// test.String, as PyPI's cyber_record reads it.
func cyberRecord(t *testing.T, path string) string {
	t.Helper()
	python := os.Getenv("BAGCONV_CYBER_PYTHON")
	if python == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("CI must have PyPI's cyber_record: BAGCONV_CYBER_PYTHON")
		}
		t.Skip("BAGCONV_CYBER_PYTHON names no python with cyber_record")
	}
	const script = `
import sys, warnings
warnings.filterwarnings('ignore')
from cyber_record.record import Record
with Record(sys.argv[1]) as r:
    for topic, m, t in r.read_messages():
        print(topic, t, len(m.data))
`
	out, err := exec.Command(python, "-c", script, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

package mcap

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// A vector is a file of the matrix in vectors_test.go: its records, as the JSON beside the
// official ones has them.
type vector struct {
	Records []vectorRecord
	Meta    struct{ Variant struct{ Features []string } }
}

type vectorRecord struct {
	Type   string
	Fields [][2]any
}

func (r *vectorRecord) get(name string) any {
	for _, f := range r.Fields {
		if f[0] == name {
			return f[1]
		}
	}
	return nil
}

func (r *vectorRecord) str(name string) string { s, _ := r.get(name).(string); return s }

func (r *vectorRecord) num(name string) uint64 {
	n, err := strconv.ParseUint(r.str(name), 10, 64)
	if err != nil {
		panic(fmt.Sprintf("%s.%s: %v", r.Type, name, err))
	}
	return n
}

func (r *vectorRecord) bytes(name string) []byte {
	out := []byte{}
	for _, v := range r.get(name).([]any) {
		n, _ := strconv.Atoi(v.(string))
		out = append(out, byte(n))
	}
	return out
}

func (r *vectorRecord) pairs(name string) []pair {
	var out []pair
	for k, v := range r.get(name).(map[string]any) {
		out = append(out, pair{k, v.(string)})
	}
	slices.SortFunc(out, func(a, b pair) int { return strings.Compare(a.key, b.key) })
	return out
}

// TestConformanceRecords: every record of the matrix is parsed as it is meant.
func TestConformanceRecords(t *testing.T) {
	eachVector(t, func(t *testing.T, name string, v *vector, b []byte) {
		var got []vectorRecord
		if !bytes.HasPrefix(b, []byte(magic)) || !bytes.HasSuffix(b, []byte(magic)) {
			t.Fatalf("%s: no magic", name)
		}
		listRecords(t, b[len(magic):len(b)-len(magic)], &got)
		if len(got) != len(v.Records) {
			t.Fatalf("%s: %d records, want %d", name, len(got), len(v.Records))
		}
		for i, want := range v.Records {
			fields, mine := want.named(), got[i].named()
			if got[i].Type != want.Type || !reflect.DeepEqual(mine, fields) {
				t.Fatalf("%s: record %d is %s %v, want %s %v", name, i, got[i].Type, mine, want.Type, fields)
			}
		}
	})
}

func text[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int](n T) string { return fmt.Sprint(n) }

func textBytes(b []byte) []any {
	out := []any{}
	for _, x := range b {
		out = append(out, text(x))
	}
	return out
}

func textPairs(pairs []pair) map[string]any {
	out := map[string]any{}
	for _, p := range pairs {
		out[p.key] = p.value
	}
	return out
}

func textCounts(b []byte) map[string]any {
	out := map[string]any{}
	eachCount(b, func(id uint16, n uint64) { out[text(id)] = text(n) })
	return out
}

// listRecords lists records as the JSON of the official files has them: those of a
// chunk in its place.
func listRecords(t *testing.T, b []byte, out *[]vectorRecord) {
	c := cursor{b: b}
	add := func(name string, err error, fields ...[2]any) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		*out = append(*out, vectorRecord{name, fields})
	}
	for c.step() {
		switch c.op {
		case opHeader:
			var h header
			err := h.parse(c.body)
			add("Header", err, [2]any{"library", h.library}, [2]any{"profile", h.profile})
		case opFooter:
			var f footer
			err := f.parse(c.body)
			add("Footer", err, [2]any{"summary_start", text(f.summaryStart)}, [2]any{"summary_offset_start",
				text(f.offsetStart)}, [2]any{"summary_crc", text(f.crc)})
		case opSchema:
			var s schema
			err := s.parse(c.body)
			add("Schema", err, [2]any{"id", text(s.id)}, [2]any{"name", s.name}, [2]any{"encoding", s.encoding},
				[2]any{"data", textBytes(s.data)})
		case opChannel:
			var k channel
			err := k.parse(c.body)
			add("Channel", err, [2]any{"id", text(k.id)}, [2]any{"schema_id", text(k.schema)}, [2]any{"topic", k.topic},
				[2]any{"message_encoding", k.encoding}, [2]any{"metadata", textPairs(k.metadata)})
		case opMessage:
			var m message
			err := m.parse(c.body)
			add("Message", err, [2]any{"channel_id", text(m.channel)}, [2]any{"sequence", text(m.sequence)},
				[2]any{"log_time", text(m.log)},
				[2]any{"publish_time", text(m.publish)}, [2]any{"data", textBytes(m.data)})
		case opChunk:
			var k chunk
			var d chunked.Damage
			if err := k.parse(c.body, uint64(len(c.body))); err != nil {
				t.Fatal(err)
			}
			listRecords(t, k.decode(nil, 0, &d), out)
			if d.Places > 0 {
				t.Fatal(d.What)
			}
		case opAttachment:
			var a attachment
			n, err := a.parse(c.body)
			add("Attachment", err, [2]any{"log_time", text(a.log)}, [2]any{"create_time", text(a.create)},
				[2]any{"name", a.name},
				[2]any{"media_type", a.mediaType}, [2]any{"data", textBytes(c.body[n : n+int(a.size)])})
		case opMetadata:
			var m metadata
			err := m.parse(c.body)
			add("Metadata", err, [2]any{"name", m.name}, [2]any{"metadata", textPairs(m.values)})
		case opDataEnd:
			f := fields{b: c.body}
			add("DataEnd", nil, [2]any{"data_section_crc", text(f.u32())})
		case opStatistics, opChunkIndex, opAttachmentIndex, opMetadataIndex, opSummaryOffset:
			listSummary(c.op, c.body, add)
		}
	}
	if len(c.gaps) > 0 {
		t.Fatalf("%+v", c.gaps)
	}
}

func listSummary(op byte, b []byte, add func(string, error, ...[2]any)) {
	switch op {
	case opStatistics:
		var s statistics
		err := s.parse(b)
		add("Statistics", err, [2]any{"message_count", text(s.messages)}, [2]any{"schema_count", text(s.schemas)},
			[2]any{"channel_count", text(s.channels)},
			[2]any{"attachment_count", text(s.attachments)}, [2]any{"metadata_count", text(s.metadata)},
			[2]any{"chunk_count", text(s.chunks)},
			[2]any{"message_start_time", text(s.start)}, [2]any{"message_end_time", text(s.end)},
			[2]any{"channel_message_counts", textCounts(s.counts)})
	case opChunkIndex:
		var x chunkIndex
		err := x.parse(b)
		add("ChunkIndex", err, [2]any{"message_start_time", text(x.start)}, [2]any{"message_end_time", text(x.end)},
			[2]any{"chunk_start_offset", text(x.offset)},
			[2]any{"chunk_length", text(x.length)}, [2]any{"message_index_offsets", textCounts(x.indexes)},
			[2]any{"message_index_length", text(x.indexLength)},
			[2]any{"compression", x.compression}, [2]any{"compressed_size", text(x.stored)},
			[2]any{"uncompressed_size", text(x.original)})
	case opAttachmentIndex:
		var x attachmentIndex
		err := x.parse(b)
		add("AttachmentIndex", err, [2]any{"offset", text(x.offset)}, [2]any{"length", text(x.length)},
			[2]any{"log_time", text(x.log)},
			[2]any{"create_time", text(x.create)}, [2]any{"data_size", text(x.size)}, [2]any{"name", x.name},
			[2]any{"media_type", x.mediaType})
	case opMetadataIndex:
		var x metadataIndex
		err := x.parse(b)
		add("MetadataIndex", err, [2]any{"offset", text(x.offset)}, [2]any{"length", text(x.length)}, [2]any{"name", x.name})
	case opSummaryOffset:
		var x summaryOffset
		err := x.parse(b)
		add("SummaryOffset", err, [2]any{"group_opcode", text(x.op)}, [2]any{"group_start", text(x.start)},
			[2]any{"group_length", text(x.length)})
	}
}

// TestConformanceRead: the Reader opens each file of the matrix by its summary and without
// it, and prints its messages, channels, attachments and metadata.
func TestConformanceRead(t *testing.T) {
	eachVector(t, func(t *testing.T, name string, v *vector, b []byte) {
		var want []storage.Message
		attachments, metadata, topics := 0, 0, map[string]bool{}
		for i := range v.Records {
			r := &v.Records[i]
			switch r.Type {
			case "Message":
				want = append(want, storage.Message{LogTime: int64(r.num("log_time")), PublishTime: int64(r.num("publish_time")),
					Sequence: uint32(r.num("sequence")), Data: r.bytes("data")})
			case "Channel":
				topics[r.str("topic")] = true
			case "Attachment":
				attachments++
			case "Metadata":
				metadata++
			}
		}
		cut := len(magic)
		for c := (cursor{b: b[len(magic) : len(b)-len(magic)]}); c.step() && c.op != opDataEnd; {
			cut = len(magic) + c.next
		}
		for _, b := range [][]byte{b, b[:cut]} {
			got, info, r, err := openBytes(t, b, storage.ReadOptions{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(got) != len(want) {
				t.Fatalf("%s, %d bytes of it: %d messages, want %d: %+v", name, len(b), len(got), len(want), info)
			}
			equalMessages(t, got, want)
			if len(info.Topics) != len(topics) || len(r.attachments) != attachments || len(r.metadata) != metadata {
				t.Errorf("%s: %d topics, %d attachments, %d metadata records", name, len(info.Topics), len(r.attachments),
					len(r.metadata))
			}
			if damaged(info) || len(b) > cut && len(info.Warnings) > 0 {
				t.Errorf("%s: %+v", name, info.Warnings)
			}
		}
	})
}

// TestConformanceWrite: the Writer writes each file of the matrix to the byte.
func TestConformanceWrite(t *testing.T) {
	defer func() { padding = nil }()
	eachVector(t, func(t *testing.T, name string, v *vector, want []byte) {
		has := func(f string) bool { return slices.Contains(v.Meta.Variant.Features, f) }
		padding = nil
		pad := func() {
			if has("pad") {
				padding = []byte{1, 0xff, 0xff}
			}
		}
		if !has("ch") { // what is in a chunk has no padding there
			pad()
		}
		path := filepath.Join(t.TempDir(), "x.mcap")
		sw, err := createWriter(context.Background(), path, storage.WriteOptions{
			Compression: "none", NoSync: true, Metadata: map[string]string{metaProfile: v.Records[0].str("profile")}})
		if err != nil {
			t.Fatal(err)
		}
		w := sw.(*writer)
		w.header.library = v.Records[0].str("library")
		w.layout = layout{has("ch"), has("mx"), has("rsh"), has("rch"), has("st"), has("chx"), has("ax"), has("mdx"),
			has("sum")}
		writeVector(t, w, v)
		pad()
		if err := w.Commit(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			i := 0
			for i < len(got) && i < len(want) && got[i] == want[i] {
				i++
			}
			t.Errorf("%s: byte %d differs, of %d and %d", name, i, len(got), len(want))
		}
	})
}

// writeVector writes what stands in the data section of a file.
func writeVector(t *testing.T, w *writer, v *vector) {
	var s *vectorRecord
	for i := range v.Records {
		r := &v.Records[i]
		var err error
		switch r.Type {
		case "Schema":
			s = r
		case "Channel":
			topic := storage.Topic{Name: r.str("topic"), Encoding: r.str("message_encoding"), Metadata: map[string]string{}}
			if s != nil {
				topic.Type, topic.Schema = s.str("name"), storage.Schema{Encoding: s.str("encoding"), Data: s.bytes("data")}
			}
			for _, p := range r.pairs("metadata") {
				topic.Metadata[p.key] = p.value
			}
			_, err = w.CreateTopic(topic)
		case "Message":
			err = w.Write(&storage.Message{LogTime: int64(r.num("log_time")), PublishTime: int64(r.num("publish_time")),
				Sequence: uint32(r.num("sequence")), Data: r.bytes("data")})
		case "Attachment":
			a := attachment{r.num("log_time"), r.num("create_time"), r.str("name"), r.str("media_type"),
				uint64(len(r.bytes("data")))}
			err = w.writeAttachment(a, bytes.NewReader(r.bytes("data")))
		case "Metadata":
			err = w.writeMetadata(metadata{r.str("name"), r.pairs("metadata")})
		case "DataEnd":
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

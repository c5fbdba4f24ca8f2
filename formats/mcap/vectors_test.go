package mcap

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The matrix of conformance files: six inputs with each set of features that goes with them. A
// feature is a part of the layout; a name is the input and its features in order:
//
//	ch   chunks                    mx   message indexes          chx  chunk indexes
//	rsh  schemas in the summary    rch  channels in the summary  st   statistics
//	ax   attachment indexes        mdx  metadata indexes         sum  summary offsets
//	pad  01 ff ff after each record that may have more fields than a reader knows
//
// They are made here from the specification, with nothing of the Writer. TestConformanceMatrix
// compares them with the official files.

// vectorSets returns the sets of features of an input.
func vectorSets(input string) (sets [][]string) {
	layouts, options := [][]string{nil}, []string{"pad", "st", "sum"}
	switch input {
	case "OneMessage", "TenMessages", "OneSchemalessMessage":
		layouts = [][]string{nil, {"ch"}, {"ch", "mx"}, {"ch", "chx"}, {"ch", "chx", "mx"}}
		options = append(options, "rch")
		if input != "OneSchemalessMessage" {
			options = append(options, "rsh")
		}
	case "OneAttachment":
		options = append(options, "ax")
	case "OneMetadata":
		options = append(options, "mdx")
	}
	for _, l := range layouts {
		for bits := range 1 << len(options) {
			set := slices.Clone(l)
			for i, o := range options {
				if bits>>i&1 != 0 {
					set = append(set, o)
				}
			}
			slices.Sort(set)
			summary := slices.ContainsFunc(set, func(s string) bool {
				return !slices.Contains([]string{"ch", "mx", "pad", "sum"},
					s)
			})
			if summary || !slices.Contains(set, "sum") { // offsets of something
				sets = append(sets, set)
			}
		}
	}
	return sets
}

// A vectorMaker makes one file.
type vectorMaker struct {
	vector
	b        []byte            // the file so far
	counts   map[string]uint32 // of records, by type
	topics   map[uint16]uint64 // numbers by channel
	offsets  [][3]uint64       // opcode, start, length of groups of the summary
	schemas  [][]any           // as record takes them
	channels [][]any
	indexes  [][]any // of chunks, attachments, metadata: op, name and fields
	times    [2]uint64
}

func (m *vectorMaker) has(feature string) bool {
	return slices.Contains(m.Meta.Variant.Features, feature)
}

// record encodes a record of names and values, and lists it unless its name is empty.
func (m *vectorMaker) record(op byte, name string, padded bool, fields ...any) []byte {
	var body []byte
	listed := vectorRecord{Type: name}
	for i := 0; i < len(fields); i += 2 {
		body = appendVectorValue(body, fields[i+1])
		if fields[i] != "" {
			listed.Fields = append(listed.Fields, [2]any{fields[i], textOfVector(fields[i+1])})
		}
	}
	if name != "" {
		m.Records = append(m.Records, listed)
		m.counts[name]++
	}
	if padded && m.has("pad") {
		body = append(body, 1, 0xff, 0xff)
	}
	return append(binary.LittleEndian.AppendUint64([]byte{op}, uint64(len(body))), body...)
}

// A vectorMap is a map of numbers, in order; raw bytes have no length before them.
type (
	vectorMap [][2]uint64
	rawBytes  []byte
	longBytes []byte // with a length of 64 bits
)

func appendVectorValue(b []byte, v any) []byte {
	le := binary.LittleEndian
	switch v := v.(type) {
	case byte:
		return append(b, v)
	case uint16:
		return le.AppendUint16(b, v)
	case uint32:
		return le.AppendUint32(b, v)
	case uint64:
		return le.AppendUint64(b, v)
	case string:
		return append(le.AppendUint32(b, uint32(len(v))), v...)
	case []byte:
		return append(le.AppendUint32(b, uint32(len(v))), v...)
	case longBytes:
		return append(le.AppendUint64(b, uint64(len(v))), v...)
	case rawBytes:
		return append(b, v...)
	case []pair:
		var body []byte
		for _, p := range v {
			body = appendVectorValue(appendVectorValue(body, p.key), p.value)
		}
		return appendVectorValue(b, body)
	case vectorMap:
		var body []byte
		for _, p := range v {
			body = le.AppendUint64(le.AppendUint16(body, uint16(p[0])), p[1])
		}
		return appendVectorValue(b, body)
	}
	panic(fmt.Sprintf("%T", v))
}

// textOfVector returns a value as the JSON of the official files has it.
func textOfVector(v any) any {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return textBytes(v)
	case longBytes:
		return textBytes(v)
	case rawBytes:
		return textBytes(v)
	case []pair:
		return textPairs(v)
	case vectorMap:
		out := map[string]any{}
		for _, p := range v {
			out[fmt.Sprint(p[0])] = fmt.Sprint(p[1])
		}
		return out
	}
	return fmt.Sprint(v)
}

// makeVector makes the file of an input and its features.
func makeVector(input string, features []string) (*vector, []byte) {
	m := &vectorMaker{counts: map[string]uint32{}, topics: map[uint16]uint64{}, b: []byte(magic)}
	m.Meta.Variant.Features = features
	m.b = append(m.b, m.record(opHeader, "Header", true, "profile", "", "library", "")...)
	switch input {
	case "OneAttachment":
		m.attachment()
	case "OneMetadata":
		values := []pair{{"foo", "bar"}}
		r := m.record(opMetadata, "Metadata", true, "name", "myMetadata", "metadata", values)
		m.index("mdx", opMetadataIndex, "MetadataIndex", "offset", uint64(len(m.b)), "length", uint64(len(r)), "name",
			"myMetadata")
		m.b = append(m.b, r...)
	case "OneMessage", "OneSchemalessMessage", "TenMessages":
		m.messages(input)
	}
	m.b = append(m.b, m.record(opDataEnd, "DataEnd", false, "data_section_crc", crc32.ChecksumIEEE(m.b))...)
	m.summary()
	return &m.vector, m.b
}

// index keeps a record of the summary for a feature.
func (m *vectorMaker) index(feature string, op byte, name string, fields ...any) {
	if m.has(feature) {
		m.indexes = append(m.indexes, append([]any{op, name}, fields...))
	}
}

func (m *vectorMaker) attachment() {
	const kind = "application/octet-stream"
	data := longBytes{1, 2, 3}
	fields := []any{"log_time", uint64(2), "create_time", uint64(1), "name", "myFile", "media_type", kind, "data", data}
	var body []byte
	for i := 1; i < len(fields); i += 2 {
		body = appendVectorValue(body, fields[i])
	}
	r := m.record(opAttachment, "Attachment", true, append(fields, "", crc32.ChecksumIEEE(body))...)
	m.index("ax", opAttachmentIndex, "AttachmentIndex", "offset", uint64(len(m.b)), "length", uint64(len(r)), "log_time",
		uint64(2),
		"create_time", uint64(1), "data_size", uint64(3), "name", "myFile", "media_type", kind)
	m.b = append(m.b, r...)
}

// messages writes the definitions and messages of an input, in a chunk or not.
func (m *vectorMaker) messages(input string) {
	var inner []byte
	if input == "OneSchemalessMessage" {
		m.channels = [][]any{{"id", uint16(1), "schema_id", uint16(0), "topic", "example", "message_encoding", "text",
			"metadata", []pair(nil)}}
	} else {
		m.schemas = [][]any{{"id", uint16(1), "name", "Example", "encoding", "c", "data", []byte{4, 5, 6}}}
		m.channels = [][]any{{"id", uint16(1), "schema_id", uint16(1), "topic", "example", "message_encoding", "a",
			"metadata", []pair{{"foo", "bar"}}}}
	}
	for _, s := range m.schemas {
		inner = append(inner, m.record(opSchema, "Schema", !m.has("ch"), s...)...)
	}
	for _, c := range m.channels {
		inner = append(inner, m.record(opChannel, "Channel", !m.has("ch"), c...)...)
	}
	type row struct{ sequence, log, publish uint64 }
	rows := []row{{10, 2, 1}}
	if input == "TenMessages" {
		rows = nil
		for i, at := range []uint64{0, 2, 1, 3, 3, 5, 4, 7, 8, 9} {
			rows = append(rows, row{uint64(i), at, at})
		}
	}
	m.times = [2]uint64{rows[0].log, rows[0].log}
	var entries rawBytes
	for _, r := range rows {
		entries = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(entries, r.log), uint64(len(inner)))
		m.times = [2]uint64{min(m.times[0], r.log), max(m.times[1], r.log)}
		inner = append(inner, m.record(opMessage, "Message", false, "channel_id", uint16(1), "sequence", uint32(r.sequence),
			"log_time", r.log, "publish_time", r.publish, "data", rawBytes{1, 2, 3})...)
		m.topics[1]++
	}
	if !m.has("ch") {
		m.b = append(m.b, inner...)
		return
	}
	start := uint64(len(m.b))
	chunk := m.record(opChunk, "", false, "", m.times[0], "", m.times[1], "", uint64(len(inner)), "",
		crc32.ChecksumIEEE(inner), "", "", "", longBytes(inner))
	m.counts["Chunk"]++
	m.b = append(m.b, chunk...)
	var places vectorMap
	at := uint64(len(m.b))
	if m.has("mx") {
		places = vectorMap{{1, at}}
		m.b = append(m.b, m.record(opMessageIndex, "", true, "", uint16(1), "", uint32(len(entries)), "", entries)...)
	}
	m.index("chx", opChunkIndex, "ChunkIndex", "message_start_time", m.times[0], "message_end_time", m.times[1],
		"chunk_start_offset", start,
		"chunk_length", uint64(len(chunk)), "message_index_offsets", places, "message_index_length", uint64(len(m.b))-at,
		"compression", "",
		"compressed_size", uint64(len(inner)), "uncompressed_size", uint64(len(inner)))
}

// summary writes what stands after the data section.
func (m *vectorMaker) summary() {
	start := uint64(len(m.b))
	counted := map[string]uint32{}
	for k, n := range m.counts {
		counted[k] = n
	}
	group := func(op byte, write func()) {
		at := uint64(len(m.b))
		if write(); uint64(len(m.b)) > at {
			m.offsets = append(m.offsets, [3]uint64{uint64(op), at, uint64(len(m.b)) - at})
		}
	}
	put := func(op byte, name string, fields ...any) { m.b = append(m.b, m.record(op, name, true, fields...)...) }
	if m.has("rsh") {
		group(opSchema, func() {
			for _, s := range m.schemas {
				put(opSchema, "Schema", s...)
			}
		})
	}
	if m.has("rch") {
		group(opChannel, func() {
			for _, c := range m.channels {
				put(opChannel, "Channel", c...)
			}
		})
	}
	if m.has("st") {
		var counts vectorMap
		messages := uint64(0)
		for id, n := range m.topics {
			counts, messages = append(counts, [2]uint64{uint64(id), n}), messages+n
		}
		group(opStatistics, func() {
			put(opStatistics, "Statistics", "message_count", messages, "schema_count", uint16(counted["Schema"]),
				"channel_count", counted["Channel"],
				"attachment_count", counted["Attachment"], "metadata_count", counted["Metadata"], "chunk_count", counted["Chunk"],
				"message_start_time", m.times[0], "message_end_time", m.times[1], "channel_message_counts", counts)
		})
	}
	for _, x := range m.indexes {
		group(x[0].(byte), func() { put(x[0].(byte), x[1].(string), x[2:]...) })
	}
	offsets := uint64(0)
	if m.has("sum") {
		offsets = uint64(len(m.b))
		for _, o := range m.offsets {
			put(opSummaryOffset, "SummaryOffset", "group_opcode", byte(o[0]), "group_start", o[1], "group_length", o[2])
		}
	}
	if uint64(len(m.b)) == start {
		start = 0
	}
	footer := m.record(opFooter, "", false, "", start, "", offsets)
	footer[1] += 4 // the checksum, which covers what stands before it in the record
	from := uint64(len(m.b))
	if start > 0 {
		from = start
	}
	crc := crc32.ChecksumIEEE(append(slices.Clone(m.b[from:]), footer...))
	m.record(opFooter, "Footer", false, "summary_start", start, "summary_offset_start", offsets, "summary_crc", crc)
	m.b = append(binary.LittleEndian.AppendUint32(append(m.b, footer...), crc), magic...)
}

// eachVector calls f for each file of the matrix.
func eachVector(t *testing.T, f func(t *testing.T, name string, v *vector, b []byte)) {
	n := 0
	for _, input := range []string{"NoData", "OneAttachment", "OneMessage", "OneMetadata", "OneSchemalessMessage",
		"TenMessages"} {
		for _, set := range vectorSets(input) {
			v, b := makeVector(input, set)
			f(t, strings.Join(append([]string{input}, set...), "-"), v, b)
			n++
		}
	}
	if n != 416 {
		t.Errorf("%d files, want 416", n)
	}
}

// TestConformanceMatrix compares the matrix with the official files, if they lie beside the
// repository, and its names with the number of these anywhere.
func TestConformanceMatrix(t *testing.T) {
	const official = "../../../shared/data/mcap/conformance"
	_, err := os.Stat(official)
	here := err == nil
	eachVector(t, func(t *testing.T, name string, v *vector, b []byte) {
		if !bytes.HasPrefix(b, []byte(magic)) || !bytes.HasSuffix(b, []byte(magic)) {
			t.Fatalf("%s: no magic", name)
		}
		if !here {
			return
		}
		input, _, _ := strings.Cut(name, "-")
		want, err := os.ReadFile(filepath.Join(official, input, name+".mcap"))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, want) {
			t.Fatalf("%s:\n%x, want\n%x", name, b, want)
		}
		text, err := os.ReadFile(filepath.Join(official, input, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var other vector
		if err := json.Unmarshal(text, &other); err != nil {
			t.Fatal(err)
		}
		for i := range other.Records {
			if i >= len(v.Records) || v.Records[i].Type != other.Records[i].Type || !reflect.DeepEqual(v.Records[i].named(),
				other.Records[i].named()) {
				t.Fatalf("%s: record %d is %+v, want %+v", name, i, v.Records[i:], other.Records[i])
			}
		}
	})
}

// named returns the fields by their names.
func (r *vectorRecord) named() map[string]any {
	out := map[string]any{}
	for _, f := range r.Fields {
		out[f[0].(string)] = f[1]
	}
	return out
}

package mcap

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// sectionNames are what the specification calls the records; sectionFields its names of
// their fields, in the order of layouts.
var sectionNames = [...]string{
	opHeader: "Header", opFooter: "Footer", opSchema: "Schema", opChannel: "Channel", opMessage: "Message",
	opChunk:        "Chunk",
	opMessageIndex: "MessageIndex", opChunkIndex: "ChunkIndex", opAttachment: "Attachment",
	opAttachmentIndex: "AttachmentIndex",
	opStatistics:      "Statistics", opMetadata: "Metadata", opMetadataIndex: "MetadataIndex",
	opSummaryOffset: "SummaryOffset", opDataEnd: "DataEnd",
}

var sectionFields = [...]string{
	opHeader: "profile library", opFooter: "summary_start summary_offset_start summary_crc",
	opSchema: "id name encoding data", opChannel: "id schema_id topic message_encoding metadata",
	opMessage:      "channel_id sequence log_time publish_time",
	opChunk:        "message_start_time message_end_time uncompressed_size uncompressed_crc compression records",
	opMessageIndex: "channel_id records",
	opChunkIndex: "message_start_time message_end_time chunk_start_offset chunk_length message_index_offsets " +
		"message_index_length compression compressed_size uncompressed_size",
	opAttachment:      "log_time create_time name media_type data crc",
	opAttachmentIndex: "offset length log_time create_time data_size name media_type",
	opStatistics: "message_count schema_count channel_count attachment_count metadata_count chunk_count " +
		"message_start_time message_end_time channel_message_counts",
	opMetadata: "name metadata", opMetadataIndex: "offset length name",
	opSummaryOffset: "group_opcode group_start group_length", opDataEnd: "data_section_crc",
}

// Sections lists the records outside of chunks, the chunks, the channels or the file. See
// storage.SectionLister.
func (r *reader) Sections(ctx context.Context, kind storage.SectionKind) iter.Seq2[*storage.Section, error] {
	return chunked.Sections(func(add func(storage.Section) error) error {
		switch kind {
		case storage.SectionRecords:
			return r.listRecords(ctx, add)
		case storage.SectionChunks:
			return r.listChunks(ctx, add)
		case storage.SectionConnections:
			return r.listChannels(add)
		}
		return add(r.partSection())
	})
}

// partSection describes the file.
func (r *reader) partSection() storage.Section {
	s := chunked.PartSection(r.src.Path, "file", r.src.Size, r.info.Messages, r.info.Start, r.info.End)
	s.Add("profile", r.header.profile)
	s.Add("library", r.header.library)
	s.Add("index", r.access)
	return s
}

// listRecords goes over the file as the scan for a lost summary does.
func (r *reader) listRecords(ctx context.Context, add func(storage.Section) error) error {
	src := chunked.NewSource(ctx, formatName, r.src.Path, r.src.File, false, nil)
	src.Size = r.src.Size
	l := &reader{src: src, defs: newDefinitions(), codecs: map[string]int64{}}
	s := &scanner{r: l, w: l.window(), end: r.src.Size, first: true, files: 1}
	at := r.window()
	first := storage.NewSection(r.src.Path, "Magic", 0, int64(len(magic)))
	if err := add(first); err != nil {
		return err
	}
	s.visit = func(p, next int64) error {
		if n := len(l.blocks) - 1; n > 0 { // only the last one matters to the scanner
			l.blocks[0] = l.blocks[n]
			l.blocks = l.blocks[:1]
		}
		x := storage.NewSection(r.src.Path, "", p, next-p)
		var err error
		if !s.skipped {
			x, err = r.recordSection(&at, p, next)
		}
		if err != nil {
			return err
		}
		for _, n := range s.notes {
			if n.repaired && !s.skipped {
				x.Add("note", n.what)
			} else {
				x.Broken = n.what
			}
		}
		if s.skipped {
			if x.Broken == "" {
				x.Broken = fmt.Sprintf("%d bytes cannot be read as records", x.Size)
			}
			x.Broken += chunked.GoesOn(next, r.src.Size)
		}
		s.notes, s.skipped = nil, false
		return add(x)
	}
	return s.walk()
}

// recordSection describes the record at p, or the magic there, after which the next
// record is expected.
func (r *reader) recordSection(w *window, p, next int64) (storage.Section, error) {
	x := storage.NewSection(r.src.Path, "Magic", p, next-p)
	b, err := w.Data(p, recordHead)
	if err != nil {
		return x, r.src.Fail(p, "record", err)
	}
	h, err := parseHead(b)
	if err != nil || strings.HasPrefix(magic, string(b[:min(len(b), len(magic))])) {
		return x, nil
	}
	x.Data = storage.Known(min(h.length, 1<<62))
	if x.Kind = fmt.Sprintf("Opcode_%02X", h.op); int(h.op) < len(sectionNames) {
		x.Kind = sectionNames[h.op]
	}
	if h.op == opChunk {
		return x, r.chunkSection(w, &x)
	}
	if int(h.op) >= len(layouts) {
		return x, nil
	}
	most := int64(maxRecord)
	switch h.op {
	case opMessage:
		most = messageFixed
	case opMessageIndex:
		most = indexFixed
	case opAttachment:
		most = checked
	}
	if b, err = w.body(p, h, most); err != nil {
		return x, r.src.Fail(p, "record", err)
	}
	x.Fields = appendFields(nil, h.op, b)
	f := fields{b: b}
	switch h.op {
	case opMessage:
		f.u16()
		f.u32()
		x.Messages = 1
		at := int64(f.u64())
		x.Span(at, at)
	case opMessageIndex:
		f.u16()
		x.Messages = storage.Known(f.u32()) / indexEntry
	}
	return x, nil
}

// chunkSection describes the chunk at x.Offset. The index of r may know more of it than its header.
func (r *reader) chunkSection(w *window, x *storage.Section) error {
	at := int64(x.Offset)
	b, err := w.Data(at+recordHead, chunkHead)
	if err != nil {
		return r.src.Fail(at, "chunk", err)
	}
	var c chunk
	if wrong := c.parse(b, uint64(x.Data)); c.head == 0 {
		x.Broken = fmt.Sprintf("its header cannot be read: %v", wrong)
		return nil
	}
	x.Fields = appendFields(nil, opChunk, b)
	x.Compression, x.Raw = c.compression, storage.Known(min(c.size, 1<<62))
	if c.compression == "" {
		x.Compression = compress.None.Name()
	}
	if c.open() {
		x.Raw = -1
	}
	if data := at + recordHead + int64(c.head); at+x.Size == data { // its records follow one by one
		x.Size = int64(min(uint64(recordHead)+uint64(x.Data), uint64(r.src.Size-at)))
	}
	i, ok := slices.BinarySearchFunc(r.blocks, at, func(b block, at int64) int { return cmp.Compare(b.Offset, at) })
	if ok && !r.blocks[i].run {
		r.blockSection(x, &r.blocks[i])
	} else if c.start <= c.end && c.size > 0 && !c.open() {
		x.Span(int64(c.start), int64(c.end))
	}
	return nil
}

// blockSection adds what is known of the messages of a block.
func (r *reader) blockSection(x *storage.Section, b *block) {
	if x.Messages = storage.Known(b.Messages); b.Timed {
		x.Span(b.Start, b.End)
	}
}

// appendFields appends the fields of a record as far as b has its body.
func appendFields(list []storage.Fact, op byte, b []byte) []storage.Fact {
	names := strings.Fields(sectionFields[op])
	f := fields{b: b}
	for i, code := range layouts[op] {
		if i >= len(names) {
			break
		}
		name := names[i]
		var value string
		switch code {
		case '1':
			value = strconv.Itoa(int(f.u8()))
		case '2':
			value = strconv.Itoa(int(f.u16()))
		case '4':
			value = strconv.FormatUint(uint64(f.u32()), 10)
		case '8':
			value = strconv.FormatUint(f.u64(), 10)
		case 'd': // what follows it may not be at hand
			n := f.u64()
			value = fmt.Sprintf("%d bytes", n)
			f.take(min(n, uint64(len(f.b))))
		default:
			value, list = textField(&f, name, list)
		}
		if f.bad {
			break
		}
		if value != "" || name != "metadata" {
			list = append(list, storage.Fact{Key: name, Value: value})
		}
	}
	return list
}

// textField reads a text, a map of texts, which it appends to list, or another field with a
// length. The value of the last is its size.
func textField(f *fields, name string, list []storage.Fact) (string, []storage.Fact) {
	switch name {
	case "metadata":
		for _, p := range f.pairs() {
			list = append(list, storage.Fact{Key: "metadata." + p.key, Value: p.value})
		}
		return "", list
	case "data", "records", "message_index_offsets", "channel_message_counts":
		n := f.u32()
		f.take(min(uint64(n), uint64(len(f.b))))
		return fmt.Sprintf("%d bytes", n), list
	}
	return f.str(), list
}

// listChunks lists the chunks, and runs of records that stand outside of chunks.
func (r *reader) listChunks(ctx context.Context, add func(storage.Section) error) error {
	w := r.window()
	for i := range r.blocks {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := &r.blocks[i]
		x := storage.NewSection(r.src.Path, "records", b.Offset, b.Size)
		if b.run {
			r.blockSection(&x, b)
		} else {
			var err error
			if x, err = r.recordSection(&w, b.Offset, b.Offset+b.Size); err != nil {
				return err
			}
			switch {
			case x.Broken != "":
			case b.cut:
				x.Broken = "the file ends within it"
			case b.says != nil:
				x.Broken = "its header is damaged; it is read as the index has it"
			}
		}
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

// listChannels lists the channels, in the order of id.
func (r *reader) listChannels(add func(storage.Section) error) error {
	for _, t := range r.defs.list {
		x := storage.NewSection(r.src.Path, sectionNames[opChannel], -1, 0)
		x.Messages = storage.Known(t.messages)
		x.Add("id", strconv.Itoa(int(t.channel.id)))
		x.Add("topic", t.channel.topic)
		x.Add("message_encoding", t.channel.encoding)
		x.Add("schema_id", strconv.Itoa(int(t.channel.schema)))
		if t.schema != nil {
			x.Add("schema_name", t.schema.name)
			x.Add("schema_encoding", t.schema.encoding)
			x.Add("schema_data", fmt.Sprintf("%d bytes", len(t.schema.data)))
		} else if t.channel.schema != 0 {
			x.Broken = "the file does not define its schema"
		}
		for _, p := range t.channel.metadata {
			x.Add("metadata."+p.key, p.value)
		}
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

// Sections lists the sections of the parts, one after the other. If a part is compressed as a
// whole, they are the sections of the file in it.
func (r *folderReader) Sections(ctx context.Context, kind storage.SectionKind) iter.Seq2[*storage.Section, error] {
	return chunked.Sections(func(add func(storage.Section) error) error {
		for _, p := range r.parts {
			for s, err := range p.reader.Sections(ctx, kind) {
				if err != nil {
					return err
				}
				if p.packed && kind == storage.SectionParts {
					s.Compression = compress.Zstd.Name()
				}
				if err := add(*s); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

var (
	_ storage.SectionLister = (*reader)(nil)
	_ storage.SectionLister = (*folderReader)(nil)
)

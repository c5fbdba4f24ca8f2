package rosbag1

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/formats/rosbag1/internal/oldbag"
	"github.com/bagconv/bagconv/storage"
)

// sectionNames are what FORMATS calls the records.
var sectionNames = map[byte]string{
	opMessage: "MSG_DATA", opFileHeader: "FILE_HEADER", opIndex: "INDEX_DATA", opChunk: "CHUNK",
	opChunkInfo: "CHUNK_INFO", opConnection: "CONNECTION",
}

// Sections lists the records that stand outside of chunks, the chunks, the connections or
// the file. See storage.SectionLister.
func (r *reader) Sections(ctx context.Context, kind storage.SectionKind) iter.Seq2[*storage.Section, error] {
	return chunked.Sections(func(add func(storage.Section) error) error {
		switch kind {
		case storage.SectionRecords:
			return r.listRecords(ctx, add)
		case storage.SectionChunks:
			return r.listChunks(ctx, add)
		case storage.SectionConnections:
			return r.listConnections(add)
		}
		s := chunked.PartSection(r.src.Path, "bag", r.src.Size, r.info.Messages, r.info.Start, r.info.End)
		s.Add("version", r.version)
		return add(s)
	})
}

// listRecords goes over the file as the scan for a lost index does.
func (r *reader) listRecords(ctx context.Context, add func(storage.Section) error) error {
	src := chunked.NewSource(ctx, formatName, r.src.Path, r.src.File, false, nil)
	src.Size = r.src.Size
	l := &reader{src: src, first: r.first, enc: r.enc, conns: newConnections(), codecs: map[string]int64{}}
	s := scanner{r: l, w: l.window(), counts: map[uint32]int64{}}
	at := l.window()
	if err := r.listHead(&at, add); err != nil {
		return err
	}
	s.visit = func(p, next int64, h *header, cause error) error {
		if n := len(l.blocks) - 1; n > 0 { // only the last one matters to the scanner
			l.blocks[0] = l.blocks[n]
			l.blocks = l.blocks[:1]
		}
		x := storage.NewSection(r.src.Path, "", p, next-p)
		if cause == nil {
			var err error
			if x, err = r.recordSection(&at, h, p); err != nil {
				return err
			}
		}
		for _, n := range s.takeNotes() {
			switch {
			case cause != nil:
				x.Offset, x.Size, x.Broken = storage.Known(n.at), n.bytes, n.what
			case n.repaired:
				x.Add("note", n.what)
			default:
				x.Broken = n.what
			}
		}
		if cause != nil {
			x.Broken += chunked.GoesOn(next, r.src.Size)
		}
		return add(x)
	}
	if err := s.walk(); err != nil {
		return err
	}
	for _, n := range s.takeNotes() {
		x := storage.NewSection(r.src.Path, "", n.at, n.bytes)
		x.Broken = n.what
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

// takeNotes returns what the scanner has found to be wrong since the last call.
func (s *scanner) takeNotes() []note {
	n := s.notes
	s.notes = nil
	return n
}

// listHead lists what stands before the record at which the scan begins.
func (r *reader) listHead(w *window, add func(storage.Section) error) error {
	line := min(int64(len(versionLine)), r.first)
	if r.first == 0 {
		return nil
	}
	b, err := w.Data(0, 64)
	if err != nil {
		return r.src.Fail(0, "version line", err)
	}
	if i := slices.Index(b, '\n'); i >= 0 && int64(i) < r.first {
		line = int64(i) + 1
	}
	var h header
	if err := w.header(&h, line); chunked.IsIO(err) {
		return r.src.Fail(line, "file header", err)
	} else if err != nil || h.op != opFileHeader {
		return nil // the scan reports what stands there
	}
	if line+int64(h.headLen)+h.dataSize() > r.first {
		return nil
	}
	x, err := r.recordSection(w, &h, line)
	if err != nil {
		return err
	}
	return add(x)
}

// recordSection describes the record at p, whose header is h.
func (r *reader) recordSection(w *window, h *header, p int64) (storage.Section, error) {
	x := storage.NewSection(r.src.Path, sectionNames[h.op], p, min(int64(h.headLen)+h.dataSize(), r.src.Size-p))
	if x.Kind == "" {
		x.Kind = "OP_" + strconv.Itoa(int(h.op))
	}
	x.Data = storage.Known(h.dataLen)
	b, err := w.Data(p+4, int64(h.headLen)-8)
	if err != nil {
		return x, r.src.Fail(p, "record", err)
	}
	x.Fields = oldbag.AppendFields(nil, b)
	switch h.op {
	case opMessage:
		x.Messages = 1
		x.Span(h.time, h.time)
	case opIndex:
		x.Messages = storage.Known(h.count)
	case opChunkInfo:
		x.Span(h.start, h.end)
	case opChunk:
		x.Raw = storage.Known(h.size)
		for _, f := range x.Fields {
			if f.Key == "compression" {
				x.Compression = f.Value
			}
		}
		r.chunkSection(&x)
	}
	return x, nil
}

// chunkSection adds what is known of the messages of the chunk at x.Offset.
func (r *reader) chunkSection(x *storage.Section) {
	i, ok := slices.BinarySearchFunc(r.blocks, int64(x.Offset),
		func(b block, at int64) int { return cmp.Compare(b.Offset, at) })
	if !ok || r.blocks[i].run {
		return
	}
	b := &r.blocks[i]
	if x.Messages = storage.Known(b.Messages); b.Timed {
		x.Span(b.Start, b.End)
	}
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
		x.Messages = storage.Known(b.Messages)
		if b.Timed {
			x.Span(b.Start, b.End)
		}
		if !b.run {
			var h header
			err := w.header(&h, b.Offset)
			if chunked.IsIO(err) {
				return r.src.Fail(b.Offset, "chunk", err)
			}
			if err == nil && h.op == opChunk {
				if x, err = r.recordSection(&w, &h, b.Offset); err != nil {
					return err
				}
			}
			switch {
			case err != nil:
				x.Broken = fmt.Sprintf("its header cannot be read: %v", err)
			case b.cut:
				x.Broken = "the file ends within it"
			case b.dirty:
				x.Size = b.Size
				x.Broken = fmt.Sprintf("its header does not fit it; it ends at byte %d", b.Offset+b.Size)
			}
		}
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

// listConnections lists the connections, in the order of id.
func (r *reader) listConnections(add func(storage.Section) error) error {
	w := r.window()
	for _, c := range r.conns.list {
		x := storage.NewSection(r.src.Path, sectionNames[opConnection], c.at, 0)
		var h header
		if err := w.header(&h, c.at); chunked.IsIO(err) {
			return r.src.Fail(c.at, "connection", err)
		} else if err == nil && h.op == opConnection && h.conn == c.id {
			if x, err = r.recordSection(&w, &h, c.at); err != nil {
				return err
			}
			data, err := w.record(&h, c.at)
			if chunked.IsIO(err) {
				return r.src.Fail(c.at, "connection", err)
			}
			x.Fields = oldbag.AppendFields(x.Fields, data)
		} else { // it is in a chunk
			x.Offset = -1
			x.Add("chunk", strconv.FormatInt(c.at, 10))
			x.Add("conn", strconv.FormatUint(uint64(c.id), 10))
			x.Add("topic", c.topic.Name)
			x.Fields = append(x.Fields, c.fields()...)
		}
		x.Messages = storage.Known(c.count)
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

// fields returns what a connection header has, without the order of the file.
func (c *connection) fields() (list []storage.Fact) {
	for key, value := range c.topic.Metadata {
		list = append(list, storage.Fact{Key: key, Value: oldbag.FieldText(key, []byte(value))})
	}
	slices.SortFunc(list, func(a, b storage.Fact) int { return cmp.Compare(a.Key, b.Key) })
	return append(list, storage.Fact{Key: "type", Value: c.topic.Type},
		storage.Fact{Key: "message_definition", Value: fmt.Sprintf("%d bytes", len(c.topic.Schema.Data))})
}

var _ storage.SectionLister = (*reader)(nil)

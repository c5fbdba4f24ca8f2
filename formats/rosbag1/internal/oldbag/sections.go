package oldbag

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// Sections lists the records, the groups of records that are read together, the topics or
// the file. See storage.SectionLister.
func (r *Reader) Sections(ctx context.Context, kind storage.SectionKind) iter.Seq2[*storage.Section, error] {
	return chunked.Sections(func(add func(storage.Section) error) error {
		switch kind {
		case storage.SectionRecords:
			return r.listRecords(ctx, add)
		case storage.SectionChunks:
			return r.listBlocks(add)
		case storage.SectionConnections:
			return r.listTopics(add)
		}
		x := chunked.PartSection(r.src.Path, "bag", r.src.Size, r.info.Messages, r.info.Start, r.info.End)
		x.Add("version", r.version.Name)
		return add(x)
	})
}

// listRecords goes over the file as Open does.
func (r *Reader) listRecords(ctx context.Context, add func(storage.Section) error) error {
	src := chunked.NewSource(ctx, r.src.Format, r.src.Path, r.src.File, false, nil)
	src.Size = r.src.Size
	l := &Reader{src: src, version: r.version, byKey: map[string]storage.TopicID{}}
	if err := l.begin(); err != nil {
		return err
	}
	if l.first > l.version.first {
		x := storage.NewSection(src.Path, "topics", l.version.first, l.first-l.version.first)
		for _, t := range l.topics {
			x.Add(t.Name, t.Type)
		}
		if err := add(x); err != nil {
			return err
		}
	}
	s := scanner{r: l, w: src.Window(), defs: map[definition]string{}}
	at := src.Window()
	s.visit = func(p, next int64, cut *gap) error {
		if cut == nil {
			x, err := l.section(&at, &s.rec, p, next)
			if err != nil {
				return err
			}
			return add(x)
		}
		x := storage.NewSection(src.Path, "", cut.at, cut.bytes)
		x.Broken = cut.why + chunked.GoesOn(next, src.Size)
		return add(x)
	}
	return s.walk()
}

// kindNames are what FORMATS calls the records of version 1.2.
var kindNames = [...]string{kindOther: "", kindMessage: "MSG_DATA", kindDefinition: "MSG_DEF",
	kindFileHeader: "FILE_HEADER", kindIndex: "INDEX_DATA"}

// section describes the record from p to next, which w reads again.
func (r *Reader) section(w *chunked.Window, rec *record, p, next int64) (storage.Section, error) {
	x := storage.NewSection(r.src.Path, kindNames[rec.kind], p, next-p)
	head, err := w.Data(p, int64(rec.head))
	if err != nil || len(head) < rec.head {
		return x, r.src.Fail(p, "record", err)
	}
	x.Data = storage.Known(binary.LittleEndian.Uint32(head[rec.head-4:])) // in all versions
	if r.version.Name == "1.2" {
		x.Fields = AppendFields(nil, head[4:rec.head-4])
	} else {
		x.Kind = "message"
		for _, f := range []struct {
			key  string
			line []byte
		}{{"topic", rec.topic}, {"md5", rec.md5}, {"type", rec.typ}} {
			if f.line != nil {
				x.Add(f.key, string(f.line))
			}
		}
	}
	if x.Kind == "" {
		x.Kind = "OP"
		for _, f := range x.Fields {
			if f.Key == "op" {
				x.Kind = "OP_" + f.Value
			}
		}
	}
	switch rec.kind {
	case kindMessage:
		x.Messages = 1
		x.Span(rec.time, rec.time)
	case kindIndex:
		x.Messages = storage.Known(rec.count)
	}
	if rec.guessed {
		x.Add("note", "its op is damaged; the other fields identify it")
	}
	return x, nil
}

// listBlocks lists the groups of records that are read together: there are no chunks.
func (r *Reader) listBlocks(add func(storage.Section) error) error {
	for i := range r.blocks {
		b := &r.blocks[i]
		x := storage.NewSection(r.src.Path, "records", b.Offset, b.Size)
		x.Messages = storage.Known(b.Messages)
		x.Span(b.Start, b.End)
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

// listTopics lists the topics: there are no connections.
func (r *Reader) listTopics(add func(storage.Section) error) error {
	for i := range r.topics {
		t := &r.topics[i]
		x := storage.NewSection(r.src.Path, "topic", -1, 0)
		x.Messages = storage.Known(t.messages)
		x.Add("topic", t.Name)
		x.Add("type", t.Type)
		for _, key := range []string{storage.MetaMD5Sum, storage.MetaCallerID, storage.MetaLatching} {
			if v, ok := t.Metadata[key]; ok {
				x.Add(key, v)
			}
		}
		if t.Schema.Encoding != "" {
			x.Add("message_definition", fmt.Sprintf("%d bytes", len(t.Schema.Data)))
		}
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

var _ storage.SectionLister = (*Reader)(nil)

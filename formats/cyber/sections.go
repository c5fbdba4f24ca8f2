package cyber

import (
	"context"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
)

// Sections lists the sections of the files, one file after the other, the chunks, the
// channels or the files. See storage.SectionLister.
func (r *reader) Sections(ctx context.Context, kind storage.SectionKind) iter.Seq2[*storage.Section, error] {
	return chunked.Sections(func(add func(storage.Section) error) error {
		if kind == storage.SectionConnections {
			return r.listChannels(add)
		}
		for _, f := range r.files {
			var err error
			switch kind {
			case storage.SectionRecords:
				err = f.listSections(ctx, add)
			case storage.SectionChunks:
				err = f.listChunks(ctx, add)
			default:
				err = add(f.partSection())
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// partSection describes the file.
func (f *file) partSection() storage.Section {
	messages := int64(0)
	for _, c := range f.chunks {
		messages += c.count
	}
	s := chunked.PartSection(f.path, "record", f.size, messages, f.begin, f.end)
	s.Add("chunks", strconv.Itoa(len(f.chunks)))
	s.Add("channels", strconv.Itoa(len(f.channels)))
	s.Add("index", f.index.String())
	if f.header == nil {
		s.Broken = "its header cannot be read"
	}
	return s
}

// listSections goes over the file again as opening it does.
func (f *file) listSections(ctx context.Context, add func(storage.Section) error) error {
	l := &reader{ctx: ctx, path: f.r.path, fs: f.r.fs, topics: newTopics()}
	again := &file{r: l, path: f.path, file: f.file, size: f.size, header: f.header, channels: map[string]*channel{},
		begin: math.MaxInt64, end: math.MinInt64}
	w, other := again.window(), again.window()
	defer windows.Put(w)
	defer windows.Put(other)
	chunks := map[int64]*chunk{} // by body
	for _, c := range f.chunks {
		chunks[c.body] = c
	}
	s := scanner{f: again, w: w}
	first := true
	s.visit = func(at, next int64, ok bool) error {
		if first {
			first = false
			if err := add(f.headSection(at)); err != nil {
				return err
			}
		}
		x := storage.NewSection(f.path, "", at, next-at)
		if !ok {
			x.Broken = "there is no section here" + chunked.GoesOn(next, f.size)
			return add(x)
		}
		if err := s.describe(&x, other, next, chunks); err != nil {
			return err
		}
		end := int64(x.Offset) + x.Size
		if err := add(x); err != nil || next != endOfSections || end >= f.size {
			return err
		}
		rest := storage.NewSection(f.path, "", end, f.size-end)
		rest.Add("note", "it follows the index, and is not part of the recording")
		return add(rest)
	}
	if err := s.run(ctx); err != nil || !first {
		return err
	}
	return add(f.headSection(f.size))
}

// headSection describes what stands before the first section after the header.
func (f *file) headSection(end int64) storage.Section {
	x := storage.NewSection(f.path, sectionKind(uint32(pb.SectionType_SECTION_HEADER)), 0, end)
	if f.wrong != nil {
		x.Broken = f.wrong.Message
	}
	if f.header == nil {
		x.Kind = ""
		return x
	}
	x.Messages = storage.Known(clamp(f.header.GetMessageNumber()))
	appendMessage(&x, "", f.header.ProtoReflect())
	return x
}

// appendMessage adds the fields of a message that are set, in the order of their numbers.
func appendMessage(x *storage.Section, prefix string, m protoreflect.Message) {
	list := m.Descriptor().Fields()
	for i := range list.Len() {
		f := list.Get(i)
		switch name := prefix + string(f.Name()); {
		case !m.Has(f):
		case f.Message() != nil:
			appendMessage(x, name+".", m.Get(f).Message())
		case f.Enum() != nil:
			x.Add(name, strconv.Itoa(int(m.Get(f).Enum())))
		default:
			x.Add(name, m.Get(f).String())
		}
	}
}

// sectionKind returns what the container calls a type of section.
func sectionKind(typ uint32) string {
	return strings.TrimPrefix(pb.SectionType(typ).String(), "SECTION_")
}

// describe fills in the section at x.Offset, after which reading goes on at next.
func (s *scanner) describe(x *storage.Section, w *window, next int64, chunks map[int64]*chunk) error {
	f := s.f
	at := int64(x.Offset)
	b, err := w.peek(at, sectionHead)
	if err != nil {
		return f.fail(at, "section", err)
	}
	h := parseSection(b)
	from := at + sectionHead
	to := min(from+h.size, f.size)
	x.Kind, x.Data = sectionKind(h.typ), storage.Known(h.size)
	if x.Size = to - at; next != endOfSections {
		x.Size = next - at
	}
	switch {
	case h.size > f.size-from && next != endOfSections && next < f.size:
		x.Broken = fmt.Sprintf("it states %d bytes, but it ends after %d%s", h.size, next-from, chunked.GoesOn(next, f.size))
	case h.size > f.size-from:
		x.Broken = fmt.Sprintf("the file ends %d bytes before the end of this section", h.size-(f.size-from))
	case next != endOfSections && next != to:
		x.Broken = fmt.Sprintf("it states %d bytes, but it ends after %d%s", h.size, next-from, chunked.GoesOn(next, f.size))
	}
	switch pb.SectionType(h.typ) {
	case pb.SectionType_SECTION_CHUNK_HEADER:
		c := s.pending
		x.Messages, x.Raw = storage.Known(c.count), storage.Known(c.raw)
		if c.count > 0 && c.begin <= c.end {
			x.Span(c.begin, c.end)
		}
	case pb.SectionType_SECTION_CHUNK_BODY:
		if c := chunks[from]; c != nil {
			c.fill(x)
		}
	case pb.SectionType_SECTION_CHANNEL:
		d, _, err := w.declaration(from, to, 1)
		if isIO(err) {
			return f.fail(at, "channel", err)
		}
		x.Add("name", d.name)
		x.Add("message_type", d.typ)
		x.Add("proto_desc", fmt.Sprintf("%d bytes", d.desc.to-d.desc.from))
		if d.disused {
			x.Add("note", "an index that was replaced when messages were added")
		}
	case pb.SectionType_SECTION_INDEX:
		entries := 0
		err := w.fields(from, to, func(field) error {
			entries++
			return nil
		})
		if isIO(err) {
			return f.fail(at, "index", err)
		}
		x.Add("entries", strconv.Itoa(entries))
	}
	return nil
}

// fill adds what is known of the messages of a chunk.
func (c *chunk) fill(x *storage.Section) {
	x.Messages, x.Raw = storage.Known(c.count), storage.Known(c.raw)
	if !c.bounded && !c.measured {
		x.Messages, x.Raw = -1, -1
		return
	}
	if c.count > 0 {
		x.Span(c.begin, c.end)
	}
}

// listChunks lists the chunks, each with its header.
func (f *file) listChunks(ctx context.Context, add func(storage.Section) error) error {
	for _, c := range f.chunks {
		if err := ctx.Err(); err != nil {
			return err
		}
		x := storage.NewSection(f.path, "CHUNK", c.head, c.body+c.size-c.head)
		x.Data, x.Compression = storage.Known(c.size), "none"
		c.fill(&x)
		x.Add("body", strconv.FormatInt(c.body, 10))
		switch {
		case c.cut:
			x.Broken = "the file ends within it"
		case c.broken.Load():
			x.Broken = "some of its bytes cannot be read as messages"
		case !c.bounded:
			x.Add("note", "it has no header")
		}
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

// listChannels lists the channels, in the order in which they were declared.
func (r *reader) listChannels(add func(storage.Section) error) error {
	for i, t := range r.topics.list {
		x := storage.NewSection(r.path, sectionKind(uint32(pb.SectionType_SECTION_CHANNEL)), -1, 0)
		x.Messages = storage.Known(r.topics.counts[i])
		x.Add("name", t.Name)
		x.Add("message_type", t.Type)
		x.Add("descriptor", fmt.Sprintf("%d bytes", len(t.Schema.Data)))
		if t.Type == "" {
			x.Broken = "no section declares it"
		}
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

var _ storage.SectionLister = (*reader)(nil)

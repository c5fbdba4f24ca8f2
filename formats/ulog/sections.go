package ulog

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// Sections lists the messages as the file has them, the blocks, the subscriptions or the file. See
// storage.SectionLister.
func (r *reader) Sections(ctx context.Context, kind storage.SectionKind) iter.Seq2[*storage.Section, error] {
	return chunked.Sections(func(add func(storage.Section) error) error {
		switch kind {
		case storage.SectionRecords:
			return r.listMessages(ctx, add)
		case storage.SectionChunks:
			return r.listBlocks(add)
		case storage.SectionConnections:
			return r.listSubscriptions(add)
		}
		i := r.describe
		s := chunked.PartSection(r.src.Path, "ulog", r.src.Size, i.Messages, i.Start, i.End)
		s.Add("version", i.Version)
		return add(s)
	})
}

// listMessages goes over the file again as opening it does.
func (r *reader) listMessages(ctx context.Context, add func(storage.Section) error) error {
	src := chunked.NewSource(ctx, formatName, r.src.Path, r.src.File, false, nil)
	src.Size = r.src.Size
	l := newReader(src)
	l.start, l.offsets = r.start, r.offsets
	if err := add(storage.NewSection(src.Path, "HEADER", 0, headSize)); err != nil {
		return err
	}
	s := scanner{r: l, w: src.Window(), ahead: src.Window()}
	s.visit = func(m *message, next int64, broken string) error {
		x := storage.NewSection(src.Path, names[m.op], m.at, next-m.at)
		if x.Kind == "" && m.op != 0 {
			x.Kind = strconv.QuoteRune(rune(m.op))
		}
		if m.op != 0 {
			x.Data = storage.Known(len(m.body))
		}
		if l.blocks = l.blocks[:0]; broken != "" { // only the scan that opened the file needs blocks
			x.Broken = broken + chunked.GoesOn(next, src.Size)
			return add(x)
		}
		l.describeMessage(&x, m)
		st := s.state
		if t, ns, ok := l.place(m, &st); ok {
			if ns == noTime {
				ns = st.last
			}
			x.Messages = 1
			x.Add("topic", t.name)
			x.Span(ns, ns)
		}
		return add(x)
	}
	return s.run()
}

// describeMessage adds the fields of a message.
func (r *reader) describeMessage(x *storage.Section, m *message) {
	switch m.op {
	case opFormat:
		name, _, _ := strings.Cut(string(m.body), ":")
		x.Add("name", name)
	case opInfo, opMulti, opParameter, opDefault:
		kv, _ := parseKeyValue(m.op, m.body)
		x.Add("type", kv.typ)
		x.Add("name", kv.name)
		if text, ok := kv.text(); ok && len(text) <= 200 {
			x.Add("value", text)
		}
	case opSubscription:
		x.Add("name", string(m.body[3:]))
		x.Add("instance", strconv.Itoa(int(m.body[0])))
		x.Add("id", strconv.Itoa(int(binary.LittleEndian.Uint16(m.body[1:]))))
	case opEnd, opData:
		x.Add("id", strconv.Itoa(int(binary.LittleEndian.Uint16(m.body))))
	case opText, opTagged:
		x.Add("level", fmt.Sprintf("%q", m.body[0]))
	case opDropout:
		x.Add("duration", (time.Duration(binary.LittleEndian.Uint16(m.body)) * time.Millisecond).String())
	}
}

// listBlocks lists what is read as a whole.
func (r *reader) listBlocks(add func(storage.Section) error) error {
	for i := range r.blocks {
		b := &r.blocks[i]
		x := storage.NewSection(r.src.Path, "messages", b.Offset, b.Size)
		x.Messages = storage.Known(b.Messages)
		x.Span(b.Start, b.End)
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

// listSubscriptions lists the subscriptions in the order of the file.
func (r *reader) listSubscriptions(add func(storage.Section) error) error {
	type entry struct {
		subscription
		id uint16
	}
	var list []entry
	for id, of := range r.ids {
		for _, s := range of {
			list = append(list, entry{s, id})
		}
	}
	slices.SortFunc(list, func(a, b entry) int { return int(a.at - b.at) })
	for _, e := range list {
		x := storage.NewSection(r.src.Path, names[opSubscription], e.at, 0)
		x.Add("id", strconv.Itoa(int(e.id)))
		x.Add("topic", e.topic.name)
		if x.Add("type", e.topic.typ); e.topic.structure == nil {
			x.Broken = "its format cannot be read"
		}
		x.Messages = storage.Known(e.topic.messages)
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// Sections lists the pages of the databases, the rows of their tables of topics, or the parts.
// Offsets of pages are offsets in the database, also if it is compressed as a whole. There are no
// chunks. See storage.SectionLister.
func (r *reader) Sections(ctx context.Context, kind storage.SectionKind) iter.Seq2[*storage.Section, error] {
	return chunked.Sections(func(add func(storage.Section) error) error {
		if kind == storage.SectionChunks {
			return &storage.Error{Format: formatName, Path: r.Path, Offset: -1,
				What: "a database has no chunks: its rows lie in pages", Hint: "bagconv list records lists the pages",
				Err: storage.ErrUnsupported}
		}
		for _, p := range r.parts {
			var err error
			switch kind {
			case storage.SectionRecords:
				err = r.listPages(ctx, p, add)
			case storage.SectionConnections:
				err = r.listTopics(p, add)
			default:
				err = add(r.partSection(p))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// partSection describes a part.
func (r *reader) partSection(p *part) storage.Section {
	x := storage.NewSection(p.path, "database", 0, p.bytes)
	switch {
	case len(r.parts) == 1:
		x.Messages = storage.Known(r.info.Messages)
	case p.rows > 0 || p.empty:
		x.Messages = storage.Known(p.rows)
	}
	if p.timed && !p.empty {
		x.Span(p.least, p.most)
	}
	if p.temp != nil {
		x.Compression, x.Raw = compress.Zstd.Name(), storage.Known(p.size)
	}
	x.Add("schema", strconv.Itoa(p.tables.schema))
	x.Add("page_size", strconv.Itoa(p.head.Page))
	x.Add("topics", strconv.Itoa(len(p.topics)))
	x.Add("time_index", strconv.FormatBool(p.tables.timeIndex))
	if p.zstdRows {
		x.Add("messages_compressed", compress.Zstd.Name())
	}
	if p.distro != "" {
		x.Add("ros_distro", p.distro)
	}
	if p.overlay != nil {
		x.Add("applied", base(p.overlay.Path))
	}
	switch {
	case p.cut != "":
		x.Broken = p.cut
	case p.salvaged != nil:
		x.Broken = "it is damaged; its messages are read from the pages that are left"
	}
	return x
}

// listTopics lists the rows of the table of topics.
func (r *reader) listTopics(p *part, add func(storage.Section) error) error {
	for _, t := range p.topics {
		x := storage.NewSection(p.path, "topic", -1, 0)
		if id, ok := p.ids.get(t.id); ok && len(r.parts) == 1 {
			x.Messages = storage.Known(r.Topics.List[id].Messages)
		}
		x.Add("id", strconv.FormatInt(t.id, 10))
		x.Add("name", t.name)
		x.Add("type", t.typ)
		x.Add("serialization_format", t.format)
		if p.tables.hash {
			x.Add("type_description_hash", t.hash)
		}
		if p.tables.qos {
			x.Add("offered_qos_profiles", t.qos)
		}
		if d, ok := p.defs[t.typ]; ok {
			x.Add("definition", fmt.Sprintf("%s, %d bytes", d.encoding, len(d.text)))
		}
		if err := add(x); err != nil {
			return err
		}
	}
	return nil
}

// listPages lists the pages of a part.
func (r *reader) listPages(ctx context.Context, p *part, add func(storage.Section) error) (err error) {
	size := p.size
	if p.overlay != nil {
		size = p.total
	}
	if p.head.Page == 0 {
		x := storage.NewSection(p.path, "", 0, p.size)
		x.Broken = "the header of the database cannot be read, and so not how large its pages are"
		return add(x)
	}
	c, err := r.acquire(p)
	if err != nil {
		return r.Fail(p.path, "", err)
	}
	defer func() { err = errors.Join(err, r.release(c)) }()
	page := int64(p.head.Page)
	for q, err := range sqlitefile.Pages(ctx, c.src, size, p.head) {
		if err != nil {
			return r.Fail(p.path, "pages", err)
		}
		x := storage.NewSection(p.path, q.Kind, int64(q.No-1)*page, page)
		x.Broken = q.Broken
		x.Add("page", strconv.FormatUint(uint64(q.No), 10))
		if q.Object != "" {
			x.Add("object", q.Object)
		}
		if q.Cells >= 0 {
			x.Add("cells", strconv.Itoa(q.Cells))
		}
		if q.Object == "messages" && q.Kind == sqlitefile.PageLeaf && q.Cells >= 0 {
			x.Messages = storage.Known(q.Cells)
		}
		if err := add(x); err != nil {
			return err
		}
	}
	if rest := size % page; rest > 0 {
		x := storage.NewSection(p.path, "", size-rest, rest)
		x.Broken = "the last page is cut"
		return add(x)
	}
	return nil
}

var _ storage.SectionLister = (*reader)(nil)

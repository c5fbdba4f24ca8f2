package text

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/storage"
)

// Options are what is written, and how.
type Options struct {
	Render render.Options // Indent and Paths do not count
	Raw    bool           // serialized messages in base64 in the place of fields
	Framed bool           // with Raw: frames in the place of lines, see render.FramedLine
	// with Framed: also frames that describe the recording, its topics and messages, see package frames
	Define bool
	Fields []string // topics and their fields; empty: everything
	Limit  int64    // lines after which reading ends; 0: no limit

	// Backwards has Flush write the lines, the last one first: messages that are read from the end come in the order
	// of time again. Lines of more than MaxBackwards bytes in all are an error.
	Backwards bool

	// Tell, if set, is called for each topic: why it is left out, or remarks about its definition.
	Tell func(t *storage.Topic, left error, remarks []mapping.Remark)
}

// MaxBackwards bounds the lines that Options.Backwards keeps, in bytes.
const MaxBackwards = 256 << 20

// ErrPrinted means that reading has begun again after lines were written.
var ErrPrinted error = &storage.Error{Offset: -1,
	What: "its index is wrong: there are messages that belong before the last one that was printed",
	Hint: "--order file prints them in file order; bagconv recover writes a recording with a correct index"}

// ErrNothing means that no topic of the query can be written.
var ErrNothing error = &storage.Error{Offset: -1,
	What: "no topic is left: flags leave out the named topics, or they cannot be printed",
	Hint: "bagconv info --topics lists what it has"}

// A Printer writes lines. It is for one goroutine.
type Printer struct {
	Topics      []Topic // of the last Read; index = TopicID
	Wrote       int64   // lines
	Unpublished int64   // lines without the publish time that their message has

	o         Options
	to        io.Writer
	out       *bufio.Writer // to it
	sent      int           // bytes given to out
	kept      [][]byte      // lines to be written backwards
	size      int           // bytes of kept
	published []byte        // a line with a publish time
	describer *describer    // with Options.Define
}

// A Topic is how the messages of a topic are written.
type Topic struct {
	Line    *render.Line    // nil: they are not written
	Program mapping.Program // makes the messages that Line reads, then Line
}

// New returns a Printer that writes to a stream. Flush writes the last lines.
func New(to io.Writer, o Options) *Printer {
	if o.Render.Indent = 1; o.Tell == nil {
		o.Tell = func(*storage.Topic, error, []mapping.Remark) {}
	}
	return &Printer{o: o, to: to, out: bufio.NewWriterSize(to, 256<<10)}
}

// Read writes the messages of a query. Reading again, as recording.Use does if the index is wrong, begins anew, or
// returns ErrPrinted. The error is a *RequestError, an *UnknownError, or wraps a *render.PathError if Options.Fields
// ask for what is not there.
func (p *Printer) Read(ctx context.Context, src *recording.Source, q recording.Query) (*recording.Result, error) {
	if p.sent > p.out.Buffered() {
		return nil, ErrPrinted
	}
	p.out.Reset(p.to)
	p.Wrote, p.Unpublished, p.sent, p.kept, p.size = 0, 0, 0, nil, 0
	plan := func(info *storage.Info, selected []bool) ([]recording.Topic, error) {
		return p.plan(ctx, src, info, selected)
	}
	q.Expected = p.o.Limit
	res, err := src.Read(ctx, q, recording.Each{Topics: plan, Write: p.write})
	if err != nil {
		p.kept = nil
	}
	return res, err
}

// Flush writes what is not written yet.
func (p *Printer) Flush() error {
	for _, line := range slices.Backward(p.kept) {
		if err := p.print(line); err != nil {
			return err
		}
	}
	p.kept = nil
	return p.out.Flush()
}

func (p *Printer) print(text []byte) error {
	p.sent += len(text)
	_, err := p.out.Write(text)
	return err
}

// write takes a line that the workers have made.
func (p *Printer) write(m *storage.Message) error {
	line := m.Data
	if p.describer != nil {
		if err := p.describe(m); err != nil {
			return err
		}
	} else if m.PublishTime != m.LogTime {
		var ok bool
		if line, ok = p.Topics[m.Topic].Line.AppendPublished(p.published[:0], m.Data, m.LogTime, m.PublishTime); !ok {
			p.Unpublished++
		}
		p.published = line
	}
	if !p.o.Backwards || p.describer != nil {
		if err := p.print(line); err != nil {
			return err
		}
	} else if p.size += len(m.Data); p.size > MaxBackwards {
		what := fmt.Sprintf("--tail %d: the last %d messages take more than %d MB as text", p.o.Limit, len(p.kept),
			MaxBackwards>>20)
		return &RequestError{what, "use --start -30s or another time from the end"}
	} else {
		p.kept = append(p.kept, slices.Clone(line))
	}
	if p.Wrote++; p.Wrote == p.o.Limit {
		return recording.ErrEnough
	}
	return nil
}

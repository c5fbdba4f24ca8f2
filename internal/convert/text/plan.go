package text

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/storage"
)

// A planner compiles the lines of each topic that is asked for.
type planner struct {
	*Printer
	*request
	info    *storage.Info
	topics  []planned // index = TopicID
	columns columns   // of CSV
}

// A planned topic is what is known of its messages.
type planned struct {
	written bool // something of the topic is written
	typ     *message.Type
	def     *mapping.Definition
	err     error    // why the messages cannot be read
	paths   []string // of their fields; nil: all of them
}

// plan finds the definitions of the topics that are asked for, unless their bytes are, and compiles their lines.
func (p *Printer) plan(ctx context.Context, src *recording.Source, info *storage.Info, selected []bool) (
	topics []recording.Topic, err error) {
	q, err := p.ask(info)
	if err != nil {
		return nil, err
	}
	l := planner{Printer: p, request: q, info: info, topics: make([]planned, len(info.Topics))}
	var mapper *mapping.Mapper
	if l.columns.names = []string{"raw"}; !p.o.Raw {
		l.columns.names = nil
		if mapper, err = src.Mapper(ctx, info); err != nil {
			return nil, err
		}
	}
	for i := range l.topics {
		t := &l.topics[i]
		if t.written = selected[i] && (q.whole[i] || q.some[i]); t.written && mapper != nil {
			t.typ, t.def, t.err = mapper.Type(&info.Topics[i].Topic)
		}
	}
	if err := l.expand(); err != nil {
		return nil, err
	}
	some := len(l.topics) == 0
	topics, p.Topics = make([]recording.Topic, len(l.topics)), make([]Topic, len(l.topics))
	for i := range topics {
		t := &p.Topics[i]
		if *t, err = l.compile(i); err != nil {
			return nil, err
		}
		if topics[i].Skip = t.Line == nil; t.Line != nil {
			topics[i].Program, some = t.Program, true
		}
	}
	if !some {
		return nil, ErrNothing
	}
	switch {
	case p.o.Render.Style == render.CSV:
		err = p.print(render.CSVHeader(l.columns.names))
	case p.o.Framed && p.o.Define:
		err = p.begin(info, l.topics)
	}
	return topics, err
}

// expand gives each topic the paths of its fields. In CSV a struct becomes the columns of its fields, in all topics
// that have it; the others leave their cells empty.
func (l *planner) expand() error {
	for k := range l.fields {
		f := &l.fields[k]
		if f.path == "" {
			continue
		}
		if err := l.expandField(f); err != nil {
			return err
		}
		for i := range l.topics {
			if t := &l.topics[i]; f.topics[i] {
				t.paths = append(t.paths, f.path)
			} else if l.some[i] {
				t.paths = append(t.paths, make([]string, len(f.cells))...)
			}
		}
		l.columns.names = append(l.columns.names, f.cells...)
	}
	return nil
}

// expandField finds the columns of a field.
func (l *planner) expandField(f *field) error {
	f.cells = []string{f.word}
	if l.o.Render.Style != render.CSV {
		return nil
	}
	var c columns
	for i, t := range l.topics {
		if t.typ == nil || !f.topics[i] {
			continue
		}
		names, err := render.Cells(t.typ, f.path)
		if err != nil {
			continue // compile reports that
		}
		for j := range names {
			names[j] = f.word + strings.TrimPrefix(names[j], f.path)
		}
		if err := c.add(l.info.Topics[i].Name, names); err != nil {
			return err
		}
		f.cells = names
	}
	return nil
}

// compile makes the lines of a topic; no lines, after Options.Tell, for a topic that cannot be read.
func (l *planner) compile(i int) (made Topic, err error) {
	t, d, o := &l.info.Topics[i].Topic, &l.topics[i], l.o.Render
	switch {
	case !d.written:
		return made, nil
	case l.o.Framed:
		line := render.FramedLine(t.Name, t.Type, t.Encoding)
		return Topic{line, line}, nil
	case l.o.Raw:
		line := l.typed(render.RawLine(t.Name, o.Style), t)
		return Topic{line, line}, nil
	}
	var program *render.Program
	var wrong *render.PathError
	if err = d.err; err == nil {
		o.Paths = d.paths
		program, err = render.Compile(d.typ, o)
	}
	switch {
	case errors.As(err, &wrong):
		if len(wrong.Known) > 0 {
			hint := nearest.Meant(nearest.Word(wrong.Field, wrong.Known), "it has "+nearest.Some(wrong.Known, 8))
			return made, fmt.Errorf("topic %s: %w; %s", t.Name, err, hint)
		}
		return made, fmt.Errorf("topic %s: %w", t.Name, err)
	case err != nil:
		l.o.Tell(t, err, nil)
		return made, nil
	}
	l.o.Tell(t, nil, d.def.Remarks)
	if o.Style == render.CSV && d.paths == nil {
		err = l.columns.add(t.Name, program.Columns())
	}
	line := l.typed(render.NewLine(t.Name, program), t)
	return Topic{line, mapping.After(d.def.Head, line)}, err
}

// typed returns the lines of a topic with its type, if another topic has its name and another type.
func (l *planner) typed(line *render.Line, t *storage.Topic) *render.Line {
	for i := range l.info.Topics {
		if o := &l.info.Topics[i].Topic; o.Name == t.Name && o.Type != t.Type {
			return line.Typed(t.Type, l.o.Render.Style)
		}
	}
	return line
}

// columns are the columns that all lines of a CSV file have.
type columns struct {
	topic string // the first
	names []string
}

func (c *columns) add(topic string, names []string) error {
	switch {
	case c.topic == "":
		c.topic, c.names = topic, names
	case !slices.Equal(c.names, names):
		what := fmt.Sprintf("a CSV file has one list of columns, and %s and %s have different fields", c.topic, topic)
		first := strings.Join(names[:min(1, len(names))], "")
		return &RequestError{what, fmt.Sprintf("take one of them with -t, or name fields, such as %s.%s", topic, first)}
	}
	return nil
}

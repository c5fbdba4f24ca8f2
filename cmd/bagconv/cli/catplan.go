package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/convert/render"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// plan compiles the lines of each topic that is asked for.
func (r *catRun) plan(ctx context.Context, info *storage.Info, selected []bool) ([]recording.Topic, error) {
	if r.print.printed { // before the stream began again, which it does for this reason alone
		return nil, &failure{path: r.path, what: "its index is wrong: there are messages that belong before the last one that was printed",
			hint: "--order file prints them in file order; bagconv recover writes a recording with a correct index"}
	}
	r.out.Reset(r.print)
	r.wrote = 0
	asked, err := r.ask(info)
	if err != nil {
		return nil, err
	}
	var known mapping.Known
	if !r.set.raw {
		if known, err = r.src.Known(ctx, info); err != nil {
			return nil, err
		}
	}
	mapper := mapping.New(known.Options())
	if err := r.expand(mapper, info, asked, selected); err != nil {
		return nil, err
	}
	columns := csvColumns{names: asked.columns}
	if r.set.raw {
		columns.names = []string{"raw"}
	}
	topics := make([]recording.Topic, len(info.Topics))
	r.lines = make([]*render.Line, len(info.Topics))
	r.heads = make([]mapping.Program, len(info.Topics))
	some := len(info.Topics) == 0
	for i := range info.Topics {
		t := &info.Topics[i].Topic
		if topics[i].Skip = !asked.whole[i] && asked.paths[i] == nil || !selected[i]; topics[i].Skip {
			continue
		}
		line, head, err := r.line(mapper, t, asked.paths[i], &columns)
		if err != nil {
			return nil, err
		}
		if topics[i].Skip = line == nil; line != nil {
			topics[i].Program, some = line, true
		}
		r.lines[i], r.heads[i] = line, head
	}
	if !some {
		return nil, &failure{path: r.path, what: "no topic is left: flags leave out the named topics, or they cannot be printed", hint: "bagconv topics lists what it has"}
	}
	if r.set.render.Style == render.CSV {
		_, err = r.out.Write(render.CSVHeader(columns.names))
	}
	return topics, err
}

// line compiles the lines of one topic; nil, after a message to the user, for one that
// cannot be decoded. head makes its messages those that a line reads; nil: they are.
func (r *catRun) line(mapper *mapping.Mapper, t *storage.Topic, paths []string, columns *csvColumns) (line *render.Line, head mapping.Program, err error) {
	if r.set.framed {
		return render.FramedLine(t.Name, t.Type, t.Encoding), nil, nil
	}
	if r.set.raw {
		return render.RawLine(t.Name, r.set.render.Style), nil, nil
	}
	o := r.set.render
	o.Paths = paths
	p, d, err := compileText(mapper, t, o)
	var wrong *render.PathError
	switch {
	case errors.As(err, &wrong):
		return nil, nil, r.explainPath(t, wrong)
	case err != nil:
		r.lossy = true
		of := ""
		if t.Type != "" {
			of = " type " + t.Type + ":"
		}
		r.sayOnce(fmt.Sprintf("topic %s is left out:%s %v; --raw prints its bytes", t.Name, of, err))
		return nil, nil, nil
	}
	for _, m := range d.Remarks {
		r.sayOnce("topic " + t.Name + ": " + m.Message)
	}
	if o.Style == render.CSV && paths == nil {
		if err := columns.add(t.Name, p.Columns()); err != nil {
			return nil, nil, err
		}
	}
	line = render.NewLine(t.Name, p)
	if d.Head != nil {
		line.After(d.Head)
	}
	return line, d.Head, nil
}

// compileText finds the definition of a topic, and compiles the program that
// writes its messages.
func compileText(mapper *mapping.Mapper, t *storage.Topic, o render.Options) (*render.Program, *mapping.Definition, error) {
	d, err := mapper.Define(t)
	if err != nil {
		return nil, nil, err
	}
	var p *render.Program
	switch {
	case d.Proto != nil:
		p, err = render.CompileProto(d.Proto, o)
	case t.Encoding == "ros1" || d.JSON != nil:
		p, err = render.Compile(d.ROS, schema.ROS1, o)
	default:
		p, err = render.Compile(d.ROS, schema.CDR, o)
	}
	return p, d, err
}

func (r *catRun) sayOnce(text string) {
	if !r.reported[text] {
		r.reported[text] = true
		r.say("%s: %s", clean(r.path), clean(text))
	}
}

// explainPath adds the next step to the error of a path that does not fit a type.
func (r *catRun) explainPath(t *storage.Topic, e *render.PathError) error {
	f := &failure{path: r.path, what: fmt.Sprintf("topic %s: %s", clean(t.Name), clean(e.Error())), err: e}
	if near := nearest(e.Field, e.Known); near != "" {
		f.hint = "did you mean " + near + "?"
	} else if n := len(e.Known); n > 0 {
		f.hint = "it has " + strings.Join(e.Known[:min(n, 8)], ", ")
		if n > 8 {
			f.hint += fmt.Sprintf(" and %d more", n-8)
		}
	}
	return f
}

// csvColumns are the columns that all lines of a CSV file have.
type csvColumns struct {
	topic string // the first
	names []string
}

func (c *csvColumns) add(topic string, names []string) error {
	switch {
	case c.topic == "":
		c.topic, c.names = topic, names
	case !slices.Equal(c.names, names):
		return usage(fmt.Sprintf("take one of them with -t, or name fields, such as %s.%s", clean(topic), strings.Join(names[:min(1, len(names))], "")),
			"a CSV file has one list of columns, and %s and %s have different fields", clean(c.topic), clean(topic))
	}
	return nil
}

// An asking is what the line asks for of each topic.
type asking struct {
	whole   []bool     // index = TopicID
	paths   [][]string // of fields; nil: no single ones
	columns []string   // of CSV with fields: the words of the line, a struct as its fields
}

// expand makes of each struct that is named for CSV the columns of its fields, in all
// topics that have it; the others leave their cells empty.
func (r *catRun) expand(mapper *mapping.Mapper, info *storage.Info, a *asking, selected []bool) error {
	if r.set.render.Style != render.CSV || a.columns == nil {
		return nil
	}
	words := a.columns
	a.columns = nil
	old, paths := a.paths, make([][]string, len(a.paths))
	for k, word := range words {
		columns := csvColumns{}
		for i := range old {
			if old[i] == nil || old[i][k] == "" || !selected[i] {
				continue
			}
			t, o := &info.Topics[i].Topic, r.set.render
			o.Paths = old[i][k : k+1]
			p, _, err := compileText(mapper, t, o)
			if err != nil {
				continue // line reports that
			}
			names := slices.Clone(p.Columns())
			for j := range names {
				names[j] = word + strings.TrimPrefix(names[j], old[i][k])
			}
			if err := columns.add(t.Name, names); err != nil {
				return err
			}
		}
		if columns.names == nil {
			columns.names = []string{word}
		}
		a.columns = append(a.columns, columns.names...)
		for i := range old {
			switch {
			case old[i] == nil:
			case old[i][k] != "":
				paths[i] = append(paths[i], old[i][k])
			default:
				paths[i] = append(paths[i], make([]string, len(columns.names))...)
			}
		}
	}
	a.paths = paths
	return nil
}

// ask compares the fields on the line with the topics.
func (r *catRun) ask(info *storage.Info) (*asking, error) {
	n := len(info.Topics)
	a := &asking{whole: make([]bool, n), paths: make([][]string, n)}
	if r.fields == nil {
		for i := range a.whole {
			a.whole[i] = true
		}
		return a, nil
	}
	whole := ""
	for k, word := range r.fields {
		ids, path, err := findField(info, word)
		if err != nil {
			return nil, r.explainWord(info, word, err)
		}
		if path != "" && r.set.raw {
			return nil, usage("name the topic alone", "%s is a field, but --raw prints whole messages", clean(word))
		}
		if path == "" {
			whole = word
		} else {
			a.columns = append(a.columns, word)
		}
		for _, i := range ids {
			if path == "" {
				a.whole[i] = true
				continue
			}
			if a.paths[i] == nil {
				a.paths[i] = make([]string, len(r.fields))
			}
			a.paths[i][k] = path
		}
	}
	if whole != "" && a.columns != nil && r.set.render.Style == render.CSV {
		return nil, usage("name fields of that topic, too", "%s is a whole topic and %s a field: a CSV file has one list of columns", clean(whole), clean(a.columns[0]))
	}
	for i := range a.paths {
		if a.whole[i] && a.paths[i] != nil {
			return nil, usage("name either the topic or its fields", "%s and fields of it are both named", clean(info.Topics[i].Name))
		}
	}
	return a, nil
}

// findField splits a word into topics and the path of a field, "" for all fields.
// A topic's own name counts before a pattern, and a longer name before a shorter.
func findField(info *storage.Info, word string) (ids []storage.TopicID, path string, err error) {
	best := -1
	for i := range info.Topics {
		name := info.Topics[i].Name
		rest, ok := strings.CutPrefix(word, name)
		if !ok || rest != "" && rest[0] != '.' || len(name) < best {
			continue
		}
		if len(name) > best {
			best, ids, path = len(name), nil, strings.TrimPrefix(rest, ".")
			if rest == "." {
				return nil, "", fmt.Errorf("the field name is missing")
			}
		}
		ids = append(ids, storage.TopicID(i))
	}
	if ids != nil {
		return ids, path, nil
	}
	topic, path, dot := strings.Cut(word, ".")
	if dot && path == "" {
		return nil, "", fmt.Errorf("the field name is missing")
	}
	p, err := selection.ParsePattern(topic)
	if err != nil {
		return nil, "", err
	}
	for i := range info.Topics {
		if p.Match(info.Topics[i].Name) {
			ids = append(ids, storage.TopicID(i))
		}
	}
	if ids == nil {
		return nil, "", errNoTopic
	}
	return ids, path, nil
}

var errNoTopic = errors.New("the recording has no such topic")

// explainWord reports what is wrong with a word that is neither a topic nor a field.
func (r *catRun) explainWord(info *storage.Info, word string, err error) error {
	f := &failure{path: r.path, what: fmt.Sprintf("%s: %v", clean(word), err), hint: "write a field as /imu.header.stamp", err: err}
	if errors.Is(err, errNoTopic) {
		f.hint = "bagconv topics lists what it has"
		var names []string
		for i := range info.Topics {
			names = append(names, info.Topics[i].Name)
		}
		topic, _, _ := strings.Cut(word, ".")
		if dotted := dottedPath(names, word); dotted != "" {
			f.hint = "did you mean " + clean(dotted) + "?"
		} else if near := suggest(topic, names); near != "" {
			f.hint = "did you mean " + clean(near) + "?"
		}
	}
	return f
}

// dottedPath returns a path that is written with slashes behind a topic, as other programs write it,
// with the dots that it has here; "" if no topic begins it.
func dottedPath(topics []string, word string) string {
	best := ""
	for _, name := range topics {
		if strings.HasPrefix(word, name+"/") && len(name) > len(best) {
			best = name
		}
	}
	path := strings.Trim(word[len(best):], "/")
	if best == "" || path == "" {
		return ""
	}
	return best + "." + strings.ReplaceAll(path, "/", ".")
}

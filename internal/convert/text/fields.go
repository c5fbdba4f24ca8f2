package text

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/storage"
)

// A RequestError is the error of options that do not go together, with the next step.
type RequestError struct{ What, Hint string }

func (e *RequestError) Error() string { return e.What + "; " + e.Hint }

// ErrNoTopic is wrapped by the UnknownError of a word that begins with no topic.
var ErrNoTopic = errors.New("the recording has no such topic")

// An UnknownError is the error of a word of Options.Fields that names neither topics nor a field.
type UnknownError struct {
	Word string
	Err  error
	Hint string // the next step
}

func (e *UnknownError) Error() string { return fmt.Sprintf("%s: %v; %s", e.Word, e.Err, e.Hint) }
func (e *UnknownError) Unwrap() error { return e.Err }

// A field is one of Options.Fields.
type field struct {
	word   string
	topics []bool   // index = TopicID
	path   string   // "": all of the messages
	cells  []string // of CSV: the names of its columns
}

// A request is what Options.Fields ask of the topics.
type request struct {
	fields      []field
	whole, some []bool // index = TopicID: all fields of the topic, single ones
}

// ask compares Options.Fields with the topics.
func (p *Printer) ask(info *storage.Info) (*request, error) {
	q := &request{whole: make([]bool, len(info.Topics)), some: make([]bool, len(info.Topics))}
	for i := range q.whole {
		q.whole[i] = len(p.o.Fields) == 0
	}
	whole, single := "", ""
	for _, word := range p.o.Fields {
		f, err := findField(info, word)
		if err != nil {
			return nil, unknown(word, err, info)
		}
		asked := q.some
		switch {
		case f.path == "":
			asked, whole = q.whole, word
		case p.o.Raw:
			return nil, &RequestError{word + " is a field, but --raw prints whole messages", "name the topic alone"}
		case single == "":
			single = word
		}
		for i, named := range f.topics {
			asked[i] = asked[i] || named
		}
		q.fields = append(q.fields, f)
	}
	if whole != "" && single != "" && p.o.Render.Style == render.CSV {
		return nil, &RequestError{whole + " is a whole topic and " + single + " a field: a CSV file has one list of columns",
			"name fields of that topic, too"}
	}
	for i, t := range info.Topics {
		if q.whole[i] && q.some[i] {
			return nil, &RequestError{t.Name + " and fields of it are both named", "name either the topic or its fields"}
		}
	}
	return q, nil
}

// findField splits a word into topics and the path of a field. A topic's own name counts before a pattern, and a
// longer name before a shorter.
func findField(info *storage.Info, word string) (field, error) {
	f, best := field{word: word, topics: make([]bool, len(info.Topics))}, -1
	for i := range info.Topics {
		name := info.Topics[i].Name
		rest, ok := strings.CutPrefix(word, name)
		if !ok || rest != "" && rest[0] != '.' || len(name) < best {
			continue
		}
		if len(name) > best {
			best, f.path = len(name), strings.TrimPrefix(rest, ".")
			clear(f.topics)
			if rest == "." {
				return f, errNoField
			}
		}
		f.topics[i] = true
	}
	if best >= 0 {
		return f, nil
	}
	topic, path, dot := strings.Cut(word, ".")
	if dot && path == "" {
		return f, errNoField
	}
	p, err := selection.ParsePattern(topic)
	if err != nil {
		return f, err
	}
	f.path, err = path, ErrNoTopic
	for i := range info.Topics {
		if p.Match(info.Topics[i].Name) {
			f.topics[i], err = true, nil
		}
	}
	return f, err
}

// unknown returns the error of a word that findField refuses.
func unknown(word string, err error, info *storage.Info) error {
	if !errors.Is(err, ErrNoTopic) {
		return &UnknownError{word, err, "write a field as /imu.header.stamp"}
	}
	var names []string
	for i := range info.Topics {
		names = append(names, info.Topics[i].Name)
	}
	topic, _, _ := strings.Cut(word, ".")
	near := cmp.Or(dottedPath(names, word), nearest.Suggest(topic, names))
	return &UnknownError{word, err, nearest.Meant(near, "bagconv info --topics lists what it has")}
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

var errNoField = errors.New("the field name is missing")

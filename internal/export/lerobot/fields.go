package lerobot

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/storage"
)

// A numbers reads the numbers at a path in the messages of a topic: one, a list, or all in a struct.
type numbers struct {
	field  Field
	path   *message.Path
	single bool          // of a list one element
	names  *message.Path // of a list of names beside it, such as JointState.name; nil: no such list
	labels []string      // of the numbers; nil: no message has been read
	named  bool          // labels are names that the messages have
}

// maxWidth is how many numbers a feature may have.
const maxWidth = 10_000

// newNumbers finds a field in a type.
func newNumbers(t *message.Type, f Field) (*numbers, error) {
	path, err := t.Path(f.Path)
	if err != nil {
		hint := "bagconv defs show IN " + f.Topic + " --tree shows the fields"
		var p *message.PathError
		if errors.As(err, &p) && len(p.Known) > 0 {
			hint = "there are " + strings.Join(p.Known[:min(len(p.Known), 40)], ", ")
		}
		return nil, mapError(f.line, f.String(), hint, "%v", err)
	}
	x := &numbers{field: f, path: path, single: strings.HasSuffix(f.Path, "]")}
	switch {
	case path.Field.Clock != 0 || path.Field.Kind == message.Text || path.Field.Kind == message.Bytes:
		return nil, mapError(f.line, f.String(), "bagconv defs show IN "+f.Topic+" --tree shows the fields",
			"it is no number, no list of numbers and no struct with numbers")
	case path.Field.List && !x.single && path.Field.Fixed < 0:
		parent, _ := cutLast(f.Path, ".")
		if names, err := t.Path(join(parent, "name")); err == nil && names.Field.List && names.Field.Kind == message.Text {
			x.names = names
		}
	}
	return x, nil
}

// cutLast cuts a path around its last separator; without one all is the second part.
func cutLast(s, separator string) (before, after string) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):]
	}
	return "", s
}

func join(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// errWidth is the error of a message with other numbers than the first one had.
var errWidth = errors.New("other numbers")

// errFinite is the error of a message with a number that is not finite.
var errFinite = errors.New("not a finite 32-bit")

// append appends the numbers of a message, in the order of the first one.
func (x *numbers) append(c *message.Cursor, out []float64) ([]float64, error) {
	from := len(out)
	first := x.labels == nil
	c.Rewind()
	if !c.Seek(x.path) {
		return out, cmpErr(c.Err(), fmt.Errorf("%w: the message has no %s", errWidth, x.field.Path))
	}
	w := walker{c: c, out: out, label: first}
	w.walk(x.path.Field, x.single, lastName(x.field.Path))
	if c.Err() != nil {
		return out, c.Err()
	}
	got := w.out[from:]
	for _, v := range got {
		if math.IsNaN(v) || math.Abs(v) > math.MaxFloat32 {
			return out, fmt.Errorf("%w number in %s", errFinite, x.field)
		}
	}
	order, err := x.order(c, len(got))
	switch {
	case err != nil:
		return out, err
	case first && order != nil:
		x.labels, x.named = order, true
	case first:
		x.labels = w.labels
	case len(got) != len(x.labels):
		return out, fmt.Errorf("%w: %d in %s, and %d in the first message", errWidth, len(got), x.field, len(x.labels))
	case order != nil:
		return x.reorder(w.out, from, order)
	}
	return w.out, nil
}

func cmpErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

func lastName(path string) string {
	_, name := cutLast(path, ".")
	return name
}

// order returns the names of the numbers in a message: at the first one, and if they are others than at the first one.
func (x *numbers) order(c *message.Cursor, n int) (names []string, err error) {
	if x.names == nil || x.labels != nil && !x.named {
		return nil, nil
	}
	c.Rewind()
	if !c.Seek(x.names) {
		return nil, c.Err()
	}
	f := x.names.Field
	count, same := c.Count(f), x.labels != nil
	if count != n {
		if x.labels == nil && count == 0 {
			return nil, nil // a message without names
		}
		return nil, fmt.Errorf("%w: %d names for %d numbers in %s", errWidth, count, n, x.field)
	}
	c.Elements(f, count, func(i int) {
		text := c.Text(f)
		if same && i < len(x.labels) && string(text) == x.labels[i] {
			return
		}
		if same {
			names, same = slices.Clone(x.labels[:min(i, len(x.labels))]), false
		}
		names = append(names, string(text))
	})
	return names, c.Err()
}

// reorder puts the numbers of a message, whose names have another order, into the order of the
// first one.
func (x *numbers) reorder(out []float64, from int, names []string) ([]float64, error) {
	got := slices.Clone(out[from:])
	for i, label := range x.labels {
		k := slices.Index(names, label)
		if k < 0 {
			return out[:from], fmt.Errorf("%w: no %s in %s, which the first message has", errWidth, label, x.field)
		}
		out[from+i] = got[k]
	}
	return out, nil
}

// A walker collects the numbers of a value.
type walker struct {
	c      *message.Cursor
	out    []float64
	label  bool // labels, too
	labels []string
}

// walk takes the value of a field; single is set if the cursor is at an element of its list.
func (w *walker) walk(f *message.Field, single bool, name string) {
	c := w.c
	switch {
	case f.Kind == message.Text || f.Kind == message.Bytes || f.Clock != 0:
		c.Skip(f)
	case f.Kind == message.Struct && (!f.List || single):
		c.Fields(f.Type, func(g *message.Field) { w.walk(g, false, w.under(name, "."+g.Name)) })
	case f.Kind == message.Struct:
		c.Elements(f, c.Count(f), func(i int) {
			at := w.under(name, "["+strconv.Itoa(i)+"]")
			c.Fields(f.Type, func(g *message.Field) { w.walk(g, false, w.under(at, "."+g.Name)) })
		})
	case !f.List || single:
		w.add(view.FloatOf(f, c.Bits(f)), name)
	default:
		list := c.List(f)
		for i := 0; i+f.Size <= len(list); i += f.Size {
			w.add(view.FloatOf(f, f.Bits(list[i:])), w.under(name, "["+strconv.Itoa(i/f.Size)+"]"))
		}
	}
}

// under returns the label of what is within another, if labels are asked for.
func (w *walker) under(name, more string) string {
	if !w.label {
		return ""
	}
	return name + more
}

func (w *walker) add(v float64, name string) {
	if len(w.out) > maxWidth*10 {
		w.c.Fail("more than %d numbers", maxWidth)
		return
	}
	w.out = append(w.out, v)
	if w.label {
		w.labels = append(w.labels, name)
	}
}

// A part is where the numbers of a field are among the numbers of all fields of a topic.
type part struct {
	s     *stream
	index int // of its field
}

// values returns the numbers of a part in a row of its stream.
func (p part) values(row []float64) []float64 {
	from := 0
	for _, f := range p.s.fields[:p.index] {
		from += len(f.labels)
	}
	return row[from : from+len(p.s.fields[p.index].labels)]
}

// labels returns the names of the numbers of some parts, each name once.
func labels(parts []part) []string {
	var list []string
	count := map[string]int{}
	for _, p := range parts {
		for _, l := range p.s.fields[p.index].labels {
			count[l]++
		}
	}
	for _, p := range parts {
		f := p.s.fields[p.index]
		for _, l := range f.labels {
			if count[l] > 1 {
				l = strings.TrimPrefix(f.field.Topic, "/") + "." + f.field.Path + "." + l
			}
			list = append(list, l)
		}
	}
	for i, l := range list {
		if slices.Contains(list[:i], l) {
			list[i] = fmt.Sprintf("%s~%d", l, i)
		}
	}
	return list
}

// isData reports whether an error is about a message alone.
func isData(err error) bool {
	return errors.Is(err, storage.ErrCorrupt) || errors.Is(err, storage.ErrUnsupported) || errors.Is(err,
		storage.ErrTruncated)
}

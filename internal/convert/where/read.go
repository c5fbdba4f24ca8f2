package where

import (
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/nearest"
	"github.com/bagconv/bagconv/internal/schema/literal"
	"github.com/bagconv/bagconv/internal/schema/numbers"
	"github.com/bagconv/bagconv/schema"
)

// signed returns the bits of an integer. What is above the integers of conditions is an error.
func signed(r *run, f *message.Field, bits uint64) int64 {
	if f.Kind == message.Unsigned && bits > math.MaxInt64 {
		r.fail("%s is %d, and integers of conditions end at 2^63-1", f.Name, bits)
	}
	return int64(bits)
}

// real returns the bits of a float.
func real(f *message.Field, bits uint64) float64 {
	return numbers.Float.Float(numbers.Float.Widen(bits, 8*f.Size))
}

// maxSeconds is how many seconds of a time or duration are nanoseconds of 64 bits.
const maxSeconds = math.MaxInt64/1_000_000_000 - 1

// nanoseconds reads a time or a duration.
func nanoseconds(r *run, f *message.Field) int64 {
	sec, nsec := r.c.Time(f)
	if sec > maxSeconds || sec < -maxSeconds {
		r.fail("%s has %d seconds, which are out of range", f.Name, sec)
		return 0
	}
	return sec*1e9 + nsec
}

// maxElements is how many elements of a list are looked at.
const maxElements = 1 << 20

// A column is a value of each element of a list.
type column struct {
	list  *message.Path    // the list
	steps []*message.Field // within an element; none: the elements are the values
	kind  kind
}

// elements are the values of a column, of one kind.
type elements struct {
	whole []int64
	float []float64
	text  []string
}

// gather reads a column, and returns how many elements there are.
func (c *column) gather(r *run, into *elements) (n int) {
	if r.err != nil {
		return 0
	}
	r.c.Rewind()
	f := c.list.Field
	if r.c.Seek(c.list) {
		n = r.c.Count(f)
	}
	if n > maxElements {
		r.fail("%s has %d elements, and a condition looks at %d at most", f.Name, n, maxElements)
	}
	if r.err != nil || !r.c.OK() || n == 0 {
		r.decoded()
		return 0
	}
	into.whole, into.float, into.text = into.whole[:0], into.float[:0], into.text[:0]
	if f.Size > 0 {
		p := r.c.Numbers(f, n)
		for i := 0; i+f.Size <= len(p); i += f.Size {
			into.number(r, f, f.Bits(p[i:]))
		}
	} else {
		r.c.Elements(f, n, func(int) { c.element(r, f, c.steps, into) })
	}
	r.decoded()
	return n
}

// decoded makes an error of the cursor the run's.
func (r *run) decoded() {
	if err := r.c.Err(); err != nil && r.err == nil {
		r.err = err
	}
}

// element reads the value at the cursor, or in the struct there.
func (c *column) element(r *run, f *message.Field, steps []*message.Field, into *elements) {
	switch {
	case len(steps) > 0:
		r.c.Fields(f.Type, func(f *message.Field) {
			if f != steps[0] {
				r.c.Skip(f)
				return
			}
			c.element(r, f, steps[1:], into)
		})
	case f.Clock != schema.Invalid:
		into.whole = append(into.whole, nanoseconds(r, f))
	case f.Size > 0:
		into.number(r, f, r.c.Bits(f))
	default:
		into.text = append(into.text, string(r.c.Text(f)))
	}
}

func (e *elements) number(r *run, f *message.Field, bits uint64) {
	switch f.Kind {
	case message.Float:
		e.float = append(e.float, real(f, bits))
	default:
		e.whole = append(e.whole, signed(r, f, bits))
	}
}

// A loop goes over the elements of a list.
type loop struct {
	list    string // with its topic, as it was written
	columns []int  // indices into Filter.columns
}

// start reads the columns, and returns how many elements there are.
func (l *loop) start(f *Filter, r *run) (n int) {
	for _, i := range l.columns {
		n = f.columns[i].gather(r, &r.read[i])
	}
	if r.err != nil {
		return 0
	}
	return n
}

// element compiles a field with [].
func (k *compiler) element(n ast.Node, ref *ref) (value, error) {
	before, after, _ := strings.Cut(ref.path, "[]")
	switch {
	case k.loop == nil:
		return value{}, k.of.at(n, "[] stands for many values", "write any(...), all(...) or another function around")
	case ref.each > 1 || strings.Contains(after, "["):
		return value{}, k.of.at(n, "a list within a list", "write an index in place of the first []")
	case k.loop.list != "" && k.loop.list != before:
		return value{}, k.wrong(n, "%s[] and %s[] in one function", k.loop.list, before)
	}
	k.loop.list = before
	list, err := k.typ.Path(before)
	if err != nil {
		return value{}, k.pathError(n, err)
	}
	list.Defaults = true
	if !list.Field.List || list.Element() {
		return value{}, k.wrong(n, "%s is not a list", before)
	}
	c, f := column{list: list}, list.Field
	for name := range strings.SplitSeq(after, ".") {
		if name == "" {
			continue
		}
		if f.Type == nil {
			return value{}, k.wrong(n, "%s has no fields", f.Name)
		}
		in := f.Type
		if f = in.Find(name); f == nil {
			return value{}, k.pathError(n, &message.PathError{Path: ref.path, Type: in.Name, Field: name, Known: in.Names()})
		}
		if f.List {
			return value{}, k.of.at(n, "a list within a list", "")
		}
		c.steps = append(c.steps, f)
	}
	v, err := k.reading(n, f)
	if err != nil {
		return v, err
	}
	c.kind = v.kind
	at := len(k.filter.columns)
	k.filter.columns = append(k.filter.columns, c)
	k.loop.columns = append(k.loop.columns, at)
	switch v.kind {
	case truth:
		v.truth = func(r *run) bool { return r.read[at].whole[r.elem] != 0 }
	case float:
		v.float = func(r *run) float64 { return r.seen(r.read[at].float[r.elem]) }
	case text:
		v.text = func(r *run) string { return r.read[at].text[r.elem] }
	default:
		v.whole = func(r *run) int64 { return r.read[at].whole[r.elem] }
	}
	return v, nil
}

// constants are the constants of types, by name. A name with two values has none of them.
type constants map[string]constant

type constant struct {
	value     value
	ambiguous bool
}

// know collects the constants of the types on the way to the fields of a part.
func (k *compiler) know(n ast.Node) {
	k.names = constants{}
	walk(n, func(n ast.Node) bool {
		r, _ := refOf(n)
		if r == nil {
			return true
		}
		k.names.ofType(k.typ)
		steps, wrong := k.typ.Resolve(strings.ReplaceAll(r.path, "[]", ""))
		if wrong != nil {
			return false // for field, which knows better
		}
		for _, s := range steps {
			if s.Field.Type != nil {
				k.names.ofType(s.Field.Type)
			}
			if p := s.Field.Proto; p != nil && p.Enum() != nil {
				k.names.ofEnum(p.Enum())
			}
		}
		return false
	})
}

func (c constants) ofType(t *message.Type) {
	for _, x := range t.Constants {
		list, err := literal.Parse(schema.Type{Kind: x.Kind}, x.Text)
		if err != nil || len(list) != 1 {
			continue
		}
		class, width := numbers.Of(x.Kind)
		bits := class.Widen(list[0].Bits, max(width, 1))
		v := value{kind: integer, whole: func(*run) int64 { return int64(bits) }}
		switch {
		case x.Kind == schema.String || x.Kind == schema.WString:
			v = value{kind: text, text: func(*run) string { return list[0].Text }}
		case x.Kind == schema.Bool:
			v = value{kind: truth, truth: func(*run) bool { return bits != 0 }}
		case class == numbers.Float:
			v = value{kind: float, float: func(*run) float64 { return math.Float64frombits(bits) }}
		case class == numbers.Unsigned && bits > math.MaxInt64:
			continue
		}
		c.add(x.Name, v)
	}
}

func (c constants) ofEnum(e protoreflect.EnumDescriptor) {
	for i := range e.Values().Len() {
		x := e.Values().Get(i)
		c.add(string(x.Name()), value{kind: integer, whole: func(*run) int64 { return int64(x.Number()) }})
	}
}

func (c constants) add(name string, v value) {
	old, known := c[name]
	c[name] = constant{v, known && !same(old.value, v)}
}

// same reports whether two constants are equal.
func same(a, b value) bool {
	switch {
	case a.kind != b.kind:
		return false
	case a.whole != nil:
		return a.whole(nil) == b.whole(nil)
	case a.float != nil:
		return a.float(nil) == b.float(nil)
	case a.text != nil:
		return a.text(nil) == b.text(nil)
	}
	return a.truth(nil) == b.truth(nil)
}

// constant compiles a name.
func (k *compiler) constant(n *ast.IdentifierNode) (value, error) {
	x, ok := k.names[n.Value]
	switch {
	case ok && x.ambiguous:
		return value{}, k.of.at(n, n.Value+" has several values in the types of the fields", "write its number")
	case ok:
		x.value.node = n
		return x.value, nil
	}
	names := make([]string, 0, len(k.names))
	for name := range k.names {
		names = append(names, name)
	}
	hint := "write text in quotes, and a field with its topic"
	if near := nearest.Suggest(n.Value, names); near != "" {
		hint = nearest.Meant(near, "")
	}
	return value{}, k.of.at(n, n.Value+" is no constant of the types of the fields", hint)
}

// some names fields of a type.
func some(t *message.Type) string { return nearest.Some(t.Names(), 8) }

// hintFor names the field that was meant, or all that there are.
func hintFor(e *message.PathError) string {
	if len(e.Known) == 0 {
		return ""
	}
	return nearest.Meant(nearest.Suggest(e.Field, e.Known), e.Type+" has "+nearest.Some(e.Known, 8))
}

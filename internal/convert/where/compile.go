package where

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
)

// A kind is what a value is.
type kind uint8

const (
	truth kind = iota
	integer
	float
	text
	moment // ns since 1970
	span   // ns
)

var kindNames = []string{"true or false", "an integer", "a float", "text", "a time", "a duration"}

func (k kind) String() string { return kindNames[k] }

// number reports whether it is one of the two kinds of numbers.
func (k kind) number() bool { return k == integer || k == float }

// A value is a part of a condition, compiled: one of its functions is set, by its kind.
type value struct {
	kind  kind
	node  ast.Node
	truth func(*run) bool
	whole func(*run) int64 // of an integer, a moment and a span
	float func(*run) float64
	text  func(*run) string
}

// A Filter tests messages of a topic.
type Filter struct {
	typ     *message.Type
	parts   []value
	columns []column // elements that are read before they are compared
	runs    sync.Pool
}

// A run is the test of one message.
type run struct {
	c    *message.Cursor
	err  error
	elem int // which element of the lists is looked at
	read []elements
	odd  bool // a float that was read is NaN or infinite
	made int  // bytes of text so far that expressions have made
}

// fail keeps the first error.
func (r *run) fail(format string, a ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, a...)
	}
}

// Holds reports whether a message fulfils all parts. The error says why the message does not decide it.
func (f *Filter) Holds(data []byte) (bool, error) {
	r := f.begin(data)
	holds := true
	for i := 0; i < len(f.parts) && holds && r.err == nil; i++ {
		holds = f.parts[i].truth(r)
	}
	err := f.end(r)
	return holds && err == nil, err
}

// begin begins the run of a message.
func (f *Filter) begin(data []byte) *run {
	r := f.runs.Get().(*run)
	r.c, r.err, r.odd, r.made = message.Open(f.typ, data), nil, false, 0
	return r
}

// end ends a run, and returns its error.
func (f *Filter) end(r *run) error {
	err := r.err
	if wrong := r.c.Err(); err == nil && wrong != nil {
		err = wrong
	}
	r.c.Close()
	r.c = nil
	f.runs.Put(r)
	return err
}

// seen notes a float that was read.
func (r *run) seen(x float64) float64 {
	r.odd = r.odd || x-x != 0
	return x
}

// A compiler makes a filter of parts of a condition.
type compiler struct {
	of     *Condition
	typ    *message.Type
	filter *Filter
	loop   *loop // around what is compiled; nil: no loop
	names  constants
}

// Compile makes the filter of a topic: of the parts about one of the names, which are of Topics. t is the type of its
// messages. The error is an *Error.
func (c *Condition) Compile(names []string, t *message.Type) (*Filter, error) {
	k := compiler{of: c, typ: t, filter: &Filter{typ: t}}
	for _, p := range c.parts {
		if !slices.Contains(names, p.topic) {
			continue
		}
		k.know(p.node)
		v, err := k.value(p.node)
		if err == nil && v.kind != truth && !c.valued {
			err = k.wrong(p.node, "it is %s, and no condition", v.kind)
		}
		if err != nil {
			return nil, err
		}
		k.filter.parts = append(k.filter.parts, v)
	}
	columns := len(k.filter.columns)
	k.filter.runs.New = func() any { return &run{read: make([]elements, columns)} }
	return k.filter, nil
}

// wrong returns an error about a node.
func (k *compiler) wrong(n ast.Node, format string, a ...any) error {
	return k.of.at(n, fmt.Sprintf(format, a...), "")
}

// value compiles a node.
func (k *compiler) value(n ast.Node) (value, error) {
	if r, err := refOf(n); err != nil {
		return value{}, k.wrong(n, "%s", err)
	} else if r != nil {
		return k.field(n, r)
	}
	switch n := n.(type) {
	case *ast.BoolNode:
		return value{kind: truth, node: n, truth: func(*run) bool { return n.Value }}, nil
	case *ast.IntegerNode:
		return value{kind: integer, node: n, whole: func(*run) int64 { return int64(n.Value) }}, nil
	case *ast.FloatNode:
		return value{kind: float, node: n, float: func(*run) float64 { return n.Value }}, nil
	case *ast.StringNode:
		return value{kind: text, node: n, text: func(*run) string { return n.Value }}, nil
	case *ast.IdentifierNode:
		return k.constant(n)
	case *ast.UnaryNode:
		return k.unary(n)
	case *ast.BinaryNode:
		return k.binary(n)
	case *ast.ConditionalNode:
		return k.choice(n)
	case *ast.CallNode:
		return k.call(n)
	case *ast.ArrayNode:
		return value{}, k.wrong(n, "a list stands only behind in, and as the whole value of a list")
	}
	return value{}, k.wrong(n, "this is no part of conditions")
}

// values compiles several nodes.
func (k *compiler) values(nodes ...ast.Node) (list []value, err error) {
	for _, n := range nodes {
		v, err := k.value(n)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (k *compiler) unary(n *ast.UnaryNode) (value, error) {
	v, err := k.value(n.Node)
	if err != nil {
		return v, err
	}
	inner := v
	v.node = n
	switch op := n.Operator; {
	case (op == "!" || op == "not") && v.kind == truth:
		v.truth = func(r *run) bool { return !inner.truth(r) }
	case op == "+" && v.kind.number(), op == "+" && v.kind == span:
	case op == "-" && v.kind == float:
		v.float = func(r *run) float64 { return -inner.float(r) }
	case op == "-" && (v.kind == integer || v.kind == span):
		v.whole = func(r *run) int64 { return subtract(r, 0, inner.whole(r)) }
	default:
		return v, k.wrong(n, "%s before %s", op, v.kind)
	}
	return v, nil
}

// choice compiles a ? b : c.
func (k *compiler) choice(n *ast.ConditionalNode) (value, error) {
	v, err := k.values(n.Cond, n.Exp1, n.Exp2)
	if err != nil {
		return value{}, err
	}
	cond, a, b := v[0], v[1], v[2]
	if a.kind.number() && b.kind.number() && a.kind != b.kind {
		a, b = a.toFloat(), b.toFloat()
	}
	if cond.kind != truth || a.kind != b.kind {
		return value{}, k.wrong(n, "a choice between %s and %s, by %s", a.kind, b.kind, cond.kind)
	}
	return value{kind: a.kind, node: n, truth: either(cond, a.truth, b.truth), whole: either(cond, a.whole, b.whole),
		float: either(cond, a.float, b.float), text: either(cond, a.text, b.text)}, nil
}

// either returns a function that calls a if a condition holds, else b.
func either[T any](cond value, a, b func(*run) T) func(*run) T {
	return func(r *run) T {
		if cond.truth(r) {
			return a(r)
		}
		return b(r)
	}
}

// toFloat returns a number as a float.
func (v value) toFloat() value {
	if v.kind == float {
		return v
	}
	return value{kind: float, node: v.node, float: func(r *run) float64 { return float64(v.whole(r)) }}
}

// field compiles a field of the message.
func (k *compiler) field(n ast.Node, ref *ref) (value, error) {
	if ref.path == "" {
		return value{}, k.of.at(n, ref.topic+" is a topic", "name a field of it: "+some(k.typ))
	}
	if ref.each > 0 {
		return k.element(n, ref)
	}
	path, err := k.typ.Path(ref.path)
	if err != nil {
		return value{}, k.pathError(n, err)
	}
	path.Defaults = true
	f := path.Field
	if f.List && !path.Element() {
		return value{}, k.of.at(n, f.Name+" is a list", fmt.Sprintf("write %s[0] for one element, or %s[] in any()", f.Name,
			f.Name))
	}
	v, err := k.reading(n, f)
	if err != nil {
		return v, err
	}
	reach := func(r *run) bool {
		if r.err != nil {
			return false
		}
		r.c.Rewind()
		if r.c.Seek(path) {
			return true
		}
		if err := r.c.Err(); err != nil {
			r.err = err
		} else {
			r.fail("the list has no element of %s.%s", ref.topic, ref.path)
		}
		return false
	}
	switch v.kind {
	case truth:
		v.truth = reached(reach, func(r *run) bool { return r.c.Bits(f) != 0 })
	case integer:
		v.whole = reached(reach, func(r *run) int64 { return signed(r, f, r.c.Bits(f)) })
	case float:
		v.float = reached(reach, func(r *run) float64 { return r.seen(real(f, r.c.Bits(f))) })
	case text:
		v.text = reached(reach, func(r *run) string { return string(r.c.Text(f)) })
	default:
		v.whole = reached(reach, func(r *run) int64 { return nanoseconds(r, f) })
	}
	return v, nil
}

// reached returns a function that reads a field if the cursor reaches it, else returns the zero value.
func reached[T any](reach func(*run) bool, read func(*run) T) func(*run) T {
	return func(r *run) (v T) {
		if reach(r) {
			v = read(r)
		}
		return v
	}
}

// reading returns the kind of a field as a value without functions.
func (k *compiler) reading(n ast.Node, f *message.Field) (value, error) {
	v := value{node: n}
	switch {
	case f.Clock == schema.Time:
		v.kind = moment
	case f.Clock == schema.Duration:
		v.kind = span
	case f.Kind == message.Struct:
		return v, k.of.at(n, f.Name+" is a struct", "name a field of it: "+some(f.Type))
	case f.Kind == message.Text, f.Kind == message.Bytes:
		v.kind = text
	case f.Kind == message.Bool:
		v.kind = truth
	case f.Kind == message.Float:
		v.kind = float
	default:
		v.kind = integer
	}
	return v, nil
}

// pathError returns the error of a path that does not fit the type, with the fields that there are.
func (k *compiler) pathError(n ast.Node, err error) error {
	var wrong *message.PathError
	if !errors.As(err, &wrong) {
		return k.wrong(n, "%s", err)
	}
	for m, ok := n.(*ast.MemberNode); ok; m, ok = m.Node.(*ast.MemberNode) {
		if name, _ := m.Property.(*ast.StringNode); name != nil && strings.TrimSuffix(name.Value, brackets) == wrong.Field {
			what := fmt.Sprintf("%s has no field %q", wrong.Type, wrong.Field)
			return &Error{k.of.text, name.Location().From, what, hintFor(wrong)}
		}
	}
	return k.of.at(n, wrong.Error(), hintFor(wrong))
}

package where

import (
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/nearest"
)

// overElements are the functions over the elements of a list.
var overElements = []string{"any", "all", "none", "one", "count", "min", "max", "sum", "mean"}

// call compiles a function.
func (k *compiler) call(n *ast.CallNode) (value, error) {
	name, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return value{}, k.wrong(n, "a field is no function")
	}
	if slices.Contains(overElements, name.Value) {
		return k.elements(n, name.Value)
	}
	if name.Value == "replace" {
		return k.replace(n)
	}
	if len(n.Arguments) != 1 {
		if f := functions[name.Value]; f == nil && name.Value != "len" && ofText[name.Value] == nil {
			return value{}, k.unknown(n, name.Value)
		}
		return value{}, k.wrong(n, "%s() takes one value", name.Value)
	}
	if name.Value == "len" {
		return k.length(n)
	}
	if parse := ofText[name.Value]; parse != nil {
		s, ok := n.Arguments[0].(*ast.StringNode)
		if !ok {
			return value{}, k.wrong(n, "%s() takes text in quotes", name.Value)
		}
		v, err := parse(s.Value)
		if err != nil {
			return v, k.wrong(n.Arguments[0], "%s", err)
		}
		v.node = n
		return v, nil
	}
	f := functions[name.Value]
	if f == nil {
		return value{}, k.unknown(n, name.Value)
	}
	v, err := k.value(n.Arguments[0])
	if err != nil {
		return v, err
	}
	out, ok := f(v)
	if !ok {
		return v, k.wrong(n, "%s() of %s", name.Value, v.kind)
	}
	out.node = n
	return out, nil
}

func (k *compiler) unknown(n ast.Node, name string) error {
	names := append([]string{"len", "date", "duration", "topic", "replace"}, overElements...)
	for f := range functions {
		names = append(names, f)
	}
	slices.Sort(names)
	return k.of.at(n, "there is no function "+name, nearest.Meant(nearest.Suggest(name, names), "there are "+
		strings.Join(names, ", ")))
}

// ofText are functions of text in quotes.
var ofText = map[string]func(string) (value, error){
	"date": func(s string) (value, error) {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			if at, err = time.Parse(time.DateOnly, s); err != nil {
				return value{}, errDate
			}
		}
		if y := at.Year(); y < 1678 || y > 2261 {
			return value{}, errDate
		}
		ns := at.UnixNano()
		return value{kind: moment, whole: func(*run) int64 { return ns }}, nil
	},
	"duration": func(s string) (value, error) {
		d, err := time.ParseDuration(s)
		return value{kind: span, whole: func(*run) int64 { return int64(d) }}, err
	},
}

type plain string

func (e plain) Error() string { return string(e) }

const errDate = plain(`not a time such as "2024-01-02T15:04:05.5Z" or "2024-01-02", from 1678 to 2261`)

// functions of one value; false if they do not take its kind.
var functions = map[string]func(value) (value, bool){
	"abs": func(v value) (value, bool) {
		if v.kind == integer || v.kind == span {
			return value{kind: v.kind, whole: func(r *run) int64 {
				if n := v.whole(r); n < 0 {
					return subtract(r, 0, n)
				} else {
					return n
				}
			}}, true
		}
		return rounding(math.Abs)(v)
	},
	"floor": rounding(math.Floor), "ceil": rounding(math.Ceil), "round": rounding(math.Round),
	"sqrt":  func(v value) (value, bool) { return rounding(math.Sqrt)(v.floatIf(v.kind == integer)) },
	"float": func(v value) (value, bool) { return v.floatIf(v.kind == integer), v.kind.number() },
	"isNaN": func(v value) (value, bool) {
		return value{kind: truth, truth: func(r *run) bool { return math.IsNaN(v.float(r)) }}, v.kind == float
	},
	"int": func(v value) (value, bool) {
		if v.kind != float {
			return v, v.kind == integer
		}
		return value{kind: integer, whole: func(r *run) int64 {
			x := math.Trunc(v.float(r))
			if !(x >= -1<<63 && x < 1<<63) {
				r.fail("%v is no integer of 64 bits", x)
				return 0
			}
			return int64(x)
		}}, true
	},
	"seconds": func(v value) (value, bool) {
		return value{kind: float, float: func(r *run) float64 { return float64(v.whole(r)) / 1e9 }},
			v.kind == moment || v.kind == span
	},
	"lower": texts(strings.ToLower), "upper": texts(strings.ToUpper), "trim": texts(strings.TrimSpace),
}

func (v value) floatIf(change bool) value {
	if change {
		return v.toFloat()
	}
	return v
}

// rounding returns a function of floats; integers stay as they are.
func rounding(f func(float64) float64) func(value) (value, bool) {
	return func(v value) (value, bool) {
		if v.kind != float {
			return v, v.kind == integer
		}
		return value{kind: float, float: func(r *run) float64 { return f(v.float(r)) }}, true
	}
}

func texts(f func(string) string) func(value) (value, bool) {
	return func(v value) (value, bool) {
		return value{kind: text, text: func(r *run) string { return f(v.text(r)) }}, v.kind == text
	}
}

// length compiles len: the elements of a list, or the characters of text.
func (k *compiler) length(n *ast.CallNode) (value, error) {
	ref, err := refOf(n.Arguments[0])
	if err == nil && ref != nil && ref.each == 0 && ref.path != "" {
		path, err := k.typ.Path(ref.path)
		if err != nil {
			return value{}, k.pathError(n.Arguments[0], err)
		}
		path.Defaults = true
		if path.Field.List && !path.Element() {
			return value{kind: integer, node: n, whole: func(r *run) int64 { return count(r, path) }}, nil
		}
	}
	v, err := k.value(n.Arguments[0])
	if err == nil && v.kind != text {
		err = k.wrong(n, "len() of %s", v.kind)
	}
	characters := func(r *run) int64 { return int64(utf8.RuneCountInString(v.text(r))) }
	return value{kind: integer, node: n, whole: characters}, err
}

func count(r *run, path *message.Path) (n int64) {
	if r.err != nil {
		return 0
	}
	r.c.Rewind()
	if r.c.Seek(path) {
		n = int64(r.c.Count(path.Field))
	}
	r.decoded()
	return n
}

// elements compiles a function over the elements of a list.
func (k *compiler) elements(n *ast.CallNode, name string) (value, error) {
	if k.loop != nil {
		return value{}, k.wrong(n, "%s() within another such function", name)
	}
	if len(n.Arguments) != 1 {
		return value{}, k.wrong(n, "%s() takes one value, with [] behind a list", name)
	}
	l := &loop{}
	k.loop = l
	v, err := k.value(n.Arguments[0])
	k.loop = nil
	switch {
	case err != nil:
		return v, err
	case len(l.columns) == 0:
		return v, k.of.at(n, name+"() needs [] behind a list", "such as any(/scan.ranges[] < 1)")
	}
	out := value{kind: truth, node: n}
	each := l.visitor(k.filter)
	numeric := name == "min" || name == "max" || name == "sum" || name == "mean"
	switch {
	case numeric && !v.kind.number():
		return out, k.wrong(n, "%s() of %s", name, v.kind)
	case numeric:
		return statistic(name, v, each, n), nil
	case v.kind != truth:
		return out, k.of.at(n, name+"() of "+v.kind.String(), "write a condition in it, such as any(/scan.ranges[] < 1)")
	}
	quantify(name, &out, v, each)
	return out, nil
}

// visitor returns what visits the elements of a loop, until visit is false.
func (l *loop) visitor(f *Filter) func(r *run, visit func() bool) {
	return func(r *run, visit func() bool) {
		for i, n := 0, l.start(f, r); i < n && r.err == nil; i++ {
			if r.elem = i; !visit() {
				return
			}
		}
	}
}

// quantify compiles any, all, none, one and count.
func quantify(name string, out *value, v value, each func(*run, func() bool)) {
	hits := func(r *run, until int64) (hits int64) {
		each(r, func() bool {
			if v.truth(r) {
				hits++
			}
			return hits < until
		})
		return hits
	}
	switch name {
	case "any":
		out.truth = func(r *run) bool { return hits(r, 1) > 0 }
	case "none":
		out.truth = func(r *run) bool { return hits(r, 1) == 0 }
	case "one":
		out.truth = func(r *run) bool { return hits(r, 2) == 1 }
	case "count":
		out.kind, out.whole = integer, func(r *run) int64 { return hits(r, math.MaxInt64) }
	default:
		out.truth = func(r *run) bool {
			all := true
			each(r, func() bool {
				all = v.truth(r)
				return all
			})
			return all
		}
	}
}

// statistic compiles min, max, sum and mean.
func statistic(name string, v value, each func(*run, func() bool), node ast.Node) value {
	f := v.toFloat()
	float64s := func(r *run, join func(a, b float64) float64) (out float64, n int) {
		each(r, func() bool {
			if x := f.float(r); n == 0 {
				out = x
			} else {
				out = join(out, x)
			}
			n++
			return true
		})
		if n == 0 && name != "sum" {
			r.fail("%s() of an empty list", name)
		}
		return out, n
	}
	sum := func(a, b float64) float64 { return a + b }
	out := value{kind: float, node: node}
	switch {
	case v.kind == integer && name != "mean":
		join := map[string]func(*run, int64, int64) int64{"sum": add,
			"min": func(_ *run, a, b int64) int64 { return min(a, b) },
			"max": func(_ *run, a, b int64) int64 { return max(a, b) }}[name]
		out.kind = integer
		out.whole = func(r *run) (total int64) {
			n := 0
			each(r, func() bool {
				if x := v.whole(r); n == 0 {
					total = x
				} else {
					total = join(r, total, x)
				}
				n++
				return true
			})
			if n == 0 && name != "sum" {
				r.fail("%s() of an empty list", name)
			}
			return total
		}
	case name == "mean":
		out.float = func(r *run) float64 {
			total, n := float64s(r, sum)
			return total / float64(max(n, 1))
		}
	default:
		join := map[string]func(a, b float64) float64{"sum": sum, "min": math.Min, "max": math.Max}[name]
		out.float = func(r *run) float64 {
			x, _ := float64s(r, join)
			return x
		}
	}
	return out
}

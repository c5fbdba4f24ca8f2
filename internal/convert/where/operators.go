package where

import (
	"math"
	"math/bits"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// add, subtract and multiply fail at a result that has more than 64 bits.
func add(r *run, a, b int64) int64 {
	c := a + b
	if (c > a) != (b > 0) && b != 0 {
		r.fail("%d + %d has more than 64 bits", a, b)
	}
	return c
}

func subtract(r *run, a, b int64) int64 {
	c := a - b
	if (c < a) != (b > 0) && b != 0 {
		r.fail("%d - %d has more than 64 bits", a, b)
	}
	return c
}

func multiply(r *run, a, b int64) int64 {
	abs := func(x int64) uint64 {
		if x < 0 {
			return -uint64(x)
		}
		return uint64(x)
	}
	high, low := bits.Mul64(abs(a), abs(b))
	if limit := uint64(math.MaxInt64); high > 0 || low > limit && !((a < 0) != (b < 0) && low == limit+1) {
		r.fail("%d * %d has more than 64 bits", a, b)
	}
	return a * b
}

// compare compares an integer and a float exactly: -1, 0 or 1, and 2 for NaN.
func compare(a int64, b float64) int {
	switch {
	case b != b:
		return 2
	case b >= 1<<63:
		return -1
	case b < -1<<63:
		return 1
	}
	whole := math.Trunc(b)
	switch i := int64(whole); {
	case a < i || a == i && b > whole:
		return -1
	case a > i || a == i && b < whole:
		return 1
	}
	return 0
}

// order is -1, 0 or 1, and 2 if one of them is NaN.
func order[T int64 | float64 | string](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return 2
}

// comparisons say for which order they hold.
var comparisons = map[string]func(order int) bool{
	"==": func(o int) bool { return o == 0 }, "!=": func(o int) bool { return o != 0 },
	"<": func(o int) bool { return o == -1 }, "<=": func(o int) bool { return o == -1 || o == 0 },
	">": func(o int) bool { return o == 1 }, ">=": func(o int) bool { return o == 1 || o == 0 },
}

// ordered returns a function that orders two values; nil if they cannot be compared.
func ordered(a, b value) func(*run) int {
	switch {
	case a.kind == integer && b.kind == float:
		return func(r *run) int { return compare(a.whole(r), b.float(r)) }
	case a.kind == float && b.kind == integer:
		return func(r *run) int {
			o := compare(b.whole(r), a.float(r))
			if o == 2 {
				return o
			}
			return -o
		}
	case a.kind != b.kind || a.kind == truth:
		return nil
	case a.kind == float:
		return func(r *run) int { return order(a.float(r), b.float(r)) }
	case a.kind == text:
		return func(r *run) int { return order(a.text(r), b.text(r)) }
	}
	return func(r *run) int { return order(a.whole(r), b.whole(r)) }
}

// binary compiles two operands with an operator between them.
func (k *compiler) binary(n *ast.BinaryNode) (value, error) {
	switch n.Operator {
	case "in":
		return k.in(n)
	case "matches":
		return k.matches(n)
	}
	v, err := k.values(n.Left, n.Right)
	if err != nil {
		return value{}, err
	}
	a, b := v[0], v[1]
	out := value{kind: truth, node: n}
	if holds := comparisons[n.Operator]; holds != nil {
		if a.kind == truth && b.kind == truth && (n.Operator == "==" || n.Operator == "!=") {
			equal := n.Operator == "=="
			out.truth = func(r *run) bool { return (a.truth(r) == b.truth(r)) == equal }
			return out, nil
		}
		o := ordered(a, b)
		if o == nil {
			return out, k.of.at(n, a.kind.String()+" "+n.Operator+" "+b.kind.String(), kindHint(a, b))
		}
		out.truth = func(r *run) bool { return holds(o(r)) }
		return out, nil
	}
	switch op := n.Operator; {
	case (op == "&&" || op == "and") && a.kind == truth && b.kind == truth:
		out.truth = func(r *run) bool { return a.truth(r) && r.err == nil && b.truth(r) }
		return out, nil
	case (op == "||" || op == "or") && a.kind == truth && b.kind == truth:
		out.truth = func(r *run) bool { return a.truth(r) || r.err == nil && b.truth(r) }
		return out, nil
	case a.kind == text && b.kind == text && op == "+":
		return value{kind: text, node: n, text: func(r *run) string { return joinText(r, a.text(r), b.text(r)) }}, nil
	case a.kind == text && b.kind == text:
		if out.truth = textOperator(op, a, b); out.truth != nil {
			return out, nil
		}
	case a.kind.number() && b.kind.number():
		return k.arithmetic(n, a, b)
	case a.kind == moment || a.kind == span:
		if out, ok := clockArithmetic(op, a, b); ok {
			out.node = n
			return out, nil
		}
	}
	return out, k.wrong(n, "%s %s %s", a.kind, n.Operator, b.kind)
}

// kindHint is the next step if two kinds cannot be compared.
func kindHint(a, b value) string {
	switch {
	case a.kind == moment || b.kind == moment:
		return `write date("2024-01-02T15:04:05Z"), or seconds(...) of a time`
	case a.kind == span || b.kind == span:
		return `write duration("1.5s"), or seconds(...) of a duration`
	}
	return "both sides must be of one kind"
}

func textOperator(op string, a, b value) func(*run) bool {
	var test func(a, b string) bool
	switch op {
	case "contains":
		test = strings.Contains
	case "startsWith":
		test = strings.HasPrefix
	case "endsWith":
		test = strings.HasSuffix
	default:
		return nil
	}
	return func(r *run) bool { return test(a.text(r), b.text(r)) }
}

// arithmetic compiles + - * / % ** of numbers.
func (k *compiler) arithmetic(n *ast.BinaryNode, a, b value) (value, error) {
	op := n.Operator
	whole := map[string]func(*run, int64, int64) int64{"+": add, "-": subtract, "*": multiply, "%": remainder}[op]
	if whole != nil && a.kind == integer && b.kind == integer {
		return value{kind: integer, node: n, whole: func(r *run) int64 { return whole(r, a.whole(r), b.whole(r)) }}, nil
	}
	do := map[string]func(r *run, a, b float64) float64{
		"+":  func(_ *run, a, b float64) float64 { return a + b },
		"-":  func(_ *run, a, b float64) float64 { return a - b },
		"*":  func(_ *run, a, b float64) float64 { return a * b },
		"/":  divide,
		"**": func(_ *run, a, b float64) float64 { return math.Pow(a, b) },
		"^":  func(_ *run, a, b float64) float64 { return math.Pow(a, b) },
	}[op]
	if do == nil {
		return value{}, k.wrong(n, "%s %s %s", a.kind, op, b.kind)
	}
	x, y := a.toFloat(), b.toFloat()
	return value{kind: float, node: n, float: func(r *run) float64 { return do(r, x.float(r), y.float(r)) }}, nil
}

func divide(r *run, a, b float64) float64 {
	if b == 0 {
		r.fail("%v / %v: a division by zero", a, b)
		return 0
	}
	return a / b
}

func remainder(r *run, a, b int64) int64 {
	switch b {
	case 0:
		r.fail("%d %% 0: a division by zero", a)
		return 0
	case -1:
		return 0
	}
	return a % b
}

// clockArithmetic compiles sums and differences of times and durations.
func clockArithmetic(op string, a, b value) (out value, ok bool) {
	do := map[string]func(*run, int64, int64) int64{"+": add, "-": subtract}[op]
	if do == nil {
		return out, false
	}
	out.whole = func(r *run) int64 { return do(r, a.whole(r), b.whole(r)) }
	switch {
	case a.kind == moment && b.kind == moment && op == "-", a.kind == span && b.kind == span:
		out.kind = span
	case a.kind == moment && b.kind == span:
		out.kind = moment
	default:
		return out, false
	}
	return out, true
}

// in compiles x in [a, b] and x in a..b.
func (k *compiler) in(n *ast.BinaryNode) (value, error) {
	var nodes []ast.Node
	between := false
	switch list := n.Right.(type) {
	case *ast.ArrayNode:
		nodes = list.Nodes
	case *ast.BinaryNode:
		if between = list.Operator == ".."; between {
			nodes = []ast.Node{list.Left, list.Right}
		}
	}
	if nodes == nil {
		return value{}, k.of.at(n.Right, "no list behind in", "write in [1, 2] or in 1..5")
	}
	v, err := k.values(append([]ast.Node{n.Left}, nodes...)...)
	if err != nil {
		return value{}, err
	}
	var orders []func(*run) int
	for _, e := range v[1:] {
		if v[0].kind == truth || ordered(v[0], e) == nil {
			return value{}, k.wrong(e.node, "%s is looked for among %s", v[0].kind, e.kind)
		}
		orders = append(orders, ordered(v[0], e))
	}
	if between {
		return value{kind: truth, node: n, truth: func(r *run) bool {
			a, b := orders[0](r), orders[1](r)
			return (a == 0 || a == 1) && (b == 0 || b == -1)
		}}, nil
	}
	return value{kind: truth, node: n, truth: func(r *run) bool {
		for _, o := range orders {
			if o(r) == 0 && r.err == nil {
				return true
			}
		}
		return false
	}}, nil
}

// matches compiles x matches "regular expression".
func (k *compiler) matches(n *ast.BinaryNode) (value, error) {
	v, err := k.value(n.Left)
	if err != nil {
		return v, err
	}
	s, ok := n.Right.(*ast.StringNode)
	if !ok || v.kind != text {
		return v, k.wrong(n, "matches takes text, and a regular expression in quotes")
	}
	expr, err := regexp.Compile(s.Value)
	if err != nil {
		return v, k.wrong(n.Right, "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return value{kind: truth, node: n, truth: func(r *run) bool { return expr.MatchString(v.text(r)) }}, nil
}

package rosidl

import (
	"math"
	"strconv"
)

// The operators of constant expressions, by how tightly they bind
// (ros2/rosidl grammar.lark, const_expr). ">>" is two tokens: see lex.
var operators = map[string]int{"|": 1, "^": 2, "&": 3, "<<": 4, ">": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}

// expression reads an integer: literals, names of constants, operators. In angle
// brackets a '>' ends it.
func (p *parser) expression(scope []string, binds, depth int, angle bool) (int64, error) {
	if depth > maxDepth {
		return 0, p.fail("an expression is nested too deeply")
	}
	a, err := p.operand(scope, depth, angle)
	for err == nil {
		op := p.peek().text
		level := operators[op]
		if p.peek().kind != signToken || level <= binds || op == ">" && (angle || p.tokens[p.at+1].text != ">") {
			return a, nil
		}
		p.next()
		if op == ">" {
			p.next()
		}
		var b int64
		if b, err = p.expression(scope, level, depth+1, angle); err == nil {
			a, err = p.apply(op, a, b)
		}
	}
	return 0, err
}

func (p *parser) operand(scope []string, depth int, angle bool) (int64, error) {
	if depth > maxDepth {
		return 0, p.fail("an expression is nested too deeply")
	}
	switch {
	case p.accept("-"):
		n, err := p.operand(scope, depth+1, angle)
		return -n, err
	case p.accept("+"):
		return p.operand(scope, depth+1, angle)
	case p.accept("~"):
		n, err := p.operand(scope, depth+1, angle)
		return ^n, err
	case p.accept("("):
		n, err := p.expression(scope, 0, depth+1, false)
		if err == nil {
			err = p.expect(")")
		}
		return n, err
	}
	text := p.peek().text
	switch {
	case p.peek().kind == numberToken:
		if n, err := strconv.ParseInt(text, 0, 64); err == nil {
			p.next()
			return n, nil
		}
	case p.peek().kind == wordToken || text == "::":
		name, err := p.scopedName()
		if err != nil {
			return 0, err
		}
		for _, c := range candidates(name, scope) {
			if v, ok := p.numbers[c]; ok {
				return v, nil
			}
		}
		text = name
	}
	return 0, p.fail("not a whole number: " + strconv.Quote(clip(text)))
}

func (p *parser) apply(op string, a, b int64) (int64, error) {
	switch op {
	case "|":
		return a | b, nil
	case "^":
		return a ^ b, nil
	case "&":
		return a & b, nil
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	}
	switch {
	case (op == "<<" || op == ">") && (b < 0 || b > 63):
		return 0, p.fail("a shift by " + strconv.FormatInt(b, 10))
	case op == "<<":
		return a << b, nil
	case op == ">":
		return a >> b, nil
	case b == 0:
		return 0, p.fail("a division by zero")
	case op == "/":
		return a / b, nil
	}
	return a % b, nil
}

// bound reads the bound of a list or text; 0 is no bound. eProsima's tools write 4294967295 for it,
// and no message has a count of 2^31 or more.
func (p *parser) bound(scope []string) (int, error) {
	n, err := p.expression(scope, 0, 0, true)
	switch {
	case err == nil && n > math.MaxInt32 && n <= math.MaxUint32:
		return 0, nil
	case err == nil && (n < 1 || n > math.MaxInt32):
		err = p.fail("not a number of elements: " + strconv.FormatInt(n, 10))
	}
	return int(n), err
}

// number reads a number of elements that is at least low.
func (p *parser) number(scope []string, low int64, angle bool) (int, error) {
	n, err := p.expression(scope, 0, 0, angle)
	if err == nil && (n < low || n > math.MaxInt32) {
		err = p.fail("not a number of elements: " + strconv.FormatInt(n, 10))
	}
	return int(n), err
}

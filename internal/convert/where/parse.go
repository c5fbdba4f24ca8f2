package where

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

// maxText is how long a condition may be, in bytes.
const maxText = 8192

// A Condition is a text that was read.
type Condition struct {
	text   string
	parts  []part
	valued bool // it has a value of any kind, and is one part
}

// A part is what has && on both sides.
type part struct {
	topic string // as it was written
	node  ast.Node
}

// An Error describes what is wrong at a place in the text of a condition.
type Error struct {
	Text string
	At   int // characters before the place
	What string
	Hint string // the next step; "": there is no better one than to look at the place
}

func (e *Error) Error() string {
	rest := []rune(e.Text)[min(e.At, utf8.RuneCountInString(e.Text)):]
	place := "at its end"
	if len(rest) > 0 {
		if place = fmt.Sprintf("at character %d, %q", e.At+1, string(rest[:min(len(rest), 20)])); len(rest) > 20 {
			place += "..."
		}
	}
	text := fmt.Sprintf("%s: %s: %s", e.Text, place, e.What)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// String returns the text of the condition.
func (c *Condition) String() string { return c.text }

// Parse reads a condition. The error is an *Error.
func Parse(text string) (*Condition, error) {
	c := &Condition{text: text}
	root, err := c.parse()
	if err != nil {
		return nil, err
	}
	return c, c.split(root)
}

// ParseValue reads what may have a value of any kind, about one topic: see Filter.Value. The error is an *Error.
func ParseValue(text string) (*Condition, error) {
	c := &Condition{text: text, valued: true}
	root, err := c.parse()
	if err != nil {
		return nil, err
	}
	return c, c.add(root)
}

// parse reads the text.
func (c *Condition) parse() (ast.Node, error) {
	text := c.text
	switch {
	case len(text) > maxText:
		return nil, &Error{text[:40], 0, fmt.Sprintf("a condition of %d bytes", len(text)),
			fmt.Sprintf("it may have %d", maxText)}
	case !utf8.ValidString(text):
		return nil, &Error{strings.ToValidUTF8(text, "?"), 0, "it is not UTF-8", ""}
	}
	masked, err := mask(text)
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseWithConfig(masked, grammar())
	if err != nil {
		return nil, c.syntax(err)
	}
	return tree.Node, nil
}

// grammar has all functions as plain calls: which there are is for the compiler.
func grammar() *conf.Config {
	g := conf.CreateNew()
	for name := range g.Builtins {
		g.Functions[name] = &builtin.Function{Name: name}
	}
	return g
}

// syntax returns an error of the parser as an error of the condition.
func (c *Condition) syntax(err error) error {
	var wrong *file.Error
	if !errors.As(err, &wrong) {
		return &Error{c.text, 0, unmask(err.Error()), ""}
	}
	return &Error{c.text, wrong.From, unmask(wrong.Message), ""}
}

// split takes the parts of a condition.
func (c *Condition) split(n ast.Node) error {
	if and, ok := n.(*ast.BinaryNode); ok && (and.Operator == "&&" || and.Operator == "and") {
		if err := c.split(and.Left); err != nil {
			return err
		}
		return c.split(and.Right)
	}
	return c.add(n)
}

// add takes a part, and finds its topic.
func (c *Condition) add(n ast.Node) error {
	var topics []string
	var wrong error
	walk(n, func(n ast.Node) bool {
		ref, err := refOf(n)
		switch {
		case wrong != nil || err != nil:
			if wrong == nil {
				wrong = c.at(n, err.Error(), "")
			}
			return false
		case ref == nil:
			return true
		case len(topics) > 0 && topics[0] != ref.topic:
			wrong = c.at(n, fmt.Sprintf("%s and %s are compared, and their messages come at different times", topics[0],
				ref.topic), "write a condition for each, with && between them")
		}
		topics = append(topics, ref.topic)
		return false
	})
	if wrong == nil && len(topics) == 0 {
		wrong = c.at(n, "no topic is named", "write a field as /odom.twist.twist.linear.x")
	}
	if wrong == nil {
		c.parts = append(c.parts, part{topics[0], n})
	}
	return wrong
}

// at returns an error about a place.
func (c *Condition) at(n ast.Node, what, hint string) *Error {
	return &Error{c.text, start(n), what, hint}
}

// start returns where a node begins: the parser has the place of its operator or of its last name.
func start(n ast.Node) int {
	at := n.Location().From
	walk(n, func(n ast.Node) bool {
		at = min(at, n.Location().From)
		return true
	})
	return at
}

// Topics returns the topics, as they are written, each once: names, or patterns of topic().
func (c *Condition) Topics() (list []string) {
	for _, p := range c.parts {
		if !slices.Contains(list, p.topic) {
			list = append(list, p.topic)
		}
	}
	return list
}

// A ref is a field as it is written.
type ref struct {
	topic string
	path  string // with an index behind lists
	each  int    // how many [] it has
}

// refOf returns the field that a node stands for; nil: it stands for something else.
func refOf(n ast.Node) (*ref, error) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if strings.HasPrefix(n.Value, slash) {
			return &ref{topic: unmask(n.Value)}, nil
		}
	case *ast.CallNode:
		name, ok := n.Callee.(*ast.IdentifierNode)
		if !ok || name.Value != "topic" {
			break
		}
		if len(n.Arguments) == 1 {
			if s, ok := n.Arguments[0].(*ast.StringNode); ok && s.Value != "" {
				return &ref{topic: s.Value}, nil
			}
		}
		return nil, errors.New(`topic() takes a name in quotes, such as topic("/a-b")`)
	case *ast.MemberNode:
		r, err := refOf(n.Node)
		if r == nil || err != nil {
			return nil, err
		}
		switch p := n.Property.(type) {
		case *ast.StringNode:
			name, each := strings.CutSuffix(p.Value, brackets)
			if r.path += "." + name; each {
				r.path += "[]"
				r.each++
			}
		case *ast.IntegerNode:
			r.path += "[" + strconv.Itoa(p.Value) + "]"
		default:
			return nil, errors.New("an index is a number, such as ranges[3]")
		}
		r.path = strings.TrimPrefix(r.path, ".")
		return r, nil
	}
	return nil, nil
}

// walk visits a node and what it consists of, until visit is false.
func walk(n ast.Node, visit func(ast.Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	switch n := n.(type) {
	case *ast.UnaryNode:
		walk(n.Node, visit)
	case *ast.BinaryNode:
		walk(n.Left, visit)
		walk(n.Right, visit)
	case *ast.MemberNode:
		walk(n.Node, visit)
		walk(n.Property, visit)
	case *ast.ChainNode:
		walk(n.Node, visit)
	case *ast.SliceNode:
		walk(n.Node, visit)
	case *ast.ConditionalNode:
		walk(n.Cond, visit)
		walk(n.Exp1, visit)
		walk(n.Exp2, visit)
	case *ast.ArrayNode:
		for _, e := range n.Nodes {
			walk(e, visit)
		}
	case *ast.CallNode:
		for _, a := range n.Arguments {
			walk(a, visit)
		}
	case *ast.BuiltinNode:
		for _, a := range n.Arguments {
			walk(a, visit)
		}
	case *ast.PredicateNode:
		walk(n.Node, visit)
	}
}

// The parser knows neither names of topics nor [], so that letters stand for their characters, one for one: places
// stay what they are.
const (
	slash    = "ǀ"
	brackets = "ǂǂ"
)

func unmask(s string) string { return strings.NewReplacer(slash, "/", brackets, "[]").Replace(s) }

// operators are the words of the grammar after which an operand comes.
var operators = []string{"and", "or", "not", "in", "matches", "contains", "startsWith", "endsWith"}

// mask replaces the characters of topics and [].
func mask(text string) (string, error) {
	var b strings.Builder
	if i := strings.IndexAny(text, slash+brackets); i >= 0 {
		return "", &Error{text, utf8.RuneCountInString(text[:i]), "an unexpected character", ""}
	}
	in := []rune(text)
	operand := true // it comes next, so that / begins a topic
	for i := 0; i < len(in); {
		r := in[i]
		end := i + 1
		switch {
		case unicode.IsSpace(r):
		case r == '"' || r == '\'' || r == '`':
			for end < len(in) && in[end] != r {
				if in[end] == '\\' && r != '`' {
					end++
				}
				end++
			}
			end, operand = min(end+1, len(in)), false
		case r == '/' && operand && end < len(in) && wordly(in[end]):
			for end < len(in) && (wordly(in[end]) || in[end] == '/') {
				end++
			}
			b.WriteString(strings.ReplaceAll(string(in[i:end]), "/", slash))
			i, operand = end, false
			continue
		case r == '[' && !operand && end < len(in) && in[end] == ']':
			b.WriteString(brackets)
			i += 2
			continue
		case wordly(r):
			for end < len(in) && wordly(in[end]) {
				end++
			}
			operand = slices.Contains(operators, string(in[i:end])) && (i == 0 || in[i-1] != '.')
		default:
			operand = !strings.ContainsRune(")]}", r)
		}
		b.WriteString(string(in[i:end]))
		i = end
	}
	return b.String(), nil
}

func wordly(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

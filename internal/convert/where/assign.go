package where

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
)

// An Assignment gives fields of a topic other values: TOPIC.FIELD = VALUE.
type Assignment struct {
	of     *Condition // its text, for errors
	target *ref
	at     ast.Node // the target
	value  ast.Node // nil: the default
}

// String returns the text of the assignment.
func (a *Assignment) String() string { return a.of.text }

// Topic returns the topic as it is written: a name, or the pattern of topic().
func (a *Assignment) Topic() string { return a.target.topic }

// Flag returns the flag that the assignment is a value of.
func (a *Assignment) Flag() string {
	if a.value == nil {
		return "--drop-field"
	}
	return "--set"
}

// ParseAssignment reads TOPIC.FIELD = VALUE. The error is an *Error.
func ParseAssignment(text string) (*Assignment, error) {
	from := equals(text)
	if from < 0 && len(text) <= maxText {
		return nil, &Error{text, utf8.RuneCountInString(text), "there is no value",
			`write TOPIC.FIELD = VALUE, such as /imu.header.frame_id = "imu"`}
	}
	a, err := parseTarget(text, text[:max(from, 0)])
	if err != nil {
		return nil, err
	}
	blanks := strings.Repeat(" ", utf8.RuneCountInString(text[:from+1])) // places stay
	if a.value, err = parseNode(a.of, blanks+text[from+1:]); err != nil {
		return nil, err
	}
	var wrong error
	walk(a.value, func(n ast.Node) bool {
		r, err := refOf(n)
		switch {
		case err != nil:
			wrong = a.of.at(n, err.Error(), "")
		case r != nil && r.topic != a.target.topic:
			wrong = a.of.at(n, fmt.Sprintf("a value of %s for a field of %s, whose messages come at different times", r.topic,
				a.target.topic), "take fields of one topic")
		}
		return wrong == nil && r == nil
	})
	return a, wrong
}

// ParseDrop reads TOPIC.FIELD, which is an assignment of the field's default. The error is an *Error.
func ParseDrop(text string) (*Assignment, error) { return parseTarget(text, text) }

// parseTarget reads the field of an assignment.
func parseTarget(text, field string) (*Assignment, error) {
	a := &Assignment{of: &Condition{text: text}}
	if len(text) > maxText {
		return nil, &Error{text[:40], 0, fmt.Sprintf("an edit of %d bytes", len(text)),
			fmt.Sprintf("it may have %d", maxText)}
	}
	var err error
	if a.at, err = parseNode(a.of, field); err != nil {
		return nil, err
	}
	a.target, err = refOf(a.at)
	switch {
	case err != nil:
		return nil, a.of.at(a.at, err.Error(), "")
	case a.target == nil || a.target.path == "":
		return nil, a.of.at(a.at, "no field is named", "write a field as /odom.twist.twist.linear.x")
	case a.target.each > 1:
		return nil, a.of.at(a.at, "a list within a list", "write an index in place of the first []")
	}
	return a, nil
}

// parseNode reads an expression, which has the places of c.
func parseNode(c *Condition, text string) (ast.Node, error) {
	if !utf8.ValidString(c.text) {
		return nil, &Error{strings.ToValidUTF8(c.text, "?"), 0, "it is not UTF-8", ""}
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

// equals returns where the = of an assignment is, which stands in no quotes; -1: nowhere.
func equals(text string) int {
	var quote byte
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case quote != 0 && b == '\\' && quote != '`':
			i++
		case quote != 0:
			if b == quote {
				quote = 0
			}
		case b == '"' || b == '\'' || b == '`':
			quote = b
		case b == '=':
			return i
		}
	}
	return -1
}

// A Setter evaluates an assignment on the messages of a type. It may be used concurrently.
type Setter struct {
	Text  string         // of the assignment
	Steps []message.Step // to the field
	Each  bool           // [] is behind the list of the path: each of its elements gets a value
	Drop  bool           // the field gets its default
	Whole bool           // the field is a list that gets all of its values

	filter *Filter
	list   *message.Path // of Each
	loop   *loop
	store  func(r *run, into *Values) // appends one value
	count  int                        // values of Whole
}

// Values are what an assignment makes of a message: one value, or the values of a list.
type Values struct {
	Bits  []uint64 // of numbers, as Cursor.Bits returns them; of times and durations, seconds and nanoseconds in turn
	Texts []string
	N     int // how many values there are
}

// Compile makes the setter for the type of a topic. The error is an *Error.
func (a *Assignment) Compile(t *message.Type) (*Setter, error) {
	k := compiler{of: a.of, typ: t, filter: &Filter{typ: t}}
	s := &Setter{Text: a.of.text, filter: k.filter, Each: a.target.each > 0, Drop: a.value == nil}
	plain := strings.ReplaceAll(a.target.path, "[]", "")
	var err error
	if s.Steps, err = t.Resolve(plain); err != nil {
		return nil, k.pathError(a.at, err)
	}
	if err := a.checkSteps(&k, s); err != nil || s.Drop {
		return s, err
	}
	f := s.Steps[len(s.Steps)-1]
	if s.Whole = f.Field.List && f.Index < 0 && !strings.HasSuffix(a.target.path, "[]"); s.Whole {
		return s, a.compileWhole(&k, s, f.Field)
	}
	k.know(a.at)
	known := k.names
	k.know(a.value)
	for name, c := range known {
		k.names.add(name, c.value)
	}
	if s.Each {
		before, _, _ := strings.Cut(a.target.path, "[]")
		if s.list, err = t.Path(before); err != nil {
			return nil, k.pathError(a.at, err)
		}
		s.list.Defaults = true
		s.loop = &loop{list: before}
		k.loop = s.loop
	}
	v, err := k.value(a.value)
	if err == nil {
		s.store, err = k.storing(a.value, v, f.Field)
	}
	if err != nil {
		return nil, err
	}
	s.finish()
	return s, nil
}

// finish makes the memory of runs.
func (s *Setter) finish() {
	columns := len(s.filter.columns)
	s.filter.runs.New = func() any { return &run{read: make([]elements, columns)} }
}

// compileWhole compiles a list of values.
func (a *Assignment) compileWhole(k *compiler, s *Setter, f *message.Field) error {
	list, ok := a.value.(*ast.ArrayNode)
	switch {
	case !ok:
		return k.of.at(a.at, f.Name+" is a list", fmt.Sprintf("write %s[] = ... for each element, %s[0] = ... for one, or "+
			"%s = [1, 2, 3]", f.Name, f.Name, f.Name))
	case f.Fixed >= 0 && len(list.Nodes) != f.Fixed:
		return k.wrong(a.value, "%d values for %s, which has %d", len(list.Nodes), f.Name, f.Fixed)
	case f.Bound > 0 && len(list.Nodes) > f.Bound:
		return k.wrong(a.value, "%d values for %s, which has %d at most", len(list.Nodes), f.Name, f.Bound)
	}
	s.count = len(list.Nodes)
	k.know(a.value)
	var all []func(*run, *Values)
	for _, n := range list.Nodes {
		v, err := k.value(n)
		if err != nil {
			return err
		}
		store, err := k.storing(n, v, f)
		if err != nil {
			return err
		}
		all = append(all, store)
	}
	s.store = func(r *run, into *Values) {
		for _, store := range all {
			store(r, into)
		}
	}
	s.finish()
	return nil
}

// checkSteps refuses paths to what cannot be changed.
func (a *Assignment) checkSteps(k *compiler, s *Setter) error {
	each := strings.Split(a.target.path, ".")
	for i, step := range s.Steps {
		f, last := step.Field, i == len(s.Steps)-1
		all := strings.HasSuffix(each[i], "[]")
		switch {
		case all && !f.List:
			return k.wrong(a.at, "%s is not a list", f.Name)
		case f.List && step.Index < 0 && !all && !last:
			return k.of.at(a.at, f.Name+" is a list", fmt.Sprintf("write %s[0] for one element, or %s[] for each",
				f.Name, f.Name))
		case s.Each && i > 0 && strings.Contains(strings.Join(each[:i], "."), "[]") && f.List && !(s.Drop && last):
			return k.of.at(a.at, "a list within a list", "write an index in place of the []")
		case f.Fixed >= 0 && step.Index >= f.Fixed:
			return k.wrong(a.at, "%s has %d elements, and no %s[%d]", f.Name, f.Fixed, f.Name, step.Index)
		case f.Proto != nil && f.Proto.IsMap():
			return k.wrong(a.at, "%s is a map, and fields of maps are not changed", f.Name)
		case f.Proto != nil && f.Proto.ContainingOneof() != nil && !f.Proto.ContainingOneof().IsSynthetic():
			return k.wrong(a.at, "%s is in a oneof, whose fields are not changed", f.Name)
		case s.Drop && last && all:
			return k.of.at(a.at, "all elements of "+f.Name, "write the list without [], which becomes empty")
		case s.Drop && last && step.Index >= 0:
			return k.of.at(a.at, "one element of "+f.Name, "write the list without an index, which becomes empty")
		case !s.Drop && last && f.Kind == message.Struct && f.Clock == schema.Invalid:
			return k.of.at(a.at, f.Name+" is a struct", "name a field of it: "+some(f.Type))
		}
	}
	return nil
}

// Values evaluates the assignment. The error says why the message has no such value; it is an error of the cursor if
// the message does not match its type.
func (s *Setter) Values(data []byte, into *Values) error {
	into.Bits, into.Texts, into.N = into.Bits[:0], into.Texts[:0], s.count
	r := s.filter.begin(data)
	switch {
	case s.Each:
		into.N = int(count(r, s.list))
		if into.N > maxElements {
			r.fail("%s has %d elements, and an edit changes %d at most", s.list.Field.Name, into.N, maxElements)
		}
		s.loop.start(s.filter, r)
		for i := 0; i < into.N && r.err == nil; i++ {
			r.elem = i
			s.store(r, into)
		}
	case !s.Whole:
		into.N = 1
		fallthrough
	default:
		s.store(r, into)
	}
	return s.filter.end(r)
}

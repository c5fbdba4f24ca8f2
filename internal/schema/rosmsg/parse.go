package rosmsg

import (
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// Parse reads the definition of the message called name. text holds it, alone
// or with its dependencies; it may be empty. lookup, when it is not nil, is
// asked for the text of types that text does not have, by full name.
//
// Each type is one *schema.Message in the result, however often it is used. The
// error is an *Error.
func Parse(name string, text []byte, d Dialect, lookup func(fullName string) (text string, ok bool)) (*schema.Message,
	error) {
	switch {
	case len(name) > maxName:
		return nil, &Error{Type: clip(name), What: "a name of more than 512 bytes"}
	case len(text) > maxText:
		return nil, &Error{Type: name, What: "text of more than 16 MiB"}
	}
	p := &parser{dialect: d, lookup: lookup, made: map[string]*schema.Message{}, active: map[string]bool{}}
	root := p.fullName(name, "")
	p.derive(root, text)
	if err := p.split(root, strings.TrimRight(string(text), "\x00")); err != nil {
		return nil, err
	}
	return p.message(root, "", 0)
}

type parser struct {
	dialect Dialect
	lookup  func(string) (string, bool)
	texts   map[string]string // by full name
	made    map[string]*schema.Message
	active  map[string]bool // being parsed: a type that meets itself is recursive
	fields  int
	service string // that the root is derived from; "" of all else
	parts   string // partsOf it
}

// derive sets the service or action of the root, unless its text is there and has the parts itself.
func (p *parser) derive(root string, text []byte) {
	if base, part := serviceOf(root); part != "" && p.dialect == ROS2 && !IsService(text) {
		p.service, p.parts = base, partsOf(base)
	}
}

// split cuts concatenated text at its separators into p.texts. Blocks of one
// name must be the same: which of two definitions holds cannot be known.
func (p *parser) split(root, text string) error {
	p.texts = map[string]string{}
	put := func(name, body string) error {
		if name == root && strings.TrimSpace(body) == "" {
			return nil // none, or an empty message: message distinguishes them
		}
		if have, ok := p.texts[name]; !ok {
			p.texts[name] = body
		} else if have != body && !sameLines(have, body) {
			return &Error{Type: name, What: "it is defined twice, in different ways"}
		}
		return nil
	}
	current, from, at := root, 0, 0
	for at < len(text) {
		end := lineEnd(text, at)
		if isSeparator(text[at:end]) && end < len(text) {
			next := lineEnd(text, end)
			if kind, name, ok := blockHeader(text[end:next]); ok {
				if err := put(current, text[from:at]); err != nil {
					return err
				}
				if kind == "MSG:" || kind == "IDL:" {
					current = p.fullName(name, "")
				} else {
					current = serviceName(name, kind)
				}
				from, end = next, next
			}
		}
		at = end
	}
	if err := put(current, text[from:]); err != nil {
		return err
	}
	adoptService(root, p.texts)
	return nil
}

// Blocks cuts the definition of the message called name into the texts of single types, by full
// name. The error is an *Error.
func Blocks(name string, text []byte, d Dialect) (map[string]string, error) {
	if len(name) > maxName || len(text) > maxText {
		return nil, &Error{Type: clip(name), What: "a name of more than 512 bytes, or text of more than 16 MiB"}
	}
	p := &parser{dialect: d}
	root := p.fullName(name, "")
	p.derive(root, text)
	err := p.split(root, strings.TrimRight(string(text), "\x00"))
	return p.texts, err
}

// SameText reports whether two texts of one type are the same but for comments and blanks.
func SameText(a, b string) bool { return a == b || sameLines(a, b) }

// sameLines compares two texts without comments and blanks.
func sameLines(a, b string) bool {
	next := func(s string) (line, rest string) {
		for s != "" && line == "" {
			line, s, _ = strings.Cut(s, "\n")
			line, _, _ = strings.Cut(line, "#")
			line = strings.Join(strings.Fields(line), " ")
		}
		return line, s
	}
	for a != "" || b != "" {
		var x, y string
		x, a = next(a)
		y, b = next(b)
		if x != y {
			return false
		}
	}
	return true
}

// lineEnd returns where the line that starts at i ends, after its LF.
func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(s)
}

func isSeparator(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= minSeparator && strings.Trim(line, "=") == ""
}

func blockHeader(line string) (kind, name string, ok bool) {
	for _, kind := range []string{"MSG:", "IDL:", "SRV:", "ACTION:"} {
		if rest, found := strings.CutPrefix(strings.TrimSpace(line), kind); found {
			name := strings.TrimSpace(rest)
			return kind, name, len(name) <= maxName && isName(name, "/-")
		}
	}
	return "", "", false
}

// fullName completes a type name that is used in package pkg.
func (p *parser) fullName(name, pkg string) string {
	switch strings.Count(name, "/") {
	case 0:
		if name == "Header" {
			pkg = "std_msgs"
		}
		if pkg == "" {
			return name
		}
		name = pkg + "/" + name
		fallthrough
	case 1:
		if rest, ok := strings.CutPrefix(name, p.parts); ok && p.parts != "" {
			return p.service + "_" + rest
		}
		if p.dialect == ROS2 {
			pkg, short, _ := strings.Cut(name, "/")
			return pkg + "/msg/" + short
		}
		return name
	}
	if p.dialect == ROS1 { // a ROS 2 name in ROS 1 text
		return name[:strings.IndexByte(name, '/')] + name[strings.LastIndexByte(name, '/'):]
	}
	for strings.Count(name, "/") > 2 { // eProsima's DDS Recorder writes fastdds/pkg/msg/Type
		_, name, _ = strings.Cut(name, "/")
	}
	return name
}

func packageOf(fullName string) string {
	pkg, _, ok := strings.Cut(fullName, "/")
	if !ok {
		return ""
	}
	return pkg
}

// text finds the text of a type.
func (p *parser) text(name string) (string, bool) {
	if t, ok := p.texts[name]; ok {
		return t, true
	}
	if p.lookup != nil {
		if t, ok := p.lookup(name); ok {
			return t, len(t) <= maxText
		}
	}
	t, ok := builtinText[name]
	return t, ok
}

// builtinText are the types that belong to the language.
var builtinText = map[string]string{
	"builtin_interfaces/msg/Time":     "int32 sec\nuint32 nanosec\n",
	"builtin_interfaces/msg/Duration": "int32 sec\nuint32 nanosec\n",
	"service_msgs/msg/ServiceEventInfo": "uint8 REQUEST_SENT=0\nuint8 REQUEST_RECEIVED=1\nuint8 RESPONSE_SENT=2\nuint8 " +
		"RESPONSE_RECEIVED=3\n" +
		"uint8 event_type\nbuiltin_interfaces/Time stamp\nchar[16] client_gid\nint64 sequence_number\n",
	"unique_identifier_msgs/msg/UUID": "uint8[16] uuid\n",
}

// message returns the graph of a type. user names the type that has it as a field.
func (p *parser) message(name, user string, depth int) (*schema.Message, error) {
	if m := p.made[name]; m != nil {
		return m, nil
	}
	fail := func(what string) error { return &Error{Type: name, What: what} }
	if p.active[name] {
		return nil, fail("it contains itself")
	}
	if depth > maxDepth {
		return nil, fail("types are nested too deeply")
	}
	text, ok := p.text(name)
	if !ok {
		if m, err := p.derived(name, depth); m != nil || err != nil {
			return m, err
		}
		if user != "" {
			return nil, fail("it is missing; " + user + " uses it")
		}
	}
	p.active[name] = true
	defer delete(p.active, name)
	m := &schema.Message{Name: name}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := p.line(m, strings.TrimSuffix(line, "\n"), depth); err != nil {
			if e, ok := err.(*lineError); ok {
				return nil, &Error{Type: name, Line: n, What: e.what}
			}
			return nil, err
		}
	}
	if err := p.finish(m); err != nil {
		return nil, err
	}
	return m, nil
}

// finish checks a message as a whole and keeps it.
func (p *parser) finish(m *schema.Message) error {
	seen := make(map[string]bool, len(m.Fields))
	for _, f := range m.Fields {
		if seen[f.Name] {
			return &Error{Type: m.Name, What: "field " + f.Name + " appears twice"}
		}
		seen[f.Name] = true
	}
	p.made[m.Name] = m
	return nil
}

type lineError struct{ what string }

func (e *lineError) Error() string { return e.what }

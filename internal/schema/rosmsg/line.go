package rosmsg

import (
	"math"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

var kinds = map[string]schema.Kind{
	"bool": schema.Bool, "int8": schema.Int8, "uint8": schema.Uint8, "int16": schema.Int16, "uint16": schema.Uint16,
	"int32": schema.Int32, "uint32": schema.Uint32, "int64": schema.Int64, "uint64": schema.Uint64,
	"float32": schema.Float32, "float64": schema.Float64, "string": schema.String, "byte": schema.Byte,
	"char": schema.Char,
}

// kind returns the kind of a word that is not a message type.
func (p *parser) kind(word string) (schema.Kind, bool) {
	if k, ok := kinds[word]; ok {
		return k, true
	}
	switch {
	case word == "wstring" && p.dialect == ROS2:
		return schema.WString, true
	case word == "time" && p.dialect == ROS1:
		return schema.Time, true
	case word == "duration" && p.dialect == ROS1:
		return schema.Duration, true
	}
	return schema.Invalid, false
}

// line reads one line of a definition into m: nothing, a constant or a field.
//
//	TYPE NAME            TYPE NAME=VALUE          TYPE NAME DEFAULT (ROS 2)
func (p *parser) line(m *schema.Message, line string, depth int) error {
	line = strings.ReplaceAll(line, "\r", " ")
	clean := line
	if i := strings.IndexByte(clean, '#'); i >= 0 {
		clean = clean[:i]
	}
	clean = strings.TrimSpace(clean)
	if clean == "" || isSeparator(clean) {
		return nil
	}
	if p.fields++; p.fields > maxFields {
		return &lineError{"more than 100,000 fields and constants"}
	}
	if clean[0] == '@' { // of 2025 on; rosidl_adapter parser.py OPTIONAL_ANNOTATION
		return &lineError{"annotations are not read: an @optional field has other bytes"}
	}
	// The part after the type, with and without what may be a comment.
	word, rest := cutBlank(clean)
	_, raw := cutBlank(strings.TrimSpace(line))
	if rest == "" {
		return &lineError{"a type without a name: " + strconv.Quote(clip(clean))}
	}
	n := strings.IndexAny(rest, " \t=")
	if n < 0 {
		return p.field(m, word, rest, "", depth)
	}
	name, value := rest[:n], strings.TrimSpace(rest[n:])
	if strings.HasPrefix(value, "=") {
		return p.constant(m, word, name, value[1:], raw[strings.IndexByte(raw, '=')+1:])
	}
	if p.dialect == ROS1 {
		return &lineError{"more than a type and a name: " + strconv.Quote(clip(clean))}
	}
	return p.field(m, word, name, value, depth)
}

// cutBlank cuts at the first blank or tab.
func cutBlank(s string) (word, rest string) {
	i := strings.IndexAny(s, " \t")
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimSpace(s[i:])
}

// constant adds NAME=value. raw is the value with what may be a comment.
func (p *parser) constant(m *schema.Message, word, name, value, raw string) error {
	t, err := p.fieldType(m, word, 0)
	if err != nil {
		return err
	}
	switch {
	case name == "":
		return &lineError{"a constant without a name"}
	case !isName(name, ".-"):
		return &lineError{strconv.Quote(clip(name)) + " cannot be a name"}
	case t.Array != schema.Single || t.Kind == schema.Struct || t.Kind == schema.Time || t.Kind == schema.Duration:
		return &lineError{"a constant cannot be a " + word}
	}
	text := strings.TrimSpace(value)
	if t.Kind == schema.String || t.Kind == schema.WString {
		if p.dialect == ROS1 {
			text = strings.TrimSpace(raw) // all of it, '#' included (ros/genmsg load_constant_line)
		} else {
			text = unquote(text, strings.TrimSpace(raw))
		}
	}
	m.Constants = append(m.Constants, schema.Constant{Kind: t.Kind, StringBound: t.StringBound, Name: name, Text: text})
	return nil
}

// unquote takes the quotes off a ROS 2 string value, as rosidl_adapter's parser.py
// does: they are taken off when both are there, and only a quote of their own
// kind is escaped inside. Inside quotes a '#' is not a comment, which is kinder than
// rosidl. text is the value without what may be a comment, raw the value with it.
func unquote(text, raw string) string {
	if raw == "" || raw[0] != '"' && raw[0] != '\'' {
		return text
	}
	q := raw[:1]
	inside := func(s string) string { return strings.ReplaceAll(s, `\`+q, q) }
	for i := 1; i < len(raw); i++ {
		if raw[i] != q[0] || raw[i-1] == '\\' {
			continue
		}
		if rest := strings.TrimSpace(raw[i+1:]); rest == "" || rest[0] == '#' {
			return inside(raw[1:i])
		}
	}
	for _, s := range []string{raw, text} { // a backslash is the last of the value
		if len(s) > 1 && strings.HasSuffix(s, q) {
			return inside(s[1 : len(s)-1])
		}
	}
	return text
}

func (p *parser) field(m *schema.Message, word, name, def string, depth int) error {
	if !isName(name, "") || isDigit(name[0]) {
		return &lineError{strconv.Quote(clip(name)) + " cannot be the name of a field"}
	}
	t, err := p.fieldType(m, word, depth)
	if err != nil {
		return err
	}
	m.Fields = append(m.Fields, schema.Field{Name: name, Type: t, Default: def})
	return nil
}

// fieldType reads a type: base, then "<=N" for strings, then one pair of brackets.
func (p *parser) fieldType(m *schema.Message, word string, depth int) (t schema.Type, err error) {
	base := word
	if i := strings.IndexByte(word, '['); i >= 0 {
		if !strings.HasSuffix(word, "]") {
			return t, &lineError{"unclosed bracket in " + strconv.Quote(clip(word))}
		}
		size := word[i+1 : len(word)-1]
		base = word[:i]
		switch {
		case size == "":
			t.Array = schema.Unbounded
		case strings.HasPrefix(size, "<="):
			t.Array = schema.Bounded
			t.Len, err = count(size[2:], 1)
		default:
			t.Array = schema.Fixed
			t.Len, err = count(size, 0)
		}
		if err != nil {
			return t, err
		}
	}
	if i := strings.Index(base, "<="); i >= 0 {
		if t.StringBound, err = count(base[i+2:], 1); err != nil {
			return t, err
		}
		base = base[:i]
	}
	kind, ok := p.kind(base)
	if ok {
		t.Kind = kind
		if t.StringBound > 0 && kind != schema.String && kind != schema.WString {
			return t, &lineError{"only strings have a bound: " + strconv.Quote(clip(word))}
		}
		return t, nil
	}
	if t.StringBound > 0 || len(base) > maxName || !isName(base, "/-") {
		return t, &lineError{"not a name of a type: " + strconv.Quote(clip(word))}
	}
	t.Kind = schema.Struct
	name, err := p.resolve(base, packageOf(m.Name), t.Array != schema.Single)
	if err == nil {
		t.Message, err = p.message(name, m.Name, depth+1)
	}
	return t, err
}

// resolve finds the full name of a type that is used in package pkg. In ROS 1 a
// bare Header is std_msgs/Header, but in arrays, where the package's own comes
// first (ros/genmsg); in ROS 2 its own comes first always. Definitions of before
// REP 100 have roslib/Header.
func (p *parser) resolve(word, pkg string, array bool) (string, error) {
	if p.dialect == ROS2 {
		switch word {
		case "time":
			return "builtin_interfaces/msg/Time", nil
		case "duration":
			return "builtin_interfaces/msg/Duration", nil
		}
	}
	name := p.fullName(word, pkg)
	if word != "Header" {
		return name, nil
	}
	own := p.fullName(pkg+"/Header", "")
	if p.dialect == ROS2 || array {
		if _, ok := p.text(own); ok {
			return own, nil
		}
	}
	if _, ok := p.text(name); ok {
		return name, nil
	}
	for _, other := range []string{own, "roslib/Header"} {
		if _, ok := p.texts[other]; ok {
			return other, nil
		}
	}
	return name, nil
}

// count reads a number of elements that is at least low.
func count(s string, low int) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < low || n > math.MaxInt32 {
		return 0, &lineError{"not a number of elements: " + strconv.Quote(clip(s))}
	}
	return n, nil
}

// isName reports whether a word has only letters, digits, '_' and the bytes of more. What upstream
// demands of names beyond that (case, length of the parts) real recordings break.
func isName(s, more string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isDigit(c) && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && c < 0x80 && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return s != ""
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// clip keeps error messages short.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

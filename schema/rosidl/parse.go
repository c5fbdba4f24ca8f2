package rosidl

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// A parser reads all blocks into tables by scoped name; types are resolved
// afterwards, as blocks come in any order.
type parser struct {
	tokens  []token
	at      int
	fields  int
	structs map[string]*structDef
	types   map[string]typeRef // typedefs and enums
	consts  map[string]string  // values as they are written
	numbers map[string]int64   // of them the whole numbers, for bounds
	made    map[string]*schema.Message
	flat    map[string]schema.Type // types, resolved
}

type structDef struct {
	scope     []string
	fields    []fieldDef
	constants []schema.Constant
	complete  bool // its body was read
	active    bool
}

type fieldDef struct {
	name string
	ref  typeRef
}

// A typeRef is a type as it is written: a kind, a name, or a list of another.
type typeRef struct {
	kind  schema.Kind
	bound int
	name  string
	elem  *typeRef
	array schema.Array
	len   int
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != endToken {
		p.at++
	}
	return t
}

func (p *parser) accept(text string) bool {
	if t := p.peek(); t.text == text && t.kind != stringToken && t.kind != endToken {
		p.at++
		return true
	}
	return false
}

func (p *parser) fail(what string) error { return &Error{Line: p.peek().line, What: what} }

func (p *parser) expect(text string) error {
	if !p.accept(text) {
		return p.fail("a " + strconv.Quote(text) + " is missing before " + strconv.Quote(clip(p.peek().text)))
	}
	return nil
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

func (p *parser) word() (string, error) {
	if t := p.next(); t.kind == wordToken {
		return t.text, nil
	}
	p.at--
	return "", p.fail("a name is missing")
}

// definitions reads up to the closing brace of a module, or to the end.
func (p *parser) definitions(scope []string) error {
	if len(scope) > maxScope {
		return p.fail("modules are nested too deeply")
	}
	for {
		if err := p.annotations(); err != nil {
			return err
		}
		t := p.peek()
		var err error
		switch {
		case t.kind == endToken && len(scope) == 0:
			return nil
		case p.accept("}"):
			return nil
		case p.accept(";"):
		case p.accept("module"):
			err = p.module(scope)
		case p.accept("struct"):
			err = p.structure(scope)
		case p.accept("const"):
			err = p.constant(scope)
		case p.accept("typedef"):
			err = p.typedef(scope)
		case p.accept("enum"):
			err = p.enum(scope)
		default:
			err = p.fail(strconv.Quote(clip(t.text)) + " is not in the part of IDL that is read")
		}
		if err != nil {
			return err
		}
	}
}

func (p *parser) module(scope []string) error {
	name, err := p.word()
	if err == nil {
		err = p.expect("{")
	}
	if err != nil {
		return err
	}
	return p.definitions(append(scope[:len(scope):len(scope)], name))
}

// annotations steps over @name and @name(...). The two that change the bytes of
// messages are refused.
func (p *parser) annotations() error {
	for p.accept("@") {
		name, err := p.scopedName()
		if err != nil {
			return err
		}
		value := ""
		if p.accept("(") {
			for depth := 1; depth > 0; {
				t := p.next()
				switch {
				case t.kind == endToken:
					return p.fail("an annotation without an end")
				case t.kind == signToken && t.text == "(":
					depth++
				case t.kind == signToken && t.text == ")":
					depth--
				default:
					value = t.text // the last: value=FALSE is the same as FALSE
				}
			}
		}
		switch {
		case name == "optional" && !strings.EqualFold(value, "false"):
			return p.fail("@optional members are not read: whether and how they stand in the bytes depends on the recorder")
		case name == "bit_bound" && value != "32":
			return p.fail("@bit_bound is not read: it changes the size of a value")
		}
	}
	return nil
}

func (p *parser) scopedName() (string, error) {
	var b strings.Builder
	if p.accept("::") {
		b.WriteString("::")
	}
	for {
		w, err := p.word()
		if err != nil {
			return "", err
		}
		b.WriteString(w)
		if b.Len() > maxName {
			return "", p.fail("a name of more than 512 bytes")
		}
		if !p.accept("::") {
			return b.String(), nil
		}
		b.WriteString("::")
	}
}

func (p *parser) structure(scope []string) error {
	name, err := p.word()
	if err != nil {
		return err
	}
	if p.accept(";") { // declared ahead
		return nil
	}
	if err := p.expect("{"); err != nil {
		return err
	}
	def := p.define(scope, name)
	before, again := def.fields, def.complete
	def.fields, def.complete = nil, true
	seen := map[string]bool{}
	for !p.accept("}") {
		if err := p.annotations(); err != nil {
			return err
		}
		ref, err := p.typeSpec(scope, 0)
		if err != nil {
			return err
		}
		for {
			field, sized, err := p.declarator(ref, scope)
			if err != nil {
				return err
			}
			if seen[field] {
				return p.fail("field " + field + " stands there twice")
			}
			if p.fields++; p.fields > maxFields {
				return p.fail("more than 100,000 fields and constants")
			}
			seen[field] = true
			def.fields = append(def.fields, fieldDef{field, sized})
			if !p.accept(",") {
				break
			}
		}
		if err := p.expect(";"); err != nil {
			return err
		}
	}
	if again && !reflect.DeepEqual(before, def.fields) {
		return p.fail("struct " + name + " is defined twice, and not the same")
	}
	return nil
}

func (p *parser) define(scope []string, name string) *structDef {
	full := strings.Join(append(scope[:len(scope):len(scope)], name), "::")
	def := p.structs[full]
	if def == nil {
		def = &structDef{scope: append([]string(nil), scope...)}
		p.structs[full] = def
	}
	return def
}

// declarator reads a name and perhaps one dimension.
func (p *parser) declarator(ref typeRef, scope []string) (string, typeRef, error) {
	name, err := p.word()
	if err != nil || !p.accept("[") {
		return name, ref, err
	}
	n, err := p.number(scope, 1, false)
	if err == nil {
		err = p.expect("]")
	}
	if err == nil && p.peek().text == "[" {
		err = p.fail("arrays of more than one dimension are not in ROS 2")
	}
	elem := ref
	return name, typeRef{elem: &elem, array: schema.Fixed, len: n}, err
}

// constant reads const TYPE NAME = VALUE; in module X_Constants it belongs to
// the message X.
func (p *parser) constant(scope []string) error {
	ref, err := p.typeSpec(scope, 0)
	if err != nil {
		return err
	}
	name, err := p.word()
	if err == nil {
		err = p.expect("=")
	}
	if err != nil {
		return err
	}
	full := strings.Join(append(scope[:len(scope):len(scope)], name), "::")
	value, err := p.value(ref.kind, scope, full)
	if err != nil {
		return err
	}
	if have, ok := p.consts[full]; ok {
		if have != value {
			return p.fail("constant " + name + " is defined twice, and not the same")
		}
		return nil
	}
	p.consts[full] = value
	if p.fields++; p.fields > maxFields {
		return p.fail("more than 100,000 fields and constants")
	}
	if n := len(scope); n > 0 && ref.kind != schema.Invalid {
		if owner, ok := strings.CutSuffix(scope[n-1], "_Constants"); ok {
			def := p.define(scope[:n-1], owner)
			def.constants = append(def.constants, schema.Constant{Kind: ref.kind, StringBound: ref.bound, Name: name, Text: value})
		}
	}
	return nil
}

// value reads a constant's value and the ';' behind it. Whole numbers are
// computed, and kept under the constant's name; all else stays as it is written.
func (p *parser) value(kind schema.Kind, scope []string, full string) (string, error) {
	start := p.at
	switch kind {
	case schema.Float32, schema.Float64, schema.LongDouble, schema.String, schema.WString, schema.Bool:
	default:
		if n, err := p.expression(scope, 0, 0, false); err == nil && p.accept(";") {
			p.numbers[full] = n
			if first := p.tokens[start]; p.at == start+2 && strings.HasPrefix(strings.ToLower(first.text), "0x") {
				return first.text, nil
			}
			return strconv.FormatInt(n, 10), nil
		}
		p.at = start
	}
	var text []string
	isText := false
	for !p.accept(";") {
		t := p.next()
		switch {
		case t.kind == endToken:
			return "", p.fail("a constant without an end")
		case t.kind == wordToken && t.text == "L" && p.peek().kind == stringToken:
			continue // L"wide"
		}
		isText = isText || t.kind == stringToken
		text = append(text, t.text)
	}
	if isText { // literals side by side are one
		return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(strings.Join(text, "")), nil
	}
	return strings.NewReplacer("- ", "-", "+ ", "+").Replace(strings.Join(text, " ")), nil
}

func (p *parser) typedef(scope []string) error {
	ref, err := p.typeSpec(scope, 0)
	if err != nil {
		return err
	}
	name, sized, err := p.declarator(ref, scope)
	if err != nil {
		return err
	}
	p.types[strings.Join(append(scope[:len(scope):len(scope)], name), "::")] = sized
	return p.expect(";")
}

func (p *parser) enum(scope []string) error {
	name, err := p.word()
	if err == nil {
		err = p.expect("{")
	}
	if err != nil {
		return err
	}
	for !p.accept("}") {
		if err := p.annotations(); err != nil {
			return err
		}
		if _, err := p.word(); err != nil {
			return err
		}
		p.accept(",")
	}
	p.types[strings.Join(append(scope[:len(scope):len(scope)], name), "::")] = typeRef{kind: schema.Enum}
	return nil
}

var words = map[string]schema.Kind{
	"boolean": schema.Bool, "octet": schema.Byte, "char": schema.IDLChar, "wchar": schema.WChar,
	"short": schema.Int16, "float": schema.Float32, "double": schema.Float64,
	"int8": schema.Int8, "uint8": schema.Uint8, "int16": schema.Int16, "uint16": schema.Uint16,
	"int32": schema.Int32, "uint32": schema.Uint32, "int64": schema.Int64, "uint64": schema.Uint64,
}

// typeSpec reads a type without its name.
func (p *parser) typeSpec(scope []string, depth int) (typeRef, error) {
	if depth > maxDepth {
		return typeRef{}, p.fail("types are nested too deeply")
	}
	switch {
	case p.accept("unsigned"):
		kind, ok := map[schema.Kind]schema.Kind{schema.Int16: schema.Uint16, schema.Int32: schema.Uint32, schema.Int64: schema.Uint64}[p.long()]
		if !ok {
			return typeRef{}, p.fail("unsigned what?")
		}
		return typeRef{kind: kind}, nil
	case p.peek().text == "long" || p.peek().text == "short":
		return typeRef{kind: p.long()}, nil
	case p.accept("string"):
		return p.bounded(schema.String, scope)
	case p.accept("wstring"):
		return p.bounded(schema.WString, scope)
	case p.accept("sequence"):
		return p.sequence(scope, depth)
	}
	if k, ok := words[p.peek().text]; ok && p.peek().kind == wordToken {
		p.at++
		return typeRef{kind: k}, nil
	}
	name, err := p.scopedName()
	return typeRef{name: name}, err
}

// long reads "short", "long", "long long" or "long double".
func (p *parser) long() schema.Kind {
	switch {
	case p.accept("short"):
		return schema.Int16
	case !p.accept("long"):
		return schema.Invalid
	case p.accept("long"):
		return schema.Int64
	case p.accept("double"):
		return schema.LongDouble
	}
	return schema.Int32
}

func (p *parser) bounded(k schema.Kind, scope []string) (typeRef, error) {
	if !p.accept("<") {
		return typeRef{kind: k}, nil
	}
	n, err := p.number(scope, 1, true)
	if err == nil {
		err = p.expect(">")
	}
	return typeRef{kind: k, bound: n}, err
}

func (p *parser) sequence(scope []string, depth int) (typeRef, error) {
	if err := p.expect("<"); err != nil {
		return typeRef{}, err
	}
	elem, err := p.typeSpec(scope, depth+1)
	if err != nil {
		return typeRef{}, err
	}
	ref := typeRef{elem: &elem, array: schema.Unbounded}
	if p.accept(",") {
		ref.array = schema.Bounded
		if ref.len, err = p.number(scope, 1, true); err != nil {
			return ref, err
		}
	}
	return ref, p.expect(">")
}

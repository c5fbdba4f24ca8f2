package rosidl

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

func (p *parser) structure(scope []string, own notes) error {
	name, err := p.word()
	if err != nil {
		return err
	}
	if p.accept(";") { // declared ahead
		return nil
	}
	base := ""
	if p.accept(":") {
		if base, err = p.scopedName(); err != nil {
			return err
		}
	}
	if err := p.expect("{"); err != nil {
		return err
	}
	def := p.define(scope, name)
	before := *def
	p.begin(def, own)
	def.base = base
	seen := map[string]bool{}
	for !p.accept("}") {
		noted, err := p.annotations(scope)
		if err != nil {
			return err
		}
		ref, err := p.typeSpec(scope, 0)
		if err != nil {
			return err
		}
		for {
			if err := p.field(def, ref, noted, scope, seen); err != nil {
				return err
			}
			if !p.accept(",") {
				break
			}
		}
		if err := p.expect(";"); err != nil {
			return err
		}
	}
	return p.repeated(name, &before, def)
}

// begin prepares a definition for its body.
func (p *parser) begin(def *structDef, own notes) {
	def.fields, def.base, def.complete = nil, "", true
	def.extent = max(def.extent, own.extent)
	autoid := p.autoid
	if own.autoid != "" {
		autoid = own.autoid
	}
	def.hashed = autoid == hashIDs
}

// field reads the name of a field, and adds the field.
func (p *parser) field(def *structDef, ref typeRef, noted notes, scope []string, seen map[string]bool) error {
	name, sized, err := p.declarator(ref, scope)
	if err != nil {
		return err
	}
	if seen[name] {
		return p.fail("field " + name + " appears twice")
	}
	if p.fields++; p.fields > maxFields {
		return p.fail("more than 100,000 fields and constants")
	}
	seen[name] = true
	f := fieldDef{name: name, ref: sized, value: noted.value, optional: noted.optional, id: noted.id}
	switch {
	case f.id != nil:
	case noted.hash != nil && *noted.hash != "":
		f.id = hashID(*noted.hash)
	case noted.hash != nil, def.hashed:
		f.id = hashID(name)
	}
	def.fields = append(def.fields, f)
	return nil
}

// repeated refuses a definition that is not the same as one before of its name.
func (p *parser) repeated(name string, before, def *structDef) error {
	if before.complete && (before.base != def.base || before.union != def.union || !reflect.DeepEqual(before.fields,
		def.fields)) {
		return p.fail("type " + name + " is defined twice, in different ways")
	}
	return nil
}

func (p *parser) define(scope []string, name string) *structDef {
	full := within(scope, name)
	def := p.structs[full]
	if def == nil {
		def = &structDef{scope: append([]string(nil), scope...)}
		p.structs[full] = def
	}
	return def
}

// declarator reads a name and its dimensions.
func (p *parser) declarator(ref typeRef, scope []string) (string, typeRef, error) {
	name, err := p.word()
	if err != nil || p.peek().text != "[" {
		return name, ref, err
	}
	all := 1
	for p.accept("[") {
		n, err := p.number(scope, 1, false)
		if err == nil {
			err = p.expect("]")
		}
		if err == nil && n > maxLen/all {
			err = p.fail("an array of more than 2^31 values")
		}
		if err != nil {
			return name, ref, err
		}
		all *= n
	}
	elem := ref
	return name, typeRef{elem: &elem, array: schema.Fixed, len: all}, nil
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
	full := within(scope, name)
	value, err := p.value(ref.kind, scope, full)
	if err != nil {
		return err
	}
	if have, ok := p.consts[full]; ok {
		if have != value {
			return p.fail("constant " + name + " is defined twice, in different ways")
		}
		return nil
	}
	p.consts[full] = value
	if p.fields++; p.fields > maxFields {
		return p.fail("more than 100,000 fields and constants")
	}
	if n := len(scope); n > 0 {
		if owner, ok := strings.CutSuffix(scope[n-1], "_Constants"); ok {
			def := p.define(scope[:n-1], owner)
			def.constants = append(def.constants, constantDef{name, ref, value, scope})
		}
	}
	return nil
}

// A constantDef is a constant of a message.
type constantDef struct {
	name  string
	ref   typeRef
	value string
	scope []string
}

// constants returns the constants of a message whose types are known numbers, strings or enums.
func (p *parser) constants(def *structDef, user string) (out []schema.Constant) {
	for _, c := range def.constants {
		t, err := p.resolve(c.ref, c.scope, user, 0)
		if err != nil {
			continue
		}
		kind := t.Kind
		if t.enum != nil {
			kind = t.enum.kind
		}
		if t.Array == schema.Single && kind != schema.Struct {
			value := c.value
			if t.enum != nil {
				value = t.enum.number(value)
			}
			out = append(out, schema.Constant{Kind: kind, StringBound: t.StringBound, Name: c.name, Text: value})
		}
	}
	return out
}

// value reads a constant's value and the ';' after it. Whole numbers are
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

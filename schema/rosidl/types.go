package rosidl

import (
	"reflect"

	"github.com/bagconv/bagconv/schema"
)

func (p *parser) typedef(scope []string) error {
	ref, err := p.typeSpec(scope, 0)
	if err != nil {
		return err
	}
	for {
		name, sized, err := p.declarator(ref, scope)
		if err != nil {
			return err
		}
		if err := p.name(within(scope, name), sized); err != nil {
			return err
		}
		if !p.accept(",") {
			return p.expect(";")
		}
	}
}

// name gives a type a name. Files may repeat what a name means, but not change it.
func (p *parser) name(full string, ref typeRef) error {
	if have, ok := p.types[full]; ok && !reflect.DeepEqual(have, ref) {
		return p.fail("type " + full + " is defined twice, in different ways")
	}
	p.types[full] = ref
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
		kind, ok := map[schema.Kind]schema.Kind{schema.Int16: schema.Uint16, schema.Int32: schema.Uint32,
			schema.Int64: schema.Uint64}[p.long()]
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
	case p.peek().text == "map" && p.tokens[min(p.at+1, len(p.tokens)-1)].text == "<":
		p.at++
		return p.mapping(scope, depth)
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
	n, err := p.bound(scope)
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
		if ref.len, err = p.bound(scope); err != nil {
			return ref, err
		}
		if ref.len > 0 {
			ref.array = schema.Bounded
		}
	}
	return ref, p.expect(">")
}

// mapping reads <KEY, VALUE> or <KEY, VALUE, N>.
func (p *parser) mapping(scope []string, depth int) (ref typeRef, err error) {
	ref.array = schema.Unbounded
	var key, value typeRef
	if err = p.expect("<"); err == nil {
		key, err = p.typeSpec(scope, depth+1)
	}
	if err == nil {
		err = p.expect(",")
	}
	if err == nil {
		value, err = p.typeSpec(scope, depth+1)
	}
	ref.key, ref.elem = &key, &value
	if err == nil && p.accept(",") {
		if ref.len, err = p.bound(scope); ref.len > 0 {
			ref.array = schema.Bounded
		}
	}
	if err != nil {
		return ref, err
	}
	return ref, p.expect(">")
}

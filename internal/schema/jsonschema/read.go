package jsonschema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/names"

	"github.com/bagconv/bagconv/schema"
)

// A reader makes types of a document.
type reader struct {
	namer  *Namer
	root   *value
	pkg    string
	made   map[*value]*Object
	open   map[*value]bool // objects that are being made
	fields int
	work   int             // schemas that were looked at, with the constants in them
	images map[*Object]int // bytes of a message in which all is zero
}

// followed returns what a schema means, after its references and without a list of one part around
// it; nil if it leads nowhere.
func (r *reader) followed(v *value) *value {
	for range maxDepth {
		switch ref := v.word("$ref"); {
		case v == nil:
			return nil
		case ref != "":
			v = r.root.pointer(ref)
		case v.get("type") == nil && v.get("properties") == nil && len(v.list("allOf")) == 1:
			v = v.list("allOf")[0]
		default:
			return v
		}
	}
	return nil
}

// property finds how the values of a schema stand in JSON. name is the name of the type that an
// object becomes.
func (r *reader) property(v *value, name string, depth int) (Property, error) {
	if depth > maxDepth {
		return Property{}, errors.New("types are nested more than 200 deep")
	}
	if def := v.word("$ref"); def != "" && v != r.root {
		name = names.Camel(clip(def[strings.LastIndexByte(def, '/')+1:]))
	}
	if v = r.followed(v); v == nil || v.kind != object {
		return Property{Form: Any}, nil
	}
	if r.work += 1 + len(v.list("enum")); r.work > maxWork {
		return Property{}, errors.New("its references make more than 300,000 schemas of it")
	}
	switch typeOf(v) {
	case "integer":
		return Property{Form: Integer}, nil
	case "number":
		return Property{Form: Number}, nil
	case "boolean":
		return Property{Form: Boolean}, nil
	case "string":
		if v.word("contentEncoding") == "base64" {
			return Property{Form: Base64}, nil
		}
		return Property{Form: Text}, nil
	case "array":
		return r.list(v, name, depth)
	case "object":
		if form, nanos := timeForm(v); form != Any {
			return Property{Form: form, Nanos: nanos}, nil
		}
		if r.open[v] || len(v.get("properties").names()) == 0 {
			return Property{Form: Any}, nil
		}
		o, err := r.object(v, name, depth)
		return Property{Form: Nested, Object: o}, err
	}
	return r.choice(v, name, depth)
}

// names returns the keys of an object.
func (v *value) names() []string {
	if v == nil {
		return nil
	}
	return v.keys
}

// typeOf returns the one type of a schema besides null, "" if it has several types or no type.
func typeOf(v *value) string {
	t := v.get("type")
	switch {
	case t == nil && v.get("properties") != nil:
		return "object"
	case t == nil && (v.get("items") != nil || v.get("prefixItems") != nil):
		return "array"
	case t == nil:
		return constantType(v)
	case t.kind == text:
		return t.text
	}
	found := ""
	for _, item := range t.items {
		switch {
		case item.kind != text || item.text == "null":
		case found != "" && !(found == "integer" && item.text == "number" || found == "number" && item.text == "integer"):
			return ""
		case found == "" || item.text == "number":
			found = item.text
		}
	}
	return found
}

// constantType returns the type of the constants that a schema lists, "" without constants or for
// several types.
func constantType(v *value) string {
	constants := v.list("enum")
	if c := v.get("const"); c != nil {
		constants = []*value{c}
	}
	found := ""
	for _, c := range constants {
		t := map[kind]string{boolean: "boolean", number: "number", text: "string"}[c.kind]
		if c.kind == number && !strings.ContainsAny(c.text, ".eE") {
			t = "integer"
		}
		if c.kind == null {
			continue
		}
		if t == "" || found != "" && found != t {
			return ""
		}
		found = t
	}
	return found
}

// timeForm recognises an object of seconds and nanoseconds, and returns the key of the latter.
func timeForm(v *value) (Form, string) {
	p, nanos := v.get("properties"), "nsec"
	if p.get(nanos) == nil {
		nanos = "nanosec"
	}
	for _, key := range []string{"sec", nanos} {
		if n := p.get(key); n == nil || typeOf(n) != "integer" {
			return Any, ""
		}
	}
	switch {
	case len(p.names()) != 2:
		return Any, ""
	case strings.EqualFold(v.word("title"), "duration"):
		return Duration, nanos
	}
	return Time, nanos
}

// choice looks at a schema that is one of several.
func (r *reader) choice(v *value, name string, depth int) (Property, error) {
	var found *Property
	for _, branch := range append(v.list("anyOf"), v.list("oneOf")...) {
		if b := r.followed(branch); b != nil && b.word("type") == "null" {
			continue
		}
		p, err := r.property(branch, name, depth+1)
		if err != nil {
			return p, err
		}
		switch {
		case found == nil:
			found = &p
		case found.List == p.List && (found.Form == Integer && p.Form == Number || found.Form == Number && p.Form == Integer):
			found.Form = Number
		case *found != p:
			return Property{Form: Any}, nil
		}
	}
	if found == nil {
		return Property{Form: Any}, nil
	}
	return *found, nil
}

// list looks at an array.
func (r *reader) list(v *value, name string, depth int) (Property, error) {
	items := v.list("prefixItems")
	switch one := v.get("items"); {
	case one == nil:
	case one.kind == array:
		items = append(items, one.items...)
	case one.kind == object:
		items = append(items, one)
	}
	var found *Property
	for _, item := range items {
		p, err := r.property(item, name, depth+1)
		if err != nil {
			return p, err
		}
		if p.Form == Base64 {
			p.Form = Text
		}
		if p.List || found != nil && *found != p {
			return Property{Form: Any}, nil
		}
		found = &p
	}
	if found == nil || found.Form == Any {
		return Property{Form: Any}, nil
	}
	found.List = true
	return *found, nil
}

// object makes the struct of an object with properties.
func (r *reader) object(v *value, name string, depth int) (*Object, error) {
	if o := r.made[v]; o != nil {
		return o, nil
	}
	r.open[v] = true
	defer delete(r.open, v)
	o := &Object{Message: &schema.Message{}, Index: map[string]int{}}
	used := map[string]int{}
	properties := v.get("properties")
	image := 0
	for _, key := range properties.names() {
		p, err := r.property(properties.get(key), clip(name+names.Camel(clip(key))), depth+1)
		if err != nil {
			return nil, err
		}
		if r.fields++; r.fields > maxFields {
			return nil, errors.New("more than 100,000 properties")
		}
		p.Key = key
		o.Index[key] = len(o.Properties)
		o.Properties = append(o.Properties, p)
		field := unique(used, names.Field(names.Snake(clip(key))))
		o.Message.Fields = append(o.Message.Fields, schema.Field{Name: field, Type: p.typ()})
		size := 8
		if p.Object != nil && !p.List {
			size = r.images[p.Object]
		}
		if image += size; image > maxImage {
			return nil, fmt.Errorf("a message in which all is zero takes more than %d bytes", maxImage)
		}
	}
	if r.images == nil {
		r.images = map[*Object]int{}
	}
	r.images[o] = image
	o.Message = r.namer.name(r.pkg, name, o.Message)
	if o.Message == nil {
		return nil, fmt.Errorf("more than %d types would be called %s", maxSame, name)
	}
	r.made[v] = o
	return o, nil
}

// clip bounds a part of a name.
func clip(s string) string { return s[:min(len(s), maxPart)] }

// unique returns name, with a number after it when it is taken.
func unique(used map[string]int, name string) string {
	for base := name; used[name] > 0; {
		used[base]++
		name = fmt.Sprintf("%s%d", base, used[base])
	}
	used[name] = 1
	return name
}

// typ returns the type of the field.
func (p *Property) typ() schema.Type {
	t := schema.Type{}
	switch p.Form {
	case Integer:
		t.Kind = schema.Int64
	case Number:
		t.Kind = schema.Float64
	case Boolean:
		t.Kind = schema.Bool
	case Base64:
		return schema.Type{Kind: schema.Uint8, Array: schema.Unbounded}
	case Time:
		t.Kind = schema.Time
	case Duration:
		t.Kind = schema.Duration
	case Nested:
		t.Kind, t.Message = schema.Struct, p.Object.Message
	default:
		t.Kind = schema.String
	}
	if p.List {
		t.Array = schema.Unbounded
	}
	return t
}

// name sets the name of a type. A type that is there already, with the same fields, is
// used again; nil: there are too many types of that name.
func (n *Namer) name(pkg, short string, m *schema.Message) *schema.Message {
	for i := 1; i <= maxSame; i++ {
		m.Name = pkg + "/" + short
		if i > 1 {
			m.Name = fmt.Sprintf("%s%d", m.Name, i)
		}
		known := n.types[m.Name]
		if known == nil {
			n.types[m.Name] = m
			return m
		}
		if schema.Equal(known, m) {
			return known
		}
	}
	return nil
}

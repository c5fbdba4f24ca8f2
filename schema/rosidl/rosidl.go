// Package rosidl reads the subset of OMG IDL that recordings carry as "ros2idl" and
// "omgidl": modules, structs, also with a base, constants, typedefs (also of arrays),
// enums, sequences, bounded strings and annotations (ros2/rosidl rosidl_parser
// grammar.lark; OMG IDL 4.2).
//
// ros2idl is a chain of blocks, the root's too, each after a line of 80 '=' and a
// line "IDL: pkg/msg/Type"; omgidl is IDL alone. Annotations and comments are stepped
// over. Types get names of ROS 2, as RosName makes them. An array of several dimensions
// becomes one of one dimension with as many values, which has the same bytes. The values
// of an enum are constants of each message that has a field of it.
//
//	union U switch (K) {...}   a struct: the discriminator, and each member as a list of at most one value
//	@optional T f              T[<=1] f; of a list: of a struct with the list as its field "data"
//	map<K, V> f                a list of structs with "key" and "value"
//	sequence<sequence<T>> f    a list of structs with the list "data"
//
// Such structs get the name of the struct and the field: "pkg/msg/TNamesEntry". See schema.Member
// for how these stand in the bytes.
//
// Refused if the root uses them are interfaces, exceptions and valuetypes; refused anywhere are two
// definitions of one type, recursion, and text out of proportion: over 16 MiB or a million words,
// names over 512 bytes, over 100,000 fields in all. Parse may be called concurrently.
package rosidl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

const (
	maxText   = 16 << 20
	maxTokens = 1_000_000
	maxDepth  = 64
	maxFields = 100_000
	maxScope  = 10  // modules in modules
	maxWord   = 256 // names are repeated for each use, so a long one is a bomb
	maxName   = 512
	maxLen    = 1<<31 - 1 // values of an array
)

// An Error is a definition that cannot be read.
type Error struct {
	Type string
	Line int // in the block, from 1; 0 when it is about the whole
	What string
}

func (e *Error) Error() string {
	where := "IDL"
	if e.Type != "" {
		where += " definition of " + e.Type
	}
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d", e.Line)
	}
	return where + ": " + e.What
}

// Parse reads the definition of the message called name ("pkg/msg/Type", or
// "pkg::Type" with any number of modules) and of all that it uses. Each type is one
// *schema.Message in the result. The error is an *Error.
func Parse(name string, text []byte) (*schema.Message, error) {
	switch {
	case len(name) > maxName:
		return nil, &Error{Type: clip(name), What: "a name of more than 512 bytes"}
	case len(text) > maxText:
		return nil, &Error{Type: name, What: "text of more than 16 MiB"}
	}
	p := &parser{structs: map[string]*structDef{}, types: map[string]typeRef{}, consts: map[string]string{},
		numbers: map[string]int64{},
		made:    map[string]*schema.Message{}, flat: map[string]resolved{}, lastID: map[*schema.Message]uint32{},
		ids: map[*schema.Message]map[uint32]string{}, enums: map[*schema.Message][]*enumDef{}, refused: map[string]string{},
		bits: map[string]int{}}
	for _, block := range split(string(text)) {
		tokens, err := lex(block)
		if err == nil {
			p.tokens, p.at = tokens, 0
			err = p.definitions(nil)
		}
		if err != nil {
			if e, ok := err.(*Error); ok && e.Type == "" {
				e.Type = name
			}
			return nil, err
		}
	}
	return p.message(p.root(strings.TrimPrefix(strings.ReplaceAll(name, "/", "::"), "::")), "", 0)
}

// root returns the scoped name of the message: as it was asked for, or else of the one
// struct that has that name in ROS 2.
func (p *parser) root(name string) string {
	if def := p.structs[name]; def != nil && def.complete {
		return name
	}
	found := ""
	for have, def := range p.structs {
		if def.complete && RosName(have) == RosName(name) {
			if found != "" {
				return name
			}
			found = have
		}
	}
	if found == "" {
		return name
	}
	return found
}

// RosName returns the name that a type of IDL has in ROS 2: "a::b::T" is "a_b/msg/T".
// What ROS 2 wrote into DDS gets its own name again: "pkg::msg::dds_::T_" is
// "pkg/msg/T". A type without a module is one of package "idl".
func RosName(scoped string) string {
	parts := strings.Split(scoped, "::")
	modules, short := parts[:len(parts)-1], parts[len(parts)-1]
	if n := len(modules); n > 1 && modules[n-1] == "dds_" && len(short) > 1 {
		modules, short = modules[:n-1], strings.TrimSuffix(short, "_")
	}
	folder := "msg"
	if n := len(modules); n > 1 && (modules[n-1] == "msg" || modules[n-1] == "srv" || modules[n-1] == "action") {
		modules, folder = modules[:n-1], modules[n-1]
	}
	if len(modules) == 0 {
		modules = []string{"idl"}
	}
	return strings.Join(modules, "_") + "/" + folder + "/" + short
}

// split cuts the text at its separators.
func split(text string) []string {
	blocks := []string{""}
	var b strings.Builder
	flush := func() {
		blocks[len(blocks)-1] = b.String()
		b.Reset()
	}
	separator := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if separator && (strings.HasPrefix(trimmed, "IDL:") || strings.HasPrefix(trimmed, "MSG:")) {
			flush()
			blocks = append(blocks, "")
			separator = false
			continue
		}
		separator = len(trimmed) == 80 && strings.Trim(trimmed, "=") == ""
		if !separator {
			b.WriteString(line)
		}
	}
	flush()
	return blocks
}

// builtin returns the structs of the language itself, for text that leaves them out.
func builtin(name string) *schema.Message {
	name = RosName(name)
	if name != "builtin_interfaces/msg/Time" && name != "builtin_interfaces/msg/Duration" {
		return nil
	}
	return &schema.Message{Name: name, Fields: []schema.Field{
		{Name: "sec", Type: schema.Type{Kind: schema.Int32}}, {Name: "nanosec", Type: schema.Type{Kind: schema.Uint32}}}}
}

// message makes the graph of a struct.
func (p *parser) message(name, user string, depth int) (*schema.Message, error) {
	full := RosName(name)
	if m := p.made[name]; m != nil {
		return m, nil
	}
	fail := func(what string) error { return &Error{Type: full, What: what} }
	def := p.structs[name]
	if def != nil && !def.complete {
		def = nil // constants, or a declaration, without a body
	}
	switch {
	case def == nil && builtin(name) != nil:
		p.made[name] = builtin(name)
		return p.made[name], nil
	case def == nil && user != "":
		return nil, fail("it is missing; " + user + " uses it")
	case def == nil:
		return nil, fail("it is missing")
	case def.active:
		return nil, fail("it contains itself")
	case depth > maxDepth:
		return nil, fail("types are nested too deeply")
	}
	def.active = true
	defer func() { def.active = false }()
	m := &schema.Message{Name: full, Extensibility: def.extent, Union: def.union}
	m.Constants = p.constants(def, full)
	err := p.inherit(m, def, depth)
	if err == nil {
		err = p.addFields(m, def, depth)
	}
	if err == nil {
		err = p.addEnums(m)
	}
	if err != nil {
		return nil, err
	}
	p.made[name] = m
	return m, nil
}

// addFields adds the fields of a struct or union, without the fields of its base.
func (p *parser) addFields(m *schema.Message, def *structDef, depth int) error {
	defer func(outer string) { p.within = outer }(p.within)
	discriminator := (*enumDef)(nil)
	for i, f := range def.fields {
		p.within = m.Name + camel(f.name)
		t, err := p.resolve(f.ref, def.scope, m.Name, depth)
		if err != nil {
			return err
		}
		if f.name == "structure_needs_at_least_one_member" && len(def.fields) == 1 {
			continue // the place-holder of an empty message
		}
		if p.flattened++; p.flattened > maxFields {
			return &Error{Type: m.Name, What: "more than 100,000 fields"}
		}
		field := schema.Field{Name: f.name, Type: t.Type, Default: defaultOf(t.enum.number(f.value), t.Type)}
		switch {
		case def.union && i == 0:
			discriminator = t.enum
			err = p.discriminator(m, def, &field)
		case def.union:
			err = p.unionMember(m, def, f, &field, discriminator)
		case f.optional:
			err = p.optionalMember(m, &field)
		}
		if err != nil {
			return err
		}
		if err := p.setID(m, f, &field); err != nil {
			return err
		}
		m.Fields = append(m.Fields, field)
		if t.enum != nil {
			p.enums[m] = append(p.enums[m], t.enum)
		}
	}
	return nil
}

// inherit puts the fields of the base before the fields of a struct, as they stand in the bytes.
func (p *parser) inherit(m *schema.Message, def *structDef, depth int) error {
	if def.base == "" {
		return nil
	}
	t, err := p.resolve(typeRef{name: def.base}, def.scope, m.Name, depth)
	if err != nil {
		return err
	}
	if t.Kind != schema.Struct || t.Array != schema.Single {
		return &Error{Type: m.Name, What: def.base + " is not a struct, and cannot be a base"}
	}
	if p.flattened += len(t.Message.Fields); p.flattened > maxFields {
		return &Error{Type: m.Name, What: "more than 100,000 fields"}
	}
	m.Fields = append(m.Fields, t.Message.Fields...)
	base := t.Message.Extensibility
	m.Extensibility = max(m.Extensibility, base)
	p.enums[m] = slices.Clip(p.enums[t.Message])
	p.lastID[m] = p.lastID[t.Message]
	if m.Extensibility == schema.Mutable && base != schema.Mutable {
		return p.numberBase(m, def.base)
	}
	return nil
}

// A resolved type is one of the graph, and the enum that it is or is an array of.
type resolved struct {
	schema.Type
	enum *enumDef
}

// resolve turns a type as written into one of the graph.
func (p *parser) resolve(r typeRef, scope []string, user string, depth int) (resolved, error) {
	if depth > maxDepth {
		return resolved{}, &Error{Type: user, What: "types are nested too deeply"}
	}
	if r.name == "" {
		t := resolved{schema.Type{Kind: r.kind, StringBound: r.bound, Array: r.array, Len: r.len, Enumerated: r.enumerated},
			r.enum}
		if r.elem == nil {
			return t, nil
		}
		if r.key != nil {
			return p.entries(r, scope, user, depth)
		}
		elem, err := p.resolve(*r.elem, scope, user, depth+1)
		switch {
		case err != nil || elem.Array == schema.Single:
		case elem.Array == schema.Fixed && r.array == schema.Fixed && elem.Len <= maxLen/max(r.len, 1):
			elem.Len *= r.len // dimensions
			return elem, nil
		case elem.Array == schema.Fixed && r.array == schema.Fixed:
			err = &Error{Type: user, What: "an array of more than 2^31 values"}
		default:
			err = p.wrap(&elem, "Item", "data")
		}
		elem.Array, elem.Len = r.array, r.len
		return elem, err
	}
	for _, name := range candidates(r.name, scope) {
		if t, ok := p.flat[name]; ok {
			return t, nil
		}
		if ref, ok := p.types[name]; ok {
			t, err := p.resolve(ref, strings.Split(name, "::"), user, depth+1)
			if err == nil {
				p.flat[name] = t
			}
			return t, err
		}
		if what := p.refused[name]; what != "" {
			return resolved{}, &Error{Type: user, What: "it uses " + name + ", and " + what + " is not read"}
		}
		if p.structs[name] != nil || builtin(name) != nil {
			m, err := p.message(name, user, depth+1)
			return resolved{Type: schema.Type{Kind: schema.Struct, Message: m}}, err
		}
	}
	return resolved{}, &Error{Type: user, What: "type " + r.name + " is missing"}
}

// candidates lists what a name may mean, from the innermost scope outwards.
func candidates(name string, scope []string) []string {
	if abs, ok := strings.CutPrefix(name, "::"); ok {
		return []string{abs}
	}
	var out []string
	for i := len(scope); i > 0; i-- {
		out = append(out, strings.Join(scope[:i], "::")+"::"+name)
	}
	return append(out, name)
}

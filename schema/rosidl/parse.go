package rosidl

import (
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
	flat    map[string]resolved
	enums   map[*schema.Message][]*enumDef // of their fields

	within    string                                // the struct and field that is resolved, as the beginning of a name
	autoid    string                                // of the module that is read, see notes
	lastID    map[*schema.Message]uint32            // the number of the last member
	ids       map[*schema.Message]map[uint32]string // of @mutable structs: the fields
	typeNames map[string]int                        // names of types in ROS 2
	refused   map[string]string                     // names of types that are not read: "an interface"
	bits      map[string]int                        // of bitsets
	flattened int                                   // fields of the messages that were made
}

type structDef struct {
	scope     []string
	base      string // as it is written; "" without one
	fields    []fieldDef
	constants []constantDef
	complete  bool // its body was read
	union     bool // the first field is the discriminator
	hashed    bool // members have the hash of their name as number
	extent    schema.Extensibility
	active    bool
}

type fieldDef struct {
	name     string
	ref      typeRef
	value    string // its default, as it is written; "" without one
	optional bool
	id       *uint32 // nil: one more than the field before
	labels   []label // of a member of a union
	other    bool    // it has the label default
}

// A typeRef is a type as it is written: a kind, a name, or a list of another.
type typeRef struct {
	kind  schema.Kind
	bound int
	name  string
	elem  *typeRef
	key   *typeRef // of a map, whose values are elem
	array schema.Array
	len   int
	enum  *enumDef // of an enum

	enumerated bool // a number that is a bitmask or bitset, or an enum of at most 16 bits
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
		noted, err := p.annotations(scope)
		if err != nil {
			return err
		}
		t := p.peek()
		switch {
		case t.kind == endToken && len(scope) == 0:
			return nil
		case p.accept("}"):
			return nil
		case p.accept(";"):
		case p.accept("module"):
			err = p.module(scope, noted.autoid)
		case p.accept("struct"):
			err = p.structure(scope, noted)
		case p.accept("const"):
			err = p.constant(scope)
		case p.accept("typedef"):
			err = p.typedef(scope)
		case p.accept("enum"):
			err = p.enum(scope, noted.bits)
		case p.accept("union"):
			err = p.union(scope, noted)
		case p.accept("bitmask"):
			err = p.bitmask(scope, noted.bits)
		case p.accept("bitset"):
			err = p.bitset(scope)
		case p.accept("interface"):
			err = p.skip(scope, "an interface")
		case p.accept("exception"):
			err = p.skip(scope, "an exception")
		case p.accept("valuetype"):
			err = p.skip(scope, "a valuetype")
		case p.accept("native"):
			err = p.skip(scope, "a native type")
		default:
			err = p.fail(strconv.Quote(clip(t.text)) + " is not supported")
		}
		if err != nil {
			return err
		}
	}
}

// skip steps over the definition of a type that is not read.
func (p *parser) skip(scope []string, what string) error {
	name, err := p.word()
	if err != nil {
		return err
	}
	p.refused[within(scope, name)] = what
	for depth := 0; ; {
		switch t := p.next(); {
		case t.kind == endToken:
			return p.fail(what + " without an end")
		case t.kind != signToken:
		case t.text == "{":
			depth++
		case t.text == "}":
			depth--
		case t.text == ";" && depth == 0:
			return nil
		}
	}
}

func (p *parser) module(scope []string, autoid string) error {
	defer func(outer string) { p.autoid = outer }(p.autoid)
	if autoid != "" {
		p.autoid = autoid
	}
	name, err := p.word()
	if err == nil {
		err = p.expect("{")
	}
	if err != nil {
		return err
	}
	return p.definitions(append(scope[:len(scope):len(scope)], name))
}

// within returns the full name of what is defined in a scope.
func within(scope []string, name string) string {
	return strings.Join(append(scope[:len(scope):len(scope)], name), "::")
}

// scopedName reads a name with the modules before it, as it is written.
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

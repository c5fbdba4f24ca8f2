package migrate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/schema"
)

// A Change is a type of a recording that has another definition now.
type Change struct {
	Topics         []string
	Source, Target *schema.Message // Target is nil if there is no type of that name now
	Plan           *transcode.Plan // nil if there is no Target, or the bytes of messages stay
	Others         []string        // types of other packages that have the same short name now
}

// Draft returns the text of rules for changes. Where only a person can decide, it is under open, or
// to is empty; Parse refuses such rules, so that nothing is lost by accident.
func Draft(changes []Change) string {
	var b strings.Builder
	b.WriteString("# A draft made by bagconv defs changes. Decide what stands under open and remove it from there:\n" +
		"# write where a field goes under fields, or its name under drop or lossy. docs/migration.md explains the keys.\n" +
		"version: 1\ntypes:\n")
	n := 0
	for _, c := range changes {
		n += c.write(&b)
	}
	if n == 0 {
		return strings.TrimSuffix(b.String(), "types:\n") + "types: []\n"
	}
	return b.String()
}

// write writes the rules of a change, and returns their number.
func (c *Change) write(b *strings.Builder) (rules int) {
	fmt.Fprintf(b, "  # %s: %s\n", defset.CommonName(c.Source.Name), oneLine(transcode.List(c.Topics)))
	switch {
	case c.Target == nil:
		head(b, c.Source, `""`)
		if len(c.Others) > 0 {
			fmt.Fprintf(b, "    # the same name in other packages: %s\n", transcode.List(c.Others))
		}
		return 1
	case c.Plan == nil:
		b.WriteString("  # the bytes of messages stay; only the definition changes\n")
		return 0
	}
	for _, l := range []struct {
		paths []string
		what  string
	}{{c.Plan.Added(), "new, written as zero"}, {c.Plan.Defaulted(), "new, written with its default"}} {
		if len(l.paths) > 0 {
			fmt.Fprintf(b, "  # %s: %s\n", l.what, transcode.List(l.paths))
		}
	}
	places := c.places()
	if len(places) == 0 {
		b.WriteString("  # nothing is lost: fields are found by their names\n")
		return 0
	}
	for _, p := range places {
		head(b, p.src, quoted(defset.CommonName(p.dst.Name)))
		b.WriteString("    open:\n")
		for _, o := range p.open {
			fmt.Fprintf(b, "      - %s # %s\n", quoted(o.path), o.why)
		}
	}
	return len(places)
}

func head(b *strings.Builder, src *schema.Message, to string) {
	fmt.Fprintf(b, "  - from: %s\n", quoted(defset.CommonName(src.Name)))
	if hash, err := schema.RIHS01(src); err == nil && strings.Count(src.Name, "/") > 1 {
		fmt.Fprintf(b, "    hash: %s\n", hash)
	} else {
		fmt.Fprintf(b, "    md5: %s\n", schema.MD5(src))
	}
	fmt.Fprintf(b, "    to: %s\n", to)
}

// A decision is a pair of types about which something is open.
type decision struct {
	src, dst *schema.Message
	open     []openPath
	known    map[openPath]bool   // of the paths in open
	added    map[string][]string // by the text of their type: fields that only dst has
}

type openPath struct{ path, why string }

// places lists what is open: of the type itself, and of types in its lists, which have rules of their own.
func (c *Change) places() (out []*decision) {
	const less = "its new type has room for less; add it to lossy"
	made := map[[2]*schema.Message]*decision{}
	at := func(src, dst *schema.Message) *decision {
		d := made[[2]*schema.Message{src, dst}]
		if d == nil {
			d = &decision{src: src, dst: dst, known: map[openPath]bool{}, added: addedFields(src, dst)}
			made[[2]*schema.Message{src, dst}] = d
			out = append(out, d)
		}
		return d
	}
	for _, path := range c.Plan.Dropped() {
		src, dst, rest := inner(c.Source, c.Target, path)
		d, why := at(src, dst), "it is not in the new type"
		if array, _, end := strings.Cut(rest, "["); end { // the end of an array, x[3:]
			d.add(array, less)
			continue
		}
		if f, g := fieldOf(src, rest), fieldOf(dst, rest); f != nil && g != nil {
			if why = "it is a " + g.Type.Text() + " now"; (f.Type.Array == schema.Single) != (g.Type.Array == schema.Single) {
				why += fmt.Sprintf("; a rule %s: {from: %s} makes a value a list of one, and takes the first of a list", rest, rest)
			}
		} else if f != nil {
			if like := d.added[f.Type.Text()]; len(like) > 0 {
				why += "; new ones of its type: " + transcode.List(like)
			}
		}
		d.add(rest, why)
	}
	for _, path := range c.Plan.Narrowed() {
		at(c.Source, c.Target).add(path, "its new type cannot hold all numbers of the old one; add it to lossy")
	}
	for _, path := range c.Plan.Bounded() {
		at(c.Source, c.Target).add(path, less)
	}
	return out
}

// add adds a path, once with each reason.
func (d *decision) add(path, why string) {
	if o := (openPath{path, why}); !d.known[o] {
		d.known[o] = true
		d.open = append(d.open, o)
	}
}

// addedFields lists the fields of dst that src does not have, by the text of their type.
func addedFields(src, dst *schema.Message) map[string][]string {
	old, added := map[string]bool{}, map[string][]string{}
	for _, f := range src.Fields {
		old[f.Name] = true
	}
	for _, f := range dst.Fields {
		if !old[f.Name] {
			added[f.Type.Text()] = append(added[f.Type.Text()], f.Name)
		}
	}
	return added
}

// inner follows a path into lists: it returns the types of the innermost list and the path in them.
func inner(src, dst *schema.Message, path string) (*schema.Message, *schema.Message, string) {
	at, to, rest := src, dst, path
	for {
		name, more, ok := strings.Cut(rest, ".")
		if !ok {
			return src, dst, path
		}
		f, g := fieldOf(at, name), fieldOf(to, name)
		if f == nil || g == nil || f.Type.Message == nil || g.Type.Message == nil {
			return src, dst, path
		}
		at, to, rest = f.Type.Message, g.Type.Message, more
		if f.Type.Array != schema.Single {
			src, dst, path = at, to, rest
		}
	}
}

func fieldOf(m *schema.Message, name string) *schema.Field {
	for i := range m.Fields {
		if m.Fields[i].Name == name {
			return &m.Fields[i]
		}
	}
	return nil
}

// oneLine returns a text for a comment.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

var plain = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_/.]*$`)

// quoted returns a text as a value of YAML.
func quoted(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return strconv.QuoteToASCII(text)
}

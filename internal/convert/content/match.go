package content

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/internal/schema/measure"

	"github.com/bagconv/bagconv/schema"
)

// A slot is a field, or a field of a struct that a rule looks into, by its path.
type slot struct {
	path    string
	at      []int       // indexes of the fields on the way to it
	typ     schema.Type // as its side has it
	counter bool        // of a Header
}

// A rule lists fields that are the same under different names. Keys are
// paths in the canonical type, values paths in the source.
type rule struct {
	from  map[string]string
	table map[string]*[256]byte // translates the one-byte value of a field
}

// ruleFor returns the rule between two types that are not the same; nil: names
// decide. rosgraph_msgs/Log of ROS 1 and rcl_interfaces/msg/Log of ROS 2 have the
// stamp at another place and other numbers for the levels.
func ruleFor(src, dst string) *rule {
	const ros1Log, ros2Log = "rosgraph_msgs/Log", "rcl_interfaces/Log"
	switch facts.ShortName(src) + " " + facts.ShortName(dst) {
	case ros1Log + " " + ros2Log:
		return &rule{map[string]string{"stamp": "header.stamp"}, map[string]*[256]byte{"level": levels(true)}}
	case ros2Log + " " + ros1Log:
		return &rule{map[string]string{"header.stamp": "stamp"}, map[string]*[256]byte{"level": levels(false)}}
	}
	return nil
}

// levels translates the levels of logs: DEBUG 1 is 10, INFO 2 is 20, WARN 4 is 30,
// ERROR 8 is 40, FATAL 16 is 50. All other values stay.
func levels(toROS2 bool) *[256]byte {
	var t [256]byte
	for i := range t {
		t[i] = byte(i)
	}
	for step := range 5 {
		ros1, ros2 := byte(1)<<step, byte(10*(step+1))
		if toROS2 {
			t[ros1] = ros2
		} else {
			t[ros2] = ros1
		}
	}
	return &t
}

// slots lists the fields of a struct, and of structs that paths lead into.
func slots(m *schema.Message, open map[string]bool, prefix string, at []int, out []slot) []slot {
	for i, f := range m.Fields {
		here := append(append([]int(nil), at...), i)
		if path := prefix + f.Name; open[path] && f.Type.Kind == schema.Struct && f.Type.Array == schema.Single {
			out = slots(f.Type.Message, open, path+".", here, out)
		} else {
			out = append(out, slot{path, here, f.Type, isCounter(m, i)})
		}
	}
	return out
}

// A pairing describes what the fields of a canonical struct are read from.
type pairing struct {
	src, dst []slot
	from     []int // of each dst, an index into src, or -1
	table    []*[256]byte
}

// ascends reports whether each field that is read stands behind the one before it.
func (p *pairing) ascends() bool {
	last := -1
	for _, i := range p.from {
		if i < 0 {
			continue
		}
		if p.src[i].at[0] <= last {
			return false
		}
		last = p.src[i].at[0]
	}
	return true
}

// pairUp pairs the fields of two structs: by a rule, by the same name, and else by
// the name without regard to case.
func pairUp(src, dst *schema.Message) *pairing {
	r := ruleFor(src.Name, dst.Name)
	openSrc, openDst := map[string]bool{}, map[string]bool{}
	if r != nil {
		for d, s := range r.from {
			openOuter(openDst, d)
			openOuter(openSrc, s)
		}
	}
	p := &pairing{src: slots(src, openSrc, "", nil, nil), dst: slots(dst, openDst, "", nil, nil)}
	exact, folded := map[string]int{}, map[string]int{}
	for i, s := range p.src {
		exact[s.path] = i
		if low := strings.ToLower(s.path); folded[low] == 0 {
			folded[low] = i + 1
		}
	}
	used := map[int]bool{}
	for _, d := range p.dst {
		path := d.path
		var table *[256]byte
		if r != nil {
			table = r.table[path]
			if from := r.from[path]; from != "" {
				path = from
			}
		}
		i, ok := exact[path]
		if !ok {
			i = folded[strings.ToLower(path)] - 1
		}
		if i < 0 || used[i] {
			i = -1
		} else {
			used[i] = true
		}
		p.from, p.table = append(p.from, i), append(p.table, table)
	}
	return p
}

func openOuter(open map[string]bool, path string) {
	for i := range path {
		if path[i] == '.' {
			open[path[:i]] = true
		}
	}
}

// A comparer compiles programs and notes what one side has alone.
type comparer struct {
	strict         bool // the same types only
	dropped, added []string
	noted          map[string]bool
	sizes          measure.Measure // a canonical value that is zero has the least size
	work           int
}

func newComparer(strict bool) *comparer {
	return &comparer{strict: strict, noted: map[string]bool{}}
}

// note notes the fields that a pairing leaves over on either side.
func (c *comparer) note(p *pairing, prefix string) {
	used := map[int]bool{}
	add := func(list *[]string, s slot, side string) {
		if path := prefix + s.path; !s.counter && !c.noted[side+path] {
			c.noted[side+path] = true
			*list = append(*list, path)
		}
	}
	for k, i := range p.from {
		used[i] = true
		if i < 0 {
			add(&c.added, p.dst[k], "+")
		}
	}
	for i, s := range p.src {
		if !used[i] {
			add(&c.dropped, s, "-")
		}
	}
}

// enter counts a pair of types against the limits.
func (c *comparer) enter(fields, depth int) error {
	if c.work += 1 + fields; c.work > maxNodes || depth > maxDepth {
		return errTooLarge
	}
	return nil
}

// zero returns how many zero bytes stand for a field of the canonical type.
func (c *comparer) zero(t schema.Type) (int, error) {
	n := c.sizes.Least(t)
	if n > maxZero {
		return 0, errTooLarge
	}
	return n, nil
}

// fits reports whether a value of a source type, as canonical type, is a value of dst.
// Between encodings a conversion may write an array as a list; within one encoding
// these are other types.
func (c *comparer) fits(src, dst schema.Type) error {
	s := canonicalType(src)
	same := s.Kind == dst.Kind && s.Array == dst.Array && s.Len == dst.Len
	if !same && !c.strict {
		same = s.Kind == dst.Kind && s.Array == schema.Fixed && dst.Array == schema.Unbounded
	}
	if !same || dst.Kind == schema.Invalid || dst.Kind == schema.WChar || dst.Kind == schema.LongDouble {
		return fmt.Errorf("a %s is not a %s", src.Text(), dst.Text())
	}
	return nil
}

// TypesDiffer returns the path of the first field in which two canonical types
// differ, and its type in both, "" if it is missing; all are "" for types that are
// the same.
func TypesDiffer(a, b *schema.Message) (path, inA, inB string) {
	return typesDiffer(a, b, "", map[[2]*schema.Message]bool{})
}

func typesDiffer(a, b *schema.Message, prefix string, seen map[[2]*schema.Message]bool) (path, inA, inB string) {
	k := [2]*schema.Message{a, b}
	if seen[k] {
		return "", "", ""
	}
	seen[k] = true
	for i := range max(len(a.Fields), len(b.Fields)) {
		if i >= len(a.Fields) {
			return prefix + b.Fields[i].Name, "", b.Fields[i].Type.Text()
		}
		f := a.Fields[i]
		path := prefix + f.Name
		if i >= len(b.Fields) || !strings.EqualFold(f.Name, b.Fields[i].Name) {
			return path, f.Type.Text(), ""
		}
		s, t := f.Type, b.Fields[i].Type
		if s.Kind != t.Kind || s.Array != t.Array || s.Len != t.Len {
			return path, s.Text(), t.Text()
		}
		if s.Kind == schema.Struct {
			if path, x, y := typesDiffer(s.Message, t.Message, path+".", seen); path != "" {
				return path, x, y
			}
		}
	}
	return "", "", ""
}

func classOf(k schema.Kind) class {
	switch k {
	case schema.Bool:
		return boolean
	case schema.Float32:
		return float32Class
	case schema.Float64:
		return float64Class
	}
	return plain
}

package ulog

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	maxData   = 1<<16 - 1 - dataHead // bytes of a struct in a D
	maxDepth  = 32                   // of structs within each other
	maxTexts  = 64 << 20             // bytes of the definitions of all topics
	rosPkg    = "px4_msgs"
	separator = "================================================================================\n"
)

// A structure is what an F describes.
type structure struct {
	name   string
	ros    string // its name as a ROS type, without the package
	fields []field
	text   string // of the definition, without nested ones

	resolved, visiting bool
	err                error
	size               int // bytes of a struct, with all padding
	least              int // bytes without the padding at its end
	stamp              int // offset of the timestamp; -1: no timestamp
}

// A field is a field of a structure.
type field struct {
	typ, name string
	count     int
	array     bool
	padding   bool
	size      int        // bytes of one element; of a structure once it is resolved
	nested    *structure // nil: a basic type
}

// errFormat means that an F cannot be read, or uses what is not there.
var errFormat = errors.New("malformed")

// parseStructure reads the text of an F.
func parseStructure(text []byte) (*structure, error) {
	name, rest, ok := bytes.Cut(text, []byte{':'})
	if !ok || !legal(name, "_-/") {
		return nil, fmt.Errorf("%w: it has no name", errFormat)
	}
	s := &structure{name: string(name), stamp: -1}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(string(rest), ";") {
		if part == "" {
			continue
		}
		f, err := parseField(part)
		if err != nil {
			return nil, err
		}
		if seen[f.name] {
			return nil, fmt.Errorf("%w: two fields are called %q", errFormat, f.name)
		}
		seen[f.name] = true
		s.fields = append(s.fields, f)
	}
	if len(s.fields) == 0 {
		return nil, fmt.Errorf("%w: %s has no fields", errFormat, s.name)
	}
	return s, nil
}

// parseField reads "type name" or "type[n] name".
func parseField(part string) (field, error) {
	typ, name, _ := strings.Cut(part, " ")
	f := field{typ: typ, name: name, count: 1, padding: strings.HasPrefix(name, "_padding")}
	if base, n, ok := strings.Cut(typ, "["); ok {
		count, err := strconv.Atoi(strings.TrimSuffix(n, "]"))
		if err != nil || count <= 0 || count > maxData || !strings.HasSuffix(n, "]") {
			return f, fmt.Errorf("%w: the field %.80q", errFormat, part)
		}
		f.typ, f.count, f.array = base, count, true
	}
	if !legal([]byte(f.typ), "_-/") || !legal([]byte(name), "_") {
		return f, fmt.Errorf("%w: the field %.80q", errFormat, part)
	}
	f.size = kinds[f.typ].size
	return f, nil
}

// types are the structures of a file.
type types struct {
	byName map[string]*structure
	byROS  map[string]string // the name of the structure that has a ROS name
	bytes  int               // of the definitions of topics
}

// add takes an F. A structure of the same name is replaced for the subscriptions that follow.
func (t *types) add(s *structure) {
	if t.byName == nil {
		t.byName, t.byROS = map[string]*structure{}, map[string]string{}
	}
	if old := t.byName[s.name]; old != nil {
		s.ros = old.ros
	} else {
		base := rosName(s.name)
		s.ros = base
		for i := 2; t.byROS[s.ros] != ""; i++ {
			s.ros = base + strconv.Itoa(i)
		}
		t.byROS[s.ros] = s.name
	}
	t.byName[s.name] = s
}

// rosName returns VehicleAttitude for vehicle_attitude.
func rosName(name string) string {
	var b strings.Builder
	up := true
	for _, c := range []byte(name) {
		switch {
		case !isLetter(c) && (c < '0' || c > '9'):
			up = true
			continue
		case b.Len() == 0 && !isLetter(c):
			b.WriteString("M")
		case up && c >= 'a':
			c -= 'a' - 'A'
		}
		b.WriteByte(c)
		up = false
	}
	if b.Len() == 0 {
		return "M"
	}
	return b.String()
}

// resolve finds the nested structures of s, and the size of all.
func (t *types) resolve(s *structure, depth int) error {
	switch {
	case s.resolved:
		return s.err
	case s.visiting:
		return fmt.Errorf("%w: %s has itself as a field", errFormat, s.name)
	case depth > maxDepth:
		return fmt.Errorf("%w: %s is nested over %d deep", errFormat, s.name, maxDepth)
	}
	s.visiting = true
	s.err = t.measure(s, depth)
	s.visiting, s.resolved = false, true
	return s.err
}

func (t *types) measure(s *structure, depth int) error {
	var text strings.Builder
	for i := range s.fields {
		f := &s.fields[i]
		ros, least := kinds[f.typ].ros, f.size
		if ros == "" {
			nested := t.byName[f.typ]
			if nested == nil {
				return fmt.Errorf("%w: no format describes %s, which %s has", errFormat, f.typ, s.name)
			}
			if err := t.resolve(nested, depth+1); err != nil {
				return err
			}
			f.nested, f.size, least, ros = nested, nested.size, nested.least, nested.ros
		}
		if f.size*f.count > maxData-s.size {
			return fmt.Errorf("%w: %s is larger than a message", errFormat, s.name)
		}
		if f.name == "timestamp" && f.typ == "uint64_t" && !f.array {
			s.stamp = s.size
		}
		if !f.padding {
			if s.least = s.size + f.size*(f.count-1) + least; f.array {
				ros += "[" + strconv.Itoa(f.count) + "]"
			}
			text.WriteString(ros + " " + f.name + "\n")
		}
		s.size += f.size * f.count
	}
	s.text = text.String()
	return nil
}

// definition returns the text of a structure and of all that are nested in it, and counts its bytes.
func (t *types) definition(s *structure) (string, error) {
	var b strings.Builder
	b.WriteString(s.text)
	seen := map[*structure]bool{s: true}
	var nested func(s *structure)
	nested = func(s *structure) {
		for _, f := range s.fields {
			if f.nested == nil || f.padding || seen[f.nested] || b.Len() > maxTexts {
				continue
			}
			seen[f.nested] = true
			b.WriteString(separator + "MSG: " + rosPkg + "/" + f.nested.ros + "\n" + f.nested.text)
			nested(f.nested)
		}
	}
	nested(s)
	if t.bytes += b.Len(); t.bytes > maxTexts {
		t.bytes -= b.Len()
		return "", fmt.Errorf("%w: the definitions of all topics are larger than %d MiB", errFormat, maxTexts>>20)
	}
	return b.String(), nil
}

package protoschema

import (
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// byNumber returns the fields of md, least number first: the order in which
// serializers write them.
func byNumber(md protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	fields := make([]protoreflect.FieldDescriptor, md.Fields().Len())
	for i := range fields {
		fields[i] = md.Fields().Get(i)
	}
	slices.SortFunc(fields, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number()) - int(b.Number()) })
	return fields
}

// A member is what a ROS field of a generated type stands for: a protobuf field,
// or the number of the member of a oneof that is set.
type member struct {
	name  string
	field protoreflect.FieldDescriptor
	oneof protoreflect.OneofDescriptor
}

// members lists the ROS fields of the type generated from md, in order. The case
// of a oneof stands before its first member.
func members(md protoreflect.MessageDescriptor) []member {
	var out []member
	used, cased := map[string]bool{}, map[protoreflect.FullName]bool{}
	add := func(m member) {
		m.name = unique(used, m.name)
		out = append(out, m)
	}
	for _, f := range byNumber(md) {
		if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() && !cased[o.FullName()] {
			cased[o.FullName()] = true
			add(member{name: fieldName(string(o.Name())) + "_case", oneof: o})
		}
		add(member{name: fieldName(string(f.Name())), field: f})
	}
	return out
}

// unique returns name, with a number behind it when it is taken.
func unique(used map[string]bool, name string) string {
	for i, base := 2, name; used[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	used[name] = true
	return name
}

// fieldName makes a legal field name of ROS 2: lower case, single underscores, a
// letter first (rosidl_adapter parser.py), and no word that the code generated
// for it in Python or C++ cannot have.
func fieldName(s string) string {
	name := words(s, 'f')
	if reserved[name] {
		name += "_field"
	}
	return name
}

// Reserved tells whether a field of ROS 2 cannot have that name although it is
// spelled as one: a keyword of Python or C++, in which code is generated.
func Reserved(name string) bool { return reserved[name] }

// reserved are the lower-case keywords of Python 3 and C++20.
var reserved = func() map[string]bool {
	const python = `and as assert async await break class continue def del elif else except finally for from global if
		import in is lambda nonlocal not or pass raise return try while with yield`
	const cpp = `alignas alignof and_eq asm auto bitand bitor bool case catch char concept const consteval constexpr
		constinit decltype default delete do double dynamic_cast enum explicit export extern false float friend goto
		inline int long mutable namespace new noexcept not_eq nullptr operator or_eq private protected public register
		reinterpret_cast requires short signed sizeof static static_assert static_cast struct switch template this
		thread_local throw true typedef typeid typename union unsigned using virtual void volatile wchar_t xor xor_eq`
	m := map[string]bool{}
	for _, w := range strings.Fields(python + " " + cpp) {
		m[w] = true
	}
	return m
}()

// packageName makes a legal package name of a protobuf package.
func packageName(s string) string {
	if s == "" {
		return "protobuf"
	}
	return words(s, 'p')
}

// words writes s in lower case with all that is no letter or digit as single
// underscores between them. A name that begins otherwise than with a letter gets first.
func words(s string, first byte) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && b.String()[b.Len()-1] != '_':
			b.WriteByte('_')
		}
	}
	name := strings.TrimRight(b.String(), "_")
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		name = strings.TrimRight(string(first)+"_"+name, "_")
	}
	return name
}

// typeName makes a legal type name: the nested path in camel case.
func typeName(md protoreflect.MessageDescriptor) string {
	path := strings.TrimPrefix(string(md.FullName()), string(md.ParentFile().Package())+".")
	var b strings.Builder
	up := true
	for _, r := range path {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		switch {
		case letter && up:
			b.WriteString(strings.ToUpper(string(r)))
			up = false
		case letter || r >= '0' && r <= '9' && b.Len() > 0:
			b.WriteRune(r)
			up = !letter
		default:
			up = true
		}
	}
	if b.Len() == 0 {
		return "M"
	}
	return b.String()
}

// constantName makes a legal constant name: upper case, single underscores.
func constantName(enum, value string) string {
	return strings.ToUpper(words(snake(enum)+"_"+value, 'e'))
}

// snake writes CamelCase as camel_case.
func snake(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' && i > 0 {
			prev := s[i-1]
			next := i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z'
			if prev >= 'a' && prev <= 'z' || prev >= '0' && prev <= '9' || prev >= 'A' && prev <= 'Z' && next {
				b.WriteByte('_')
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

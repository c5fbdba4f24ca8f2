// Package names makes legal names of types, fields and constants from names of other languages. It
// does no I/O; functions may be called concurrently.
//
//	names.Field("frameID 2")          frameid_2
//	names.Camel("point-cloud")        PointCloud
//	names.Constant("GearMode", "P")   GEAR_MODE_P
package names

import "strings"

// Field makes a legal field name of ROS 2: lower case, single underscores, a
// letter first (rosidl_adapter parser.py), and no word that the code generated
// for it in Python or C++ cannot have.
func Field(s string) string {
	name := Words(s, 'f')
	if reserved[name] {
		name += "_field"
	}
	return name
}

// Reserved reports whether a field of ROS 2 cannot have that name although it is
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

// Words writes s in lower case with all that is not a letter or digit as single
// underscores between them. A name that begins otherwise than with a letter gets first.
func Words(s string, first byte) string {
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

// Snake writes CamelCase as camel_case.
func Snake(s string) string {
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

// Camel returns a legal type name made of words: letters and digits, a capital first.
func Camel(s string) string {
	var b strings.Builder
	up := true
	for _, r := range s {
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

// Constant returns the name of a constant that is a value of an enum: upper case, single
// underscores.
func Constant(enum, value string) string {
	return strings.ToUpper(Words(Snake(enum)+"_"+value, 'e'))
}

package gen

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/bagconv/bagconv/schema"
)

//go:embed cpp
var cppFiles embed.FS

// cppReserved are words that cannot be names: keywords, what the code itself uses, and macros of
// the standard library.
var cppReserved = words(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
	char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue
	decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto if
	inline int long module mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
	import register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch
	template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
	while xor xor_eq final override`,
	`std types topics ToolStream JsonText LoadData StoreData OutputData AppendText time_ros duration_ros stream value text bytes`,
	`assert errno EOF NULL NAN INFINITY HUGE_VAL HUGE_VALF HUGE_VALL FLT_MIN FLT_MAX DBL_MIN DBL_MAX stdin stdout stderr
	linux unix i386 major minor makedev signal_h RAND_MAX EXIT_SUCCESS EXIT_FAILURE BUFSIZ SEEK_SET SEEK_CUR SEEK_END
	CHAR_BIT CHAR_MIN CHAR_MAX SCHAR_MIN SCHAR_MAX UCHAR_MAX SHRT_MIN SHRT_MAX USHRT_MAX INT_MIN INT_MAX UINT_MAX
	LONG_MIN LONG_MAX ULONG_MAX DOMAIN SING OVERFLOW UNDERFLOW PLOSS TLOSS M_PI M_E MB_CUR_MAX TMP_MAX FOPEN_MAX
	FILENAME_MAX offsetof va_list math_errhandling FP_NAN FP_INFINITE FP_ZERO FP_SUBNORMAL FP_NORMAL isnan isinf signbit
	INT8_MIN INT16_MIN INT32_MIN INT64_MIN INT8_MAX INT16_MAX INT32_MAX INT64_MAX UINT8_MAX UINT16_MAX UINT32_MAX
	UINT64_MAX SIZE_MAX PTRDIFF_MIN PTRDIFF_MAX INTPTR_MIN INTPTR_MAX UINTPTR_MAX WCHAR_MIN WCHAR_MAX`)

// A cppType is a type with its names in C++.
type cppType struct {
	*messageType
	space  []string // the namespaces around it, from the outermost
	name   string
	fields []string // their names
}

// full is the name from everywhere.
func (t *cppType) full() string { return "::" + strings.Join(t.space, "::") + "::" + t.name }

// A cppUnit is a header and its source file, with the types of both.
type cppUnit struct {
	name  string // of the files, without the ending
	topic *cppTopic
	types []*messageType // a type comes after the types that it uses
	of    map[*messageType]*cppType
}

// A cppTopic is a topic with its namespace.
type cppTopic struct {
	*topic
	space string
	unit  *cppUnit
}

// A cppWriter writes the files.
type cppWriter struct {
	*model
	outer  []string // the namespaces around all of the code
	units  []*cppUnit
	topics []*cppTopic
}

func writeCPP(m *model, in *Input) ([]File, error) {
	w := &cppWriter{model: m}
	for _, name := range strings.Split(in.Namespace, "::") {
		if name != identifier(name) && in.Namespace != "" || cppReserved[name] {
			return nil, fmt.Errorf("%q is no namespace of C++", in.Namespace)
		}
		if name != "" {
			w.outer = append(w.outer, name)
		}
	}
	w.nameTopics()
	if in.ByTopic {
		for _, t := range w.topics {
			w.units = append(w.units, w.unitOf(t))
		}
	} else {
		shared := w.sharedUnit()
		w.units = append(w.units, shared)
		for _, t := range w.topics {
			t.unit = shared
		}
	}
	files := []File{{"structure.h", []byte(w.head("//") + w.structure())}}
	for _, u := range w.units {
		files = append(files, File{u.name + ".h", []byte(w.head("//") + w.declarations(u))},
			File{u.name + ".cpp", []byte(w.head("//") + w.definitions(u))})
	}
	fill := strings.NewReplacer("@TOPICS@\n", w.dispatch(), "@SOURCES@", w.sources(), "@GUARD@", w.guard(),
		"@OPEN@\n", "\n"+w.open(w.outer...), "@CLOSE@\n", w.close(w.outer...),
		"@USING@\n", condition(len(w.outer) > 0, "\nusing namespace "+strings.Join(w.outer, "::")+";\n"),
		"@LIBRARY@", cmp.Or(strings.Join(w.outer, "_"), "structure"))
	for _, name := range []string{"public_header.h", "public_header.cpp", "example.cpp", "CMakeLists.txt"} {
		text, err := cppFiles.ReadFile("cpp/" + name)
		if err != nil {
			return nil, err
		}
		comment := "//"
		if name == "CMakeLists.txt" {
			comment = "#"
		}
		files = append(files, File{name, []byte(w.head(comment) + fill.Replace(string(text)))})
	}
	return files, nil
}

// nameTopics gives each topic its namespace.
func (w *cppWriter) nameTopics() {
	names := newScope("structure", "public_header", "example", "types")
	for _, t := range w.model.topics {
		text := t.Name
		if text == "" {
			text = t.typ.pkg + "_" + t.typ.short
		}
		w.topics = append(w.topics, &cppTopic{topic: t, space: names.name(text, cppReserved)})
	}
}

// sharedUnit has all types, in namespaces of their packages.
func (w *cppWriter) sharedUnit() *cppUnit {
	u := &cppUnit{name: "types", types: w.types, of: map[*messageType]*cppType{}}
	spaces := map[string]string{} // by package
	names := map[string]*scope{}  // by package
	all := newScope()
	for _, t := range w.types {
		if names[t.pkg] == nil {
			names[t.pkg] = newScope()
			spaces[t.pkg] = all.name(cmp.Or(t.pkg, "unnamed"), cppReserved)
		}
		u.add(t, w.within("types", spaces[t.pkg]), names[t.pkg].name(t.short, cppReserved))
	}
	return u
}

// unitOf has the types of one topic, in its namespace.
func (w *cppWriter) unitOf(t *cppTopic) *cppUnit {
	u := &cppUnit{name: t.space, topic: t, types: w.usedBy(t.typ), of: map[*messageType]*cppType{}}
	slices.Reverse(u.types) // see usedBy
	t.unit = u
	names := newScope("object")
	for _, used := range u.types {
		name := "object"
		if used != t.typ {
			name = names.name(used.short+"_type", cppReserved)
		}
		u.add(used, w.within(t.space), name)
	}
	return u
}

// within returns namespaces within the outer ones.
func (w *cppWriter) within(spaces ...string) []string { return slices.Concat(w.outer, spaces) }

// add names a type and its fields.
func (u *cppUnit) add(t *messageType, space []string, name string) {
	c := &cppType{messageType: t, space: space, name: name}
	own := newScope(c.name)
	for _, f := range t.Fields {
		c.fields = append(c.fields, own.name(f.Name, cppReserved))
	}
	u.of[t] = c
}

// open and close stand around what is in namespaces.
func (w *cppWriter) open(spaces ...string) (text string) {
	for _, s := range spaces {
		text += "namespace " + s + " {\n"
	}
	return text
}

func (w *cppWriter) close(spaces ...string) (text string) {
	for _, s := range slices.Backward(spaces) {
		text += "}  // namespace " + s + "\n"
	}
	return text
}

// global is the name of something in the outer namespaces, from everywhere.
func (w *cppWriter) global(name string) string { return "::" + strings.Join(w.within(name), "::") }

// guard is what the names begin with that say that a header was read.
func (w *cppWriter) guard() string {
	return strings.ToUpper(strings.Join(slices.Concat([]string{"bagconv"}, w.outer), "_"))
}

// header puts the guard around a header.
func (w *cppWriter) header(name, text string) string {
	guard := w.guard() + "_" + strings.ToUpper(name) + "_H"
	return "#ifndef " + guard + "\n#define " + guard + "\n\n" + text + "\n#endif\n"
}

// sources lists the source files of the units.
func (w *cppWriter) sources() string {
	var names []string
	for _, u := range w.units {
		names = append(names, u.name+".cpp")
	}
	return strings.Join(names, " ")
}

// head is the beginning of each file.
func (m *model) head(comment string) string {
	return comment + " Made by: " + m.made + "\n" + comment + " Do not edit: make it again.\n\n"
}

// structure is the header that a program includes.
func (w *cppWriter) structure() string {
	var b strings.Builder
	b.WriteString("#include \"public_header.h\"\n")
	for _, u := range w.units {
		b.WriteString("#include \"" + u.name + ".h\"\n")
	}
	for _, t := range w.topics {
		if t.unit.topic != nil {
			continue // its header has all of it
		}
		spaces := w.within("topics", t.space)
		fmt.Fprintf(&b, "\n%s%s", t.comment(), w.open(spaces...))
		own, seen := newScope(), map[string]bool{}
		for _, used := range w.usedBy(t.typ) {
			c := t.unit.of[used]
			fmt.Fprintf(&b, "using %s = %s;\n", own.name(used.short, cppReserved), c.full())
			if pkg := c.space[len(c.space)-1]; !seen[pkg] {
				seen[pkg] = true
				types := w.global("types::" + pkg)
				fmt.Fprintf(&b, "using %s::LoadData;\nusing %s::OutputData;\n", types, types)
			}
		}
		b.WriteString(w.close(spaces...))
	}
	return w.header("structure", b.String())
}

// comment describes a topic.
func (t *cppTopic) comment() string {
	what := "Type " + t.Type
	if t.Name != "" {
		what = "Topic " + t.Name + ", " + t.Type
	}
	return fmt.Sprintf("// %s (%s)\n", cppComment(what), t.Encoding)
}

// usedBy lists a type and the types that it uses, the type itself first. Backwards, a type comes after the types that
// it uses.
func (m *model) usedBy(t *messageType) (list []*messageType) {
	seen := map[*messageType]bool{}
	var walk func(*messageType)
	walk = func(t *messageType) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		for _, u := range slices.Backward(t.uses) {
			walk(u)
		}
		list = append(list, t)
	}
	walk(t)
	slices.Reverse(list)
	return list
}

// dispatch is the part of the example that chooses the type of a frame.
func (w *cppWriter) dispatch() string {
	var b strings.Builder
	for _, t := range w.topics {
		fmt.Fprintf(&b, "  if (%sf.type == %s && f.encoding == %s && Print<%s>(f, error)) return true;\n",
			condition(t.Name != "", "f.topic == "+cppText(t.Name)+" && "), cppText(t.Type), cppText(t.Encoding),
			t.unit.of[t.typ].full())
	}
	return b.String()
}

func condition(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// declarations are the structs and functions of a unit.
func (w *cppWriter) declarations(u *cppUnit) string {
	var b strings.Builder
	b.WriteString("#include \"public_header.h\"\n")
	if u.topic != nil {
		b.WriteString("\n" + u.topic.comment())
	}
	for _, t := range u.types {
		c := u.of[t]
		fmt.Fprintf(&b, "\n%s\n// %s\nstruct %s {\n", w.open(c.space...), cppComment(t.Name), c.name)
		w.constants(&b, c, false)
		for i, f := range t.Fields {
			b.WriteString("  " + w.field(u, c, i) + ";" + bounds(f.Type) + "\n")
		}
		fmt.Fprintf(&b, "\n  %s() {}\n", c.name) // else a list of such structs would be set to zero first
		b.WriteString("};\n\n" + strings.ReplaceAll(cppFunctions, "@", c.name) + "\n" + w.close(c.space...))
	}
	return w.header(u.name, b.String())
}

// cppFunctions are the functions of a type, whose name stands for @.
const cppFunctions = `void LoadData(ToolStream& stream, @& value);
void StoreData(ToolStream& stream, const @& value);
void AppendText(JsonText& text, const @& value);
void OutputData(const @& value);
inline ToolStream& operator>>(ToolStream& stream, @& value) { return LoadData(stream, value), stream; }
inline ToolStream& operator<<(ToolStream& stream, const @& value) { return StoreData(stream, value), stream; }
`

// bounds is a comment about what the definition allows.
func bounds(t schema.Type) (text string) {
	if t.StringBound > 0 {
		text = fmt.Sprintf("  // strings of at most %d characters", t.StringBound)
	}
	if t.Array == schema.Bounded {
		if text == "" {
			text = "  //"
		}
		text += fmt.Sprintf(" at most %d elements", t.Len)
	}
	return text
}

// field is the declaration of field i.
func (w *cppWriter) field(u *cppUnit, c *cppType, i int) string {
	f, name := c.Fields[i], c.fields[i]
	elem, zero := w.elem(u, c.messageType, i), ""
	if f.Type.Kind.Size() > 0 && f.Type.Kind != schema.Time && f.Type.Kind != schema.Duration {
		zero = " = {}"
	}
	switch {
	case f.Type.Array == schema.Single && zero != "":
		return elem + " " + name + " = " + map[bool]string{true: "false", false: "0"}[f.Type.Kind == schema.Bool]
	case f.Type.Array == schema.Single:
		return elem + " " + name
	case f.Type.Array == schema.Fixed && f.Type.Len == 0:
		return "std::array<" + elem + ", 0> " + name + " = {}"
	case f.Type.Array == schema.Fixed:
		return elem + " " + name + "[" + strconv.Itoa(f.Type.Len) + "]" + zero
	}
	return "std::vector<" + elem + "> " + name
}

// elem is the type of one value of field i.
func (w *cppWriter) elem(u *cppUnit, t *messageType, i int) string {
	k := t.Fields[i].Type.Kind
	if n, ok := numberOf(k, t.ros1); ok {
		return cppNumber(n)
	}
	switch k {
	case schema.Bool:
		return "bool"
	case schema.String:
		return "std::string"
	case schema.WString:
		return "std::u16string"
	case schema.Time:
		return w.global("time_ros")
	case schema.Duration:
		return w.global("duration_ros")
	}
	return u.of[t.uses[i]].full()
}

func cppNumber(n numberKind) string {
	switch {
	case n.float && n.bits == 32:
		return "float"
	case n.float:
		return "double"
	case n.signed:
		return fmt.Sprintf("std::int%d_t", n.bits)
	}
	return fmt.Sprintf("std::uint%d_t", n.bits)
}

// constants writes the constants of a struct: within it, or, for C++ before 17, behind it.
func (w *cppWriter) constants(b *strings.Builder, c *cppType, behind bool) {
	own := newScope(append([]string{c.name}, c.fields...)...)
	for _, k := range c.Constants {
		v, ok := constantOf(k, c.ros1)
		name := own.name(k.Name, cppReserved)
		typ := "bool"
		switch v := v.(type) {
		case string:
			typ = "const char*"
		case bool:
		default:
			n, _ := numberOf(k.Kind, c.ros1)
			typ = cppNumber(n)
			_ = v
		}
		switch {
		case !ok && !behind:
			fmt.Fprintf(b, "  // %s = %s: not a %s\n", cppComment(k.Name), cppComment(k.Text), k.Kind)
		case !ok:
		case behind:
			fmt.Fprintf(b, "constexpr %s %s::%s;\n", typ, c.name, name)
		default:
			fmt.Fprintf(b, "  static constexpr %s %s = %s;\n", typ, name, cppValue(v))
		}
	}
}

func cppValue(v constant) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case string:
		return cppText(v)
	case int64:
		if v == math.MinInt64 {
			return "-9223372036854775807LL - 1"
		}
		return strconv.FormatInt(v, 10) + condition(v != int64(int32(v)), "LL")
	case uint64:
		return strconv.FormatUint(v, 10) + condition(v > math.MaxInt32, "ULL")
	case float64:
		switch {
		case math.IsNaN(v):
			return "__builtin_nan(\"\")"
		case math.IsInf(v, 0):
			return condition(v < 0, "-") + "__builtin_inf()"
		}
		text := strconv.FormatFloat(v, 'g', -1, 64)
		return text + condition(!strings.ContainsAny(text, ".e"), ".0")
	}
	return "0"
}

// cppText is a string literal.
func cppText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '"' || c == '\\' || c == '?':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// cppComment returns a text so that it can stand in a comment of one line.
func cppComment(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == '\\' || r == '?' || r == 0xfffd {
			return '_'
		}
		return r
	}, s)
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "..."
	}
	return s
}

package gen

import (
	"embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

//go:embed python
var pythonFiles embed.FS

var pythonReserved = words(`False None True and as assert async await break class continue def del elif else except finally
	for from global if import in is lambda nonlocal not or pass raise return try while with yield`,
	`TYPE DTYPE NAMES KINDS TOPICS from_ros1 from_cdr Message Malformed ROSTime ROSDuration annotations`)

// A pythonWriter writes the files.
type pythonWriter struct {
	*model
	names  map[*messageType]string
	fields map[*messageType][]string
}

func writePython(m *model) ([]File, error) {
	w := &pythonWriter{m, map[*messageType]string{}, map[*messageType][]string{}}
	top := newScope()
	for _, t := range m.types {
		w.names[t] = top.name(t.pkg+condition(t.pkg != "", "_")+t.short, pythonReserved)
		own := newScope()
		for _, f := range t.Fields {
			w.fields[t] = append(w.fields[t], own.name(f.Name, pythonReserved))
		}
	}
	wire, err := pythonFiles.ReadFile("python/wire.py.txt")
	if err != nil {
		return nil, err
	}
	example, err := pythonFiles.ReadFile("python/example.py")
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(m.head("#") + "\"\"\"Message types, and what reads them from bytes. It needs numpy.\"\"\"\n" + string(wire))
	for _, t := range m.types {
		w.message(&b, t)
	}
	b.WriteString("\n\nTOPICS = {\n")
	for i, t := range m.topics {
		if t.Name == "" || slices.ContainsFunc(m.topics[:i], func(o *topic) bool { return o.Name == t.Name }) {
			continue
		}
		fmt.Fprintf(&b, "    %s: [", pythonText(t.Name))
		for _, o := range m.topics[i:] {
			if o.Name == t.Name {
				b.WriteString(condition(o != t, ", ") + w.names[o.typ])
			}
		}
		b.WriteString("],\n")
	}
	b.WriteString("}\n")
	return []File{{"messages.py", []byte(b.String())}, {"example.py", []byte(m.head("#") + string(example))}}, nil
}

// pythonText is a string literal.
func pythonText(s string) string {
	return strconv.QuoteToASCII(strings.ToValidUTF8(s, "\ufffd"))
}

// message writes a class.
func (w *pythonWriter) message(b *strings.Builder, t *messageType) {
	fmt.Fprintf(b, "\n\n@_dc.dataclass(eq=False)\nclass %s(Message):\n    TYPE = %s\n", w.names[t], pythonText(t.Name))
	if t.isFixed() {
		fmt.Fprintf(b, "    DTYPE = _np.dtype([%s])\n    _ALIGN = %d\n", w.dtype(t), t.alignment())
	}
	var names, kinds []string
	for i, f := range t.Fields {
		name := w.fields[t][i]
		if name != f.Name {
			names = append(names, fmt.Sprintf("%q: %s", name, pythonText(f.Name)))
		}
		if code, _ := numpyCode(f.Type.Kind, t.ros1); code != "" && f.Type.Array == schema.Single {
			kinds = append(kinds, fmt.Sprintf("%q: %q", name, code))
		}
	}
	if names != nil {
		fmt.Fprintf(b, "    NAMES = {%s}\n", strings.Join(names, ", "))
	}
	if kinds != nil {
		fmt.Fprintf(b, "    KINDS = {%s}\n", strings.Join(kinds, ", "))
	}
	own := newScope(w.fields[t]...)
	for _, c := range t.Constants {
		if v, ok := constantOf(c, t.ros1); ok {
			fmt.Fprintf(b, "    %s = %s\n", own.name(c.Name, pythonReserved), pythonValue(v))
		} else {
			fmt.Fprintf(b, "    # %s = %s: not a %s\n", cppComment(c.Name), cppComment(c.Text), c.Kind)
		}
	}
	for i := range t.Fields {
		annotation, zero := w.declared(t, i)
		fmt.Fprintf(b, "    %s: %s = %s\n", w.fields[t][i], annotation, zero)
	}
	b.WriteString("\n    @classmethod\n    def _read(cls, r):\n        m = cls.__new__(cls)\n        end = r.begin()\n")
	if len(t.Fields) == 0 {
		b.WriteString("        r.empty()\n")
	}
	for i := range t.Fields {
		w.readField(b, t, i)
	}
	b.WriteString("        r.end(end)\n        return m\n")
}

func pythonValue(v constant) string {
	switch v := v.(type) {
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case string:
		return pythonText(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprintf("float(%q)", strconv.FormatFloat(v, 'g', -1, 64))
		}
		text := strconv.FormatFloat(v, 'g', -1, 64)
		return text + condition(!strings.ContainsAny(text, ".e"), ".0")
	}
	return fmt.Sprint(v)
}

// numpyCode is the kind of a number in numpy and in struct; "" for others.
func numpyCode(k schema.Kind, ros1 bool) (code, format string) {
	if k == schema.Bool {
		return "?", ""
	}
	n, ok := numberOf(k, ros1)
	switch {
	case !ok:
		return "", ""
	case n.float:
		return "f" + strconv.Itoa(n.bits/8), map[int]string{32: "f", 64: "d"}[n.bits]
	case n.signed:
		return "i" + strconv.Itoa(n.bits/8), map[int]string{8: "b", 16: "h", 32: "i", 64: "q"}[n.bits]
	}
	return "u" + strconv.Itoa(n.bits/8), map[int]string{8: "B", 16: "H", 32: "I", 64: "Q"}[n.bits]
}

// isFixed reports whether all messages of a type have the same size, above 0.
func (t *messageType) isFixed() bool {
	for i, f := range t.Fields {
		if f.Type.Array != schema.Single && f.Type.Array != schema.Fixed || f.Type.Kind.Size() == 0 && (t.uses[i] == nil || !t.uses[i].isFixed()) {
			return false
		}
	}
	return t.least > 0
}

// alignment is the size of all numbers of a type of fixed size, 0 if they have several sizes, or
// if there are arrays of structs, before which XCDR2 has a size: then CDR may have more bytes.
func (t *messageType) alignment() (size int) {
	for i, f := range t.Fields {
		one := f.Type.Kind.Size()
		switch {
		case t.uses[i] != nil && f.Type.Array != schema.Single, f.Type.Array == schema.Fixed && f.Type.Len == 0:
			return 0
		case t.uses[i] != nil:
			one = t.uses[i].alignment()
		case f.Type.Kind == schema.Time, f.Type.Kind == schema.Duration:
			if one = 4; f.Type.Array != schema.Single {
				return 0
			}
		}
		if one == 0 || size != 0 && one != size {
			return 0
		}
		size = one
	}
	return size
}

// class is the class of what field i has, "" for numbers and strings.
func (w *pythonWriter) class(t *messageType, i int) string {
	switch t.Fields[i].Type.Kind {
	case schema.Time:
		return "ROSTime"
	case schema.Duration:
		return "ROSDuration"
	case schema.Struct:
		return w.names[t.uses[i]]
	}
	return ""
}

// hasDtype reports whether lists of what field i has are arrays of numpy.
func (t *messageType) hasDtype(i int) bool {
	return t.uses[i] != nil && t.uses[i].isFixed() || t.uses[i] == nil && t.Fields[i].Type.Kind.Size() > 0
}

// dtype is the description of a type of fixed size.
func (w *pythonWriter) dtype(t *messageType) string {
	var parts []string
	for i, f := range t.Fields {
		code, _ := numpyCode(f.Type.Kind, t.ros1)
		if code = strconv.Quote("<" + code); w.class(t, i) != "" {
			code = w.class(t, i) + ".DTYPE"
		}
		shape := ""
		if f.Type.Array == schema.Fixed {
			shape = fmt.Sprintf(", (%d,)", f.Type.Len)
		}
		parts = append(parts, fmt.Sprintf("(%s, %s%s)", pythonText(f.Name), code, shape))
	}
	return strings.Join(parts, ", ")
}

// declared is the annotation of field i, and its default.
func (w *pythonWriter) declared(t *messageType, i int) (annotation, zero string) {
	f, class := t.Fields[i].Type, w.class(t, i)
	code, _ := numpyCode(f.Kind, t.ros1)
	code = strconv.Quote(code)
	if class != "" {
		code = class + ".DTYPE"
	}
	n := 0
	if f.Array == schema.Fixed {
		n = f.Len
	}
	factory := func(text string) string { return "_dc.field(default_factory=lambda: " + text + ")" }
	switch {
	case f.Array == schema.Single && class != "":
		return class, factory(class + "()")
	case f.Array != schema.Single && t.hasDtype(i):
		return "_np.ndarray", factory(fmt.Sprintf("_np.zeros(%d, %s)", n, code))
	case f.Array != schema.Single && class != "":
		return "list[" + class + "]", factory(fmt.Sprintf("[%s() for _ in range(%d)]", class, n))
	case f.Array != schema.Single:
		return "list[str]", factory(fmt.Sprintf("[\"\"] * %d", n))
	case f.Kind == schema.String, f.Kind == schema.WString:
		return "str", `""`
	case f.Kind == schema.Bool:
		return "bool", "False"
	case f.Kind == schema.Float32, f.Kind == schema.Float64:
		return "float", "0.0"
	}
	return "int", "0"
}

// readField writes what reads field i.
func (w *pythonWriter) readField(b *strings.Builder, t *messageType, i int) {
	f, class := t.Fields[i].Type, w.class(t, i)
	code, format := numpyCode(f.Kind, t.ros1)
	one, each := fmt.Sprintf("r.number(%q, %d)", format, f.Kind.Size()), ""
	switch {
	case class != "":
		one, each = class+"._read(r)", class+"._read"
	case f.Kind == schema.String:
		one, each = "r.string()", "_Reader.string"
	case f.Kind == schema.WString:
		one, each = "r.wstring()", "_Reader.wstring"
	case f.Kind == schema.Bool:
		one = "r.bool()"
	}
	name := w.fields[t][i]
	if f.Array == schema.Single {
		fmt.Fprintf(b, "        m.%s = %s\n", name, one)
		return
	}
	count := fmt.Sprintf("r.count(%d)", t.leastOf(i))
	if f.Array == schema.Fixed {
		count = strconv.Itoa(f.Len)
	}
	if code == "" {
		b.WriteString("        r.size()\n")
	}
	switch {
	case code != "":
		fmt.Fprintf(b, "        m.%s = r.numbers(%q, %s)\n", name, code, count)
	case t.hasDtype(i):
		fmt.Fprintf(b, "        m.%s = r.records(%s, %s)\n", name, class, count)
	default:
		fmt.Fprintf(b, "        m.%s = r.list(%s, %s)\n", name, count, each)
	}
}

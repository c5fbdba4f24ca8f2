package gen

import (
	"fmt"
	"strings"

	"github.com/bagconv/bagconv/schema"
)

// definitions are the functions of the types of a unit.
func (w *cppWriter) definitions(u *cppUnit) string {
	var b strings.Builder
	b.WriteString("#include \"" + u.name + ".h\"\n")
	for _, t := range u.types {
		c := u.of[t]
		b.WriteString("\n" + w.open(c.space...) + "\n")
		var constants strings.Builder
		if w.constants(&constants, c, true); constants.Len() > 0 {
			fmt.Fprintf(&b, "#if __cplusplus < 201703L\n%s#endif\n\n", constants.String())
		}
		w.load(&b, u, c)
		w.store(&b, c)
		w.print(&b, c)
		fmt.Fprintf(&b, "void OutputData(const %s& value) {\n  JsonText text;\n  AppendText(text, value);\n  "+
			"PrintLine(text);\n}\n\n", c.name)
		b.WriteString(w.close(c.space...))
	}
	return b.String()
}

// A cppRun is a run of numbers in ROS 1 messages that are read at once: each has a fixed place in the run.
type cppRun struct {
	last   int // the last field
	places []cppPlace
	size   int // bytes
	first  int // alignment of the first number
	all    int // alignment of the largest number; 0: there is padding between them
}

// A cppPlace is a number of a run: the path of its field, and where it is in the run.
type cppPlace struct {
	path   string
	offset int
}

// maxRun is how many numbers a run has: code grows with them.
const maxRun = 96

// run collects the numbers from field i on.
func (w *cppWriter) run(u *cppUnit, c *cppType, i int) cppRun {
	r := cppRun{last: i - 1, all: -1}
	for ; i < len(c.Fields); i++ {
		next := r
		next.places = append([]cppPlace(nil), r.places...)
		if !w.addField(u, &next, c, i, "value.") || len(next.places) > maxRun {
			break
		}
		next.last = i
		r = next
	}
	r.all = max(r.all, 0)
	return r
}

// addField adds the numbers of a field; false if the field has no fixed place.
func (w *cppWriter) addField(u *cppUnit, r *cppRun, c *cppType, i int, path string) bool {
	t := c.Fields[i].Type
	path += c.fields[i]
	n := 1
	switch t.Array {
	case schema.Single:
	case schema.Fixed:
		if n = t.Len; n == 0 || t.Kind == schema.Struct || t.Kind == schema.Time || t.Kind == schema.Duration {
			return false
		}
	default:
		return false
	}
	switch {
	case t.Kind == schema.Struct:
		sub := u.of[c.uses[i]]
		for j := range sub.Fields {
			if len(r.places) > maxRun || !w.addField(u, r, sub, j, path+".") {
				return false
			}
		}
		return len(sub.Fields) > 0
	case t.Kind == schema.Time || t.Kind == schema.Duration:
		r.add(path+".sec", 4, 1)
		r.add(path+".nsec", 4, 1)
		return true
	case t.Kind.Size() == 0:
		return false
	}
	r.add(path, t.Kind.Size(), n)
	return true
}

// add adds n numbers of size bytes each.
func (r *cppRun) add(path string, size, n int) {
	r.places = append(r.places, cppPlace{path, r.size})
	if r.first == 0 {
		r.first, r.all = size, size
	}
	switch {
	case r.all == 0 || r.size%size != 0:
		r.all = 0 // padding stands before it wherever the run begins
	case size > r.all:
		r.all = size
	}
	r.size += size * n
}

// load writes LoadData.
func (w *cppWriter) load(b *strings.Builder, u *cppUnit, c *cppType) {
	if len(c.Fields) == 0 {
		fmt.Fprintf(b, "void LoadData(ToolStream& stream, %s&) {\n  const std::size_t end = stream.Begin();\n  "+
			"stream.Empty();\n  stream.End(end);\n}\n\n", c.name)
		return
	}
	fmt.Fprintf(b, "void LoadData(ToolStream& stream, %s& value) {\n", c.name)
	if r := w.run(u, c, 0); r.last == len(c.Fields)-1 && len(r.places) > 1 {
		b.WriteString("  if (const unsigned char* p = " + r.call() + ") {\n")
		r.gets(b)
		b.WriteString("    return;\n  }\n")
		w.loadEach(b, u, c, false)
	} else {
		w.loadEach(b, u, c, true)
	}
	b.WriteString("}\n\n")
}

// call is the expression that takes the bytes.
func (r *cppRun) call() string { return fmt.Sprintf("stream.Run(%d, %d, %d)", r.size, r.first, r.all) }

func (r *cppRun) gets(b *strings.Builder) {
	for _, p := range r.places {
		fmt.Fprintf(b, "    ToolStream::Get(p + %d, %s);\n", p.offset, p.path)
	}
}

// loadEach writes the fields one after the other; with runs, numbers as runs where that is possible.
func (w *cppWriter) loadEach(b *strings.Builder, u *cppUnit, c *cppType, runs bool) {
	b.WriteString("  const std::size_t end = stream.Begin();\n")
	for i := 0; i < len(c.Fields); i++ {
		var r cppRun
		if runs {
			r = w.run(u, c, i)
		}
		if len(r.places) < 2 || r.last == i && c.Fields[i].Type.Kind == schema.Struct {
			b.WriteString("  " + w.loadField(c, i) + "\n")
			continue
		}
		b.WriteString("  if (const unsigned char* p = " + r.call() + ") {\n")
		r.gets(b)
		b.WriteString("  } else {\n")
		for ; i < r.last; i++ {
			b.WriteString("    " + w.loadField(c, i) + "\n")
		}
		b.WriteString("    " + w.loadField(c, i) + "\n  }\n")
	}
	b.WriteString("  stream.End(end);\n")
}

// loadField reads one field.
func (w *cppWriter) loadField(c *cppType, i int) string {
	name := "value." + c.fields[i]
	switch {
	case c.uses[i] == nil:
		return "stream.Load(" + name + ");"
	case c.Fields[i].Type.Array == schema.Single:
		return "LoadData(stream, " + name + ");"
	}
	return fmt.Sprintf("stream.LoadStructs(%s, %d);", name, c.uses[i].least)
}

// store writes StoreData.
func (w *cppWriter) store(b *strings.Builder, c *cppType) {
	if len(c.Fields) == 0 {
		fmt.Fprintf(b, "void StoreData(ToolStream& stream, const %s&) { stream.StoreEmpty(); }\n\n", c.name)
		return
	}
	fmt.Fprintf(b, "void StoreData(ToolStream& stream, const %s& value) {\n", c.name)
	for i, f := range c.Fields {
		call := "stream.Store("
		if c.uses[i] != nil {
			call = "stream.StoreStructs("
			if f.Type.Array == schema.Single {
				call = "StoreData(stream, "
			}
		}
		b.WriteString("  " + call + "value." + c.fields[i] + ");\n")
	}
	b.WriteString("}\n\n")
}

// print writes AppendText.
func (w *cppWriter) print(b *strings.Builder, c *cppType) {
	if len(c.Fields) == 0 {
		fmt.Fprintf(b, "void AppendText(JsonText& text, const %s&) { text.Raw(\"{}\"); }\n\n", c.name)
		return
	}
	fmt.Fprintf(b, "void AppendText(JsonText& text, const %s& value) {\n", c.name)
	for i, f := range c.Fields {
		key := "," + jsonText(f.Name) + ":"
		if i == 0 {
			key = "{" + key[1:]
		}
		fmt.Fprintf(b, "  text.Raw(%s);\n", cppText(key))
		name := "value." + c.fields[i]
		switch {
		case c.uses[i] == nil && isBytes(f.Type.Kind) && f.Type.Array != schema.Single:
			fmt.Fprintf(b, "  text.Base64(%s);\n", name)
		case c.uses[i] == nil:
			fmt.Fprintf(b, "  text.Value(%s);\n", name)
		case f.Type.Array == schema.Single:
			fmt.Fprintf(b, "  AppendText(text, %s);\n", name)
		default:
			fmt.Fprintf(b, "  text.Structs(%s);\n", name)
		}
	}
	b.WriteString("  text.Raw(\"}\");\n}\n\n")
}

package protoschema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// ProtoText writes a message and all types that it needs in the language of .proto
// files: the files that have them one after the other, the one of md first, each
// with the top-level declarations that are needed and no others. Options other
// than defaults and packing, and comments, are left out.
func ProtoText(md protoreflect.MessageDescriptor) string {
	p := printer{needed: map[protoreflect.FullName]bool{}}
	p.need(md)
	var b strings.Builder
	for _, f := range p.files {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "// %s\nsyntax = %q;\n", f.Path(), f.Syntax().String())
		if f.Package() != "" {
			fmt.Fprintf(&b, "package %s;\n", f.Package())
		}
		for i := range f.Imports().Len() {
			if im := f.Imports().Get(i); p.has(im.Path()) {
				fmt.Fprintf(&b, "import %q;\n", im.Path())
			}
		}
		for i := range f.Enums().Len() {
			if e := f.Enums().Get(i); p.needed[e.FullName()] {
				b.WriteString("\n")
				p.enum(&b, e, "")
			}
		}
		for i := range f.Messages().Len() {
			if m := f.Messages().Get(i); p.needed[m.FullName()] {
				b.WriteString("\n")
				p.message(&b, m, "")
			}
		}
	}
	return b.String()
}

// A printer knows which top-level declarations of which files are needed.
type printer struct {
	files  []protoreflect.FileDescriptor
	needed map[protoreflect.FullName]bool
}

// need adds a message or enum, with the declaration that it stands in and
// all that this refers to.
func (p *printer) need(d protoreflect.Descriptor) {
	work := []protoreflect.Descriptor{d}
	for len(work) > 0 {
		d := work[len(work)-1]
		work = work[:len(work)-1]
		for {
			if _, file := d.Parent().(protoreflect.FileDescriptor); file || d.Parent() == nil {
				break
			}
			d = d.Parent()
		}
		if p.needed[d.FullName()] || d.IsPlaceholder() {
			continue
		}
		p.needed[d.FullName()] = true
		p.addFile(d.ParentFile())
		if m, ok := d.(protoreflect.MessageDescriptor); ok {
			work = append(work, references(m)...)
		}
	}
}

func (p *printer) addFile(f protoreflect.FileDescriptor) {
	if !p.has(f.Path()) {
		p.files = append(p.files, f)
	}
}

func (p *printer) has(path string) bool {
	return slices.ContainsFunc(p.files, func(f protoreflect.FileDescriptor) bool { return f.Path() == path })
}

// references lists what the fields of a message, and of the messages within it, refer to, the last
// first.
func references(m protoreflect.MessageDescriptor) (out []protoreflect.Descriptor) {
	for i := m.Messages().Len() - 1; i >= 0; i-- {
		out = append(out, references(m.Messages().Get(i))...)
	}
	for i := m.Fields().Len() - 1; i >= 0; i-- {
		f := m.Fields().Get(i)
		if f.Enum() != nil {
			out = append(out, f.Enum())
		} else if f.Message() != nil {
			out = append(out, f.Message())
		}
	}
	return out
}

func (p *printer) message(b *strings.Builder, m protoreflect.MessageDescriptor, indent string) {
	fmt.Fprintf(b, "%smessage %s {\n", indent, m.Name())
	p.body(b, m, indent+"  ")
	b.WriteString(indent + "}\n")
}

func (p *printer) body(b *strings.Builder, m protoreflect.MessageDescriptor, indent string) {
	for i := range m.Enums().Len() {
		p.enum(b, m.Enums().Get(i), indent)
	}
	groups := map[protoreflect.FullName]bool{}
	for i := range m.Fields().Len() {
		if f := m.Fields().Get(i); f.Kind() == protoreflect.GroupKind {
			groups[f.Message().FullName()] = true
		}
	}
	for i := range m.Messages().Len() {
		if n := m.Messages().Get(i); !n.IsMapEntry() && !groups[n.FullName()] {
			p.message(b, n, indent)
		}
	}
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		o := f.ContainingOneof()
		if o == nil || o.IsSynthetic() {
			p.field(b, f, indent)
			continue
		}
		if o.Fields().Get(0) != f {
			continue
		}
		fmt.Fprintf(b, "%soneof %s {\n", indent, o.Name())
		for k := range o.Fields().Len() {
			p.field(b, o.Fields().Get(k), indent+"  ")
		}
		b.WriteString(indent + "}\n")
	}
}

func (p *printer) field(b *strings.Builder, f protoreflect.FieldDescriptor, indent string) {
	label := ""
	switch {
	case f.IsMap(), f.ContainingOneof() != nil && !f.ContainingOneof().IsSynthetic():
	case f.Cardinality() != protoreflect.Optional || f.ParentFile().Syntax() == protoreflect.Proto2 ||
		f.HasOptionalKeyword():
		label = f.Cardinality().String() + " "
	}
	if f.Kind() == protoreflect.GroupKind {
		fmt.Fprintf(b, "%s%sgroup %s = %d {\n", indent, label, f.Message().Name(), f.Number())
		p.body(b, f.Message(), indent+"  ")
		b.WriteString(indent + "}\n")
		return
	}
	fmt.Fprintf(b, "%s%s%s %s = %d", indent, label, TypeName(f), f.Name(), f.Number())
	var options []string
	if f.HasDefault() {
		options = append(options, "default = "+defaultText(f))
	}
	if f.IsPacked() && f.ParentFile().Syntax() == protoreflect.Proto2 {
		options = append(options, "packed = true")
	}
	if len(options) > 0 {
		b.WriteString(" [" + strings.Join(options, ", ") + "]")
	}
	b.WriteString(";\n")
}

// TypeName returns the type of a field as .proto text has it, without its label:
// "double", "apollo.common.Header", "map<string, int32>".
func TypeName(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsMap():
		return "map<" + TypeName(f.MapKey()) + ", " + TypeName(f.MapValue()) + ">"
	case f.Enum() != nil:
		return string(f.Enum().FullName())
	case f.Message() != nil:
		return string(f.Message().FullName())
	}
	return f.Kind().String()
}

func defaultText(f protoreflect.FieldDescriptor) string {
	v := f.Default()
	switch f.Kind() {
	case protoreflect.EnumKind:
		return string(f.DefaultEnumValue().Name())
	case protoreflect.StringKind:
		return strconv.Quote(v.String())
	case protoreflect.BytesKind:
		return strconv.Quote(string(v.Bytes()))
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		switch x := v.Float(); {
		case math.IsNaN(x):
			return "nan"
		case math.IsInf(x, 0):
			return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)), "+")
		}
	}
	return fmt.Sprint(v.Interface())
}

func (p *printer) enum(b *strings.Builder, e protoreflect.EnumDescriptor, indent string) {
	fmt.Fprintf(b, "%senum %s {\n", indent, e.Name())
	for i := range e.Values().Len() {
		v := e.Values().Get(i)
		fmt.Fprintf(b, "%s  %s = %d;\n", indent, v.Name(), v.Number())
	}
	b.WriteString(indent + "}\n")
}

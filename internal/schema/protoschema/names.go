package protoschema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/names"

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
			add(member{name: names.Field(string(o.Name())) + "_case", oneof: o})
		}
		add(member{name: names.Field(string(f.Name())), field: f})
	}
	return out
}

// unique returns name, with a number after it when it is taken.
func unique(used map[string]bool, name string) string {
	for i, base := 2, name; used[name]; i++ {
		name = base + strconv.Itoa(i)
	}
	used[name] = true
	return name
}

// packageName makes a legal package name of a protobuf package.
func packageName(s string) string {
	if s == "" {
		return "protobuf"
	}
	return names.Words(s, 'p')
}

// typeName makes a legal type name: the nested path in camel case.
func typeName(md protoreflect.MessageDescriptor) string {
	return names.Camel(strings.TrimPrefix(string(md.FullName()), string(md.ParentFile().Package())+"."))
}

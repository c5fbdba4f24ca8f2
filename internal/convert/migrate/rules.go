package migrate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// find returns the rule for messages of src, one for its very version first, or nil.
func (r *Rules) find(src *schema.Message) (any *rule) {
	if r == nil {
		return nil
	}
	name := defset.CommonName(src.Name)
	var md5, hash string
	for _, one := range r.list {
		switch {
		case one.from != name:
		case one.md5 == "" && one.hash == "":
			any = one
		default:
			if md5 == "" {
				md5 = schema.MD5(src)
				hash, _ = schema.RIHS01(src)
			}
			if one.md5 == md5 || one.hash != "" && one.hash == hash {
				return one
			}
		}
	}
	return any
}

// Name returns the common name that messages of src get.
func (r *Rules) Name(src *schema.Message) string {
	if one := r.find(src); one != nil {
		return one.to
	}
	return defset.CommonName(src.Name)
}

// Between returns the version between src and the last one that messages of src become first, in
// a dialect, or nil. lookup finds the types that it uses.
func (r *Rules) Between(src *schema.Message, d rosmsg.Dialect, lookup func(string) (string, bool)) (*schema.Message,
	error) {
	one := r.find(src)
	if one == nil || one.definition == "" {
		return nil, nil
	}
	name := one.to
	if d == rosmsg.ROS1 {
		name = facts.ShortName(name)
	}
	msg, err := rosmsg.Parse(name, []byte(one.definition), d, lookup)
	if err != nil {
		return nil, r.wrong(one.line, "the definition cannot be read: %v", err)
	}
	if schema.Equal(msg, src) {
		return nil, r.wrong(one.line, "the messages have this very definition")
	}
	return msg, nil
}

// For returns what transcode.Options.Rule returns: the fields of a pair of types that are not
// found by their names.
func (r *Rules) For(src, dst *schema.Message) *transcode.Rule {
	one := r.find(src)
	if one == nil || one.to != defset.CommonName(dst.Name) {
		return nil
	}
	out := &transcode.Rule{Fields: map[string]transcode.From{}, Drop: map[string]bool{}}
	for path, f := range one.fields {
		out.Fields[path] = f.From
	}
	for _, path := range one.drop {
		out.Drop[path] = true
	}
	return out
}

// Check compares the rule for src with both definitions: every path exists. The error names the
// line, and wraps ErrRules.
func (r *Rules) Check(src, dst *schema.Message) error {
	one := r.find(src)
	if one == nil {
		return nil
	}
	for path, f := range one.fields {
		if !has(dst, path, false) {
			return r.wrong(f.line, "%s has no field %s", dst.Name, path)
		}
		if f.Path != "" && !has(src, f.Path, false) {
			return r.wrong(f.line, "%s has no field %s", src.Name, f.Path)
		}
	}
	for _, path := range one.drop {
		if !has(src, path, false) {
			return r.wrong(one.line, "%s has no field %s, which drop names", src.Name, path)
		}
		for _, f := range one.fields {
			if f.Path == path {
				return r.wrong(f.line, "%s is dropped, and becomes another field", path)
			}
		}
	}
	for _, path := range one.lossy {
		if !has(dst, path, true) {
			return r.wrong(one.line, "%s has no field %s, which lossy names", dst.Name, path)
		}
	}
	return nil
}

// Accept refuses a plan that loses more than the rule for src names.
func (r *Rules) Accept(src *schema.Message, plan *transcode.Plan) error {
	one := r.find(src)
	if one == nil {
		return nil
	}
	var dropped, lossy []string
	allow := func(path string) {
		if !slices.Contains(one.lossy, path) && !slices.Contains(lossy, path) {
			lossy = append(lossy, path)
		}
	}
	for _, path := range plan.Dropped() {
		if array, _, end := strings.Cut(path, "["); end { // the end of an array, x[3:]
			allow(array)
		} else {
			dropped = append(dropped, path)
		}
	}
	if len(dropped) > 0 {
		return r.wrong(one.line, "%s would be lost of %s: add what is lost on purpose to drop, or write where it goes",
			transcode.List(dropped), src.Name)
	}
	for _, path := range append(slices.Clone(plan.Narrowed()), plan.Bounded()...) {
		allow(path)
	}
	if len(lossy) > 0 {
		return r.wrong(one.line, "not all values fit into %s: add what may lose them to lossy", transcode.List(lossy))
	}
	return nil
}

// has reports whether a type has a field of that path. The path leads into lists only with lists.
func has(m *schema.Message, path string, lists bool) bool {
	name, rest, deeper := strings.Cut(path, ".")
	f := fieldOf(m, name)
	if f == nil || !deeper {
		return f != nil
	}
	return (lists || f.Type.Array == schema.Single) && f.Type.Kind == schema.Struct && has(f.Type.Message, rest, lists)
}

func (r *Rules) wrong(line int, format string, a ...any) error {
	return fmt.Errorf("%s, line %d: %w: %s", r.path, line, ErrRules, fmt.Sprintf(format, a...))
}

package values

import (
	"fmt"
	"reflect"
	"strings"
)

// places returns which field of a Go struct each field of a message has; the zero value for no
// field. A tag bag:"name" names it, and else the names are compared without case and underscores.
func (c *compiler) places(n *node, t reflect.Type, path string) ([]reflect.StructField, error) {
	list := n.typ.Fields
	out := make([]reflect.StructField, len(list))
	if t == mapType {
		n.has = map[string]bool{}
		for i := range list {
			n.has[list[i].Name] = true
		}
		return out, nil
	}
	exact, folded := map[string]int{}, map[string]int{}
	for i := range list {
		name := list[i].Name
		exact[name] = i
		if _, twice := folded[fold(name)]; twice {
			folded[fold(name)] = -2
		} else {
			folded[fold(name)] = i
		}
	}
	if path != "" {
		path += "."
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("bag")
		if !f.IsExported() || tag == "-" {
			continue
		}
		k, ok := exact[tag]
		if !tagged {
			if k, ok = folded[fold(f.Name)]; !ok {
				k, ok = exact[longer[fold(f.Name)]]
			}
		}
		switch {
		case !ok && tagged:
			return nil, fmt.Errorf("%w: %s has no field %s%s, which a tag of %s names", ErrType, n.typ.Name, path, tag, t)
		case !ok:
			c.unset = append(c.unset, path+f.Name)
		case k < 0:
			return nil, fmt.Errorf("%w: several fields of %s may be %s%s; add a tag bag:\"name\"", ErrType, n.typ.Name, path,
				f.Name)
		case out[k].Type != nil:
			return nil, fmt.Errorf("%w: field %s%s of %s has two places, %s and %s", ErrType, path, list[k].Name, n.typ.Name,
				out[k].Name, f.Name)
		default:
			out[k] = f
		}
	}
	for i := range list {
		if out[i].Type == nil {
			c.unread = append(c.unread, path+list[i].Name)
		}
	}
	return out, nil
}

// longer are the names of fields of times, by the names that Go code of ROS 1 has for them.
var longer = map[string]string{"nsec": "nanosec", "nsecs": "nanosec", "secs": "sec"}

func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

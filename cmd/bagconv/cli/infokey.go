package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A keyStep goes from a value of the JSON of info to one inside it.
type keyStep struct {
	field int    // of a struct
	index int    // of a list; -1: each of its elements
	key   string // of a map
}

// parseKey reads a path into the JSON of info: names with dots between them, and
// [N] after a list for its N-th element, from 0; a name after a list means that
// of each element. What follows the name of a map is one key, dots included. The error
// lists what the path could be.
func parseKey(path string) ([]keyStep, error) {
	var steps []keyStep
	t := reflect.TypeFor[infoJSON]()
	rest := path
	for rest != "" {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Map:
			steps, t, rest = append(steps, keyStep{key: rest}), t.Elem(), ""
			continue
		case reflect.Slice:
			index := -1
			if text, ok := strings.CutPrefix(rest, "["); ok {
				number, after, closed := strings.Cut(text, "]")
				n, err := strconv.ParseUint(number, 10, 31)
				if err != nil || !closed {
					return nil, usage("write for example topics[0].name", "--key %s: [ after the name of a list needs a number and ]", clean(path))
				}
				index, rest = int(n), strings.TrimPrefix(after, ".")
			}
			steps, t = append(steps, keyStep{index: index}), t.Elem()
			continue
		case reflect.Struct:
		default:
			return nil, usage("remove what follows its name", "--key %s: a single value has no keys", clean(path))
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		name := rest[:end]
		rest = strings.TrimPrefix(rest[end:], ".")
		names := jsonNames(t)
		field := slices.Index(names, name)
		if field < 0 {
			hint := "it is one of: " + strings.Join(names, ", ")
			if near := nearest(name, names); near != "" {
				hint = "did you mean " + near + "?"
			}
			return nil, usage(hint, "--key %s: there is no %q", clean(path), name)
		}
		steps, t = append(steps, keyStep{field: field}), t.Field(field).Type
	}
	if len(steps) == 0 {
		return nil, usage("such as messages, duration_ns or topics.name", "--key takes a path into what --json prints")
	}
	return steps, nil
}

// jsonNames returns the names of the fields of a struct in JSON, by their number. The
// fields that JSON does not have stand after them.
func jsonNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// writeKey writes the values that the steps lead to, each on a line that begins
// with before: text as it is, everything else as JSON; null for what is not
// there.
func writeKey(w io.Writer, before string, v reflect.Value, steps []keyStep) error {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if len(steps) > 0 && v.IsValid() && v.Kind() != reflect.Pointer {
		step := steps[0]
		switch v.Kind() {
		case reflect.Struct:
			return writeKey(w, before, v.Field(step.field), steps[1:])
		case reflect.Map:
			return writeKey(w, before, v.MapIndex(reflect.ValueOf(step.key)), steps[1:])
		case reflect.Slice:
			if step.index >= v.Len() {
				return writeKey(w, before, reflect.Value{}, nil)
			}
			if step.index >= 0 {
				return writeKey(w, before, v.Index(step.index), steps[1:])
			}
			for i := range v.Len() {
				if err := writeKey(w, before, v.Index(i), steps[1:]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	text := []byte("null")
	if v.IsValid() && v.Kind() == reflect.String {
		text = []byte(clean(v.String()))
	} else if v.IsValid() && len(steps) == 0 {
		var err error
		if text, err = json.Marshal(v.Interface()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s%s\n", before, text)
	return err
}

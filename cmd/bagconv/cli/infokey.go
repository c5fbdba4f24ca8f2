package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/nearest"
)

// A keyStep goes from a value of the JSON of info to one inside it.
type keyStep struct {
	field int    // of a struct
	index int    // of a list; -1: each of its elements
	key   string // of a map
}

// parseKey reads a path into the JSON of info: names with dots between them, and [N] after a list
// for its N-th element, from 0; a name after a list means the field of each element. What follows
// the name of a map is one key, dots included. The error lists what the path could be.
func parseKey(path string) ([]keyStep, error) {
	var steps []keyStep
	t := reflect.TypeFor[recording.Description]()
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
					return nil, flags.Usage("write for example topics[0].name",
						"--key %s: [ after the name of a list needs a number and ]", phrase.Clean(path))
				}
				index, rest = int(n), strings.TrimPrefix(after, ".")
			}
			steps, t = append(steps, keyStep{index: index}), t.Elem()
			continue
		case reflect.Struct:
		default:
			return nil, flags.Usage("remove what follows its name", "--key %s: a single value has no keys", phrase.Clean(path))
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		name := rest[:end]
		rest = strings.TrimPrefix(rest[end:], ".")
		field := 0
		for field < t.NumField() && (name == "" || jsonName(t, field) != name) {
			field++
		}
		if field == t.NumField() {
			names := jsonNames(t)
			hint := "it is one of: " + strings.Join(names, ", ")
			return nil, flags.Usage(nearest.Meant(nearest.Word(name, names), hint), "--key %s: there is no %q",
				phrase.Clean(path), name)
		}
		steps, t = append(steps, keyStep{field: field}), t.Field(field).Type
	}
	if len(steps) == 0 {
		return nil, flags.Usage("such as messages, duration_ns or topics.name", "--key takes a path into what --json prints")
	}
	return steps, nil
}

// jsonNames returns the names of the fields of a struct in JSON.
func jsonNames(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		if name := jsonName(t, i); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// jsonName returns the name of a field; "" if JSON does not have it.
func jsonName(t reflect.Type, field int) string {
	name, _, _ := strings.Cut(t.Field(field).Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-")
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
		text = []byte(phrase.Clean(v.String()))
	} else if v.IsValid() && len(steps) == 0 {
		var err error
		if text, err = json.Marshal(v.Interface()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s%s\n", before, text)
	return err
}

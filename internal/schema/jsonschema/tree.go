package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// A value is one of a JSON document. Keys keep their order.
type value struct {
	kind   kind
	text   string // of a string or a number
	keys   []string
	fields map[string]*value
	items  []*value
}

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
)

// get returns a value of an object, nil if the key is not there.
func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	return v.fields[key]
}

// list returns the items of an array in an object.
func (v *value) list(key string) []*value {
	if a := v.get(key); a != nil {
		return a.items
	}
	return nil
}

// word returns a string in an object.
func (v *value) word(key string) string {
	if s := v.get(key); s != nil && s.kind == text {
		return s.text
	}
	return ""
}

type treeReader struct {
	d     *json.Decoder
	count int
}

// readTree reads a document.
func readTree(doc []byte) (*value, error) {
	r := &treeReader{d: json.NewDecoder(bytes.NewReader(doc))}
	r.d.UseNumber()
	v, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("there is text after its end, at byte %d", r.d.InputOffset())
	}
	return v, nil
}

func (r *treeReader) token() (json.Token, error) {
	t, err := r.d.Token()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("it ends too early, at byte %d", r.d.InputOffset())
	}
	if err != nil {
		return nil, fmt.Errorf("it is not JSON at byte %d: %w", r.d.InputOffset(), err)
	}
	return t, nil
}

func (r *treeReader) value(depth int) (*value, error) {
	t, err := r.token()
	if err != nil {
		return nil, err
	}
	if r.count++; r.count > maxValues {
		return nil, errors.New("more than a million values")
	}
	if depth > maxDepth {
		return nil, errors.New("it is nested more than 200 deep")
	}
	switch t := t.(type) {
	case bool:
		return &value{kind: boolean}, nil
	case json.Number:
		return &value{kind: number, text: t.String()}, nil
	case string:
		return &value{kind: text, text: t}, nil
	case json.Delim:
		v := &value{kind: array}
		if t == '{' {
			v.kind, v.fields = object, map[string]*value{}
		}
		return v, r.members(v, depth)
	}
	return &value{}, nil
}

// members reads up to the end of an array or object.
func (r *treeReader) members(v *value, depth int) error {
	for r.d.More() {
		key := ""
		if v.kind == object {
			t, err := r.token()
			if err != nil {
				return err
			}
			key, _ = t.(string)
		}
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		if v.kind == array {
			v.items = append(v.items, item)
			continue
		}
		if v.fields[key] == nil {
			v.keys = append(v.keys, key)
		}
		v.fields[key] = item
	}
	_, err := r.token()
	return err
}

// pointer finds what a reference within the document means: "#", "#/$defs/X"
// (RFC 6901), nil if it leads nowhere.
func (v *value) pointer(ref string) *value {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil
	}
	for part := range strings.SplitSeq(path, "/") {
		if part == "" && path == "" {
			break
		}
		path = path[min(len(path), len(part)+1):]
		if part == "" {
			continue
		}
		if v = v.get(strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")); v == nil {
			return nil
		}
	}
	return v
}

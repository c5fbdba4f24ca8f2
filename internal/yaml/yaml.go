// Package yaml reads and writes YAML with gopkg.in/yaml.v3, and is the only package that
// imports it. That module panics on some broken documents, and compares each key of a mapping
// with all others when it fills Go values. Here a panic is an error, Parse fills no values, and
// Decode refuses mappings with more keys than that takes seconds for.
package yaml

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"gopkg.in/yaml.v3"
)

// A Node is a node of a document, as yaml.v3 has it.
type Node = yaml.Node

// Kind is what a Node is.
type Kind = yaml.Kind

// The kinds and the style that are asked for or set here.
const (
	ScalarNode        = yaml.ScalarNode
	MappingNode       = yaml.MappingNode
	SequenceNode      = yaml.SequenceNode
	AliasNode         = yaml.AliasNode
	DoubleQuotedStyle = yaml.DoubleQuotedStyle
)

// ErrSeveral is returned for a text with more than one document.
var ErrSeveral = errors.New("it has more than one document")

// maxKeys is how many keys a mapping has at most that Decode fills values from. yaml.v3 takes 4 s
// for as many, on one core of 2026.
const maxKeys = 1 << 15

// Parse returns the root of the first document of a text, nil if there is none. It ends at once
// with ctx, and then returns its error. It takes time in proportion to the text; nodes take over
// a hundred times the memory of small values, so the caller bounds the text.
func Parse(ctx context.Context, text []byte) (root *Node, err error) {
	err = recovered(func() error {
		root, err = next(yaml.NewDecoder(contextReader{ctx, bytes.NewReader(text)}))
		return err
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return root, err
}

// ParseOne returns the root of the only document of a text, nil if there is none. If there are
// several, the error is ErrSeveral.
func ParseOne(text []byte) (root *Node, err error) {
	err = recovered(func() error {
		d := yaml.NewDecoder(bytes.NewReader(text))
		if root, err = next(d); err != nil {
			return err
		}
		if err := d.Decode(new(Node)); err != io.EOF {
			return ErrSeveral
		}
		return nil
	})
	return root, err
}

// Decode fills v, a pointer to a struct, from the only document of a text. It returns io.EOF if
// there is none, and an error for keys that the struct does not have.
func Decode(text []byte, v any) error {
	root, err := ParseOne(text)
	if err != nil {
		return err
	}
	if root == nil {
		return io.EOF
	}
	if err := checkKeys(root); err != nil {
		return err
	}
	return recovered(func() error {
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		return d.Decode(v)
	})
}

// Marshal returns the text of a value or a Node, indented by four spaces.
func Marshal(v any) ([]byte, error) { return marshal(v, 4) }

// MarshalNarrow returns the text of a value, indented by two spaces.
func MarshalNarrow(v any) ([]byte, error) { return marshal(v, 2) }

func marshal(v any, indent int) (text []byte, err error) {
	err = recovered(func() error {
		var b bytes.Buffer
		e := yaml.NewEncoder(&b)
		e.SetIndent(indent)
		if err := e.Encode(v); err != nil {
			return err
		}
		err := e.Close()
		text = b.Bytes()
		return err
	})
	return text, err
}

// next returns the root of the next document, nil after the last.
func next(d *yaml.Decoder) (*Node, error) {
	doc := new(Node)
	if err := d.Decode(doc); err == io.EOF {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

func checkKeys(n *Node) error {
	if n.Kind == MappingNode && len(n.Content)/2 > maxKeys {
		return fmt.Errorf("line %d: a mapping has more than %d keys", n.Line, maxKeys)
	}
	for _, c := range n.Content {
		if err := checkKeys(c); err != nil {
			return err
		}
	}
	return nil
}

// recovered calls f, and returns its panic as an error.
func recovered(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: %v", p)
		}
	}()
	return f()
}

// A contextReader fails when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

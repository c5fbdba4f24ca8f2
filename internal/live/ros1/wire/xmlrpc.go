// Package wire has the bytes of ROS 1 systems: values of XML-RPC, and what TCPROS sends over a
// connection. It refuses what breaks its limits before it takes memory for it. All functions are
// safe for concurrent use.
package wire

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// The values of XML-RPC that ROS uses are string, int, bool, float64, and []any for arrays.
// A struct is read and becomes nil: no call of the two APIs has one.

// Limits of what is read of a peer.
const (
	maxXML   = 16 << 20 // bytes of a request or an answer
	maxDepth = 16       // of arrays in arrays
)

// EncodeCall returns a request.
func EncodeCall(method string, args ...any) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\"?>\n<methodCall><methodName>")
	escape(&b, method)
	b.WriteString("</methodName><params>")
	for _, a := range args {
		b.WriteString("<param>")
		encodeValue(&b, a)
		b.WriteString("</param>")
	}
	b.WriteString("</params></methodCall>\n")
	return b.Bytes()
}

// EncodeAnswer returns the answer to a request.
func EncodeAnswer(v any) []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\"?>\n<methodResponse><params><param>")
	encodeValue(&b, v)
	b.WriteString("</param></params></methodResponse>\n")
	return b.Bytes()
}

func encodeValue(b *bytes.Buffer, v any) {
	b.WriteString("<value>")
	switch v := v.(type) {
	case string:
		b.WriteString("<string>")
		escape(b, v)
		b.WriteString("</string>")
	case int:
		fmt.Fprintf(b, "<i4>%d</i4>", v)
	case bool:
		n := 0
		if v {
			n = 1
		}
		fmt.Fprintf(b, "<boolean>%d</boolean>", n)
	case float64:
		fmt.Fprintf(b, "<double>%s</double>", strconv.FormatFloat(v, 'f', -1, 64))
	case []any:
		b.WriteString("<array><data>")
		for _, e := range v {
			encodeValue(b, e)
		}
		b.WriteString("</data></array>")
	default:
		panic(fmt.Sprintf("internal error: XML-RPC has no %T", v))
	}
	b.WriteString("</value>")
}

func escape(b *bytes.Buffer, s string) {
	_ = xml.EscapeText(b, []byte(s)) // a buffer takes all
}

// A Fault is the answer of a peer that could not run a call.
type Fault struct{ text string }

func (f *Fault) Error() string { return "it answered with a fault: " + f.text }

// DecodeCall reads a request.
func DecodeCall(r io.Reader) (method string, args []any, err error) {
	d := newXMLReader(r)
	if err := d.open("methodCall"); err != nil {
		return "", nil, err
	}
	if err := d.open("methodName"); err != nil {
		return "", nil, err
	}
	if method, err = d.text(); err != nil {
		return "", nil, err
	}
	args, err = d.params()
	return strings.TrimSpace(method), args, err
}

// DecodeAnswer reads the answer to a request.
func DecodeAnswer(r io.Reader) (any, error) {
	d := newXMLReader(r)
	if err := d.open("methodResponse"); err != nil {
		return nil, err
	}
	start, err := d.next()
	if err != nil {
		return nil, err
	}
	switch {
	case start == nil:
		return nil, d.wrong("an empty answer")
	case start.Name.Local == "fault":
		return nil, &Fault{d.allText()}
	case start.Name.Local != "params":
		return nil, d.wrong("<%.40s> in place of <params>", start.Name.Local)
	}
	values, err := d.paramsOf()
	if err != nil {
		return nil, err
	}
	if len(values) != 1 {
		return nil, d.wrong("%d values in an answer", len(values))
	}
	return values[0], nil
}

// An xmlReader reads the elements of XML-RPC, one after the other.
type xmlReader struct {
	*xml.Decoder
	from *connection
}

func newXMLReader(r io.Reader) xmlReader {
	c := &connection{Reader: io.LimitReader(r, maxXML)}
	return xmlReader{xml.NewDecoder(c), c}
}

// A connection keeps its own error: what encoding/xml refuses, for which it has no type, is corrupt, and a connection
// that fails is not.
type connection struct {
	io.Reader
	err error
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}

// token returns the next token. At the end of the text, too, there must be one.
func (d xmlReader) token() (xml.Token, error) {
	t, err := d.Token()
	if err != nil && d.from.err == nil {
		err = d.wrong("%v", err)
	}
	return t, err
}

func (d xmlReader) wrong(format string, a ...any) error {
	return &storage.Error{Format: "XML-RPC", Offset: d.InputOffset(), What: fmt.Sprintf(format, a...),
		Err: storage.ErrCorrupt}
}

// next returns the next start of an element within the current one, nil at its end.
func (d xmlReader) next() (*xml.StartElement, error) {
	for {
		t, err := d.token()
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.StartElement:
			return &t, nil
		case xml.EndElement:
			return nil, nil
		}
	}
}

// open enters the next element, which must have a name.
func (d xmlReader) open(name string) error {
	start, err := d.next()
	if err == nil && (start == nil || start.Name.Local != name) {
		return d.wrong("no <%s>", name)
	}
	return err
}

// text returns the text up to the end of the element.
func (d xmlReader) text() (string, error) {
	var b strings.Builder
	for {
		t, err := d.token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.StartElement:
			return "", d.wrong("<%.40s> within text", t.Name.Local)
		case xml.EndElement:
			return b.String(), nil
		}
	}
}

// allText returns what is left as text, for a message.
func (d xmlReader) allText() string {
	var b strings.Builder
	for b.Len() < 500 {
		t, err := d.Token()
		if err != nil {
			break
		}
		if c, ok := t.(xml.CharData); ok && len(bytes.TrimSpace(c)) > 0 {
			fmt.Fprintf(&b, "%.300s ", bytes.TrimSpace(c))
		}
	}
	return strings.TrimSpace(b.String())
}

// params reads the element with the arguments; a call without any may omit it.
func (d xmlReader) params() ([]any, error) {
	start, err := d.next()
	if err != nil || start == nil {
		return nil, err
	}
	if start.Name.Local != "params" {
		return nil, d.wrong("<%.40s> in place of <params>", start.Name.Local)
	}
	return d.paramsOf()
}

func (d xmlReader) paramsOf() (values []any, err error) {
	for {
		start, err := d.next()
		if err != nil || start == nil {
			return values, err
		}
		if start.Name.Local != "param" {
			return nil, d.wrong("<%.40s> in place of <param>", start.Name.Local)
		}
		if err := d.open("value"); err != nil {
			return nil, err
		}
		v, err := d.value(0)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
		if err := d.Skip(); err != nil {
			return nil, d.wrong("%v", err)
		}
	}
}

// value reads what is in an element <value>, with its end. Text alone is a string.
func (d xmlReader) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, d.wrong("arrays in arrays, more than %d", maxDepth)
	}
	var plain strings.Builder
	for {
		t, err := d.token()
		if err != nil {
			return nil, err
		}
		switch t := t.(type) {
		case xml.CharData:
			plain.Write(t)
		case xml.EndElement:
			return plain.String(), nil
		case xml.StartElement:
			v, err := d.typed(t.Name.Local, depth)
			if err != nil {
				return nil, err
			}
			if err := d.Skip(); err != nil { // to </value>
				return nil, d.wrong("%v", err)
			}
			return v, nil
		}
	}
}

// typed reads a value of a type.
func (d xmlReader) typed(name string, depth int) (any, error) {
	switch name {
	case "array":
		return d.array(depth)
	case "struct":
		if err := d.Skip(); err != nil {
			return nil, d.wrong("%v", err)
		}
		return nil, nil
	}
	s, err := d.text()
	if err != nil {
		return nil, err
	}
	word := strings.TrimSpace(s)
	switch name {
	case "int", "i4", "i8":
		n, err := strconv.Atoi(word)
		if err != nil {
			return nil, d.wrong("a number %.40q", word)
		}
		return n, nil
	case "boolean":
		return word == "1" || word == "true", nil
	case "double":
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil, d.wrong("a number %.40q", word)
		}
		return x, nil
	}
	return s, nil // string, base64, dateTime.iso8601
}

func (d xmlReader) array(depth int) (any, error) {
	if err := d.open("data"); err != nil {
		return nil, err
	}
	list := []any{}
	for {
		start, err := d.next()
		if err != nil {
			return nil, err
		}
		if start == nil {
			break // </data>
		}
		if start.Name.Local != "value" {
			return nil, d.wrong("<%.40s> in an array", start.Name.Local)
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	if err := d.Skip(); err != nil { // to </array>
		return nil, d.wrong("%v", err)
	}
	return list, nil
}

package ros1

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestValues: what is encoded is decoded, and so is what Python and C++ nodes send.
func TestValues(t *testing.T) {
	list := []any{1, "", []any{"TCPROS", "127.0.0.1", 34567}, true, false, 1.5, []any{}, "a<b>&\"'"}
	method, args, err := decodeCall(bytes.NewReader(encodeCall("x.y", list...)))
	if err != nil || method != "x.y" || !reflect.DeepEqual(args, list) {
		t.Errorf("%s %v %v", method, args, err)
	}
	v, err := decodeAnswer(bytes.NewReader(encodeAnswer(list)))
	if err != nil || !reflect.DeepEqual(v, any(list)) {
		t.Errorf("%v %v", v, err)
	}
	// roscpp writes text without a type, and no declaration.
	v, err = decodeAnswer(strings.NewReader(`<methodResponse><params><param><value><array><data><value><i4>1</i4></value><value></value><value>a b</value></data></array></value></param></params></methodResponse>`))
	if err != nil || !reflect.DeepEqual(v, any([]any{1, "", "a b"})) {
		t.Errorf("%v %v", v, err)
	}
	// xmlrpc.client of Python breaks lines, and has <int>, <boolean> and structs.
	v, err = decodeAnswer(strings.NewReader("<?xml version='1.0'?>\n<methodResponse>\n<params>\n<param>\n<value><array><data>\n<value><int>-1</int></value>\n<value><boolean>1</boolean></value>\n<value><struct>\n<member>\n<name>a</name>\n<value><int>1</int></value>\n</member>\n</struct></value>\n</data></array></value>\n</param>\n</params>\n</methodResponse>\n"))
	if err != nil || !reflect.DeepEqual(v, any([]any{-1, true, nil})) {
		t.Errorf("%v %v", v, err)
	}
	_, err = decodeAnswer(strings.NewReader("<methodResponse><fault><value><struct><member><name>faultString</name><value><string>no such method</string></value></member></struct></value></fault></methodResponse>"))
	if err == nil || !strings.Contains(err.Error(), "no such method") {
		t.Errorf("fault: %v", err)
	}
}

// FuzzXML: no request or answer panics, and what is wrong is corrupt.
func FuzzXML(f *testing.F) {
	f.Add(encodeCall("registerSubscriber", "/a", "/b", []any{"x", 1, true, 2.5}))
	f.Add(encodeAnswer([]any{1, "", []any{}}))
	f.Add([]byte("<methodResponse><params><param><value>" + strings.Repeat("<array><data><value>", 100)))
	f.Add([]byte("<methodCall><methodName>x</methodName></methodCall>"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, err := decodeCall(bytes.NewReader(b))
		_, err2 := decodeAnswer(bytes.NewReader(b))
		var fault *fault
		if err != nil && !errors.Is(err, storage.ErrCorrupt) || err2 != nil && !errors.Is(err2, storage.ErrCorrupt) && !errors.As(err2, &fault) {
			t.Errorf("%v, %v", err, err2)
		}
	})
}

// FuzzHeader: a header that is read is written as it was, but for the order of its fields.
func FuzzHeader(f *testing.F) {
	f.Add(stringHeader())
	f.Add([]byte{255, 255, 255, 255})
	f.Add([]byte{4, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		fields, err := readHeader(bytes.NewReader(b))
		if err != nil {
			return
		}
		again, err := readHeader(bytes.NewReader(appendHeader(nil, fields)))
		if err != nil || !reflect.DeepEqual(fields, again) {
			t.Errorf("%q, %q, %v", fields, again, err)
		}
	})
}

// TestHeaderBytes: the bytes of a header.
func TestHeaderBytes(t *testing.T) {
	want := "\x1b\x00\x00\x00" + "\x0a\x00\x00\x00callerid=/" + "\x09\x00\x00\x00topic=/ab"
	if got := appendHeader(nil, map[string]string{"topic": "/ab", "callerid": "/"}); string(got) != want {
		t.Errorf("%q", got)
	}
}

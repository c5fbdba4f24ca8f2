package wire

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bagconv/bagconv/storage"
)

// TestValues: what is encoded is decoded, and so is what Python and C++ nodes send.
func TestValues(t *testing.T) {
	list := []any{1, "", []any{"TCPROS", "127.0.0.1", 34567}, true, false, 1.5, []any{}, "a<b>&\"'"}
	method, args, err := DecodeCall(bytes.NewReader(EncodeCall("x.y", list...)))
	if err != nil || method != "x.y" || !reflect.DeepEqual(args, list) {
		t.Errorf("%s %v %v", method, args, err)
	}
	v, err := DecodeAnswer(bytes.NewReader(EncodeAnswer(list)))
	if err != nil || !reflect.DeepEqual(v, any(list)) {
		t.Errorf("%v %v", v, err)
	}
	// roscpp writes text without a type, and no declaration.
	v, err = DecodeAnswer(
		strings.NewReader(`<methodResponse><params><param><value><array><data><value><i4>1</i4></value><value></value><value>a b</value></data></array></value></param></params></methodResponse>`))
	if err != nil || !reflect.DeepEqual(v, any([]any{1, "", "a b"})) {
		t.Errorf("%v %v", v, err)
	}
	// xmlrpc.client of Python breaks lines, and has <int>, <boolean> and structs.
	v, err = DecodeAnswer(
		strings.NewReader("<?xml version='1.0'?>\n<methodResponse>\n<params>\n<param>\n<value><array><data>\n<value><int>-1</int></value>\n<value><boolean>1</boolean></value>\n<value><struct>\n<member>\n<name>a</name>\n<value><int>1</int></value>\n</member>\n</struct></value>\n</data></array></value>\n</param>\n</params>\n</methodResponse>\n"))
	if err != nil || !reflect.DeepEqual(v, any([]any{-1, true, nil})) {
		t.Errorf("%v %v", v, err)
	}
	_, err = DecodeAnswer(
		strings.NewReader("<methodResponse><fault><value><struct><member><name>faultString</name><value><string>no such " +
			"method</string></value></member></struct></value></fault></methodResponse>"))
	if err == nil || !strings.Contains(err.Error(), "no such method") {
		t.Errorf("fault: %v", err)
	}
}

// FuzzXML: no request or answer panics, and what is wrong is corrupt.
func FuzzXML(f *testing.F) {
	f.Add(EncodeCall("registerSubscriber", "/a", "/b", []any{"x", 1, true, 2.5}))
	f.Add(EncodeAnswer([]any{1, "", []any{}}))
	f.Add([]byte("<methodResponse><params><param><value>" + strings.Repeat("<array><data><value>", 100)))
	f.Add([]byte("<methodCall><methodName>x</methodName></methodCall>"))
	f.Add([]byte(`<?xml version="0"?><methodCall/>`)) // errors of encoding/xml that have no type
	f.Add([]byte(`<?xml version="1.0" encoding="latin1"?><methodCall/>`))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, err := DecodeCall(bytes.NewReader(b))
		_, err2 := DecodeAnswer(bytes.NewReader(b))
		var fault *Fault
		if err != nil && !errors.Is(err, storage.ErrCorrupt) || err2 != nil && !errors.Is(err2, storage.ErrCorrupt) &&
			!errors.As(err2, &fault) {
			t.Errorf("%v, %v", err, err2)
		}
	})
}

// TestBroken: a connection that fails is not corrupt.
func TestBroken(t *testing.T) {
	lost := errors.New("lost")
	for _, text := range []string{"", "<methodCall>", "<methodCall><methodName>x",
		"<methodCall><methodName>x</methodName><params>"} {
		_, _, err := DecodeCall(io.MultiReader(strings.NewReader(text), iotest.ErrReader(lost)))
		if !errors.Is(err, lost) || errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzHeader: a header that is read is written as it was, but for the order of its fields.
func FuzzHeader(f *testing.F) {
	f.Add(AppendHeader(nil, map[string]string{FieldTopic: "/a", FieldDefinition: "string data\n"}))
	f.Add([]byte{255, 255, 255, 255})
	f.Add([]byte{4, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		fields, err := ReadHeader(bytes.NewReader(b))
		if err != nil {
			return
		}
		again, err := ReadHeader(bytes.NewReader(AppendHeader(nil, fields)))
		if err != nil || !reflect.DeepEqual(fields, again) {
			t.Errorf("%q, %q, %v", fields, again, err)
		}
	})
}

// TestHeaderBytes: the bytes of a header.
func TestHeaderBytes(t *testing.T) {
	want := "\x1b\x00\x00\x00" + "\x0a\x00\x00\x00callerid=/" + "\x09\x00\x00\x00topic=/ab"
	if got := AppendHeader(nil, map[string]string{"topic": "/ab", "callerid": "/"}); string(got) != want {
		t.Errorf("%q", got)
	}
}

package text_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/convert/text"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// bag has two topics of one type, one of another type, and one that cannot be read.
func bag() *fake.Bag {
	topic := func(name, typ, definition string) storage.Topic {
		s := storage.Schema{Encoding: "ros1msg", Data: []byte(definition)}
		return storage.Topic{Name: name, Type: typ, Encoding: "ros1", Schema: s}
	}
	const pair = "uint8 n\na/P p\n================\nMSG: a/P\nuint8 x\nuint8 y\n"
	return &fake.Bag{
		Topics: []storage.Topic{topic("/a", "a/T", pair), topic("/b", "a/T", pair),
			topic("/c", "a/C", "uint8 n\n"), topic("/d", "a/D", "nothing\n")},
		Blocks: [][]storage.Message{{
			{Topic: 0, LogTime: 1, Data: []byte{1, 2, 3}},
			{Topic: 2, LogTime: 2, Data: []byte{4}},
		}, {
			{Topic: 1, LogTime: 3, Data: []byte{5, 6, 7}},
			{Topic: 3, LogTime: 4, Data: []byte{8}},
			{Topic: 0, LogTime: 5, Data: []byte{9, 10, 11}},
		}},
	}
}

// read returns what a Printer with these options writes.
func read(t *testing.T, b *fake.Bag, o text.Options) (string, *text.Printer, error) {
	t.Helper()
	var out bytes.Buffer
	p := text.New(&out, o)
	path, format := b.Source(t)
	err := recording.Use(t.Context(), []recording.Ref{{Path: path, Format: format}}, func(s []*recording.Source) error {
		_, err := p.Read(t.Context(), s[0], recording.Query{})
		return err
	})
	err = errors.Join(err, p.Flush())
	return out.String(), p, err
}

// TestFields: what words ask for is written, in CSV with the same columns for all topics, and nothing else.
func TestFields(t *testing.T) {
	for _, c := range []struct {
		words, want string
		o           text.Options
	}{
		{"", "/a,1,AQID /c,2,BA== /b,3,BQYH /d,4,CA== /a,5,CQoL", text.Options{Raw: true}},
		{"/a /c", "/a,1,AQID /c,2,BA== /a,5,CQoL", text.Options{Raw: true}},
		{"/[ab]", "n,p.x,p.y /a,1,1,2,3 /b,3,5,6,7 /a,5,9,10,11", text.Options{}},
		{"/[ab]", "n,p.x,p.y /a,1,1,2,3 /b,3,5,6,7", text.Options{Limit: 2}},
		{"/[ab]", "n,p.x,p.y /b,3,5,6,7 /a,1,1,2,3", text.Options{Limit: 2, Backwards: true}},
		{"/b.p /*.n /a.p.y", "/b.p.x,/b.p.y,/*.n,/a.p.y /a,1,,,1,3 /c,2,,,4, /b,3,6,7,5, /a,5,,,9,11", text.Options{}},
	} {
		c.o.Render.Style, c.o.Fields = render.CSV, strings.Fields(c.words)
		out, p, err := read(t, bag(), c.o)
		var got []string
		for line := range strings.FieldsSeq(out) {
			got = append(got, strings.TrimPrefix(strings.TrimPrefix(line, "topic,time,"), "raw"))
		}
		got = slices.DeleteFunc(got, func(s string) bool { return s == "" })
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q %+v: %v\n got %s\nwant %s", c.words, c.o, err, strings.Join(got, " "), c.want)
		}
		if n := strings.Count(out, "/") - strings.Count(strings.SplitN(out, "\n", 2)[0], "/"); p.Wrote != int64(n) {
			t.Errorf("%q: %d lines, and Wrote is %d", c.words, n, p.Wrote)
		}
	}
}

// TestRefused: what cannot be written is an error with a reason, or is told.
func TestRefused(t *testing.T) {
	var request *text.RequestError
	var unknown *text.UnknownError
	var field *render.PathError
	for words, want := range map[string]any{
		"/a /c": &request, "/a /c.n": &request, "/a /a.n": &request, "/*.p": &field, "/x": &unknown,
		"/a.": &unknown, "re:(": &unknown, "/a.z": &field, "/[ac].p /c.n": &field,
	} {
		_, _, err := read(t, bag(), text.Options{Fields: strings.Fields(words), Render: render.Options{Style: render.CSV}})
		if !errors.As(err, want) {
			t.Errorf("%q: %v", words, err)
		}
	}
	if _, _, err := read(t, bag(), text.Options{Raw: true, Fields: []string{"/a.n"}}); !errors.As(err, &request) {
		t.Errorf("a field of raw messages: %v", err)
	}
	if _, _, err := read(t, bag(), text.Options{Fields: []string{"/x"}}); !errors.Is(err, text.ErrNoTopic) {
		t.Errorf("no topic: %v", err)
	}
	if _, _, err := read(t, bag(), text.Options{Fields: []string{"/d"}}); !errors.Is(err, text.ErrNothing) {
		t.Errorf("a topic that cannot be read: %v", err)
	}
	var told []string
	tell := func(t *storage.Topic, left error, _ []mapping.Remark) {
		told = append(told, fmt.Sprint(t.Name, left != nil))
	}
	out, _, err := read(t, bag(), text.Options{Tell: tell})
	want := []string{"/afalse", "/bfalse", "/cfalse", "/dtrue"}
	if err != nil || strings.Count(out, "\n") != 4 || !slices.Equal(told, want) {
		t.Errorf("%v, %v:\n%s", err, told, out)
	}
}

// TestAgain: reading begins anew as long as nothing was written.
func TestAgain(t *testing.T) {
	var out bytes.Buffer
	p := text.New(&out, text.Options{})
	path, format := bag().Source(t)
	again := func() error {
		refs := []recording.Ref{{Path: path, Format: format}}
		return recording.Use(context.Background(), refs, func(s []*recording.Source) error {
			_, err := p.Read(context.Background(), s[0], recording.Query{})
			return err
		})
	}
	for range 2 {
		if err := again(); err != nil || out.Len() > 0 {
			t.Fatal(err, out.Len())
		}
	}
	if err := p.Flush(); err != nil || strings.Count(out.String(), "\n") != 4 {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if err := again(); !errors.Is(err, text.ErrPrinted) {
		t.Errorf("after lines were written: %v", err)
	}
}

package values

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"reflect"
	"strconv"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/facts"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/fit"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/wire/xtypes"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/rosidl"
	"github.com/bagconv/bagconv/storage"
)

// An idlType is a random type and messages of it, by testdata/idl.py.
type idlType struct {
	Name     string
	IDL      string
	Messages []struct {
		Hex   string
		Value any
	}
}

// TestCyclone: types with unions, optional and numbered members, maps and lists of lists, and their
// messages in XCDR1 and XCDR2 of both byte orders, all made by cyclonedds. Everything that reads
// messages reads the values that were written.
func TestCyclone(t *testing.T) {
	python := os.Getenv("BAGCONV_CYCLONE_PYTHON")
	if python == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("BAGCONV_CYCLONE_PYTHON is not set: it names a Python with cyclonedds")
		}
		t.Skip("BAGCONV_CYCLONE_PYTHON is not set: it names a Python with cyclonedds")
	}
	seeds, types := 4, "25"
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		seeds, types = 100, "40"
	}
	for seed := range seeds {
		cmd := exec.Command(python, "testdata/idl.py", strconv.Itoa(seed+1), types, "4")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, typ := range idlTypes(t, out) {
			if testCycloneType(t, typ); t.Failed() {
				t.Fatalf("seed %d, %s: %s", seed+1, typ.Name, typ.IDL)
			}
		}
	}
}

// idlTypes reads the output of testdata/idl.py.
func idlTypes(t testing.TB, text []byte) (out []*idlType) {
	t.Helper()
	for line := range bytes.Lines(text) {
		typ := new(idlType)
		if err := json.Unmarshal(line, typ); err != nil {
			t.Fatal(err)
		}
		out = append(out, typ)
	}
	return out
}

// storedIDLTypes are those of testdata/cyclone.jsonl: 12 types and 2 messages each by seed 1, and by seed 2.
func storedIDLTypes(t testing.TB) []*idlType {
	t.Helper()
	text, err := os.ReadFile("testdata/cyclone.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return idlTypes(t, text)
}

// TestStoredIDL is TestCyclone with stored types. All readers agree also on messages that are cut off
// or have another byte anywhere.
func TestStoredIDL(t *testing.T) {
	for _, typ := range storedIDLTypes(t) {
		testCycloneType(t, typ)
		m, err := rosidl.Parse(typ.Name, []byte(typ.IDL))
		if err != nil {
			t.Fatal(err)
		}
		r := newIDLReaders(t, m)
		for _, message := range typ.Messages {
			data, _ := hex.DecodeString(message.Hex)
			for i := range data {
				r.agree(t, data[:i])
				for _, flip := range []byte{0x01, 0x80, 0xff} {
					bad := bytes.Clone(data)
					bad[i] ^= flip
					r.agree(t, bad)
				}
			}
		}
		if t.Failed() {
			t.Fatalf("%s: %s", typ.Name, typ.IDL)
		}
	}
}

// agree compares what readers find in bytes that may be no message.
func (r *idlReaders) agree(t *testing.T, data []byte) {
	t.Helper()
	plain, rest, err := r.plan.AppendRest(nil, data)
	a, b := content.NewWriter(true), content.NewWriter(true)
	wrong := r.canon.Read(a, data)
	if (err == nil) != (wrong == nil) {
		t.Errorf("% x: transcode %v, content %v", data, err, wrong)
		return
	}
	if _, err := r.text.Append(nil, data); (err == nil) != (wrong == nil) {
		t.Errorf("% x: render %v, content %v", data, err, wrong)
	}
	var v map[string]any
	if err := r.codec.Decode(data, &v); (err == nil) != (wrong == nil) {
		t.Errorf("% x: values %v, content %v", data, err, wrong)
	}
	if err != nil {
		return
	}
	if err := r.canonPlain.Read(b, plain); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("content of % x\n% x\nof plain % x\n% x, %v", data, a.Bytes(), plain, b.Bytes(), err)
	}
	lost := len(r.plan.Losses()) > 0 || transcode.Trailing(rest) > 0
	r.plan.Reset()
	if lost != a.Rest {
		t.Errorf("% x: transcode has left bytes over: %v, content %v", data, lost, a.Rest)
	}
}

// FuzzIDL: the same for any bytes and any types.
func FuzzIDL(f *testing.F) {
	for _, typ := range storedIDLTypes(f) {
		for _, message := range typ.Messages {
			data, _ := hex.DecodeString(message.Hex)
			f.Add(typ.Name, typ.IDL, data)
		}
	}
	f.Add("T", "bitmask F { A }; struct I { @default(-2) short a; F f[2]; }; @mutable struct T { @default(\"a\") "+
		"wstring w; I i[2]; sequence<F> l; };",
		[]byte("\x00\x0b\x00\x00\x00\x00\x00\x00"))
	// zeros within the struct and after it
	f.Add("p/S", "module p { enum E { X }; struct S { int64 a; sequence<int16> b; E c; }; };",
		[]byte("\x00\x08\x00\x00\x00\x00\x00\x1900000000\x00\x00\x00\x010000\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, name, text string, data []byte) {
		m, err := rosidl.Parse(name, []byte(text))
		if err != nil || len(text) > 1<<16 {
			return
		}
		if _, err := transcode.Compile(m, m, transcode.Options{From: serial.CDR, To: serial.CDR}); err != nil {
			return // a type that cannot be read, such as one with a long double
		}
		newIDLReaders(t, m).agree(t, data)
	})
}

func testCycloneType(t *testing.T, typ *idlType) {
	m, err := rosidl.Parse(typ.Name, []byte(typ.IDL))
	if err != nil {
		t.Error(err)
		return
	}
	r := newIDLReaders(t, m)
	for _, message := range typ.Messages {
		data, err := hex.DecodeString(message.Hex)
		if err != nil {
			t.Fatal(err)
		}
		r.check(t, data, message.Value)
	}
}

// idlReaders are all that read messages of a type.
type idlReaders struct {
	m             *schema.Message
	plan, toROS1  *transcode.Plan
	text          *render.Program
	canon, canon1 *content.Program
	canonPlain    *content.Program
	codec, plain  *Codec[map[string]any]
}

func newIDLReaders(t *testing.T, m *schema.Message) *idlReaders {
	t.Helper()
	r := &idlReaders{m: m}
	var err error
	must := func() {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.plan, err = transcode.Compile(m, facts.Plain(m), transcode.Options{From: serial.CDR, To: serial.CDR})
	must()
	r.toROS1, err = transcode.Compile(m, facts.Plain(m), transcode.Options{From: serial.CDR, To: serial.ROS1})
	must()
	typ, err := message.ROS(m, serial.CDR)
	must()
	r.text, err = render.Compile(typ, render.Options{Bytes: true, Arrays: true})
	must()
	canonical := content.Canonical(m, false)
	r.canon, err = content.FromROS(m, serial.CDR, canonical, true)
	must()
	r.canon1, err = content.FromROS(facts.Plain(m), serial.ROS1, canonical, true)
	must()
	r.canonPlain, err = content.FromROS(facts.Plain(m), serial.CDR, canonical, true)
	must()
	r.codec, err = compileFor[map[string]any](&mapping.Definition{ROS: m, Wire: serial.CDR})
	must()
	r.plain, err = compileFor[map[string]any](&mapping.Definition{ROS: facts.Plain(m), Wire: serial.CDR})
	must()
	return r
}

// check compares what all readers find in a message with its value.
func (r *idlReaders) check(t *testing.T, data []byte, value any) {
	t.Helper()
	line, err := r.text.Append(nil, data)
	var got any
	if err == nil {
		err = json.Unmarshal(line, &got)
	}
	if err != nil || !reflect.DeepEqual(got, value) {
		want, _ := json.Marshal(value)
		t.Errorf("render of % x: %s, %v\nwant %s", data, line, err, want)
		return
	}
	plain, err := r.plan.Append(nil, data)
	if err != nil {
		t.Error(err)
		return
	}
	old, err := r.toROS1.Append(nil, data)
	if err != nil {
		t.Error(err)
		return
	}
	a, b := content.NewWriter(true), content.NewWriter(true)
	if err := r.canon.Read(a, data); err != nil || a.Rest {
		t.Errorf("content of % x: %v, bytes are left over: %v", data, err, a.Rest)
	}
	if err := r.canon1.Read(b, old); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("content of % x\n% x\nof ROS 1\n% x, %v", data, a.Bytes(), b.Bytes(), err)
	}
	if _, err := fitTest(r.m, data); err != nil {
		t.Errorf("fit of % x: %v", data, err)
	}
	var v, w map[string]any
	if err := r.codec.Decode(data, &v); err != nil {
		t.Errorf("values of % x: %v", data, err)
	}
	if err := r.plain.Decode(plain, &w); err != nil || !reflect.DeepEqual(v, w) {
		t.Errorf("values of % x: %v\nplain: %v, %v", data, v, w, err)
	}
	if xtypes.New(r.m).Always() {
		if out, err := r.codec.Append(nil, &v); !errors.Is(err, storage.ErrUnsupported) || len(out) > 0 {
			t.Errorf("a message of %s is written: % x, %v", r.m.Name, out, err)
		}
	}
	if n := len(r.plan.Losses()) + len(r.toROS1.Losses()); n > 0 {
		t.Errorf("losses: %v, %v", r.plan.Losses(), r.toROS1.Losses())
	}
}

func fitTest(m *schema.Message, data []byte) (doubt string, err error) {
	typ, err := message.ROS(m, serial.CDR)
	if err != nil {
		return "", err
	}
	return fit.Test(typ, data)
}

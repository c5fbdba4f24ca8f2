package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/export"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/convert/text"
	"github.com/bagconv/bagconv/internal/frames"
	"github.com/bagconv/bagconv/internal/ingest"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// arrowOf returns the Arrow stream of a recording.
func arrowOf(t testing.TB, path string, format *storage.Format, o convert.Job) ([]byte, error) {
	var out bytes.Buffer
	o.Source, o.SourceFormat, o.Sink, o.SinkFormat, o.Order = path, format, "-", export.Stream(&out), convert.OrderFile
	_, err := convert.Run(context.Background(), o)
	return out.Bytes(), err
}

// linesOfJSON returns what cat --bytes prints.
func linesOfJSON(t *testing.T, path string) ([]byte, error) {
	out, _, _, err := cat(t, path, text.Options{Render: render.Options{Bytes: true, Arrays: true}})
	return out, err
}

// hard are recordings of which cat and export leave messages out, or whose topics cannot be told apart by a line.
var hard = []string{
	"three-channels", "bit-flip", "archebase+robocodec", "no-desc-and-undeclared", "empty-payloads", "schema-missing",
	"idl-and-no-definition", "many-encodings", "cdr-with-ros1msg", "robocodec_test_16", "pj-mcap-server", "extreme-times",
	"odd-topic-names",
}

// TestValuesOfRecordings: every recording that can be read comes back from JSON and from Arrow, equal in content.
func TestValuesOfRecordings(t *testing.T) {
	registry, tried := all.Registry(), map[string]int{}
	paths := samples.Recordings(t, func(path string) bool { _, err := registry.Detect(path); return err == nil })
	for i, path := range paths {
		if n := samples.Pick(1, 9, 40); i%n != 0 || isHard(path) {
			continue
		}
		format, err := registry.Detect(path)
		if err != nil {
			t.Fatal(err)
		}
		src, err := recording.Open(t.Context(), recording.Ref{Path: path, Format: format})
		if err != nil {
			continue
		}
		mapper, err := src.Mapper(t.Context(), src.Info)
		if err := errors.Join(err, src.Close()); err != nil {
			continue
		}
		like := []ingest.Like{{Info: src.Info, Path: path, Mapper: mapper}}
		if lines, err := linesOfJSON(t, path); err == nil && len(lines) > 0 {
			tried["lines"]++
			back(t, path, format, lines, ingest.Options{Like: like})
		}
		if dir := filepath.Join(t.TempDir(), "tables"); exported(t, path, format, dir, "parquet") == nil {
			if _, err := os.Stat(filepath.Join(dir, "export.json")); err == nil && hasTables(t, dir) {
				tried["parquet"]++
				backFrom(t, path, format, dir, ingest.Options{Like: like})
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		if stream, err := arrowOf(t, path, format, convert.Job{}); err == nil && len(stream) > 0 {
			tried["arrow"]++
			back(t, path, format, stream, ingest.Options{Like: like})
			back(t, path, format, stream, ingest.Options{})
		}
	}
	if min(tried["lines"], tried["arrow"], tried["parquet"]) < leastTried(t) {
		t.Error(tried)
	}
}

func isHard(path string) bool {
	for _, name := range hard {
		if strings.Contains(path, name) {
			return true
		}
	}
	return false
}

// hasTables reports whether an export has any.
func hasTables(t *testing.T, dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "export.json"))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(text, []byte(`.parquet"`))
}

// back imports a stream into the format of a recording, and compares both.
func back(t *testing.T, path string, format *storage.Format, stream []byte, o ingest.Options) {
	t.Helper()
	o.In = bytes.NewReader(stream)
	backFrom(t, path, format, ingest.Stdin, o)
}

// backFrom does so with any input.
func backFrom(t *testing.T, path string, format *storage.Format, in string, o ingest.Options) {
	t.Helper()
	dir := t.TempDir()
	defer os.RemoveAll(dir)
	o.TempDir = dir
	sink := format
	if sink.Create == nil {
		sink = all.Registry().Lookup("mcap")
	}
	out := filepath.Join(dir, "out")
	_, err := convert.Run(t.Context(), convert.Job{Source: in, SourceFormat: ingest.Source(o), Sink: out,
		SinkFormat: sink})
	if errors.Is(err, storage.ErrUnsupported) && len(o.Like) == 0 {
		return // a type that only the recording has
	}
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	res, err := verify.Run(t.Context(), verify.Job{
		A:      verify.Side{Ref: recording.Ref{Path: path, Format: format}},
		B:      verify.Side{Ref: recording.Ref{Path: out, Format: sink}},
		Ignore: []verify.Code{verify.Extras, verify.Unconvertible},
	})
	if err != nil || !res.Equal {
		t.Errorf("%s: %v %+v", path, err, res)
	}
}

// mixed returns frames of one topic as a message, values and tables, and of another as values of a standard type.
func mixed(t testing.TB) []byte {
	t.Helper()
	b := small(t)
	b, err := frames.Append(b, 20, frames.AppendNames(nil, "json", "p/T", "/b"), []byte(`{"n":9}`))
	if err == nil {
		b, err = frames.Append(b, 21, frames.AppendNames(nil, "json", "", "/b"), []byte(`{"n":8}`))
	}
	if err == nil {
		b, err = frames.Append(b, 22, frames.AppendNames(nil, "json", "std_msgs/msg/UInt8", "/c"), []byte(`{"data":7}`))
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestFramesOfValues: values become JSON of a schema by the names of fields and of properties, and a struct without
// fields is true.
func TestFramesOfValues(t *testing.T) {
	var b []byte
	var err error
	for _, d := range []storage.Topic{
		{Name: "/mouse", Type: "Mouse", Encoding: "json", Schema: storage.Schema{Encoding: "jsonschema",
			Data: []byte(`{"type":"object","properties":{"clientX":{"type":"number"},"clientY":{"type":"number"}}}`)}},
		{Name: "/none", Type: "p/T", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
			Data: []byte("Empty[2] e\nuint8 n\n" + strings.Repeat("=", 80) + "\nMSG: p/Empty\n")}},
	} {
		if b, err = frames.AppendDefinition(b, &frames.Definition{Topic: d}); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range []struct{ encoding, typ, topic, text string }{
		{"values", "Mouse", "/mouse", `{"client_x":1.5,"clientY":2}`},
		{"json", "Mouse", "/mouse", `{"client_x":1.5}`},
		{"values", "p/T", "/none", `{"e":[true,{}],"n":7}`},
	} {
		if b, err = frames.Append(b, int64(i), frames.AppendNames(nil, f.encoding, f.typ, f.topic),
			[]byte(f.text)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := opened(t, b, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	list, err := linesOf(t, r)
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for i, want := range []string{`{"clientX":1.5,"clientY":2}`, `{"client_x":1.5}`, "\x07"} {
		if got := string(list[i].m.Data); got != want {
			t.Errorf("message %d is %q, want %q", i, got, want)
		}
	}
}

// TestMixed: one stream has messages, and values as JSON of a declared and of a standard type.
func TestMixed(t *testing.T) {
	r, err := opened(t, mixed(t), ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	list, err := linesOf(t, r)
	if err != nil || len(list) != 7 {
		t.Fatal(list, err)
	}
	for i, want := range []string{"x", "y", "z", "", "\x09", "\x08", "\x00\x01\x00\x00\x07"} {
		if got := string(list[i].m.Data); got != want {
			t.Errorf("message %d is %q, want %q", i, got, want)
		}
	}
	if last := list[6].topic; last.Encoding != "cdr" || len(last.Schema.Data) == 0 {
		t.Errorf("%+v", last)
	}
	if d := r.Damage(); len(d.Warnings) != 1 || d.Warnings[0].Code != "definition-builtin" || d.Warnings[0].Damage {
		t.Errorf("%+v", d)
	}
}

// smallArrow returns an Arrow stream of a topic with values of many kinds, and its recording.
func smallArrow(t testing.TB) (stream []byte, list []string) {
	t.Helper()
	var in bytes.Buffer
	for _, x := range []string{"1", "2", "3"} {
		in.WriteString(`{"topic":"/t","time":"` + x + `","fields":{"transforms":[{"header":{"frame_id":"f` + x +
			`"},"transform":{"rotation":{"w":` + x + `}}}]}}` + "\n")
	}
	o := ingest.Options{In: &in, TempDir: os.TempDir(), Type: "tf2_msgs/msg/TFMessage"}
	var out bytes.Buffer
	_, err := convert.Run(context.Background(), convert.Job{Source: ingest.Stdin, SourceFormat: ingest.Source(o),
		Sink: "-", SinkFormat: export.Stream(&out)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), []string{"f1", "f2", "f3"}
}

// TestArrowFrames: a frame of an Arrow stream is rows of its topic, whichever name that has there.
func TestArrowFrames(t *testing.T) {
	stream, want := smallArrow(t)
	b, err := frames.Append(nil, 0, frames.AppendNames(nil, frames.Arrow, "", "/other"), stream)
	if err == nil {
		b, err = frames.Append(b, 9, frames.AppendNames(nil, "json", "", "/other"),
			[]byte(`{"transforms":[{"header":{"frame_id":"f4"}}]}`))
	}
	if err != nil {
		t.Fatal(err)
	}
	r, err := opened(t, b, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	list, err := linesOf(t, r)
	if err != nil || len(list) != 4 {
		t.Fatal(len(list), err)
	}
	seen := map[string]bool{}
	for _, l := range list {
		if l.topic.Name != "/other" {
			t.Error(l.topic)
		}
		for _, w := range append(want, "f4") {
			if bytes.Contains(l.m.Data, []byte(w)) {
				seen[w] = true
			}
		}
	}
	if len(seen) != 4 {
		t.Error(seen)
	}
}

// TestHostileArrow: an Arrow stream that ends early is an error with a place, and one with wrong bits is read or
// refused.
func TestHostileArrow(t *testing.T) {
	whole, _ := smallArrow(t)
	for n := 1; n < len(whole); n += samples.Pick(1, 3, 17) {
		_, err := opened(t, whole[:n], ingest.Options{Form: ingest.Arrow})
		var place *storage.Error
		if !storage.IsDamage(err) || !errors.As(err, &place) || place.Offset < 0 || place.Offset > int64(n) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for i := 0; i < len(whole); i += samples.Pick(1, 23, 61) {
		for bit := range 8 {
			bad := bytes.Clone(whole)
			bad[i] ^= 1 << bit
			tryAll(t, bad)
		}
	}
}

func FuzzValues(f *testing.F) {
	stream, _ := smallArrow(f)
	f.Add(stream)
	f.Add(mixed(f))
	f.Add(smallParquet(f))
	f.Add([]byte(`{"topic":"/t","type":"std_msgs/msg/Bool","time":1,"publish_time":2,"sequence":3,"fields":{"data":true}}` + "\n"))
	f.Fuzz(func(t *testing.T, stream []byte) { tryAll(t, stream) })
}

// TestLines: what is no line of a message is refused at its place.
func TestLines(t *testing.T) {
	good := `{"topic":"/t","type":"std_msgs/msg/Bool","time":1,"fields":{"data":true}}` + "\n"
	for _, bad := range []string{
		`{"topic":"/t"`, `[]`, `{"topic":"/t","fields":{}}`, `{"topic":"/t","time":1}`,
		`{"topic":"/t","time":1,"fields":{},"raw":""}`,
		`{"topic":"/t","time":"soon","fields":{}}`, `{"topic":"/t","time":1,"fields":[]}`, `{"topic":"/t","time":1,"raw":1}`,
		`{"topic":"/x","time":1,"fields":{}}`, `{"time":1,"fields":{}}`, `{"topic":"/t","time":1.5,"fields":{}}`,
	} {
		_, err := opened(t, []byte(good+bad+"\n"+good), ingest.Options{})
		var place *storage.Error
		if !storage.IsDamage(err) || !errors.As(err, &place) || place.Offset != int64(len(good)) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	r, err := opened(t, []byte(good+"\r\n\n"+strings.TrimSpace(good)), ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if list, err := linesOf(t, r); err != nil || len(list) != 2 {
		t.Error(list, err)
	}
	long := `{"topic":"/t","type":"std_msgs/msg/String","time":1,"fields":{"data":"` + strings.Repeat("x", 3<<20) + `"}}`
	r, err = opened(t, []byte(long), ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if m, err := r.ReadNext(); err != nil || len(m.Data) != 4+4+3<<20+1 {
		t.Error(err)
	}
	if _, err := r.ReadNext(); err != io.EOF {
		t.Error(err)
	}
}

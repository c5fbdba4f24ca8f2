// Package external uses bagconv as a program of somebody else does: it is a module of its own, and imports public
// packages only. The test of formats/all that is named TestExternalModule runs it.
package external

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/convert/values"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"

	"github.com/bagconv/bagconv/testdata/external/toy"
)

// demo returns a recording of bagconv's tests.
func demo(t *testing.T) string { return filepath.Join(os.Getenv("BAGCONV_TESTDATA"), "demo.bag") }

// TestRead: messages as bytes, and as values.
func TestRead(t *testing.T) {
	r, err := all.Open(t.Context(), demo(t), storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for _, err := range r.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 636 {
		t.Errorf("%d messages", n)
	}
	type fix struct{ Latitude float64 }
	n = 0
	for m, err := range values.Read[fix](t.Context(), r, "/gps/fix", values.Query{}) {
		if err != nil || m.Value.Latitude < 50 {
			t.Fatal(m, err)
		}
		n++
	}
	if n != 10 {
		t.Errorf("%d values", n)
	}
}

// TestConvert: with progress and a selection, to a format of this module and back; verified and checked.
func TestConvert(t *testing.T) {
	formats := all.Registry().And(toy.Format)
	dir := t.TempDir()
	there, back := filepath.Join(dir, "a.toy"), filepath.Join(dir, "b.mcap")
	var last convert.Progress
	job := convert.Job{Progress: func(p convert.Progress) { last = p }, Encoding: convert.EncodingKeep}
	job.Write.Values = map[string]string{"mood": "wild"}
	report, err := convert.File(t.Context(), formats, demo(t), there, job)
	if err != nil || report.Lossy() || report.Sink.Messages != 636 || last.Bytes != last.Total || last.Total == 0 {
		t.Fatalf("%+v %+v %v", report, last, err)
	}
	if res, err := verify.Files(t.Context(), formats, demo(t), there, verify.Job{}); err != nil || !res.Equal {
		t.Fatalf("%+v %v", res, err)
	}
	topics, err := convert.Patterns("/imu/*")
	if err != nil {
		t.Fatal(err)
	}
	taken := convert.Select{Topics: topics}
	if report, err = convert.File(t.Context(), formats, there, back, convert.Job{Select: taken}); err != nil ||
		report.Sink.Messages != 400 {
		t.Fatalf("%+v %v", report, err)
	}
	if res, err := verify.Files(t.Context(), formats, there, back,
		verify.Job{A: verify.Side{Select: taken}}); err != nil || !res.Equal {
		t.Fatalf("%+v %v", res, err)
	}
	if res, err := check.File(t.Context(), formats, there, check.Options{}); err != nil || res.Messages != 636 {
		t.Fatalf("%+v %v", res, err)
	}
}

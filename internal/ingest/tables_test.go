package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/export"
	"github.com/bagconv/bagconv/internal/ingest"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// formatOf returns a format of exports.
func formatOf(t testing.TB, name string) *storage.Format {
	t.Helper()
	for _, f := range export.Formats() {
		if f.Name == name {
			return f
		}
	}
	t.Fatal(name)
	return nil
}

// exported writes a recording as an export.
func exported(t testing.TB, path string, format *storage.Format, out, kind string) error {
	t.Helper()
	_, err := convert.Run(context.Background(), convert.Job{Source: path, SourceFormat: format, Sink: out,
		SinkFormat: formatOf(t, kind), Order: convert.OrderFile})
	return err
}

// smallParquet returns a table of Parquet with values of many kinds.
func smallParquet(t testing.TB) []byte {
	t.Helper()
	stream, _ := smallArrow(t)
	out := filepath.Join(t.TempDir(), "t.parquet")
	o := ingest.Options{In: bytes.NewReader(stream), TempDir: os.TempDir()}
	if err := exported(t, ingest.Stdin, ingest.Source(o), out, "parquet"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestParquet: a table that an export has written is the messages again, from a file, a stream and a folder.
func TestParquet(t *testing.T) {
	whole := smallParquet(t)
	r, err := opened(t, whole, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	list, err := linesOf(t, r)
	if err != nil || len(list) != 3 || list[0].topic.Name != "/t" || !bytes.Contains(list[2].m.Data, []byte("f3")) {
		t.Error(list, err)
	}
	dir := filepath.Join(t.TempDir(), "folder")
	if err := exported(t, ingest.Stdin, ingest.Source(ingest.Options{In: bytes.NewReader(whole), TempDir: os.TempDir()}),
		dir, "parquet"); err != nil {
		t.Fatal(err)
	}
	open := func() (storage.Reader, error) {
		return ingest.Source(ingest.Options{}).Open(t.Context(), dir, storage.ReadOptions{})
	}
	if r, err = open(); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if again, err := linesOf(t, r); err != nil || len(again) != 3 || !bytes.Equal(again[1].m.Data, list[1].m.Data) {
		t.Error(again, err)
	}
	index := filepath.Join(dir, "export.json")
	for _, bad := range []string{`{`, `{"topics":[]}`,
		`{"topics":[{"name":"/t","files":[{"path":"../t.parquet","kind":"table"}]}]}`,
		`{"topics":[{"name":"/t","files":[{"path":"t.csv","kind":"table"}]}]}`} {
		if err := os.WriteFile(index, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := open(); !storage.IsDamage(err) {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	if _, err := open(); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestHostileParquet: a file that ends early is an error, and one with wrong bits is read or refused.
func TestHostileParquet(t *testing.T) {
	whole := smallParquet(t)
	for n := 4; n < len(whole); n += samples.Pick(1, 13, 47) {
		if _, err := opened(t, whole[:n], ingest.Options{}); !storage.IsDamage(err) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for i := 0; i < len(whole); i += samples.Pick(1, 41, 97) {
		for bit := range 8 {
			bad := bytes.Clone(whole)
			bad[i] ^= 1 << bit
			tryAll(t, bad)
		}
	}
}

// TestPython: tables that pyarrow and polars write, without a word of us in them, become the same messages in every
// form.
func TestPython(t *testing.T) {
	python := os.Getenv("BAGCONV_TABLES_PYTHON")
	if python == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("BAGCONV_TABLES_PYTHON is missing")
		}
		t.Skip("BAGCONV_TABLES_PYTHON names no python with pyarrow and polars")
	}
	dir := t.TempDir()
	if out, err := exec.Command(python, "testdata/write.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(paths) != 12 {
		t.Fatal(paths, err)
	}
	var first []line
	for _, path := range paths {
		o := ingest.Options{Topic: "/fix", Type: "sensor_msgs/msg/NavSatFix"}
		if filepath.Base(path) == "legacy.arrow" { // nothing but its lengths shows what it is
			o.Form = ingest.Arrow
		}
		r, err := ingest.Source(o).Open(t.Context(), path, storage.ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		list, err := linesOf(t, r)
		d := r.Damage()
		if err := errors.Join(err, r.Close()); err != nil || len(list) != 1000 {
			t.Errorf("%s: %d messages, %v %+v", path, len(list), err, d)
			continue
		}
		codes := map[string]bool{}
		for _, w := range d.Warnings {
			codes[w.Code] = true
		}
		if !codes["time-column"] || !codes["columns-missing"] || !codes["columns-unknown"] || !codes["values-unknown"] ||
			codes["values-refused"] {
			t.Errorf("%s: %+v", path, d)
		}
		if first == nil {
			first = list
		}
		for i := range list {
			if list[i].m.LogTime != first[i].m.LogTime || !bytes.Equal(list[i].m.Data, first[i].m.Data) {
				t.Errorf("%s: message %d: %x, want %x", path, i, list[i].m.Data, first[i].m.Data)
				break
			}
		}
	}
	if m := first[999].m; m.LogTime != 1700000000000000000+999*1e7 || !bytes.Contains(m.Data, []byte("gps0\x00")) {
		t.Errorf("%+v", m)
	}
}

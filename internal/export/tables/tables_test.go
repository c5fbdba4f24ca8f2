package tables_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/schema"
)

// A maker makes a table of a kind.
type maker struct {
	ending string
	make   func(w io.Writer, schema []columns.Field, o tables.Options) (tables.Table, error)
}

var makers = []maker{
	{".parquet", func(w io.Writer, s []columns.Field, o tables.Options) (tables.Table, error) {
		return tables.NewParquet(w, s, []tables.KeyValue{{Key: "bagconv.topic", Value: "/t"}}, o)
	}},
	{".arrow", func(w io.Writer, s []columns.Field, o tables.Options) (tables.Table, error) {
		return tables.NewArrowFile(w, s, []tables.KeyValue{{Key: "bagconv.topic", Value: "/t"}}, o)
	}},
	{".arrows", func(w io.Writer, s []columns.Field, o tables.Options) (tables.Table, error) {
		return tables.NewArrowStream(w, s, []tables.KeyValue{{Key: "bagconv.topic", Value: "/t"}}, o)
	}},
	{".csv", func(w io.Writer, s []columns.Field, o tables.Options) (tables.Table, error) {
		return tables.NewCSV(w, s, nil, o)
	}},
}

// TestReferees: readers of other people find in the tables of random messages what these were made of.
func TestReferees(t *testing.T) {
	python := os.Getenv("BAGCONV_TABLES_PYTHON")
	if python == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("BAGCONV_TABLES_PYTHON is missing")
		}
		t.Skip("BAGCONV_TABLES_PYTHON names no python with pyarrow, polars and duckdb")
	}
	dir := t.TempDir()
	for seed := range uint64(samples.Pick(60, 30, 20)) {
		w := typetree.New(seed, 2, typetree.Options{ROS2: seed%2 == 1, Before1970: seed%2 == 1})
		for i, m := range w.Roots {
			writeWorld(t, w, m, seed, filepath.Join(dir, fmt.Sprintf("%03d-%d", seed, i)))
		}
	}
	writeOdd(t, dir)
	writeRecordings(t, dir)
	script, err := os.ReadFile("testdata/read.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-", dir)
	cmd.Stdin = bytes.NewReader(script)
	out, err := cmd.CombinedOutput()
	if text := strings.TrimSpace(string(out)); err != nil || strings.Contains(text, "\n") || text == "0 tables" ||
		text == "" {
		t.Errorf("%v\n%s", err, text)
	} else {
		t.Log(text)
	}
}

// writeWorld writes tables of random messages, in several parts, and their truth.
func writeWorld(t *testing.T, w *typetree.World, m *typetree.Message, seed uint64, name string) {
	t.Helper()
	dialect, tree, encoding := rosmsg.ROS1, typetree.ROS1, serial.ROS1
	if seed%2 == 1 {
		dialect, tree, encoding = rosmsg.ROS2, typetree.ROS2, serial.CDR
	}
	msg, err := rosmsg.Parse(m.TypeName(tree), typetree.AppendText(nil, m, tree), dialect, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(msg, encoding)
	if err != nil {
		t.Fatal(err)
	}
	p, err := columns.Compile(typ, columns.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var batches []*columns.Batch
	var truth []byte
	for part := range 3 {
		b := p.NewBatch()
		for i := range []int{3, 0, 5}[part] {
			v := w.Value(m)
			data := typetree.AppendROS1(nil, m, v)
			if encoding == serial.CDR {
				data = typetree.AppendCDR(nil, m, v)
			}
			at := int64(part*1000 + i)
			if err := b.Append(data, at, at+1, 0); err != nil {
				t.Fatal(err)
			}
			truth = fmt.Appendf(truth, `{"names":[%q],"time":"t%d","message":`, p.Schema()[0].Name, at)
			truth = append(typetree.AppendTruth(truth, m, v), "}\n"...)
		}
		batches = append(batches, b)
	}
	if err := os.WriteFile(name+".json", truth, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, k := range makers {
		data := write(t, k, p, batches, tables.Options{Level: int(seed%3) - 1, Constants: p.Constants()})
		if err := os.WriteFile(name+k.ending, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// write makes a table of batches.
func write(t testing.TB, k maker, p *columns.Program, batches []*columns.Batch, o tables.Options) []byte {
	t.Helper()
	var out bytes.Buffer
	table, err := k.make(&out, p.Schema(), o)
	if err != nil {
		t.Fatal(err)
	}
	tables.SetPages(table, 3000, 40*(o.Level&1))
	for _, b := range batches {
		part, err := table.Encode(b)
		if err == nil {
			err = table.Append(part)
		}
		if err != nil {
			t.Fatal(err)
		}
		if part.Rows() != b.Len() || b.Len() > 0 && part.Size() == 0 {
			t.Fatal("a part of", part.Rows(), part.Size())
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestConstants: numbers and bools are those of JSON, others the text of the definition.
func TestConstants(t *testing.T) {
	got := tables.ConstantsText([]schema.Constant{{Kind: schema.Int8, Name: "A", Text: "-1"},
		{Kind: schema.Uint8, Name: "B", Text: "0x1F"},
		{Kind: schema.Bool, Name: "C", Text: "True"}, {Kind: schema.Bool, Name: "D", Text: "0"},
		{Kind: schema.String, Name: "E", Text: `5 "x"`},
		{Kind: schema.Float64, Name: "F", Text: "1e-3"}, {Kind: schema.Float32, Name: "G", Text: "nan"},
		{Kind: schema.WString, Name: "H", Text: "7"}})
	if want := `{"A":-1,"B":"0x1F","C":true,"D":false,"E":"5 \"x\"","F":1e-3,"G":"nan","H":"7"}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestLevels: a level that zstd does not have is refused.
func TestLevels(t *testing.T) {
	for level, ok := range map[int]bool{-2: false, -1: true, 0: true, 1: true, 23: false} {
		if _, err := tables.NewParquet(io.Discard, imuProgram(t).Schema(), nil,
			tables.Options{Level: level}); (err == nil) != ok {
			t.Errorf("%d: %v", level, err)
		}
	}
}

// TestSorted: only rows in the order of their first time are marked as sorted.
func TestSorted(t *testing.T) {
	for times, want := range map[[3]int64]bool{{1, 2, 2}: true, {3, 2, 4}: false, {-5, 0, 5}: true} {
		p := imuProgram(t)
		b := p.NewBatch()
		for i, m := range imu(3) {
			if err := b.Append(m, times[i], 0, 0); err != nil {
				t.Fatal(err)
			}
		}
		if got := footerOf(t, write(t, makers[0], p, []*columns.Batch{b},
			tables.Options{})); (len(got.RowGroups[0].SortingColumns) > 0) != want {
			t.Errorf("%v: %+v", times, got.RowGroups[0].SortingColumns)
		}
	}
	rows := columns.NewRows([]columns.Field{{Name: "a", Kind: columns.Bool}})
	rows.Top()[0].AppendNull()
	rows.AddRow()
	var out bytes.Buffer
	table, err := tables.NewParquet(&out, []columns.Field{{Name: "a", Kind: columns.Bool}}, nil, tables.Options{})
	if err != nil {
		t.Fatal(err)
	}
	part, err := table.Encode(rows)
	if err := errors.Join(err, table.Append(part), table.Close()); err != nil {
		t.Fatal(err)
	}
	if got := footerOf(t, out.Bytes()); len(got.RowGroups[0].SortingColumns) > 0 || got.NumRows != 1 {
		t.Errorf("%+v", got)
	}
}

// footerOf reads the footer of a file of Parquet.
func footerOf(t *testing.T, file []byte) (m format.FileMetaData) {
	t.Helper()
	end := len(file) - 8
	n := int(binary.LittleEndian.Uint32(file[end:]))
	if err := thrift.Unmarshal(&thrift.CompactProtocol{}, file[end-n:end], &m); err != nil ||
		string(file[end+4:]) != "PAR1" || string(file[:4]) != "PAR1" {
		t.Fatal(err)
	}
	return m
}

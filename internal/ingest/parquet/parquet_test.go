package parquet_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/internal/ingest/build"
	"github.com/bagconv/bagconv/internal/ingest/parquet"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/storage"
)

// world returns a type, and messages of it.
func world(t testing.TB, seed uint64, n int) (*message.Type, [][]byte) {
	t.Helper()
	w := typetree.New(seed, 1, typetree.Options{ROS2: true, Before1970: true})
	m := w.Roots[0]
	msg, err := rosmsg.Parse(m.TypeName(typetree.ROS2), typetree.AppendText(nil, m, typetree.ROS2), rosmsg.ROS2, nil)
	if err != nil {
		t.Fatal(err)
	}
	typ, err := message.ROS(msg, serial.CDR)
	if err != nil {
		t.Fatal(err)
	}
	var list [][]byte
	for range n {
		list = append(list, typetree.AppendCDR(nil, m, w.Value(m)))
	}
	return typ, list
}

// write writes messages as a table of two row groups; exact is whether it has all of them.
func write(t testing.TB, typ *message.Type, list [][]byte, o columns.Options, level int) (file []byte, exact bool) {
	t.Helper()
	p, err := columns.Compile(typ, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	table, err := tables.NewParquet(&out, p.Schema(), []tables.KeyValue{{Key: "a", Value: "b"}},
		tables.Options{Level: level})
	if err != nil {
		t.Fatal(err)
	}
	exact = true
	for _, part := range [][][]byte{list[:len(list)/2], list[len(list)/2:]} {
		b := p.NewBatch()
		for i, data := range part {
			if err := b.Append(data, int64(i), int64(-i), 0); err != nil {
				t.Fatal(err)
			}
		}
		encoded, err := table.Encode(b)
		if err == nil {
			err = table.Append(encoded)
		}
		if err != nil {
			t.Fatal(err)
		}
		exact = exact && b.Doubts() == columns.Doubts{}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), exact
}

// TestTrees: random messages come back from tables, nested and flat, compressed and not.
func TestTrees(t *testing.T) {
	tried := 0
	for seed := range uint64(samples.Pick(400, 80, 20)) {
		typ, list := world(t, seed, 40)
		o := columns.Options{Flat: seed%3 == 1, StructTimes: seed%3 == 2}
		file, exact := write(t, typ, list, o, int(seed%2)*2-1)
		f, err := parquet.Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		if f.Metadata["a"] != "b" || f.Groups() != 2 || f.Names()[0] != (parquet.Name{Name: "log_time", Time: true}) &&
			!o.StructTimes {
			t.Errorf("%v %d %v", f.Metadata, f.Groups(), f.Names())
		}
		p, err := build.Compile(typ)
		if err != nil {
			t.Fatal(err)
		}
		for g := range f.Groups() {
			cols, err := f.Read(g)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			rows := p.Bind(cols)
			if len(rows.Missing) > 0 || rows.Len() != 20 {
				t.Fatalf("seed %d: %q is missing of %d rows", seed, rows.Missing, rows.Len())
			}
			for i := range rows.Len() {
				var d build.Doubts
				got, err := rows.Append(nil, i, &d)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				if exact && !bytes.Equal(got, list[20*g+i]) {
					t.Fatalf("seed %d, message %d:\n%x\n%x", seed, 20*g+i, got, list[20*g+i])
				}
				if exact {
					tried++
				}
			}
		}
	}
	if tried < 300 {
		t.Errorf("only %d messages", tried)
	}
}

// FuzzOpen: any file is read or refused.
func FuzzOpen(f *testing.F) {
	for seed := range uint64(4) {
		typ, list := world(f, seed, 4)
		file, _ := write(f, typ, list, columns.Options{}, -1)
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, b []byte) { tryAll(t, b) })
}

func tryAll(t *testing.T, b []byte) {
	f, err := parquet.Open(bytes.NewReader(b), int64(len(b)))
	for g := 0; err == nil && g < f.Groups(); g++ {
		_, err = f.Read(g)
	}
	if err != nil && !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrTruncated) &&
		!errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("%v does not say what is wrong", err)
	}
}

// TestFlips: a file with a wrong bit is read or refused.
func TestFlips(t *testing.T) {
	typ, list := world(t, 3, 6)
	for _, level := range []int{-1, 1} {
		file, _ := write(t, typ, list, columns.Options{}, level)
		for i := range file {
			for bit := i % 3; bit < 8; bit += samples.Pick(1, 3, 8) {
				bad := bytes.Clone(file)
				bad[i] ^= 1 << bit
				tryAll(t, bad)
			}
		}
		for n := range file {
			tryAll(t, file[:n])
		}
	}
}

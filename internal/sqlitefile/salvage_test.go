package sqlitefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// salvage takes all rows out of a file.
func salvage(b []byte, target int64) (rows []idRow, s *Salvage, err error) {
	r := bytes.NewReader(b)
	if s, err = NewSalvage(context.Background(), r, int64(len(b))); err != nil {
		return nil, nil, err
	}
	v := s.NewSalvager(r)
	var buf []byte
	for _, g := range s.Ranges(target) {
		err := v.Scan(g.Lo, g.Hi, func(row *Row) (err error) {
			if buf, err = v.Append(buf[:0], row); err == nil {
				rows = append(rows, idRow{row.ID, row.Topic, row.Time, string(buf)})
			}
			return err
		})
		if err != nil {
			return rows, s, err
		}
	}
	return rows, s, nil
}

// TestSalvage20000: the root page of messages is gone, and the last 2 MB.
func TestSalvage20000(t *testing.T) {
	for _, u := range []int{1024, 4096} {
		for _, native := range []bool{false, true} {
			r := rand.New(rand.NewPCG(uint64(u), 1))
			rows := make([]row, 20_000)
			for i := range rows {
				n := 100 + r.IntN(400)
				if i%50 == 0 {
					n = r.IntN(40_000)
				}
				rows[i] = row{int64(i % 7), int64(i) * 1000, fill(r, n)}
			}
			path := newBase(t, u)
			if native {
				load(t, path, way{}, rows)
			} else {
				db := open(t, path)
				insert(t, db, rows)
				db.Close()
			}
			o := newOracle(t, path)
			b := bytes.Clone(o.file[:len(o.file)-2<<20])
			table, err := NewTable(bytes.NewReader(o.file), int64(len(o.file)))
			if err != nil {
				t.Fatal(err)
			}
			clear(b[int(table.root-1)*u:][:u])
			whole := o.check(t, b, fmt.Sprint(u, native))
			got, s, err := salvage(b, 1<<20)
			if err != nil || len(got) != whole || whole < 10_000 || whole > 19_990 {
				t.Errorf("%d rows, %d whole: %v", len(got), whole, err)
			}
			if !slices.IsSortedFunc(got, func(a, b idRow) int { return int(a.id - b.id) }) {
				t.Error("the rows are not in order")
			}
			if s.Found.PageSize != u || s.Found.Rows < int64(whole) || len(s.Found.Topics) != 7 || s.Found.First != 0 {
				t.Errorf("found %+v", s.Found)
			}
			// Without its header too.
			clear(b[:100])
			o.check(t, b, "no header")
		}
	}
}

// TestSalvageDamage breaks files in 500 random ways.
func TestSalvageDamage(t *testing.T) {
	var oracles []*oracle
	for _, u := range []int{512, 4096} {
		for _, native := range []bool{false, true} {
			rows := makeRows(uint64(u), 2500, 900, "jittered")
			for i := range rows {
				if i%40 == 0 {
					rows[i].data = fill(rand.New(rand.NewPCG(uint64(i), 1)), i*11)
				}
				rows[i].topic = int64(i % 5)
			}
			path := newBase(t, u)
			if native {
				load(t, path, way{}, rows)
			} else {
				db := open(t, path)
				insert(t, db, rows)
				db.Close()
			}
			oracles = append(oracles, newOracle(t, path))
		}
	}
	runs, sum := samples.Pick(20_000, 500, 100), 0
	for i := range runs {
		r := rand.New(rand.NewPCG(uint64(i), 77))
		o := oracles[i%len(oracles)]
		b := bytes.Clone(o.file)
		if r.IntN(3) == 0 {
			b = b[:r.IntN(len(b))]
		}
		for range r.IntN(12) {
			if len(b) == 0 {
				break
			}
			at := r.IntN(len(b))
			n := []int{1, 8, 100, 512, 4096, 20_000}[r.IntN(6)]
			part := b[at:min(at+n, len(b))]
			switch r.IntN(4) {
			case 0:
				clear(part)
			case 1: // a copy of something else in the file
				from := r.IntN(len(b))
				copy(part, b[from:])
			case 2:
				part[0] ^= 1 << r.IntN(8)
			default:
				for j := range part {
					part[j] = byte(r.Uint32())
				}
			}
		}
		sum += o.check(t, b, fmt.Sprint("damage ", i))
	}
	if mean := sum / runs; mean < 1000 {
		t.Errorf("the damage is too much to test anything: %d whole rows", mean)
	}
}

// TestSalvageSound: a sound file has what its tree has, with the rowids of any
// distance, and without what was deleted.
func TestSalvageSound(t *testing.T) {
	for name, life := range map[string][]string{
		"plain":       nil,
		"deleted":     {"DELETE FROM messages WHERE id BETWEEN 300 AND 1200"},
		"sparse":      {"UPDATE messages SET id=id*id*1000003-2000000000", "VACUUM"},
		"auto-vacuum": {"PRAGMA auto_vacuum=1", "VACUUM", "DELETE FROM messages WHERE id%3=0"},
		"ids": {fmt.Sprintf("INSERT INTO messages VALUES (%d, 1, 1, x'02'), (%d, 1<<40, 1<<62, zeroblob(100000))",
			math.MinInt64, math.MaxInt64)},
		"empty": {"DELETE FROM messages"},
	} {
		for _, u := range []int{512, 8192, 65536} {
			path := newBase(t, u)
			db := open(t, path)
			insert(t, db, makeRows(9, 1500, 3*min(u, 5000), "jittered"))
			for _, q := range life {
				exec1(t, db, q)
			}
			db.Close()
			want := library(t, path)
			for _, target := range []int64{1, 100_000, 1 << 50} {
				got, s, err := salvage(readFile(t, path), target)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s %d: %d rows of %d: %v", name, u, len(got), len(want), err)
				} else if s.Found.BadPages != 0 || !s.Found.Freelist || name == "plain" && s.Found.Rows != int64(len(want)) {
					t.Errorf("%s %d: found %+v", name, u, s.Found)
				}
			}
		}
	}
}

// TestSalvageCopies: leaves that are there twice, as when a crash came between the
// writes of a page that was moved, have their rows read once; those of a leaf of the
// freelist are not read.
func TestSalvageCopies(t *testing.T) {
	path := newBase(t, 1024)
	load(t, path, way{}, makeRows(2, 3000, 600, "ascending"))
	want := library(t, path)
	b := readFile(t, path)
	pages := len(b) / 1024
	for no := range pages {
		if p := b[no*1024:][:1024]; no > 3 && no%9 == 0 && p[0] == tableLeaf {
			b = append(b, p...)
		}
	}
	if len(b)/1024 < pages+10 {
		t.Fatal("no copies")
	}
	rows, _, err := salvage(b, 50_000)
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("%d rows of %d: %v", len(rows), len(want), err)
	}
	// Two rows with the same rowid and other contents are two rows.
	other := newBase(t, 1024)
	load(t, other, way{}, []row{{9, 9, []byte("other")}, {9, 9, []byte("another")}})
	table, err := NewTable(bytes.NewReader(readFile(t, other)), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, readFile(t, other)[(table.root-1)*1024:][:1024]...)
	if rows, _, err := salvage(b, 50_000); err != nil || len(rows) != len(want)+2 {
		t.Errorf("%d rows of %d and 2: %v", len(rows), len(want), err)
	}
}

// TestRowsBehind: rows in pages that the header does not count.
func TestRowsBehind(t *testing.T) {
	path := newBase(t, 512)
	empty := readFile(t, path)
	load(t, path, way{}, makeRows(1, 200, 100, "equal"))
	b := readFile(t, path)
	behind := func(b []byte) int64 {
		t.Helper()
		n, err := RowsBehind(context.Background(), bytes.NewReader(b), int64(len(b)), 512,
			int64(binary.BigEndian.Uint32(b[28:])))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := behind(b); n != 0 {
		t.Errorf("%d rows after a sound file", n)
	}
	if n := behind(append(bytes.Clone(b), make([]byte, 5000)...)); n != 0 {
		t.Errorf("%d rows in zeros", n)
	}
	copy(b, empty) // as before the roots and the header are written
	if n := behind(b); n != 200 {
		t.Errorf("%d rows, want 200", n)
	}
}

// TestSalvageNothing: files without rows.
func TestSalvageNothing(t *testing.T) {
	for _, b := range [][]byte{nil, []byte("hello"), make([]byte, 100_000), bytes.Repeat([]byte{13}, 100_000)} {
		if _, _, err := salvage(b, 1); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
	rows, s, err := salvage(readFile(t, newBase(t, 4096)), 1)
	if err != nil || len(rows) != 0 || s.Found.Rows != 0 {
		t.Errorf("%d rows: %v", len(rows), err)
	}
}

// TestSalvageRecords: the rows of other tables are found too.
func TestSalvageRecords(t *testing.T) {
	path := newBase(t, 512, "CREATE TABLE more(id INTEGER PRIMARY KEY, a, b, c)",
		"INSERT INTO topics VALUES (3, '/a'), (9, NULL)",
		"INSERT INTO more VALUES (1, 2.5, zeroblob(3000), 70000), (2, 'x', x'0102', -1)")
	load(t, path, way{}, makeRows(1, 50, 50, "equal"))
	b := readFile(t, path)
	clear(b[:512])
	_, s, err := salvage(b, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"Null Text(/a) Int(3)", "Null Null Int(9)", "Null Float Blob(3000) Int(70000) Int(1)",
		"Null Text(x) Blob(2) Int(-1) Int(2)"}
	var got []string
	for _, rec := range s.Found.Records {
		line := ""
		for _, v := range rec {
			switch v.Kind {
			case Null:
				line += "Null "
			case Int:
				line += fmt.Sprintf("Int(%d) ", v.Int)
			case Float:
				line += "Float "
			case Blob:
				line += fmt.Sprintf("Blob(%d) ", len(v.Data))
			case Text:
				line += fmt.Sprintf("Text(%s) ", v.Data)
			}
		}
		got = append(got, line[:len(line)-1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestSalvageHostile: rows that all state the size of the file, in one
// chain, do not make reading endless.
func TestSalvageHostile(t *testing.T) {
	path := newBase(t, 512)
	load(t, path, way{}, makeRows(1, 3000, 2000, "ascending"))
	b := readFile(t, path)
	for no := range len(b) / 512 {
		if p := b[no*512:][:512]; p[0] == 0 {
			put32(p, uint32(no+1))
		} else if p[0] == tableLeaf && no > 4 {
			for i := range cellsAtMost(p) {
				if at := cellAt(p, i); at > 0 && at+20 < 512 && p[at]&0x80 != 0 {
					p[at], p[at+1], p[at+2] = 0xff, 0xff, p[at+2]&0x7f // 2 MB
				}
			}
		}
	}
	rows, _, err := salvage(b, 1)
	sum := 0
	for _, r := range rows {
		sum += len(r.data)
	}
	if sum > 2*maxClaim*len(b) || err != nil {
		t.Errorf("%d rows of %d bytes out of %d: %v", len(rows), sum, len(b), err)
	}
}

// TestSalvageCancel: it ends when its context does.
func TestSalvageCancel(t *testing.T) {
	path := newBase(t, 512)
	load(t, path, way{}, makeRows(1, 3000, 600, "ascending"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, _ := f.Stat()
	if _, err := NewSalvage(ctx, f, st.Size()); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	stop := errors.New("stop")
	s, err := NewSalvage(context.Background(), f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.NewSalvager(f).Scan(math.MinInt64, math.MaxInt64, func(*Row) error { return stop }); err != stop {
		t.Errorf("%v", err)
	}
}

// FuzzSalvage: no panic, no loop, memory in proportion.
func FuzzSalvage(f *testing.F) {
	for _, u := range []int{512, 1024} {
		path := newBase(f, u, "INSERT INTO topics VALUES (3, '/a')")
		load(f, path, way{}, makeRows(1, 60, 1500, "jittered"))
		b := readFile(f, path)
		f.Add(b)
		f.Add(b[u:])
		db := open(f, path)
		exec1(f, db, "DELETE FROM messages WHERE id>20")
		db.Close()
		f.Add(readFile(f, path))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, _, err := salvage(b, 3000)
		if err != nil && !damage(err) {
			t.Fatal(err)
		}
		sum := 0
		for _, r := range rows {
			sum += len(r.data)
		}
		if sum > 2*maxClaim*len(b) {
			t.Fatalf("%d rows of %d bytes out of %d bytes", len(rows), sum, len(b))
		}
	})
}

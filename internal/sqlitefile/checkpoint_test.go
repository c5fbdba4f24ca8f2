package sqlitefile

import (
	"fmt"
	"strings"
	"testing"
)

// smallRows are rows of other tables, with one that needs more than a page.
func smallRows(i int) [][]Value {
	text := func(s string) Value { return Value{Kind: Text, Data: []byte(s)} }
	return [][]Value{
		{{}, text(fmt.Sprintf("/topic%d", i)), text("pkg/msg/Type"), text("cdr"), text(""), {Kind: Int, Int: int64(i)}},
		{{}, {Kind: Int, Int: 5}, text(strings.Repeat("x", i*300)), {Kind: Int, Int: int64(i) + 1<<40}},
	}
}

// TestCheckpoint: a database with checkpoints is a sound one, also if all rows are in one leaf, and
// its free pages are used.
func TestCheckpoint(t *testing.T) {
	for _, u := range []int{512, 4096} {
		for _, n := range []int{1, 2, 5, 150} {
			for _, every := range []int{1, 2, 5, 39} {
				t.Run(fmt.Sprint(u, n, every), func(t *testing.T) {
					rows := makeRows(uint64(n), n, 2*u/(1+n%3*20), "jittered")
					path := newBase(t, u)
					load(t, path, way{points: every, hook: every%2 == 0}, rows)
					check(t, path, rows, every == 1)
				})
			}
		}
	}
	path := newBase(t, 512, "CREATE TABLE more(a)", "INSERT INTO more VALUES (zeroblob(9000))", "DROP TABLE more")
	rows := makeRows(1, 100, 100, "ascending")
	load(t, path, way{points: 9}, rows)
	check(t, path, rows, true) // with a list of free pages before
}

// TestCheckpointLeft: of a database that was never finished all rows up to the last checkpoint are
// found, with those of other tables.
func TestCheckpointLeft(t *testing.T) {
	for _, n := range []int{1, 7, 8, 100} {
		rows := makeRows(uint64(n), n, 3000, "equal")
		path := newBase(t, 4096)
		load(t, path, way{points: 1, unended: true}, rows)
		got, s, err := salvage(readFile(t, path), 1)
		if err != nil || len(got) != n || s.Found.Rows != int64(n) || len(s.Found.Records) != 2*n {
			t.Errorf("%d rows: %d, %d, %d records, %v", n, len(got), s.Found.Rows, len(s.Found.Records), err)
			continue
		}
		if last := s.Found.Records[2*n-1]; len(last) != 4 || len(last[2].Data) != (n-1)*300 || last[3].Int != int64(n-1)+
			1<<40 {
			t.Errorf("%d rows: the last record has %d values", n, len(last))
		}
	}
}

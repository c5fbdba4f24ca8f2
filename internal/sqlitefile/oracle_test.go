package sqlitefile

import (
	"bytes"
	"testing"
)

// extent is bytes of a file.
type extent struct{ from, to int }

// An oracle knows a sound file, and which bytes each row lies in.
type oracle struct {
	file    []byte
	rows    []idRow
	extents [][]extent
}

// newOracle reads a sound file. The places are of a simple reading of our own.
func newOracle(t testing.TB, path string) *oracle {
	t.Helper()
	o := &oracle{file: readFile(t, path), rows: library(t, path)}
	table, err := NewTable(bytes.NewReader(o.file), int64(len(o.file)))
	if err != nil {
		t.Fatal(err)
	}
	page, u := table.h.Page, table.h.Usable
	var visit func(no int)
	visit = func(no int) {
		start := (no - 1) * page
		b := o.file[start:][:u]
		n := int(b[3])<<8 | int(b[4])
		for i := range n {
			if b[0] == tableInterior {
				at := int(b[12+2*i])<<8 | int(b[13+2*i])
				visit(int(get32(b[at:])))
				continue
			}
			at := int(b[8+2*i])<<8 | int(b[9+2*i])
			total, k := varint(b[at:])
			_, m := varint(b[at+k:])
			local := localSize(int(total), u)
			end := at + k + m + local
			list := []extent{{start, start + 8}, {start + 8 + 2*i, start + 10 + 2*i}}
			left := int(total) - local
			if left > 0 {
				for next := int(get32(b[end:])); next != 0; {
					from := (next - 1) * page
					list = append(list, extent{from, from + 4 + min(left, u-4)})
					left -= u - 4
					next = int(get32(o.file[from:]))
				}
				end += 4
			}
			o.extents = append(o.extents, append(list, extent{start + at, start + end}))
		}
		if b[0] == tableInterior {
			visit(int(get32(b[8:])))
		}
	}
	visit(int(table.root))
	if len(o.extents) != len(o.rows) {
		t.Fatalf("%d places of %d rows", len(o.extents), len(o.rows))
	}
	return o
}

// whole returns which rows lie whole in a damaged file.
func (o *oracle) whole(b []byte) (list []idRow) {
next:
	for i, extents := range o.extents {
		for _, e := range extents {
			if e.to > len(b) || !bytes.Equal(b[e.from:e.to], o.file[e.from:e.to]) {
				continue next
			}
		}
		list = append(list, o.rows[i])
	}
	return list
}

// check salvages a damaged file: each whole row comes once, and nothing else but
// rows that were touched. It returns how many were whole.
func (o *oracle) check(t *testing.T, b []byte, what string) int {
	t.Helper()
	whole := o.whole(b)
	rows, _, err := salvage(b, 100_000)
	if err != nil && !(len(whole) == 0 && damage(err)) {
		t.Fatalf("%s: %v", what, err)
	}
	count := map[idRow]int{}
	for _, r := range rows {
		count[r]++
	}
	missing, twice := 0, 0
	for _, r := range whole {
		switch count[r] {
		case 0:
			missing++
		case 1:
		default:
			twice++
		}
	}
	touched := len(o.rows) - len(whole)
	if missing > 0 || twice > 0 || len(rows) > len(whole)+touched {
		t.Errorf("%s: of %d whole rows %d are missing, %d come twice; %d rows that were touched make %d", what, len(whole),
			missing, twice, touched, len(rows)-len(whole))
	}
	return len(whole)
}

package sqlitefile

import (
	"io"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/sqlite"
)

// entry is a row of sqlite_master.
type entry struct {
	kind, name, table string
	root              uint32
	sql               []string // the words of it
}

// Bounds of sqlite_master: rosbag2 has at most six entries, and 2 kB.
const (
	maxEntries = 1000
	maxSQL     = 1 << 20
)

// readSchema reads sqlite_master, whose tree has its root in page 1.
func readSchema(r io.ReaderAt, size int64, h sqlite.Header) ([]entry, error) {
	var list []entry
	w := &walker{pager: newPager(r, size, h, 0), lo: -1 << 63, hi: 1<<63 - 1}
	leafBuf := make([]byte, h.Page)
	left := maxSQL
	w.leaf = func(no uint32, page []byte, _, _ int64) error {
		b := leafBuf[:copy(leafBuf, page)]
		base := w.usable - len(b)
		n := cells(b)
		if n < 0 {
			return corrupt("page %d: %d cells in the schema", no, get16(b[3:]))
		}
		if n+len(list) > maxEntries {
			return declined("over %d entries in the schema", maxEntries)
		}
		for i := range n {
			at := cellAt(b, i) - base
			var c cell
			if at < 8+2*n || at >= len(b) || !w.cell(b, at, &c) {
				return corrupt("page %d: cell %d of the schema", no, i)
			}
			if left -= c.total; left < 0 {
				return declined("over %d bytes in the schema", maxSQL)
			}
			rec := make([]byte, c.total)
			k := copy(rec, c.local)
			if err := w.chain(rec[k:], c.next); err != nil {
				return err
			}
			e, ok := parseEntry(rec)
			if !ok {
				return corrupt("page %d: row %d of the schema", no, c.rowid)
			}
			list = append(list, e)
		}
		return nil
	}
	return list, w.walk(1)
}

// parseEntry decodes a record of type, name, tbl_name, rootpage, sql.
func parseEntry(rec []byte) (e entry, ok bool) {
	v, ok := parseValues(rec)
	if !ok || len(v) < 5 {
		return e, false
	}
	// sql is NULL for an index that SQLite made for itself.
	return entry{string(v[0].Data), string(v[1].Data), string(v[2].Data), uint32(v[3].Int), words(string(v[4].Data))}, true
}

// words splits SQL into words in lower case and single marks. Comments are left
// out; what is quoted becomes a word without its quotes.
func words(s string) (list []string) {
	const quotes, ends = "\"'`[", "\"'`]"
	for len(s) > 0 {
		c := s[0]
		switch {
		case strings.HasPrefix(s, "--"):
			_, s, _ = strings.Cut(s, "\n")
		case strings.HasPrefix(s, "/*"):
			_, s, _ = strings.Cut(s[2:], "*/")
		case strings.IndexByte(quotes, c) >= 0:
			word, rest, _ := strings.Cut(s[1:], ends[strings.IndexByte(quotes, c):][:1])
			list, s = append(list, strings.ToLower(word)), rest
		case letter(c):
			n := 1
			for n < len(s) && letter(s[n]) {
				n++
			}
			list, s = append(list, strings.ToLower(s[:n])), s[n:]
		case c <= ' ':
			s = s[1:]
		default:
			list, s = append(list, s[:1]), s[1:]
		}
	}
	return list
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// findMessages returns the entry of the table messages, when it is one that this
// package knows:
//
//	id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB
//
// each NOT NULL or not, and nothing more.
func findMessages(list []entry) (entry, error) {
	i := slices.IndexFunc(list, func(e entry) bool { return e.kind == "table" && strings.EqualFold(e.name, "messages") })
	if i < 0 {
		return entry{}, declined("no table messages")
	}
	e := list[i]
	if e.root < 2 {
		return e, declined("messages has no tree")
	}
	w := e.sql
	if len(w) < 5 || w[0] != "create" || w[1] != "table" || w[3] != "(" || w[len(w)-1] != ")" {
		return e, declined("messages is another kind of table")
	}
	columns := [][]string{nil}
	for _, word := range w[4 : len(w)-1] {
		if word == "," {
			columns = append(columns, nil)
			continue
		}
		columns[len(columns)-1] = append(columns[len(columns)-1], word)
	}
	want := []struct {
		name  string
		types []string
	}{
		{"id", []string{"integer primary key", "integer primary key autoincrement"}},
		{"topic_id", []string{"integer", "int", "bigint"}},
		{"timestamp", []string{"integer", "int", "bigint"}},
		{"data", []string{"blob", "text"}},
	}
	if len(columns) != len(want) {
		return e, declined("messages has other columns")
	}
	for i, c := range columns {
		if len(c) == 0 || c[0] != want[i].name || !slices.Contains(want[i].types, strings.TrimSuffix(strings.Join(c[1:], " "),
			" not null")) {
			return e, declined("column %d of messages is %.60q", i+1, strings.Join(c, " "))
		}
	}
	return e, nil
}

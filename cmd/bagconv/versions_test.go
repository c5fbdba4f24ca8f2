package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/storage"
)

// TestVersionsBack: recordings of two years, whose types have other fields, in one pack: each of them,
// without its definitions, becomes what it becomes with them.
func TestVersionsBack(t *testing.T) {
	t.Parallel()
	field := func(name string, kind typetree.Kind, array typetree.Array) typetree.Field {
		return typetree.Field{Name: name, Kind: kind, Array: array}
	}
	part := map[string]*typetree.Message{
		"old": {Package: "acme", Name: "Part", Fields: []typetree.Field{field("id", "uint8", typetree.One)}},
		"new": {Package: "acme", Name: "Part", Fields: []typetree.Field{field("id", typetree.String, typetree.One),
			field("more", "float64", typetree.List)}},
	}
	dir := t.TempDir()
	var folders []string
	for _, year := range []string{"old", "new"} {
		// The text of the root is the same: what it uses has changed.
		root := &typetree.Message{Package: "acme", Name: "Status",
			Fields: []typetree.Field{{Name: "parts", Message: part[year], Array: typetree.List}, field("name", typetree.String,
				typetree.One)}}
		w := &treeWorld{World: &typetree.World{Roots: []*typetree.Message{root}}, dir: dir}
		w.older = w.Roots
		for i := range 20 {
			one := []typetree.Value{uint64(i + 7)}
			if year == "new" {
				one = []typetree.Value{fmt.Sprintf("part %d", i), []typetree.Value{float64(i), 0.5}}
			}
			w.messages = append(w.messages, treeMessage{0, 1_700_000_000_000_000_000 + int64(i),
				[]typetree.Value{[]typetree.Value{one, one}, "all"}})
		}
		w.write(t, year, func(m *typetree.Message) storage.Topic {
			return storage.Topic{Type: m.TypeName(typetree.ROS2), Encoding: "cdr",
				Metadata: map[string]string{storage.MetaTypeHash: typetree.RIHS01(m)},
				Schema:   storage.Schema{Encoding: "ros2msg", Data: typetree.AppendText(nil, m, typetree.ROS2)}}
		}, func(m *typetree.Message, v []typetree.Value) []byte { return typetree.AppendCDR(nil, m, v) })
		folders = append(folders, w.path(year))
	}
	pack := filepath.Join(dir, "years.zip")
	if status, stderr := bagconv(t, "defs", "collect", folders[0], folders[1], "-o", pack); status != 0 {
		t.Fatal(stderr)
	}
	for i, folder := range folders {
		bare := stripped(t, folder, filepath.Join(dir, fmt.Sprint("bare", i)))
		want, got := filepath.Join(dir, fmt.Sprintf("want%d.bag", i)), filepath.Join(dir, fmt.Sprintf("got%d.bag", i))
		convert(t, folder, want, "--no-sync")
		status, stderr := bagconv(t, bare, got, "--no-sync", "--defs", pack)
		a, err := os.ReadFile(want)
		b, wrong := os.ReadFile(got)
		if status != 0 || err != nil || wrong != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: status %d, %d bytes became %d\n%s", folder, status, len(a), len(b), stderr)
		}
	}
}

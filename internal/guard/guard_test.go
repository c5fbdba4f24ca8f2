package guard_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// record makes an empty recording.
func record(t *testing.T, format, path string) {
	t.Helper()
	w, err := all.Registry().Lookup(format).Create(context.Background(), path, storage.WriteOptions{NoSync: true})
	if err == nil {
		err = w.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// place makes what the tests are about in a folder of its own, and goes there.
func place(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	record(t, "bag", "a.bag")
	record(t, "bag", "b.bag")
	record(t, "db3", "run")
	record(t, "db3", "other")
	for _, dir := range []string{"empty", "notes", "ds", "foreign", "plus", "linked", "pointer", "outside"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	write(t, "notes/thesis.txt", "years of work")
	for _, name := range []string{"ds/run1.db3", "ds/run2.db3"} { // recordings of their own
		record(t, "db3", name)
	}
	write(t, "foreign/metadata.yaml", "title: somebody else's\n")
	record(t, "db3", "foreign/x_0.db3")
	record(t, "db3", "plus/x.db3")
	write(t, "plus/keep.db3.notes.txt", "mine")
	write(t, "thesis.bag", "years of work")
	write(t, "empty.bag", "")
	for _, dir := range []string{"linked", "pointer", "outside"} {
		data, err := os.ReadFile("run/metadata.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if dir == "outside" { // lists a part that lies elsewhere
			data = []byte(strings.ReplaceAll(string(data), "run_0.db3", "../run/run_0.db3"))
		}
		write(t, dir+"/metadata.yaml", string(data))
	}
	write(t, "pointer/run_0.db3", "version https://git-lfs.github.com/spec/v1\n")
	for link, to := range map[string]string{"linked/run_0.db3": "../run/run_0.db3", "link.bag": "a.bag",
		"dangling.bag": "nowhere", "dangling": "nowhere", "link": "run"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	record(t, "db3", "log.db3")
	write(t, "log.db3-wal", "frames")
	write(t, "gone.db3-wal", "frames")
}

const (
	free     = "free"
	replaces = "replaces"
	exists   = "exists"  // refused, and only the wish to replace is missing
	input    = "input"   // refused: it is read
	refused  = "refused" // refused for another reason
)

func verdict(may bool, err error) string {
	switch {
	case err == nil && may:
		return replaces
	case err == nil:
		return free
	case errors.Is(err, guard.ErrInput):
		return input
	case errors.Is(err, fs.ErrExist):
		return exists
	}
	return refused
}

// TestOutput: where a recording may stand, when a.bag or run is read.
func TestOutput(t *testing.T) {
	place(t)
	for _, c := range []struct {
		in, format, out string
		plain, force    string
	}{
		{"a.bag", "bag", "new.bag", free, free},
		{"a.bag", "bag", "b.bag", exists, replaces},
		{"a.bag", "bag", "a.bag", input, input},
		{"a.bag", "bag", "link.bag", input, input},
		{"a.bag", "bag", "dangling.bag", refused, refused},
		{"a.bag", "db3", "dangling", refused, refused},
		{"a.bag", "bag", "thesis.bag", refused, refused},
		{"a.bag", "bag", "empty.bag", exists, replaces},
		{"a.bag", "bag", "empty", refused, refused},
		{"a.bag", "bag", os.DevNull, refused, refused},
		{"a.bag", "db3", "empty", replaces, replaces},
		{"a.bag", "db3", "run", exists, replaces},
		{"a.bag", "db3", "link", exists, replaces},
		{"a.bag", "db3", "notes", refused, refused},
		{"a.bag", "db3", "ds", refused, refused},
		{"a.bag", "db3", "foreign", refused, refused},
		{"a.bag", "db3", "plus", refused, refused},
		{"a.bag", "db3", "linked", refused, refused},
		{"a.bag", "db3", "pointer", refused, refused},
		{"a.bag", "db3", "outside", refused, refused},
		{"a.bag", "db3", "run/run_0.db3", refused, refused},
		{"a.bag", "bag", "run/run_0.db3", refused, refused},
		{"a.bag", "bag", "log.db3", refused, refused},
		{"a.bag", "db3", ".", refused, refused},
		{"a.bag", "db3", "..", refused, refused},
		{"a.bag", "db3", string(filepath.Separator), refused, refused},
		{"a.bag", "db3", "log.db3", refused, refused},
		{"a.bag", "db3", "gone.db3", refused, refused},
		{"a.bag", "db3", "a.bag", input, input},
		{"run", "bag", "run/x.bag", input, input},
		{"run", "db3", "run/x/y", input, input},
		{"run", "db3", "run", input, input},
		{"run", "db3", "link", input, input},
		{"run", "db3", "run/run_0.db3", input, input},
		{"run/run_0.db3", "db3", "run", input, input},
		{"run/run_0.db3", "db3", "linked", input, input},
		{"linked", "db3", "run", input, input},
		{"outside", "db3", "run", exists, replaces}, // its part that lies in run is not read
		{"run", "db3", "other", exists, replaces},
	} {
		reg := all.Registry()
		g := guard.New(nil, nil, reg.Formats()...)
		source, err := reg.Detect(c.in)
		if err != nil {
			t.Fatal(err)
		}
		g.Keep(source, c.in)
		for _, force := range []bool{false, true} {
			want := c.plain
			if force {
				want = c.force
			}
			may, err := g.Output(guard.Output{Path: c.out, Format: reg.Lookup(c.format), Name: c.in, Overwrite: force})
			if got := verdict(may, err); got != want {
				t.Errorf("%s -> %s, force %v: %s, not %s: %v", c.in, c.out, force, got, want, err)
			}
		}
	}
}

// TestSegments: segments take the place of others only where none of them is read.
func TestSegments(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"x.record.00000", "x.record.00001", "y.record.00000"} {
		record(t, "record", name)
	}
	reg := all.Registry()
	for _, c := range []struct{ in, out, want string }{
		{"x.record.00000", "x.record", input},
		{"x.record", "x.record.00001", input},
		{"x.record", "y.record", replaces},
		{"y.record.00000", "x.record", replaces},
		{"y.record.00000", "x.record.00001", refused},
		{"x.record", "z.record", free},
	} {
		g := guard.New(nil, nil, reg.Formats()...)
		g.Keep(reg.Lookup("record"), c.in)
		may, err := g.Output(guard.Output{Path: c.out, Format: reg.Lookup("record"), Segments: true, Overwrite: true})
		if got := verdict(may, err); got != c.want {
			t.Errorf("%s -> %s: %s: %v", c.in, c.out, got, err)
		}
	}
}

// TestWriter: the file system itself refuses, whatever was checked before.
func TestWriter(t *testing.T) {
	place(t)
	g := guard.New(nil, nil, all.Registry().Formats()...)
	reader := g.Reader(nil)
	f, err := reader.Open("run/run_0.db3")
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	w := g.Writer(nil, true)
	if err := w.Mkdir("made", 0o777); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"remove an input":               w.Remove("run/run_0.db3"),
		"remove the folder of an input": w.RemoveAll("run"),
		"move an input":                 w.Rename("run/run_0.db3", "made/x"),
		"move the folder of an input":   w.Rename("run", "made/run"),
		"replace an input":              w.Rename("b.bag", "run/run_0.db3"),
		"replace an input by a link":    w.Rename("b.bag", "linked/run_0.db3"),
		"remove what is no recording":   w.RemoveAll("notes"),
		"replace what is no recording":  w.Rename("b.bag", "thesis.bag"),
		"replace several recordings":    w.Rename("made", "ds"),
		"move what is no recording":     w.Rename("thesis.bag", "made/x"),
		"open an input":                 open(w, "run/run_0.db3", os.O_WRONLY),
		"open what is no recording":     open(w, "thesis.bag", os.O_RDWR|os.O_CREATE|os.O_TRUNC),
		"open a device":                 open(w, os.DevNull, os.O_WRONLY),
		"replace without being asked":   g.Writer(nil, false).Rename("made", "other"),
		"remove without being asked":    g.Writer(nil, false).Remove("b.bag"),
		"replace a file that is not a kind": guard.Kind{Name: "list", Is: func([]byte) bool { return false }}.Writer(
			nil).Remove("b.bag"),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	for what, err := range map[string]error{
		"make a file in a folder that was made": open(w, "made/new", os.O_WRONLY|os.O_CREATE|os.O_EXCL),
		"move an old recording aside":           w.Rename("other", "made/other"),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := w.Rename("made/other", "other"); err != nil { // back in its place, and as it was
		t.Error(err)
	}
	write(t, "other/thesis.txt", "years of work")
	if err := w.RemoveAll("other"); err == nil {
		t.Error("what was moved back is removed")
	}
	if err := w.RemoveAll("made"); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"run/run_0.db3", "notes/thesis.txt", "ds/run1.db3", "b.bag", "thesis.bag",
		"other/thesis.txt"} {
		if st, err := os.Stat(path); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestFiles: files that are not recordings replace others when they are asked to, and never
// an input.
func TestFiles(t *testing.T) {
	place(t)
	g := guard.New(nil, nil, all.Registry().Formats()...)
	g.Keep(all.Registry().Lookup("bag"), "a.bag")
	g.KeepFile("notes/thesis.txt")
	for _, c := range []struct {
		path         string
		plain, force string
	}{
		{"new.txt", free, free}, {"thesis.bag", exists, free}, {"b.bag", exists, free},
		{"a.bag", input, input}, {"notes/thesis.txt", input, input}, {"run", refused, refused}, {os.DevNull, refused,
			refused},
	} {
		for overwrite, want := range map[bool]string{false: c.plain, true: c.force} {
			if got := verdict(false, open(g.Files(nil, overwrite), c.path, os.O_RDWR|os.O_CREATE)); got != want {
				t.Errorf("%s, overwrite %v: %s, want %s", c.path, overwrite, got, want)
			}
			if c.path == "new.txt" {
				os.Remove(c.path)
			}
		}
	}
	g.Keep(all.Registry().Lookup("db3"), "run")
	if g.Folder("run/files") == nil || g.Folder("run") == nil {
		t.Error("files may be written into an input")
	}
	if err := g.Folder("notes"); err != nil {
		t.Error(err)
	}
}

func open(fsys storage.FS, path string, flag int) error {
	f, err := fsys.OpenFile(path, flag, 0o666)
	if err == nil {
		err = f.Close()
	}
	return err
}

// TestLeftover: what a killed run has left may go, unless it is what this run reads.
func TestLeftover(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{".out.0123abcd.part", ".in.0123abcd.part"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		record(t, "bag", dir+"/x.bag")
		if !iox.IsTemp(dir) {
			t.Skip("temporary names look different")
		}
	}
	g := guard.New(nil, nil, all.Registry().Formats()...)
	g.Keep(all.Registry().Lookup("bag"), ".in.0123abcd.part/x.bag")
	w := g.Writer(nil, true)
	if err := w.RemoveAll(".out.0123abcd.part"); err != nil {
		t.Error(err)
	}
	if err := w.RemoveAll(".in.0123abcd.part"); err == nil {
		t.Error("the input is removed")
	}
}

// TestKind: a report replaces a report, and nothing else.
func TestKind(t *testing.T) {
	place(t)
	write(t, "old", "kind: 1")
	k := guard.Kind{Name: "report", Is: func(head []byte) bool { return strings.HasPrefix(string(head), "kind") }}
	for path, want := range map[string]bool{
		"old": true, "new": true, "empty.bag": true,
		"a.bag": false, "thesis.bag": false, "run": false, "dangling": false, os.DevNull: false, "run/metadata.yaml": false,
	} {
		if err := k.Check(nil, path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

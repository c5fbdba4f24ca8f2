package defset

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
)

func writePackFile(t testing.TB, set *Set) (string, []string) {
	t.Helper()
	var a, b bytes.Buffer
	_, problems, err := set.WritePack(&a, Rest{header, header})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := set.WritePack(&b, Rest{header, header}); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("two packs differ: %v", err)
	}
	path := filepath.Join(t.TempDir(), "pack.zip")
	if err := os.WriteFile(path, a.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path, problems
}

// TestPack: what a place defines is the same in a pack of it, with its sums.
func TestPack(t *testing.T) {
	first, err := Read(nil, writeTree(t, workspace))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("=", 80)
	recorded := New("rec")
	recorded.Recorded = true
	for name, text := range map[string][2]string{
		"rec_msgs/msg/Wide": {"ros2idl", line + "\nIDL: rec_msgs/msg/Wide\nmodule rec_msgs { module msg { struct Wide { " +
			"wstring a; robot::B b; }; }; };\n" + line + "\nIDL: robot/B\nmodule robot { struct B { long c; }; };\n"},
		"robot_msgs/Mode": {"ros1msg", "int8 other\n"},
		"rec_msgs/srv/Go": {"ros2msg", "int8 a\n---\nint8 b\n"},
		"../msg/Evil":     {"ros2msg", "int8 a\n"},
	} {
		if err := recorded.AddText(name, text[0], []byte(text[1]), "/"+name); err != nil {
			t.Fatal(err)
		}
	}
	all := Merge("all", first, recorded)
	if !all.Recorded || !strings.Contains(strings.Join(all.Problems, "\n"),
		"rec has another definition of robot_msgs/msg/Mode than the places before; both are kept") {
		t.Errorf("problems %q", all.Problems)
	}
	path, problems := writePackFile(t, all)
	if len(problems) != 1 || !strings.Contains(problems[0], `"../msg/Evil" is not the name of a type`) {
		t.Errorf("left out %q", problems)
	}
	pack, err := Read(nil, path)
	if err != nil || !pack.Recorded || len(pack.Problems) != 0 {
		t.Fatalf("%v, %q", err, pack.Problems)
	}
	want, got := all.Entries(Rest{header, header}), pack.Entries(Rest{header, header})
	if len(want) != len(got)+1 {
		t.Fatalf("%d definitions became %d", len(want), len(got))
	}
	want = slices.DeleteFunc(want, func(e Entry) bool { return e.Type == "../msg/Evil" })
	for i, e := range got {
		w := want[i]
		e.File, w.File = "", ""
		e.Error, w.Error = "", ""
		if e != w {
			t.Errorf("%+v became %+v", w, e)
		}
		if strings.HasSuffix(e.Type, "/Status") && (len(e.MD5) != 32 || len(e.RIHS01) != 71 || len(e.Layout) != 32) {
			t.Errorf("no sums: %+v", e)
		}
	}
	if len(pack.Versions) != 1 {
		t.Fatalf("%d versions", len(pack.Versions))
	}
	for i, want := range []string{"value", "other"} {
		if msg, err := pack.All()[i].Message("robot_msgs/msg/Mode", rosmsg.ROS2, header); err != nil ||
			fieldsOf(msg) != want {
			t.Errorf("version %d: %v, %v", i+1, msg, err)
		}
	}
	if path, text := pack.Versions[0].From("robot_msgs/Mode"); path != "robot_msgs/msg/Mode.msg" || text == "" {
		t.Errorf("%s %q", path, text)
	}
	msg, err := pack.Versions[0].Message("rec_msgs/msg/Wide", rosmsg.ROS2, header)
	if err != nil || fieldsOf(msg) != "a b" {
		t.Errorf("IDL of a recording: %v", err)
	}
	index := readEntry(t, path, PackIndex)
	for _, part := range []string{`"schema_version": 1`, `"recorded": true`, `"file": "robot_msgs/msg/Status.msg"`} {
		if !strings.Contains(index, part) {
			t.Errorf("the index lacks %s:\n%s", part, index)
		}
	}
}

// TestJoin: topics of one recording that define a type differently are versions.
func TestJoin(t *testing.T) {
	set := New("rec.bag")
	for _, text := range []string{"int8 a\n", "int8 a # now\n", "string b\n", "int8 a\n"} {
		topic := New("rec.bag")
		if err := topic.AddText("p/T", "ros1msg", []byte(text), "/topic"); err != nil {
			t.Fatal(err)
		}
		set.Join(topic)
	}
	if len(set.Versions) != 1 || len(set.Problems) != 0 || set.Versions[0].Place != "rec.bag: versions/2" {
		t.Fatalf("%d versions, %q", len(set.Versions), set.Problems)
	}
	if path, text := set.Versions[0].From("p/T"); path != "/topic" || !strings.HasPrefix(text, "string b") {
		t.Errorf("%s: %q", path, text)
	}
}

func readEntry(t testing.TB, path, name string) string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	f, err := z.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNames: what other programs would unpack elsewhere is nothing, and defines nothing odd.
func TestNames(t *testing.T) {
	set, err := Read(nil, writeZip(t, map[string]string{
		"../../etc/msg/A.msg": "int8 a\n", "/abs/msg/B.msg": "int8 a\n", `c\msg\C.msg`: "int8 a\n",
		"d/msg/D E.msg": "int8 a\n",
		"ok/msg/F.msg":  "int8 a\n", PackIndex: "no JSON",
	}))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range set.Definitions() {
		if !isPlainName(d.Name) {
			t.Errorf("%q", d.Name)
		}
	}
	if !set.Has("ok/msg/F") {
		t.Error("the other definitions are gone")
	}
}

// TestLoop: definitions that include each other are refused, and a workspace of 50,000 files is read.
func TestLoop(t *testing.T) {
	files := map[string]string{"p/msg/A.msg": "B b\n", "p/msg/B.msg": "A[] a\n",
		"p/msg/Huge.msg": "int8[2000000000] a\nC[2000000000] b\n", "p/msg/C.msg": "float64[2000000000] a\n",
		"p/msg/I.idl": "#include \"p/msg/J.idl\"\nmodule p { module msg { struct I { p::msg::J j; }; }; };",
		"p/msg/J.idl": "#include \"p/msg/I.idl\"\nmodule p { module msg { struct J { p::msg::I i; }; }; };"}
	for i := range 50_000 {
		files["q/msg/T"+strings.Repeat("x", i%7)+string(rune('a'+i%26))+strings.Repeat("y", i/26%40)+strings.Repeat("z",
			i/1040)+".msg"] = "int8 a\n"
	}
	set, err := Read(nil, writeZip(t, files))
	if err != nil {
		t.Fatal(err)
	}
	for name, ok := range map[string]bool{"p/msg/A": false, "p/msg/I": false, "p/msg/Huge": true} {
		if msg, err := set.Message(name, rosmsg.ROS2, nil); (err == nil) != ok {
			t.Errorf("%s: %v, %v", name, msg, err)
		}
	}
	if n := len(set.Definitions()); n < 10_000 {
		t.Errorf("%d definitions", n)
	}
	if _, _, err := set.WritePack(&bytes.Buffer{}, Rest{}); err != nil {
		t.Error(err)
	}
}

// FuzzPack: no archive makes it panic or hang, and what is read of one is the same in a pack of it.
func FuzzPack(f *testing.F) {
	set := New("x")
	set.Add(Definition{Name: "p/msg/A", Kind: "msg", Text: "B b\n", Path: "x"})
	set.Add(Definition{Name: "p/msg/B", Kind: "msg", Text: "uint8 X=1\nstring<=3[<=2] s\n", Path: "x"})
	set.Add(Definition{Name: "p/msg/C", Kind: "idl", Text: "module p { module msg { struct C { long a; }; }; };",
		Path: "x"})
	set.Add(Definition{Name: "p/srv/S", Kind: "srv", Text: "int8 a\n---\nB b\n", Path: "x"})
	var b bytes.Buffer
	if _, _, err := set.WritePack(&b, Rest{}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), true)
	f.Add([]byte("PK\x05\x06"), true)
	f.Add([]byte("\x1f\x8b"), false)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, isZip bool) {
		path := filepath.Join(dir, "a.zip")
		if !isZip {
			path = filepath.Join(dir, "a.tgz")
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		set, err := Read(nil, path)
		if err != nil {
			return
		}
		var b bytes.Buffer
		n, problems, err := set.WritePack(&b, Rest{header, header})
		if err != nil || n+len(problems) != len(set.Entries(Rest{})) {
			t.Fatalf("%d written, %d left out of %d: %v", n, len(problems), len(set.Definitions()), err)
		}
		if n == 0 {
			return
		}
		again := filepath.Join(dir, "b.zip")
		if err := os.WriteFile(again, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		pack, err := Read(nil, again)
		if err != nil || len(pack.Entries(Rest{})) != n {
			t.Fatalf("%d definitions written: %v", n, err)
		}
	})
}

// TestVersionChoice: a version is chosen by its number or by the sum that a type has in it alone.
func TestVersionChoice(t *testing.T) {
	text := func(place, odd, same string) *Set {
		s := New(place)
		s.Add(Definition{Name: "a/msg/Odd", Kind: "msg", Text: odd})
		s.Add(Definition{Name: "a/msg/Same", Kind: "msg", Text: same})
		return s
	}
	s := Merge("pack", text("x", "int8 a", "bool b"), text("y", "int16 a", "bool b"), text("z", "int16 a", "bool b"))
	if got := s.Differing(); len(s.All()) != 2 || len(got) != 1 || got[0] != "a/msg/Odd" {
		t.Fatalf("%v differ in %d versions", got, len(s.All()))
	}
	sum := func(n int, name string) Entry { return s.All()[n].entry(s.All()[n].byName[name], Rest{}) }
	for choice, want := range map[string]int{
		"1": 1, "2": 2, "0": 0, "3": 0, "": 0, "x": 0,
		sum(0, "a/msg/Odd").MD5: 1, sum(1, "a/msg/Odd").MD5[:6]: 2, sum(1, "a/msg/Odd").MD5[:5]: 0,
		sum(1, "a/msg/Odd").RIHS01: 2, sum(0, "a/msg/Odd").RIHS01[7:20]: 1, sum(0, "a/msg/Same").MD5: 0,
	} {
		got, err := s.Version(choice, Rest{})
		switch {
		case want == 0 && (err == nil || !strings.Contains(err.Error(), "a/msg/Odd is md5sum "+sum(0, "a/msg/Odd").MD5+
			" in version 1, ")):
			t.Errorf("%q: %v", choice, err)
		case want > 0 && (err != nil || got != s.All()[want-1]):
			t.Errorf("%q: %v", choice, err)
		}
	}
}

package defset

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// workspace is a tree of packages, by path.
var workspace = map[string]string{
	"src/robot_msgs/package.xml":    "<package><name>robot_msgs</name></package>",
	"src/robot_msgs/msg/Status.msg": "std_msgs/Header header\nMode mode # now\nint32[<=3] codes\n",
	"src/robot_msgs/msg/Mode.msg":   "uint8 IDLE=0\nuint8 value\n",
	"src/robot_msgs/msg/Mode.idl":   "this is not read: there is a .msg",
	"src/robot_msgs/srv/Start.srv":  "bool now\n---\nbool ok\n",
	"src/folder/package.xml":        "<package format=\"3\"><name>other_msgs</name></package>",
	"src/folder/msg/sub/Deep.msg":   "robot_msgs/Mode mode\n",
	"src/folder/msg/Only.idl": "#include \"other_msgs/msg/Part.idl\"\nmodule other_msgs { module msg { " +
		"struct Only { other_msgs::msg::Part part; }; }; };\n",
	"src/folder/msg/Part.idl":               "module other_msgs { module msg { struct Part { long a; }; }; };\n",
	"src/skip/COLCON_IGNORE":                "",
	"src/skip/msg/No.msg":                   "int8 a\n",
	".git/x/msg/No.msg":                     "int8 a\n",
	"install/share/robot_msgs/msg/Mode.msg": "uint8 IDLE=0\n\nuint8 value # as installed\n",
	"zz/robot_msgs/msg/Mode.msg":            "int64 value\n",
	"README.msg.txt":                        "no definition",
}

func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func writeZip(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range files {
		f, err := z.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "ws.ZIP")
	if err := errors.Join(z.Close(), os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeTar(t *testing.T, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	g := gzip.NewWriter(&b)
	w := tar.NewWriter(g)
	for name, text := range files {
		err := w.WriteHeader(&tar.Header{Name: "./" + name, Size: int64(len(text)), Mode: 0o644})
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "ws.tar.gz")
	if err := errors.Join(w.Close(), g.Close(), os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	return path
}

func header(name string) (string, bool) {
	text, ok := map[string]string{
		"std_msgs/msg/Header":         "builtin_interfaces/Time stamp\nstring frame_id\n",
		"std_msgs/Header":             "uint32 seq\ntime stamp\nstring frame_id\n",
		"builtin_interfaces/msg/Time": "int32 sec\nuint32 nanosec\n",
	}[name]
	return text, ok
}

// TestRead: a tree and its archives define the same.
func TestRead(t *testing.T) {
	for name, place := range map[string]string{"tree": writeTree(t, workspace), "zip": writeZip(t, workspace),
		"tar": writeTar(t, workspace)} {
		t.Run(name, func(t *testing.T) {
			set, err := Read(nil, place)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, d := range set.Definitions() {
				names = append(names, d.Name+" "+d.Kind)
			}
			if got, want := strings.Join(names, ", "), "other_msgs/msg/Deep msg, other_msgs/msg/Only idl, other_msgs/msg/Part "+
				"idl, robot_msgs/msg/Mode msg, robot_msgs/msg/Status msg, robot_msgs/srv/Start srv"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if len(set.Problems) != 1 || !strings.Contains(set.Problems[0],
				"zz/robot_msgs/msg/Mode.msg: robot_msgs/msg/Mode already has another definition, from") {
				t.Errorf("problems: %q", set.Problems)
			}
			for name, fields := range map[string]string{
				"robot_msgs/msg/Status": "header mode codes", "robot_msgs/Status": "header mode codes",
				"other_msgs/msg/Deep": "mode",
				"other_msgs/msg/Only": "part", "robot_msgs/srv/Start_Request": "now", "robot_msgs/srv/Start_Response": "ok",
			} {
				msg, err := set.Message(name, rosmsg.ROS2, header)
				if got := fieldsOf(msg); err != nil || got != fields {
					t.Errorf("%s: %s, %v", name, got, err)
				}
			}
			if msg, err := set.Message("nobody/msg/No", rosmsg.ROS2, header); msg != nil || err != nil {
				t.Errorf("a type that is not there: %v, %v", msg, err)
			}
			if _, err := set.Message("other_msgs/Only", rosmsg.ROS1, header); err == nil || !strings.Contains(err.Error(),
				"Only.idl") {
				t.Errorf("IDL is nothing of ROS 1: %v", err)
			}
		})
	}
}

func fieldsOf(m *schema.Message) string {
	if m == nil {
		return ""
	}
	var list []string
	for _, f := range m.Fields {
		list = append(list, f.Name)
	}
	return strings.Join(list, " ")
}

// TestPlaces: single files and folders within a package, and places that have nothing.
func TestPlaces(t *testing.T) {
	dir := writeTree(t, workspace)
	for place, want := range map[string]string{
		"src/robot_msgs/msg":          "robot_msgs/msg/Mode robot_msgs/msg/Status",
		"src/robot_msgs/msg/Mode.msg": "robot_msgs/msg/Mode",
		"src/folder/msg/sub/Deep.msg": "other_msgs/msg/Deep", "zz/robot_msgs/msg/Mode.msg": "robot_msgs/msg/Mode",
		"src/skip": "", "README.msg.txt": "", "nothing": "",
	} {
		set, err := Read(nil, filepath.Join(dir, place))
		got := ""
		if err == nil {
			for _, d := range set.Definitions() {
				got += " " + d.Name
			}
		}
		if strings.TrimSpace(got) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %s, %v", place, got, err)
		}
	}
	alone := filepath.Join(dir, "X.msg")
	if err := os.WriteFile(alone, []byte("int8 a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(nil, alone); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "PACKAGE/msg") {
		t.Errorf("a file without a package: %v", err)
	}
}

// TestLinks: links within the folder are followed, whether they are relative or not, and a loop ends. The folder
// itself may be a link.
func TestLinks(t *testing.T) {
	dir, place := writeTree(t, workspace), filepath.Join(t.TempDir(), "place")
	if err := errors.Join(os.Rename(filepath.Join(dir, "src"), filepath.Join(dir, "real.d")),
		os.Mkdir(filepath.Join(dir, "ws"), 0o777),
		os.Rename(filepath.Join(dir, "real.d"), filepath.Join(dir, ".real")),
		os.Symlink("../.real", filepath.Join(dir, "ws", "src")),
		os.Symlink(filepath.Join(dir, "ws"), filepath.Join(dir, "self")), os.Symlink("/", filepath.Join(dir, ".root")),
		os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "broken.msg")), os.Symlink(dir, place)); err != nil {
		t.Skip(err)
	}
	t.Chdir(filepath.Dir(place))
	for _, p := range []string{place, dir, "place"} {
		set, err := Read(nil, p)
		if err != nil || !set.Has("robot_msgs/msg/Status") || strings.Contains(strings.Join(set.Problems, " "), "lead") ||
			!strings.Contains(set.Problems[0], "broken.msg") {
			t.Errorf("%s: %v, %q", p, err, set.Problems)
		}
	}
}

// TestLinksOut: links that lead out of the folder, to folders and to files, are not followed, and one line counts
// them.
func TestLinksOut(t *testing.T) {
	dir, ws := writeTree(t, workspace), writeTree(t, map[string]string{"a_msgs/msg/A.msg": "int8 a\n"})
	alone := filepath.Join(dir, "X.msg")
	if err := errors.Join(os.WriteFile(alone, []byte("int8 x\n"), 0o666), os.Symlink("/", filepath.Join(ws, "all")),
		os.Symlink(filepath.Join(dir, "src"), filepath.Join(ws, "src")),
		os.Symlink(alone, filepath.Join(ws, "a_msgs", "msg", "X.msg")),
		os.Symlink(alone, filepath.Join(ws, "a_msgs", "package.xml")),
		os.Symlink(alone, filepath.Join(ws, "notes.txt"))); err != nil {
		t.Skip(err)
	}
	set, err := Read(nil, ws)
	if err != nil || len(set.Definitions()) != 1 || !set.Has("a_msgs/msg/A") || len(set.Problems) != 1 ||
		!strings.HasPrefix(set.Problems[0],
			"4 links lead out of the folder and are not followed, such as a_msgs/msg/X.msg -> ") {
		t.Errorf("%v, %q", err, set.Problems)
	}
	if err := os.RemoveAll(filepath.Join(ws, "a_msgs")); err != nil {
		t.Fatal(err)
	}
	if _, err = Read(nil, ws); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "2 links lead out") {
		t.Errorf("nothing but links: %v", err)
	}
}

// TestBounds: what is out of proportion is refused, or left out.
func TestBounds(t *testing.T) {
	large := map[string]string{"p/msg/Large.msg": strings.Repeat("# a comment\n", maxFile/12+1), "p/msg/A.msg": "int8 a\n"}
	for i := range 70 {
		large[fmt.Sprintf("p/msg/B%d.msg", i)] = strings.Repeat("#", maxFile)
	}
	place := writeZip(t, large) // 70 MiB in a small file
	if _, err := Read(nil, place); !errors.Is(err, errLimit) {
		t.Errorf("a bomb: %v", err)
	}
	clear(large)
	large["p/msg/Large.msg"], large["p/msg/A.msg"] = strings.Repeat("#", maxFile+1), "int8 a\n"
	if set, err := Read(nil, writeTar(t, large)); err != nil || len(set.Problems) != 1 || len(set.Definitions()) != 1 {
		t.Errorf("a file that is too large: %v", err)
	}
	for _, name := range []string{"a.zip", "a.tar.gz"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte("no archive"), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(nil, path); err == nil || errors.Is(err, ErrNone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAddText: a recording's definitions, with what they use.
func TestAddText(t *testing.T) {
	bar := strings.Repeat("=", 80)
	set := New("a.bag")
	for encoding, text := range map[string]string{
		"ros1msg": "Header header\nq/Part[] parts\n" + bar +
			"\nMSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n" + bar + "\nMSG: q/Part\nint8 a\n",
		"ros2idl":    bar + "\nIDL: i/msg/T\nmodule i { module msg { struct T { long a; }; }; };\n",
		"jsonschema": "x",
	} {
		name := map[string]string{"ros1msg": "p/T", "ros2idl": "i/msg/T", "jsonschema": "x"}[encoding]
		if err := set.AddText(name, encoding, []byte(text), "/topic"); err != nil {
			t.Fatal(err)
		}
	}
	for name, d := range map[string]rosmsg.Dialect{"p/T": rosmsg.ROS1, "q/Part": rosmsg.ROS1, "i/msg/T": rosmsg.ROS2} {
		if msg, err := set.Message(name, d, nil); err != nil || msg == nil {
			t.Errorf("%s: %v, %v", name, msg, err)
		}
	}
	if n := len(set.Definitions()); n != 4 {
		t.Errorf("%d definitions", n)
	}
}

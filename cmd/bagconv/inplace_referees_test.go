package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// A bagReader is a program of others that prints for each bag how many messages it reads.
type bagReader struct {
	name    string
	program []string
}

// bagReaders returns the readers of bags that others have made. Without one of them the test is skipped.
func bagReaders(t *testing.T) []bagReader {
	t.Helper()
	const python = "/usr/bin/python3" // Debian's own: it has the ROS modules
	if exec.Command(python, "-c", "import rosbag").Run() != nil {
		missing(t, "python3-rosbag")
	}
	r := findReferees(t)
	return []bagReader{
		{"python3-rosbag", []string{python, "-c",
			counter("import rosbag", "sum(1 for _ in rosbag.Bag(p).read_messages(raw=True))")}},
		{"librosbag", []string{cppCounter(t)}},
		{"rosbags", []string{r.rosbags, "-c", counter("from rosbags.rosbag1 import Reader\ndef count(p):\n    with "+
			"Reader(p) as r:\n        return sum(1 for _ in r.messages())", "count(p)")}},
		{"@foxglove/rosbag", []string{r.node, "testdata/referee/count.mjs"}},
	}
}

// counts returns how many messages the reader finds in each of the bags that it reads, and why it reads others not.
func (r *bagReader) counts(t *testing.T, paths []string) (read map[string]int, why map[string]string) {
	t.Helper()
	read, why = map[string]int{}, map[string]string{}
	cmd := exec.Command(r.program[0], append(r.program[1:], paths...)...)
	for _, x := range jsonLines[counting](t, cmd) {
		if x.Problem == "" {
			read[x.Path] = x.Messages
		} else {
			why[x.Path] = x.Problem
		}
	}
	if len(read)+len(why) != len(paths) {
		t.Errorf("%s tells about %d of %d bags", r.name, len(read)+len(why), len(paths))
	}
	return read, why
}

// TestAppendReferees: every bag that a reader of others reads is added to itself, and is then read by it, with
// all the messages. Bags of up to 100 kB, and of 20 MB with BAGCONV_EXHAUSTIVE.
func TestAppendReferees(t *testing.T) {
	t.Parallel()
	most := int64(100_000)
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		most = 20_000_000
	}
	var before []string
	changed, added := map[string]string{}, map[string]int{} // the copy that was added to, and how many messages
	for _, path := range append(samples.Glob(t, "ros1/*/*.bag"), "../../testdata/demo.bag", "../../testdata/tiny.bag") {
		st, err := os.Stat(path)
		if err != nil || st.Size() > most {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(t.TempDir(), filepath.Base(path))
		if err := os.WriteFile(copied, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if status, _ := bagconv(t, "append", "-q", "--no-sync", copied, path); status == 0 || status == 3 {
			_, own := read(t, path)
			before, changed[path], added[path] = append(before, path), copied, len(own)
		}
	}
	if len(before) < 3 {
		t.Fatalf("only %d bags were added to", len(before))
	}
	for _, r := range bagReaders(t) {
		t.Run(r.name, func(t *testing.T) {
			was, _ := r.counts(t, before)
			var after []string
			for _, path := range sorted(was) {
				after = append(after, changed[path])
			}
			now, why := r.counts(t, after)
			for path, n := range was {
				// Messages of time 0 (librosbag) or out of order (@foxglove/rosbag) are read neither before nor after.
				if got := now[changed[path]]; got != 2*n && got != n+added[path] {
					t.Errorf("%s: %d messages before, %d more, and %d after: %s", path, n, added[path], got, why[changed[path]])
				}
			}
			if len(was) < 3 {
				t.Errorf("it reads only %d of %d bags", len(was), len(before))
			}
		})
	}
}

// cppCounter returns the program of testdata/referee/count.cpp.
func cppCounter(t *testing.T) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "count")
	args := []string{"-O1", "-o", exe, "testdata/referee/count.cpp"}
	for _, p := range strings.Fields("class_loader pluginlib rcpputils rcutils ament_index_cpp") {
		args = append(args, "-I/usr/include/"+p)
	}
	for _, l := range strings.Fields("rosbag_storage roscpp_serialization rostime cpp_common console_bridge " +
		"boost_system class_loader rcpputils rcutils ament_index_cpp tinyxml2") {
		args = append(args, "-l"+l)
	}
	if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
		t.Logf("%s", out)
		missing(t, "librosbag-storage-dev with g++")
	}
	return exe
}

package cli_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/samples"
	"github.com/bagconv/bagconv/schema/rosmsg"
	"github.com/bagconv/bagconv/storage"
)

// undefined returns a topic of a recording that has messages in CDR and no definition, with the
// definition that is used; "" if there is none.
func undefined(t *testing.T, path string) (name, typ, text string) {
	t.Helper()
	f, err := all.Registry().Detect(path)
	if err != nil {
		return "", "", ""
	}
	r, err := f.Open(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return "", "", ""
	}
	defer r.Close()
	info, err := r.Info()
	if err != nil {
		t.Fatal(err)
	}
	known, err := mapping.Look(context.Background(), r, info, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	m := mapping.New(known.Options())
	for i := range info.Topics {
		topic := &info.Topics[i]
		if topic.Encoding != "cdr" || len(topic.Schema.Data) > 0 || topic.Messages < 2 || strings.Count(topic.Type, "/") != 2 {
			continue
		}
		if def, err := m.Define(&topic.Topic); err == nil && def.Head == nil && len(def.ROS.Fields) > 0 {
			return topic.Name, topic.Type, string(rosmsg.Format(def.ROS, rosmsg.ROS2))
		}
	}
	return "", "", ""
}

// place makes a folder of a package with one definition, and the types that it uses.
func place(t *testing.T, name, typ, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	blocks, err := rosmsg.Blocks(typ, []byte(text), rosmsg.ROS2)
	if err != nil {
		t.Fatal(err)
	}
	for full, body := range blocks {
		parts := strings.Split(full, "/")
		path := filepath.Join(dir, parts[0], "msg", parts[len(parts)-1]+".msg")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSameValues: whichever way a message without a definition is read, with right and wrong
// definitions of the user, it has the same values.
func TestSameValues(t *testing.T) {
	t.Parallel()
	paths := slices.Concat(samples.Glob(t, "recordings/rosbag2/*"), samples.Glob(t, "rosbag2/*"), samples.Glob(t, "rosbag2/*/*"), samples.Glob(t, "mcap/*/*.mcap"))
	tried := 0
	for _, path := range paths {
		topic, typ, text := undefined(t, path)
		if topic == "" {
			continue
		}
		if tried++; testing.Short() && tried > 6 {
			break
		}
		right := place(t, "right", typ, text)
		wrong := place(t, "wrong", typ, "std_msgs/Header header\nstring odd\nfloat64 wrong\n================\nMSG: std_msgs/Header\nuint32 seq\nbuiltin_interfaces/Time stamp\nstring frame_id\n")
		for _, defs := range [][]string{nil, {"--defs", right}, {"--defs", wrong}, {"--defs", wrong, "--defs", right}} {
			sameValues(t, path, topic, defs)
		}
	}
	if tried == 0 {
		t.Error("no recording without definitions")
	}
}

// unpublished returns lines without their publish times.
func unpublished(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, publishTime.ReplaceAllString(l, ""))
	}
	return out
}

var publishTime = regexp.MustCompile(`,"publish_time":"-?[0-9]+"`)

// sameValues compares what several ways print of a topic.
func sameValues(t *testing.T, path, topic string, defs []string) {
	t.Helper()
	lines := func(path string, args ...string) []string {
		out, _ := prints(append(append([]string{"cat", path, topic, "--bytes", "--arrays"}, args...), defs...)...)
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	whole := lines(path)
	n := len(whole)
	compare := func(way string, got, want []string) {
		if !slices.Equal(got, want) {
			t.Errorf("%s %s %v: %s prints\n%.300v\ncat prints\n%.300v", path, topic, defs, way, got, want)
		}
	}
	reversed := slices.Clone(whole)
	slices.Reverse(reversed)
	if got := lines(path, "--reverse"); len(got) == n { // without an index there is none
		compare("--reverse", got, reversed)
		compare("--nth", lines(path, "--nth", fmt.Sprint(n)), whole[n-1:])
		compare("--tail", lines(path, "--tail", "1"), whole[n-1:])
		compare("--skip", lines(path, "--skip", "1"), whole[1:])
	}
	for _, name := range []string{"out.bag", "out.mcap", "out"} {
		out := filepath.Join(t.TempDir(), name)
		if text, status := prints(append([]string{"--no-sync", "-q", path, out}, defs...)...); status != 0 && status != 3 {
			t.Fatalf("%s: status %d, %s", path, status, text)
		}
		got := lines(out)
		if name == "out.bag" { // types and times have other names there
			if len(got) != n {
				t.Errorf("%s %v: the bag has %d messages of %d", path, defs, len(got), n)
			}
			continue
		}
		if name == "out" { // by default SQLite has no publish times
			compare("cat of "+name, unpublished(got), unpublished(whole))
			continue
		}
		compare("cat of "+name, got, whole)
	}
}

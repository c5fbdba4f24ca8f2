package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// An undefinedTopic has messages in CDR and no definition in its recording.
type undefinedTopic struct{ name, typ, text string } // text is the definition that is used

// undefined returns topics of a recording that have no definition: the first, and the first with a header.
func undefined(t *testing.T, path string) (list []undefinedTopic) {
	t.Helper()
	f, err := all.Registry().Detect(path)
	if err != nil {
		return nil
	}
	r, err := f.Open(context.Background(), path, storage.ReadOptions{})
	if err != nil {
		return nil
	}
	defer r.Close()
	info := r.Info()
	known, err := mapping.Look(context.Background(), r, info, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	m := mapping.New(known.Options())
	headed := false
	for i := range info.Topics {
		topic := &info.Topics[i]
		if topic.Encoding != "cdr" || len(topic.Schema.Data) > 0 || topic.Messages < 2 ||
			strings.Count(topic.Type, "/") != 2 {
			continue
		}
		if def, err := m.Define(&topic.Topic); err == nil && def.Head == nil && len(def.ROS.Fields) > 0 {
			header := def.ROS.Fields[0].Name == "header"
			if len(list) > 0 && (headed || !header) {
				continue
			}
			headed = headed || header
			list = append(list, undefinedTopic{topic.Name, topic.Type, string(rosmsg.Format(def.ROS, rosmsg.ROS2))})
		}
	}
	return list
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
// definitions of the user, it has the same values. TestGeneratedSameValues has the generated readers.
func TestSameValues(t *testing.T) {
	t.Parallel()
	paths := slices.Concat([]string{late(t)}, samples.Glob(t, "recordings/rosbag2/*"), samples.Glob(t, "rosbag2/*"),
		samples.Glob(t, "rosbag2/*/*"), samples.Glob(t, "mcap/*/*.mcap"))
	tried, stamped := 0, 0
	for _, path := range paths {
		list := undefined(t, path)
		if len(list) == 0 {
			continue
		}
		if tried++; testing.Short() && tried > 7 {
			break
		}
		for _, topic := range list {
			right := place(t, "right", topic.typ, topic.text)
			wrong := place(t, "wrong", topic.typ, "string odd\nstd_msgs/Header header\nfloat64 wrong\n================\nMSG: "+
				"std_msgs/Header\nuint32 seq\nbuiltin_interfaces/Time stamp\nstring frame_id\n")
			ways := [][]string{nil, {right}, {wrong}, {wrong, right}}
			if topic.typ != "rcl_interfaces/msg/Log" { // without its fields it has no form in ROS 1
				ways = append(ways, []string{place(t, "other", topic.typ, renamed(topic.text)), right})
			}
			for _, places := range ways {
				whole := sameValues(t, path, topic.name, flagsOf(places))
				sameGoValues(t, path, topic.name, places, whole)
				if sameStamps(t, path, topic.name, flagsOf(places), whole) {
					stamped++
				}
			}
		}
	}
	if tried == 0 || stamped == 0 {
		t.Errorf("%d recordings without definitions, and %d comparisons of stamps", tried, stamped)
	}
}

// renamed returns a definition with other names of the fields but for the header: it fits, too.
func renamed(text string) string {
	root, rest, _ := strings.Cut(text, "\n====")
	root = fieldLine.ReplaceAllStringFunc(root, func(line string) string {
		typ, name, _ := strings.Cut(line, " ")
		if name == "header" {
			return line
		}
		return typ + " other_" + name
	})
	return root + "\n====" + rest
}

var fieldLine = regexp.MustCompile(`(?m)^\S+ \w+$`)

// flagsOf returns the flags that name places of definitions.
func flagsOf(places []string) (flags []string) {
	for _, p := range places {
		flags = append(flags, "--defs", p)
	}
	return flags
}

// unpublished returns lines without their publish times.
func unpublished(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, publishTime.ReplaceAllString(l, ""))
	}
	return out
}

var publishTime = regexp.MustCompile(`,"publish_time":"-?[0-9]+"`)

// sameValues compares what several ways print of a topic, and returns the lines of cat.
func sameValues(t *testing.T, path, topic string, defs []string) (printed []string) {
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
	printed = whole
	if whole[0] == "" { // nothing fits
		printed = nil
	}
	var checked struct {
		Topics []struct {
			Name    string `json:"name"`
			Decoded int    `json:"decoded"`
		} `json:"topics"`
	}
	text, _ := prints(append([]string{"check", path, "--json"}, defs...)...)
	if err := json.Unmarshal(text, &checked); err != nil {
		t.Errorf("%s %v: check: %v", path, defs, err)
	}
	for _, c := range checked.Topics {
		if c.Name == topic && c.Decoded != len(printed) {
			t.Errorf("%s %s %v: check decodes %d messages, and cat %d", path, topic, defs, c.Decoded, len(printed))
		}
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
	return printed
}

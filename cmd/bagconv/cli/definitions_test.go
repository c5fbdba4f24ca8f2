package cli_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/values"
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

// sameGoValues compares what package values reads of a topic with the lines that cat prints: their number, the names
// of fields, and all that is a number, a text or a bool at the top.
func sameGoValues(t *testing.T, path, topic string, lines []string) {
	t.Helper()
	f, err := all.Registry().Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i := 0
	for v, err := range values.Read[map[string]any](r, topic) {
		if err != nil {
			if len(lines) > 0 {
				t.Errorf("%s %s: values: %v; cat prints %d messages", path, topic, err, len(lines))
			}
			return
		}
		var line struct{ Fields map[string]any }
		if i == len(lines) {
			t.Errorf("%s %s: values has more than the %d messages of cat", path, topic, len(lines))
			return
		}
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatal(err)
		}
		for name, field := range line.Fields {
			got, there := v[name]
			if _, composed := field.(map[string]any); !there {
				t.Errorf("%s %s: values has no %s", path, topic, name)
			} else if _, list := field.([]any); !composed && !list && !sameScalar(got, field) {
				t.Errorf("%s %s: values has %v for %s, and cat %v", path, topic, got, name, field)
			}
		}
		i++
	}
	if i != len(lines) {
		t.Errorf("%s %s: values has %d messages, and cat %d", path, topic, i, len(lines))
	}
}

// sameScalar compares a Go value with one of JSON. Bytes are text there, in base64.
func sameScalar(got, printed any) bool {
	switch p := printed.(type) {
	case float64:
		number, err := strconv.ParseFloat(fmt.Sprint(got), 64)
		return err == nil && (number == p || float32(number) == float32(p))
	case bool:
		return got == p
	}
	if b, ok := got.([]byte); ok {
		return base64.StdEncoding.EncodeToString(b) == printed
	}
	return fmt.Sprint(got) == printed || fmt.Sprint(got) == "+Inf" && printed == "Infinity" || fmt.Sprint(got) == "-Inf" && printed == "-Infinity"
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
	printed := n
	if whole[0] == "" { // nothing fits
		printed = 0
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
		if c.Name == topic && c.Decoded != printed {
			t.Errorf("%s %s %v: check decodes %d messages, and cat %d", path, topic, defs, c.Decoded, printed)
		}
	}
	if defs == nil {
		sameGoValues(t, path, topic, whole[:printed])
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

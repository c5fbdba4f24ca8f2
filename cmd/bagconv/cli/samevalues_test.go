package cli_test

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert/values"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"

	_ "modernc.org/sqlite"
)

// sameGoValues compares what package values reads of a topic, with definitions of these places, with the
// lines that cat prints.
func sameGoValues(t *testing.T, path, topic string, places, lines []string) {
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
	for m, err := range values.Read[map[string]any](t.Context(), r, topic,
		values.Query{FileOrder: true, Definitions: setsOf(t, places)}) {
		v := m.Value
		if errors.Is(err, values.ErrMalformed) {
			continue // cat leaves it out, too
		}
		if err != nil {
			if len(lines) > 0 {
				t.Errorf("%s %s %v: values: %v; cat prints %d messages", path, topic, places, err, len(lines))
			}
			return
		}
		if i == len(lines) {
			t.Errorf("%s %s %v: values has more than the %d messages of cat", path, topic, places, i)
			return
		}
		var line struct{ Fields map[string]any }
		if err := json.Unmarshal([]byte(lines[i]), &line); err != nil {
			t.Fatal(err)
		}
		if !sameGoValue(v, line.Fields) {
			t.Errorf("%s %s %v: values has\n%.300v\ncat prints\n%.300s", path, topic, places, v, lines[i])
		}
		i++
	}
	if i != len(lines) {
		t.Errorf("%s %s %v: values has %d messages, and cat %d", path, topic, places, i, len(lines))
	}
}

// setsOf reads the definitions of places.
func setsOf(t *testing.T, places []string) (sets []*defset.Set) {
	t.Helper()
	for _, p := range places {
		set, err := defset.Read(iox.OS, p, sets...)
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	return sets
}

// sameGoValue compares a Go value with one of JSON. Bytes are text there, in base64, and times are structs.
func sameGoValue(got, printed any) bool {
	switch p := printed.(type) {
	case map[string]any:
		sec, _ := p["sec"].(float64)
		nanosec, _ := p["nanosec"].(float64)
		switch got := got.(type) {
		case time.Time:
			return got.UnixNano() == int64(sec)*1e9+int64(nanosec)
		case time.Duration:
			return int64(got) == int64(sec)*1e9+int64(nanosec)
		case map[string]any:
			return maps.EqualFunc(got, p, sameGoValue)
		}
		return false
	case []any:
		list := reflect.ValueOf(got)
		if got == nil || list.Kind() != reflect.Slice || list.Len() != len(p) {
			return false
		}
		for i := range p {
			if !sameGoValue(list.Index(i).Interface(), p[i]) {
				return false
			}
		}
		return true
	case float64:
		number, err := strconv.ParseFloat(fmt.Sprint(got), 64)
		return err == nil && (number == p || float32(number) == float32(p))
	case bool:
		return got == p
	}
	if b, ok := got.([]byte); ok {
		return base64.StdEncoding.EncodeToString(b) == printed
	}
	switch text := fmt.Sprint(got); printed {
	case "Infinity":
		return text == "+Inf" || text == printed
	case "-Infinity":
		return text == "-Inf" || text == printed
	default:
		return text == printed
	}
}

// late returns a recording without definitions whose log times are not its stamps, as they are in the others.
func late(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "late.db3")
	text, err := os.ReadFile(filepath.Join(samples.Ours(t), "rosbag2", "nometa-foxy", "run.db3"))
	if err == nil {
		err = os.WriteFile(path, text, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("UPDATE messages SET timestamp = timestamp + 1000 * id")
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// A stampedLine is the log time and the stamp of a line of cat, in ns.
type stampedLine struct{ time, stamp int64 }

// stampsOf returns the times and stamps of lines that begin with a header.
func stampsOf(t *testing.T, lines []string) (list []stampedLine) {
	t.Helper()
	for _, line := range lines {
		var m struct {
			Time   int64 `json:",string"`
			Fields struct {
				Header *struct{ Stamp struct{ Sec, Nanosec int64 } }
			}
		}
		if !strings.Contains(line, `"fields":{"header":{"stamp":{`) {
			continue
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		list = append(list, stampedLine{m.Time, m.Fields.Header.Stamp.Sec*1e9 + m.Fields.Header.Stamp.Nanosec})
	}
	return list
}

// sameStamps compares the stamps that check and --restamp read of a topic with those in lines of cat. It
// returns false if the messages have none.
func sameStamps(t *testing.T, path, topic string, defs, lines []string) bool {
	t.Helper()
	list := stampsOf(t, lines)
	zero, far, times := 0, map[int64]int{}, []int64{} // far counts the messages at each distance
	for _, m := range list {
		if m.stamp == 0 {
			zero++
			times = append(times, m.time)
			continue
		}
		far[max(m.stamp-m.time, m.time-m.stamp)]++
		times = append(times, m.stamp)
	}
	if len(far) == 0 {
		return false
	}
	// No stamp is farther away than the greatest distance. The stamps at that distance are farther away than
	// 1 ns less. The least limit is 1 ns.
	greatest := max(1, slices.Max(slices.Collect(maps.Keys(far))))
	limits := map[int64]int{greatest: 0}
	if greatest > 1 {
		limits[greatest-1] = far[greatest]
	}
	for limit, want := range limits {
		found := findings(t, append([]string{path, "--stamp-offset", fmt.Sprint(time.Duration(limit))}, defs...)...)
		if got := found[finding{topic, "stamp-far"}]; got != want {
			t.Errorf("%s %s %v: check has %d stamps farther than %d ns, and cat %d", path, topic, defs, got, limit, want)
		}
		if got := found[finding{topic, "stamp-zero"}]; got != zero {
			t.Errorf("%s %s %v: check has %d stamps of zero, and cat %d", path, topic, defs, got, zero)
		}
	}
	slices.Sort(times)
	out := filepath.Join(t.TempDir(), "restamped.mcap")
	text, status := prints(append([]string{"--no-sync", "-q", "--restamp", "header", path, out}, defs...)...)
	if status != 0 && status != 3 {
		t.Fatalf("%s: status %d, %s", path, status, text)
	}
	var got []int64
	text, _ = prints(append([]string{"cat", out, topic}, defs...)...)
	for _, m := range stampsOf(t, strings.Split(string(text), "\n")) {
		got = append(got, m.time)
	}
	if slices.Sort(got); !slices.Equal(got, times) {
		t.Errorf("%s %s %v: --restamp sets the times\n%.300s\nthe stamps are\n%.300s",
			path, topic, defs, fmt.Sprint(got), fmt.Sprint(times))
	}
	return true
}

// A finding of check is about a topic.
type finding struct{ topic, code string }

// findings returns how many messages each finding of check is about.
func findings(t *testing.T, args ...string) map[finding]int {
	t.Helper()
	text, _ := prints(append([]string{"check", "--json"}, args...)...)
	var checked struct {
		Findings []struct {
			Topic, Code string
			Count       int
		}
	}
	if err := json.Unmarshal(text, &checked); err != nil {
		t.Fatalf("check %v: %v: %s", args, err, text)
	}
	out := map[finding]int{}
	for _, f := range checked.Findings {
		out[finding{f.Topic, f.Code}] += f.Count
	}
	return out
}

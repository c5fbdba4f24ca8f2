package cli

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// widths are the terminals of the tests.
var widths = []int{40, 60, 80, 120, 200}

// figures are the numbers and times of a text.
var figures = regexp.MustCompile(`[0-9][0-9,.:TZ-]*[0-9Z]`)

// checkFit checks a text for a terminal: no line is too wide but names of files, and each number of the text for a pipe
// is in one piece.
func checkFit(t *testing.T, what string, width int, text, piped string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		name := strings.HasPrefix(line, "path:") || strings.Contains(line, "testdata/recordings") || len(strings.Fields(line)) <= 1
		if phrase.Columns(line) > width && !name || strings.HasSuffix(line, " ") {
			t.Errorf("%s, %d columns: %d in %q", what, width, phrase.Columns(line), line)
		}
	}
	_, body, _ := strings.Cut(piped, "\n") // after the path
	if before, _, ok := strings.Cut(body, "\ntopics:"); ok {
		body = before
	}
	for _, n := range figures.FindAllString(body, -1) {
		if !strings.Contains(text, n) {
			t.Errorf("%s, %d columns: %s is broken in\n%s", what, width, n, text)
		}
	}
}

// TestInfoFits: info of the recordings of testdata fits terminals of several widths.
func TestInfoFits(t *testing.T) {
	paths, err := filepath.Glob("../../../testdata/*.*")
	more, err2 := filepath.Glob("../../../testdata/recordings/*")
	if err != nil || err2 != nil || len(paths) < 4 || len(more) < 4 {
		t.Fatal(paths, more, err, err2)
	}
	for _, path := range append(paths, more...) {
		show := func(args []string, width int) (string, int) {
			var out, errOut bytes.Buffer
			status := Run(context.Background(), append(append([]string{"bagconv", "info"}, args...), path), Stdio{Out: &out,
				Err: &errOut, OutTerminal: width > 0, OutColumns: width}, all.Registry())
			return out.String(), status
		}
		for _, args := range [][]string{nil, {"--topics"}, {"--sizes"}} {
			piped, status := show(args, 0)
			if status != 0 && status != 3 {
				continue // it is no recording
			}
			for _, width := range widths {
				text, _ := show(args, width)
				if args != nil {
					piped = "" // its numbers may be parts of names
				}
				checkFit(t, path, width, text, piped)
			}
		}
	}
}

// hostile is a recording with many topics of long, wide and odd names, and large numbers.
func hostile(topics int) *recording.Description {
	info := &storage.Info{Path: "x", Format: "db3", Version: "1", Messages: 1 << 60, Start: -1 << 62, End: 1<<62 - 1,
		Damage: storage.Damage{Warnings: []storage.Warning{{Code: "odd", Message: strings.Repeat("a long warning 1234567 ", 9)}}}}
	for i := range topics {
		name := fmt.Sprintf("/robot_%d/sensors/front/camera_%05d/image_raw", i%7, i)
		switch i % 5 {
		case 1:
			name = fmt.Sprintf("/\u30ed\u30dc\u30c3\u30c8/\u524d\u65b9\u30ab\u30e1\u30e9/%05d/\u753b\u50cf", i)
		case 2:
			name = fmt.Sprintf("/a\x1b[31m\u202e%d\n", i)
		case 3:
			name = strings.Repeat("/same", 40) + fmt.Sprint(i)
		}
		info.Topics = append(info.Topics, storage.TopicInfo{ID: storage.TopicID(i), Messages: int64(i) * 123_456_789,
			Topic: storage.Topic{Name: name, Type: "a_long_package_of_messages/msg/ATypeWithAVeryLongName", Encoding: "cdr",
				QoS: []storage.QoS{{Reliability: storage.ReliabilityReliable, Depth: int64(i % 3)}}}})
	}
	return recording.Describe(info, nil)
}

// TestInfoHostile: no name widens a line, hides another, or reaches the terminal as it is; 20,000 topics take no longer
// than their number tells.
func TestInfoHostile(t *testing.T) {
	for _, topics := range []int{50, 20_000} {
		in := hostile(topics)
		for _, width := range widths {
			e := &env{Stdio: Stdio{OutTerminal: true, OutColumns: width}, formats: all.Registry()}
			var b bytes.Buffer
			if err := e.writeInfo(&b, in); err != nil {
				t.Fatal(err)
			}
			if strings.ContainsAny(b.String(), "\x1b\u202e") || strings.Count(b.String(), "\n") < topics {
				t.Errorf("%d columns: %q", width, b.String()[:min(b.Len(), 999)])
			}
			if topics == 50 {
				checkFit(t, "hostile", width, b.String(), "")
			}
		}
	}
}

// TestQoSText: profiles of ROS 2 in words; a profile of all topics stands in one line.
func TestQoSText(t *testing.T) {
	topic := func(name string, profiles ...storage.QoS) storage.TopicInfo {
		return storage.TopicInfo{Topic: storage.Topic{Name: name, Type: "t", Encoding: "cdr", QoS: profiles}}
	}
	sensor := storage.QoS{Reliability: storage.ReliabilityBestEffort, History: storage.HistoryKeepLast, Depth: 5,
		Durability: storage.DurabilityVolatile}
	latched := storage.QoS{Reliability: storage.ReliabilityReliable, Durability: storage.DurabilityTransientLocal,
		History: storage.HistoryKeepAll, Depth: 7, Deadline: storage.QoSDuration{NSec: 1e8}, Lifespan: storage.QoSInfinite}
	for _, c := range []struct {
		topics []storage.TopicInfo
		want   []string
	}{
		{[]storage.TopicInfo{topic("/a", sensor), topic("/b", sensor)}, []string{"qos:          best effort, depth 5\n", "  t\n"}},
		{[]storage.TopicInfo{topic("/a", sensor), topic("/b", latched, sensor)}, []string{"t (best effort, depth 5)\n",
			"t (reliable, keep all, deadline 100ms / best effort, depth 5, latched)\n"}},
		{[]storage.TopicInfo{topic("/a"), topic("/b", storage.QoS{})}, []string{"/a", "/b", "  t\n"}},
	} {
		for i := range c.topics {
			c.topics[i].ID = storage.TopicID(i)
		}
		in := recording.Describe(&storage.Info{Format: "db3", Topics: c.topics, Metadata: map[string]string{
			storage.MetaDistro: "humble"}}, nil)
		var b bytes.Buffer
		if err := (&env{formats: all.Registry()}).writeInfo(&b, in); err != nil {
			t.Fatal(err)
		}
		for _, want := range append(c.want, "distro:       humble\n", "SQLite") {
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q in\n%s", want, &b)
			}
		}
	}
}

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/storage"
)

// TestEstimateText: estimates are marked, and have three digits.
func TestEstimateText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "few", 7: "about 7", 999: "about 999", 1004: "about 1,000", 43_949: "about 43,900", 999_500: "about 1 million",
		30_123_456: "about 30.1 million", 1_234_567_890: "about 1230 million",
	} {
		if got := estimateText(&recording.Description{Estimated: true}, n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	in := recording.Describe(&storage.Info{Format: "db3", Messages: 30_123_456, Estimated: true,
		Topics: []storage.TopicInfo{
			{Topic: storage.Topic{Name: "/imu"}, Messages: 30_120_001}, {ID: 1, Topic: storage.Topic{Name: "/map"}, Messages: 1},
			{ID: 2, Topic: storage.Topic{Name: "/x"}},
		}}, nil)
	var b bytes.Buffer
	if err := (&env{formats: all.Registry()}).writeInfo(&b, in); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"messages:     about 30.1 million\n", "/imu   about 30.1 million  ", "  about 1  ",
		"  few  ", "are estimated"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// TestTimeline: a terminal gets a drawing that is as wide as it is, a pipe none; JSON has the
// numbers, and no message is left out of them.
func TestTimeline(t *testing.T) {
	show := func(terminal bool, columns int, args ...string) string {
		var out, errOut bytes.Buffer
		stdio := Stdio{Out: &out, Err: &errOut, OutTerminal: terminal, OutColumns: columns}
		if status := Run(context.Background(), append([]string{"bagconv", "info", "../../../testdata/demo.bag"}, args...),
			stdio, all.Registry()); status != 0 {
			t.Fatalf("status %d: %s", status, &errOut)
		}
		return out.String()
	}
	wide := show(true, 200)
	for _, want := range []string{"\ntimeline:     50ms per character, from 2023-11-14T22:13:20Z\n",
		"\n  /cam_a/image_raw |#   #   #   #   #   |\n", "\n  /tf_static       |#                   |\n"} {
		if !strings.Contains(wide, want) || !strings.Contains(show(true, 0), want) {
			t.Errorf("no %q in\n%s", want, wide)
		}
	}
	narrow := show(true, 30)
	_, drawing, _ := strings.Cut(narrow, "\ntimeline:")
	for _, line := range strings.Split(drawing, "\n")[1:] {
		if len(line) > 30 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
	if !strings.Contains(narrow, "  /cam_a/i...   |") || !strings.Contains(narrow, "  /cam_b/i...   |") {
		t.Errorf("%s", narrow)
	}
	for _, text := range []string{show(false, 0), show(true, 80, "--no-timeline"), show(true, 80, "--scan", "never")} {
		if strings.Contains(text, "timeline") {
			t.Errorf("%s", text)
		}
	}
	var in struct {
		Topics []struct {
			Name  string
			Count int64
		}
		Timeline *recording.Timeline
	}
	if err := json.Unmarshal([]byte(show(false, 0, "--json")), &in); err != nil {
		t.Fatal(err)
	}
	if in.Timeline == nil || in.Timeline.Bins != 20 || len(in.Timeline.Counts) != len(in.Topics) {
		t.Fatalf("%+v", in.Timeline)
	}
	for i, row := range in.Timeline.Counts {
		var sum int64
		for _, n := range row {
			sum += n
		}
		if sum != in.Topics[i].Count || len(row) != 20 {
			t.Errorf("%s: %d messages in %v, want %d", in.Topics[i].Name, sum, row, in.Topics[i].Count)
		}
	}
}

package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestEstimateText: what is estimated says so, in three digits.
func TestEstimateText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "few", 7: "about 7", 999: "about 999", 1004: "about 1,000", 43_949: "about 43,900", 999_500: "about 1 million",
		30_123_456: "about 30.1 million", 1_234_567_890: "about 1230 million",
	} {
		if got := (&infoJSON{Estimated: true}).countText(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	in := infoOf(&storage.Info{Format: "db3", Messages: 30_123_456, Estimated: true, Topics: []storage.TopicInfo{
		{Topic: storage.Topic{Name: "/imu"}, Messages: 30_120_001}, {ID: 1, Topic: storage.Topic{Name: "/map"}, Messages: 1}, {ID: 2, Topic: storage.Topic{Name: "/x"}},
	}}, nil)
	var b bytes.Buffer
	if err := writeInfo(&b, in); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"messages:     about 30.1 million\n", "/imu   about 30.1 million  ", "  about 1  ", "  few  ", "are estimated"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

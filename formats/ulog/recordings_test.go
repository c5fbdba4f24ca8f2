package ulog

import (
	"errors"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// TestRecordings: every recording has the messages, and the warnings, that its maker knows of.
func TestRecordings(t *testing.T) {
	for path, want := range samples.Expected[struct {
		Topics map[string]int64
		Codes  []string
	}](t, "ulog/made.json") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		x, err := readBytes(t, b, storage.ReadOptions{})
		if slices.Equal(want.Codes, []string{"refused"}) {
			if !errors.Is(err, storage.ErrUnsupported) {
				t.Errorf("%s: %v", path, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		topics, codes := map[string]int64{}, x.codes()
		for _, topic := range x.info.Topics {
			topics[topic.Name] = topic.Messages
		}
		if slices.Sort(codes); !maps.Equal(topics, want.Topics) || !slices.Equal(codes, want.Codes) {
			t.Errorf("%s: %v with %v, want %v with %v", path, topics, codes, want.Topics, want.Codes)
		}
		checkSections(t, b)
	}
}

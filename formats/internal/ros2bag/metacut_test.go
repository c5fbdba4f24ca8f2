package ros2bag

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestCutTopics: metadata reads the same in pieces and as a whole.
func TestCutTopics(t *testing.T) {
	m := &Metadata{Version: 9, StorageID: "sqlite3", Paths: []string{"a"}, Custom: map[string]string{"k": "v\nw"},
		Distro: "jazzy"}
	for i := range 3000 {
		m.Topics = append(m.Topics, Topic{Name: fmt.Sprint("/t", i), Type: "p/msg/T", Format: cdr, Messages: int64(i),
			QoS: make([]storage.QoS, i%3)})
	}
	for _, outer := range []bool{true, false} {
		text, err := m.Encode(outer)
		check(t, err)
		rest, pieces := cutTopics([]byte(text))
		if len(pieces) < 3 || len(rest) > 1000 {
			t.Fatalf("%d pieces of %d bytes, and %d bytes", len(pieces), len(text), len(rest))
		}
		got, odd, err := parsePieces(t.Context(), rest, pieces, QoSCache{})
		check(t, err)
		want, _, err := parsePieces(t.Context(), []byte(text), nil, QoSCache{})
		check(t, err)
		if odd != nil || !reflect.DeepEqual(got, want) || len(got.Topics) != len(m.Topics) {
			t.Errorf("outer %v: %d topics, want %d; %v", outer, len(got.Topics), len(want.Topics), odd)
		}
	}
}

// TestOddTopics: a list that is not as rosbag2 writes it is read as part of the whole.
func TestOddTopics(t *testing.T) {
	const one = "{topic_metadata: {name: /a}, message_count: 1}"
	for _, text := range []string{
		"version: 4\ntopics_with_message_count: [" + one + "]\n",
		"version: 4\ntopics_with_message_count:\n- " + one + "\n",
		"version: 4\ntopics_with_message_count:\n\n    - " + one + "\n\nmessage_count: 1\n",
		"version: 4\ntopics_with_message_count: # a comment\n  - " + one + "\n",
		"version: 4\ntopics_with_message_count:\n  # a comment\n  - " + one + "\n# another\nmessage_count: 1\n",
		"x: &x " + one + "\nversion: 4\ntopics_with_message_count:\n  - *x\nmessage_count: 1\n",
		"# a comment\nversion: 4\ntopics_with_message_count:\n  - {topic_metadata: {name: \"/a\n  \"},\n  message_count: 1}\n",
		"custom_data: {k: \"\ntopics_with_message_count:\n  - {}\"}\nversion: 4\ntopics_with_message_count:\n  - " + one,
	} {
		m, odd, err := ParseMetadata(t.Context(), []byte(text), QoSCache{})
		if err != nil || odd != nil || len(m.Topics) != 1 || strings.TrimSpace(m.Topics[0].Name) != "/a" ||
			m.Topics[0].Messages != 1 {
			t.Errorf("%q: %+v %v %v", text, m, odd, err)
		}
	}
	twice := "version: 4\ntopics_with_message_count:\n  - " + one + "\ntopics_with_message_count: [" + one + "]\n"
	if _, _, err := ParseMetadata(t.Context(), []byte(twice), QoSCache{}); !errors.Is(err, storage.ErrCorrupt) {
		t.Error(err)
	}
}

// TestSimple: a text with too many nodes is refused before it is parsed, one with a long
// string is not.
func TestSimple(t *testing.T) {
	long := "version: 4\ncustom_data:\n  k: \"" + strings.Repeat(`\"x\": [1, 2], `, maxSimple/10) + "\"\n"
	if m, _, err := ParseMetadata(t.Context(), []byte(long), QoSCache{}); err != nil || len(m.Custom["k"]) < maxSimple {
		t.Error(err)
	}
	for _, text := range []string{
		"version: 4\ncustom_data: {" + strings.Repeat("k: v, ", maxSimple/5) + "}",
		"version: 4\ncustom_data: {a: \"" + strings.Repeat(`x", b: "y`, maxSimple/5) + "\"}",
		"version: 4\ntopics_with_message_count:\n  - x: [" + strings.Repeat("a, ", maxSimple/2) + "]\n",
	} {
		if _, _, err := ParseMetadata(t.Context(), []byte(text), QoSCache{}); !errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("%.50q: %v", text, err)
		}
	}
}

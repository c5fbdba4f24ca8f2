package ros2bag

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"gopkg.in/yaml.v3"
)

// encodeWhole is encode as one document of yaml.v3.
func (m *Metadata) encodeWhole(t testing.TB, outer bool) string {
	root := mapping("version", number(int64(m.Version)), "storage_identifier", text(m.StorageID),
		"duration", mapping("nanoseconds", number(m.Duration)),
		"starting_time", mapping("nanoseconds_since_epoch", number(m.Start)),
		"message_count", number(m.Messages))
	topics := sequence()
	for i := range m.Topics {
		n, err := topicNode(m.Version, &m.Topics[i])
		check(t, err)
		topics.Content = append(topics.Content, n)
	}
	put(root, "topics_with_message_count", topics)
	root.Content = append(root.Content, m.rest().Content...)
	if outer {
		root = mapping(metadataKey, root)
	}
	out, err := yaml.Marshal(root)
	check(t, err)
	return string(out)
}

// oddTexts are what YAML writes in all its styles.
var oddTexts = []string{"", "/a", "~", "1", "1e3", "true", "- x", "a: b", " lead", "trail ", "a\nb", "\n\na\n\n b\n", "a\rb", "a\u2028b", "a\u0085\u0085b", "'", "\"", "# no", "\t",
	"\x00", "\xff\xfe", strings.Repeat("\xff", 300), strings.Repeat("word ", 60), strings.Repeat("y", 300), "&a", "*a", "!!x", "é\u00a0", "%", "|", "> x\n", "\ufeff", "? x"}

// TestMetadataPieces: the text in pieces is that of one document, byte for byte, in all
// profiles.
func TestMetadataPieces(t *testing.T) {
	qos := []storage.QoS{{History: storage.HistoryKeepLast, Depth: 10, Deadline: storage.QoSInfinite}, {}}
	for version := 1; version <= newestMetadata; version++ {
		for _, n := range []int{0, 1, 50, 200} {
			m := &Metadata{Version: version, StorageID: "sqlite3", Duration: 1, Start: -2, Messages: 3, Paths: []string{"a_0.db3"}}
			for i := range n {
				odd := func(k int) string { return oddTexts[(i*7+k)%len(oddTexts)] }
				m.Topics = append(m.Topics, Topic{Name: odd(0), Type: odd(1), Format: odd(2), Hash: odd(3), Messages: int64(i), QoS: qos[:i%3]})
				if last := &m.Topics[i]; i%2 == 0 {
					last.Name, last.Type, last.Format, last.Hash = "/a/b_1"+odd(0), "p/msg/T", cdr, []string{"", "RIHS01_0f"}[i/2%2]
				}
				if i < 40 {
					m.Paths = append(m.Paths, odd(4))
					m.Files = append(m.Files, File{Path: odd(5), Start: int64(i)})
				}
				if n > 100 {
					m.Custom = map[string]string{odd(6): odd(7), "b" + odd(8): odd(9)}
				}
				m.Distro = odd(10)
			}
			for _, outer := range []bool{true, false} {
				got, err := m.Encode(outer)
				check(t, err)
				if want := m.encodeWhole(t, outer); got != want {
					t.Fatalf("version %d, %d topics, outer %v: %s", version, n, outer, firstDifference(got, want))
				}
			}
		}
	}
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: %q, want %q", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(x), len(y))
}

// TestWithoutTopics: all but the topics is read as before.
func TestWithoutTopics(t *testing.T) {
	for version := 1; version <= newestMetadata; version++ {
		for _, n := range []int{0, 1, 20} {
			m := &Metadata{Version: version, StorageID: "sqlite3", Paths: []string{"a"}, Custom: map[string]string{"k": "v\nw"}, Distro: "foxy"}
			for i := range n {
				m.Topics = append(m.Topics, Topic{Name: oddTexts[i], Type: "p/msg/T", QoS: make([]storage.QoS, i%2)})
			}
			whole, err := m.Encode(false)
			check(t, err)
			text := WithoutTopics(whole)
			if n > 0 && strings.Contains(text, "topic_metadata") {
				t.Errorf("version %d, %d topics:\n%s", version, n, text)
			}
			got, _, err := ParseMetadata(t.Context(), []byte(text), QoSCache{})
			check(t, err)
			want, _, err := ParseMetadata(t.Context(), []byte(whole), QoSCache{})
			check(t, err)
			want.Topics = nil
			if !reflect.DeepEqual(got, want) {
				t.Errorf("version %d, %d topics: %+v, want %+v", version, n, got, want)
			}
		}
	}
	for _, text := range []string{"", "a: b\ntopics_with_message_count: [x]\n", "topics_with_message_count:\n"} {
		if got := WithoutTopics(text); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// FuzzMetadataPieces: the same for any text.
func FuzzMetadataPieces(f *testing.F) {
	for i, s := range oddTexts {
		f.Add(s, oddTexts[(i+1)%len(oddTexts)], i%10)
	}
	f.Fuzz(func(t *testing.T, a, b string, version int) {
		m := &Metadata{Version: version, StorageID: b, Topics: []Topic{{Name: a, Type: b, Format: b, Hash: a}, {Name: b, Type: a}, {Name: "/" + a, Type: "p/msg/T", Format: cdr, Hash: a, QoS: make([]storage.QoS, len(b)%3)}, {Name: a + "/", Type: b + "/", Format: cdr, Hash: "RIHS01_" + b}}, Paths: []string{a, b}, Custom: map[string]string{a: b, b: a}}
		for _, outer := range []bool{true, false} {
			got, err := m.Encode(outer)
			check(t, err)
			if want := m.encodeWhole(t, outer); got != want {
				t.Fatal(firstDifference(got, want))
			}
		}
	})
}

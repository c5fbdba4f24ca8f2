package ros2bag

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/costtest"
	"github.com/bagconv/bagconv/storage"
)

// manyKeys returns a mapping with n keys on one line.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ", k%d: v", i)
	}
	return "{" + b.String()[2:] + "}"
}

// TestManyKeys: a mapping with many keys is read in proportion to them. Comparing all
// pairs of so many keys would take longer than a test may run.
func TestManyKeys(t *testing.T) {
	const n = 200_000
	keys := manyKeys(n)
	for _, key := range []string{"custom_data", "unknown", "duration"} {
		m, odd, err := ParseMetadata(t.Context(), []byte("version: 9\n"+key+": "+keys), QoSCache{})
		check(t, err)
		if want := map[string]int{"custom_data": n}[key]; len(m.Custom) != want || odd != nil {
			t.Errorf("%s: %d keys, want %d; %v", key, len(m.Custom), want, odd)
		}
	}
	if list, err := ParseQoS("[" + keys + "]"); len(list) != 1 || err != nil {
		t.Errorf("a profile of %d keys: %d profiles, %v", n, len(list), err)
	}
}

// TestMetadataCost: reading metadata.yaml costs memory in proportion to its text.
func TestMetadataCost(t *testing.T) {
	topic := "\n  - topic_metadata: {name: /t%d, type: p/msg/T, serialization_format: cdr, offered_qos_profiles: \"- " +
		"depth: %[1]d\"}\n    message_count: 0"
	for name, text := range map[string]func(n int) string{
		"custom_data": func(n int) string { return "custom_data: " + manyKeys(n) },
		"topics": func(n int) string {
			var b strings.Builder
			for i := range n {
				fmt.Fprintf(&b, topic, i)
			}
			return "topics_with_message_count:" + b.String()
		},
		"profiles": func(n int) string {
			return "topics_with_message_count: [topic_metadata: {offered_qos_profiles: [" + strings.Repeat("{depth: 1}, ", n) +
				"]}]"
		},
	} {
		t.Run(name, func(t *testing.T) {
			costtest.Linear(t, 1000, func(n int) {
				_, odd, err := ParseMetadata(t.Context(), []byte("version: 9\n"+text(n)), QoSCache{})
				if err != nil || odd != nil {
					t.Fatal(err, odd)
				}
			})
		})
	}
}

// TestAliases: they are followed, and those to aliases of aliases are refused.
func TestAliases(t *testing.T) {
	m, odd, err := ParseMetadata(t.Context(), []byte(`version: 9
topics_with_message_count:
  - &t {topic_metadata: {name: &n /a, type: p/msg/T, offered_qos_profiles: &q [{depth: 5}]}, message_count: 1}
  - *t
  - topic_metadata: {name: *n, offered_qos_profiles: *q}
`), QoSCache{})
	check(t, err)
	if len(m.Topics) != 3 || odd != nil {
		t.Fatalf("%+v %v", m.Topics, odd)
	}
	for _, topic := range m.Topics {
		if topic.Name != "/a" || len(topic.QoS) != 1 || topic.QoS[0].Depth != 5 {
			t.Errorf("topic %+v", topic)
		}
	}
	const many = 20_000
	lists := "version: 9\nx: &q [" + strings.Repeat("{depth: 1}, ", many) +
		"]\ny: &t {topic_metadata: {offered_qos_profiles: *q}}\n"
	if _, _, err := ParseMetadata(t.Context(), []byte(lists+"topics_with_message_count: ["+strings.Repeat("*t, ", many)+
		"]"), QoSCache{}); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("%d times %d profiles: %v", many, many, err)
	}
	laughs := "version: 9\na0: &a0 {k: v}\n"
	for i := range 30 {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 10))
	}
	m, _, err = ParseMetadata(t.Context(), []byte(laughs+"custom_data: {k: *a30}\n"), QoSCache{})
	check(t, err)
	if got := m.Custom["k"]; len(got) > 200 {
		t.Errorf("a value of aliases became %d bytes", len(got))
	}
}

// TestCustomValues: values are the text that stands there, whatever YAML takes them for.
func TestCustomValues(t *testing.T) {
	m, _, err := ParseMetadata(t.Context(),
		[]byte(`{version: 9, custom_data: {a: 0x10, b: 1.0, c: 2001-12-14, d: yes, e: ~, f: !!binary /w==, g: [1, {h: "2"}]}}`), QoSCache{})
	check(t, err)
	want := map[string]string{"a": "0x10", "b": "1.0", "c": "2001-12-14", "d": "yes", "e": "", "f": "\xff",
		"g": `[1, {h: "2"}]`}
	if !maps.Equal(m.Custom, want) {
		t.Errorf("%q\nwant %q", m.Custom, want)
	}
}

// TestBrokenYAML: what does not fit is damage, with its line.
func TestBrokenYAML(t *testing.T) {
	for text, want := range map[string]string{
		"version: 9\nversion: 9":                        "line 2: key \"version\" appears twice",
		"version: 9\ncustom_data: {a: b, a: c}":         "line 2: key \"a\" appears twice",
		"version: 9\nstorage_identifier: [sqlite3]":     "line 2: it is not a string",
		"version: 9\ntopics_with_message_count: {a: b}": "line 2: it is not a sequence",
		"version: 9\nduration: 5":                       "line 2: it is not a mapping",
		"version: 9\ncustom_data:\n  f: !!binary =":     "line 3: ",
		"- 1\n- 2": "line 1: it is not a mapping",
		"version: 9\nfiles:\n  - {path: a, starting_time: {a: 1, a: 2}}": "line 3: key \"a\" appears twice",
	} {
		_, _, err := ParseMetadata(t.Context(), []byte(text), QoSCache{})
		if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestMetadataCancelled: parsing ends when its context does.
func TestMetadataCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := ParseMetadata(ctx, []byte("version: 9"), QoSCache{}); err != context.Canceled {
		t.Error(err)
	}
}

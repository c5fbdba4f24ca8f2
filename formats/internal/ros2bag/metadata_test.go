package ros2bag

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sampleQoS is two profiles, one of which is empty.
var sampleQoS = []storage.QoS{{
	History: storage.HistoryKeepLast, Depth: 7, Reliability: storage.ReliabilityReliable,
	Durability: storage.DurabilityTransientLocal, Deadline: storage.QoSInfinite, Lifespan: storage.QoSDuration{Sec: 1,
		NSec: 2},
	Liveliness: storage.LivelinessAutomatic, Lease: storage.QoSInfinite, AvoidROSNamespaceConventions: true,
}, {}}

const jazzyText = `rosbag2_bagfile_information:
  version: 9
  storage_identifier: sqlite3
  duration:
    nanoseconds: 5
  starting_time:
    nanoseconds_since_epoch: 9223372036854775807
  message_count: 1
  topics_with_message_count:
    - topic_metadata:
        name: /a
        type: p/msg/T
        serialization_format: cdr
        offered_qos_profiles:
          - history: keep_last
            depth: 10
            reliability: best_effort
            durability: transient_local
            deadline: {sec: 2147483647, nsec: 4294967295}
            lifespan: {sec: 2147483647, nsec: 2147483647}
            liveliness: manual_by_topic
            liveliness_lease_duration: {sec: 1, nsec: 2}
            avoid_ros_namespace_conventions: true
        type_description_hash: RIHS01_00
      message_count: 1
  compression_format: ZSTD
  compression_mode: message
  relative_file_paths:
    - a_0.db3
  files:
    - path: a_0.db3
      starting_time:
        nanoseconds_since_epoch: 7
      duration:
        nanoseconds: 5
      message_count: 1
  custom_data:
    k: v
    n: 5
    e: ~
  ros_distro: jazzy
`

func TestParseMetadata(t *testing.T) {
	m, odd, err := ParseMetadata(t.Context(), []byte(jazzyText), QoSCache{})
	check(t, err)
	want := &Metadata{
		Version: 9, StorageID: "sqlite3", Duration: 5, Start: 9223372036854775807, Messages: 1,
		Topics: []Topic{{Name: "/a", Type: "p/msg/T", Format: "cdr", Hash: "RIHS01_00", Messages: 1, QoS: []storage.QoS{{
			History: storage.HistoryKeepLast, Depth: 10, Reliability: storage.ReliabilityBestEffort,
			Durability: storage.DurabilityTransientLocal,
			Deadline:   storage.QoSInfinite, Lifespan: storage.QoSInfinite, Liveliness: storage.LivelinessManualByTopic,
			Lease: storage.QoSDuration{Sec: 1, NSec: 2}, AvoidROSNamespaceConventions: true,
		}}}},
		Compression: "zstd", Mode: "MESSAGE", Paths: []string{"a_0.db3"},
		Files:  []File{{Path: "a_0.db3", Start: 7, Duration: 5, Messages: 1}},
		Custom: map[string]string{"k": "v", "n": "5", "e": ""}, Distro: "jazzy",
	}
	if !reflect.DeepEqual(m, want) || odd != nil {
		t.Errorf("got %+v %v\nwant %+v", m, odd, want)
	}
	for _, text := range []string{"", "a: b", "[1]", "rosbag2_bagfile_information: x", "\xff", "a: &a [*a]",
		"rosbag2_bagfile_information:\n  version: 0\n"} {
		if _, _, err := ParseMetadata(t.Context(), []byte(text), QoSCache{}); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%q: %v", text, err)
		}
	}
	m, odd, err = ParseMetadata(t.Context(), []byte(strings.ReplaceAll(jazzyText, "best_effort", "sometimes")), QoSCache{})
	if err != nil || len(odd) != 1 || m.Topics[0].QoS != nil {
		t.Errorf("unknown policy: %v %v", odd, err)
	}
}

// FuzzMetadata: whatever parses is written and parsed again to the same.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte(jazzyText))
	f.Add([]byte("version: 5\ntopics_with_message_count:\n  - topic_metadata: {name: a, offered_qos_profiles: \"- " +
		"history: 3\\n  depth: 0\"}\n    message_count: 3\ncustom_data: ~\n"))
	f.Add([]byte("version: 1\nrelative_file_paths: [a, b]\nstarting_time: {nanoseconds_since_epoch: -5}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, _, err := ParseMetadata(t.Context(), text, QoSCache{})
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		m.Files = nil
		out, err := m.Encode(true)
		if err != nil {
			t.Fatal(err)
		}
		again, odd, err := ParseMetadata(t.Context(), []byte(out), QoSCache{})
		if err != nil || odd != nil {
			t.Fatalf("%v %v of\n%s", err, odd, out)
		}
		if again.Files = nil; again.Messages != m.Messages || len(again.Topics) != len(m.Topics) ||
			len(again.Custom) != len(m.Custom) {
			t.Fatalf("%+v\n%+v\n%s", m, again, out)
		}
		for i := range m.Topics {
			if a, b := m.Topics[i], again.Topics[i]; a.Name != b.Name || a.Type != b.Type || len(a.QoS) != len(b.QoS) {
				t.Fatalf("%+v\n%+v\n%s", a, b, out)
			}
		}
	})
}

// FuzzQoS: profiles keep their meaning as numbers and as names.
func FuzzQoS(f *testing.F) {
	f.Add(QoSText(sampleQoS, false))
	f.Add(QoSText(sampleQoS, true))
	f.Add("- history: 9\n")
	f.Add("- &a {deadline: {sec: 2147483647, nsec: 4294967295}}\n- *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseQoS(text)
		if err != nil {
			return
		}
		for _, names := range []bool{false, true} {
			again, err := ParseQoS(QoSText(list, names))
			if err != nil || len(again) != len(list) || len(list) > 0 && !reflect.DeepEqual(again, list) {
				t.Fatalf("%v: %+v\n%+v", err, list, again)
			}
		}
	})
}

// TestQoSText: the text of profiles is as rosbag2 writes it.
func TestQoSText(t *testing.T) {
	const numbers = `- history: 1
  depth: 7
  reliability: 1
  durability: 1
  deadline:
    sec: 9223372036
    nsec: 854775807
  lifespan:
    sec: 1
    nsec: 2
  liveliness: 1
  liveliness_lease_duration:
    sec: 9223372036
    nsec: 854775807
  avoid_ros_namespace_conventions: true
- history: 0
  depth: 0
  reliability: 0
  durability: 0
  deadline:
    sec: 0
    nsec: 0
  lifespan:
    sec: 0
    nsec: 0
  liveliness: 0
  liveliness_lease_duration:
    sec: 0
    nsec: 0
  avoid_ros_namespace_conventions: false`
	names := strings.NewReplacer("history: 1", "history: keep_last", "history: 0", "history: system_default",
		"reliability: 1", "reliability: reliable", "reliability: 0", "reliability: system_default",
		"durability: 1", "durability: transient_local", "durability: 0", "durability: system_default",
		"liveliness: 1", "liveliness: automatic", "liveliness: 0", "liveliness: system_default").Replace(numbers)
	for _, c := range []struct {
		got, want string
	}{
		{QoSText(sampleQoS, false), numbers}, {QoSText(sampleQoS, true), names}, {QoSText(nil, false),
			""}, {QoSText(nil, true), "[]"},
		{QoSText([]storage.QoS{{History: 99}}, true)[:18], "- history: unknown"},
	} {
		if c.got != c.want {
			t.Errorf("%s\nwant %s", c.got, c.want)
		}
	}
}

// TestSetParts: times before 1970, the widest duration, and parts without messages.
func TestSetParts(t *testing.T) {
	var a, b Part
	for _, stamp := range []int64{7, -5, 3} {
		a.Add(stamp)
	}
	b.Add(math.MaxInt64)
	a.Name, b.Name = "a", "b"
	for _, c := range []struct {
		parts           []Part
		start, duration int64
		messages        int64
	}{
		{nil, math.MaxInt64, 0, 0}, {[]Part{{Name: "x"}}, math.MaxInt64, 0, 0}, {[]Part{a, {Name: "x"}}, 0, 12,
			3}, {[]Part{a, b}, 0, math.MaxInt64, 4}, {[]Part{b}, math.MaxInt64, 0, 1},
	} {
		var m Metadata
		m.SetParts(c.parts)
		if m.Start != c.start || m.Duration != c.duration || m.Messages != c.messages || len(m.Files) != len(c.parts) ||
			len(m.Paths) != len(c.parts) {
			t.Errorf("%v: %+v", c.parts, m)
		}
	}
}

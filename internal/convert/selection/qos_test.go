package selection

import (
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestProfiles: what is named is changed in each profile, and nothing else.
func TestProfiles(t *testing.T) {
	add := func(e *Edit, pattern string, settings ...string) {
		p, err := NewProfile(pattern, settings)
		if err != nil {
			t.Fatal(err)
		}
		e.QoS = append(e.QoS, p)
	}
	e := &Edit{}
	add(e, "/cam*", "best_effort", "depth=3")
	add(e, "/camera", "transient_local")
	in := []storage.QoS{{Depth: 1, Deadline: storage.QoSInfinite}, {Reliability: storage.ReliabilityReliable}}
	got := e.Profiles("/camera", in)
	want := []storage.QoS{
		{Depth: 3, Deadline: storage.QoSInfinite, Reliability: storage.ReliabilityBestEffort,
			Durability: storage.DurabilityTransientLocal},
		{Depth: 3, Reliability: storage.ReliabilityBestEffort, Durability: storage.DurabilityTransientLocal},
	}
	if !slices.Equal(got, want) || in[0].Depth != 1 {
		t.Errorf("%+v\nwant %+v; source %+v", got, want, in)
	}
	if got := e.Profiles("/imu", in); !slices.Equal(got, in) {
		t.Errorf("/imu: %+v", got)
	}
	one := defaultQoS
	one.Reliability, one.Depth = storage.ReliabilityBestEffort, 3
	if got := e.Profiles("/cam", nil); !slices.Equal(got, []storage.QoS{one}) {
		t.Errorf("a topic without profiles: %+v", got)
	}
	for _, bad := range [][]string{nil, {"fast"}} {
		if _, err := NewProfile("/a", bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

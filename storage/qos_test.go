package storage

import (
	"strings"
	"testing"
)

func TestQoSSet(t *testing.T) {
	q := QoS{History: HistoryKeepLast, Depth: 10, Reliability: ReliabilityReliable, Durability: DurabilityVolatile}
	for _, text := range strings.Split(
		"best_effort,transient_local,keep_all,depth=7,deadline=1.5s,lifespan=infinite,liveliness=manual_by_topic,liveliness_lease_duration=1ms,avoid_ros_namespace_conventions=true", ",") {
		if err := q.Set(text); err != nil {
			t.Error(err)
		}
	}
	want := QoS{History: HistoryKeepAll, Depth: 7, Reliability: ReliabilityBestEffort,
		Durability: DurabilityTransientLocal,
		Deadline:   QoSDuration{1, 5e8}, Lifespan: QoSInfinite, Liveliness: LivelinessManualByTopic,
		Lease: QoSDuration{0, 1e6}, AvoidROSNamespaceConventions: true}
	if q != want {
		t.Errorf("%+v\nwant %+v", q, want)
	}
	for _, text := range []string{"", "system_default", "reliability=fast", "depth=-1", "depth=x", "deadline=-1s",
		"deadline=5", "history=9", "color=red"} {
		if err := q.Set(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
	if err := q.Set("history=unknown"); err != nil || q.History != HistoryUnknown {
		t.Error(err)
	}
}

package mapping

import "github.com/bagconv/bagconv/storage"

// latchedQoS is what a latched ROS 1 publisher becomes: late subscribers get its
// last message. A publisher that is not latched offers nothing special; players
// then use their default, reliable and volatile.
var latchedQoS = storage.QoS{
	History: storage.HistoryKeepLast, Depth: 1,
	Reliability: storage.ReliabilityReliable,
	Durability:  storage.DurabilityTransientLocal,
	Deadline:    storage.QoSInfinite, Lifespan: storage.QoSInfinite, Lease: storage.QoSInfinite,
	Liveliness: storage.LivelinessAutomatic,
}

// tfStatic is always latched, whatever its publisher offered: its readers rely on it.
func tfStatic(topic string) bool { return topic == "/tf_static" || topic == "tf_static" }

// latch sets the profile of a topic in ROS 2 that is latched in ROS 1; other topics keep their profiles.
func (r *Result) latch() {
	if r.Topic.Metadata[storage.MetaLatching] == "1" || tfStatic(r.Topic.Name) {
		r.Topic.QoS = []storage.QoS{latchedQoS}
	}
}

// ros1Latching returns the latching flag for a topic that comes from ROS 2: what
// its bag once had, else what its publishers offer.
func ros1Latching(t *storage.Topic) string {
	if v, ok := t.Metadata[storage.MetaLatching]; ok {
		return v
	}
	if tfStatic(t.Name) {
		return "1"
	}
	for _, q := range t.QoS {
		if q.Durability == storage.DurabilityTransientLocal {
			return "1"
		}
	}
	return "0"
}

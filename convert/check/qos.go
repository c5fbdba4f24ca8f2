package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// qosDifference returns the first policy in which profiles differ that players ask to be the same,
// with its values: "reliability: reliable, best_effort"; "" for no difference. A player offers the
// recorded profile only if publishers have agreed on all but the history and the lifespan. Source:
// ros2/rosbag2 rosbag2_transport/src/rosbag2_transport/qos.cpp.
func qosDifference(list []storage.QoS) string {
	for _, p := range []struct {
		name string
		text func(*storage.QoS) string
	}{
		{"reliability", func(q *storage.QoS) string { return nameOf(uint8(q.Reliability), storage.ReliabilityNames) }},
		{"durability", func(q *storage.QoS) string { return nameOf(uint8(q.Durability), storage.DurabilityNames) }},
		{"deadline", func(q *storage.QoS) string { return q.Deadline.String() }},
		{"liveliness", func(q *storage.QoS) string { return nameOf(uint8(q.Liveliness), storage.LivelinessNames) }},
		{"liveliness lease duration", func(q *storage.QoS) string { return q.Lease.String() }},
	} {
		var values []string
		for i := range list {
			if v := p.text(&list[i]); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) > 1 {
			return p.name + ": " + strings.Join(values, ", ")
		}
	}
	return ""
}

func nameOf(n uint8, names []string) string {
	if int(n) < len(names) {
		return names[n]
	}
	return strconv.Itoa(int(n))
}

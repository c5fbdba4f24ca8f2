package storage

import (
	"math"
	"strconv"
)

// A QoSText is a QoS profile for JSON: policies by the names that rosbag2 has for them, durations
// in ns as text, "infinite" for a duration that is infinite or does not fit.
type QoSText struct {
	History     string `json:"history"`
	Depth       int64  `json:"depth"`
	Reliability string `json:"reliability"`
	Durability  string `json:"durability"`
	Liveliness  string `json:"liveliness"`
	DeadlineNS  string `json:"deadline_ns"`
	LifespanNS  string `json:"lifespan_ns"`
	LeaseNS     string `json:"liveliness_lease_duration_ns"`
}

// Text returns the profile for JSON. A policy without a name is its number.
func (q *QoS) Text() QoSText {
	return QoSText{
		History: policyText(HistoryNames, q.History), Depth: q.Depth,
		Reliability: policyText(ReliabilityNames, q.Reliability), Durability: policyText(DurabilityNames, q.Durability),
		Liveliness: policyText(LivelinessNames, q.Liveliness),
		DeadlineNS: q.Deadline.nsText(), LifespanNS: q.Lifespan.nsText(), LeaseNS: q.Lease.nsText(),
	}
}

func policyText[T ~uint8](names []string, p T) string {
	if int(p) < len(names) {
		return names[p]
	}
	return strconv.Itoa(int(p))
}

func (d QoSDuration) nsText() string {
	if d.Sec >= QoSInfinite.Sec || d.NSec > math.MaxInt64/2 {
		return "infinite"
	}
	return strconv.FormatUint(d.Sec*1e9+d.NSec, 10)
}

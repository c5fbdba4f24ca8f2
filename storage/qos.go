package storage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The names of the policies, indexed by their numbers, as rosbag2 writes them.
var (
	HistoryNames     = []string{"system_default", "keep_last", "keep_all", "unknown"}
	ReliabilityNames = []string{"system_default", "reliable", "best_effort", "unknown", "best_available"}
	DurabilityNames  = []string{"system_default", "transient_local", "volatile", "unknown", "best_available"}
	LivelinessNames  = []string{"system_default", "automatic", "manual_by_node", "manual_by_topic", "unknown",
		"best_available"}
)

// qosWords are values that name their policy by themselves.
var qosWords = map[string]string{
	"keep_last": "history", "keep_all": "history", "reliable": "reliability", "best_effort": "reliability",
	"transient_local": "durability", "volatile": "durability",
	"automatic": "liveliness", "manual_by_node": "liveliness", "manual_by_topic": "liveliness",
}

// Set sets a policy from its text: a word such as "reliable", or a key of rosbag2's
// profiles with a value, such as "depth=10", "durability=volatile" and "deadline=100ms".
func (q *QoS) Set(text string) error {
	key, value, ok := strings.Cut(text, "=")
	if !ok {
		key, value = qosWords[text], text
	}
	var err error
	switch key {
	case "history":
		q.History, err = policy[History](value, HistoryNames)
	case "depth":
		q.Depth, err = strconv.ParseInt(value, 10, 64)
		if err == nil && q.Depth < 0 {
			err = strconv.ErrRange
		}
	case "reliability":
		q.Reliability, err = policy[Reliability](value, ReliabilityNames)
	case "durability":
		q.Durability, err = policy[Durability](value, DurabilityNames)
	case "liveliness":
		q.Liveliness, err = policy[Liveliness](value, LivelinessNames)
	case "deadline":
		q.Deadline, err = parseQoSDuration(value)
	case "lifespan":
		q.Lifespan, err = parseQoSDuration(value)
	case "liveliness_lease_duration":
		q.Lease, err = parseQoSDuration(value)
	case "avoid_ros_namespace_conventions":
		q.AvoidROSNamespaceConventions, err = strconv.ParseBool(value)
	default:
		return fmt.Errorf("%q is not a policy of a QoS profile", text)
	}
	if err != nil {
		return fmt.Errorf("%q: %q is not one of its values", text, value)
	}
	return nil
}

// policy returns the number of a policy by its name, or by its number.
func policy[P ~uint8](value string, names []string) (P, error) {
	if i := slices.Index(names, strings.ToLower(value)); i >= 0 {
		return P(i), nil
	}
	n, err := strconv.ParseUint(value, 10, 8)
	if err == nil && int(n) >= len(names) {
		err = strconv.ErrRange
	}
	return P(n), err
}

func parseQoSDuration(value string) (QoSDuration, error) {
	if value == "infinite" {
		return QoSInfinite, nil
	}
	d, err := time.ParseDuration(value)
	if err == nil && d < 0 {
		err = strconv.ErrRange
	}
	return QoSDuration{uint64(d / time.Second), uint64(d % time.Second)}, err
}

// String formats d as Set parses it; 0 is "unspecified".
func (d QoSDuration) String() string {
	switch {
	case d == QoSInfinite:
		return "infinite"
	case d == QoSDuration{}:
		return "unspecified"
	case d.Sec > 1<<33 || d.NSec > 1e9:
		return fmt.Sprintf("%d s and %d ns", d.Sec, d.NSec)
	}
	return (time.Duration(d.Sec)*time.Second + time.Duration(d.NSec)).String()
}

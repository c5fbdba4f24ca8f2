package rosbag2

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/storage"
	"gopkg.in/yaml.v3"
)

// QoS profiles are a YAML list with one map per publisher. Up to metadata
// version 8 the policies are the numbers of rmw, from 9 on (Jazzy) their names;
// which of the two a text has is told by each value itself. Source:
// ros2/rosbag2 rosbag2_storage/src/rosbag2_storage/qos.cpp and yaml.hpp.

// The policy names, indexed by their numbers.
var (
	historyNames     = []string{"system_default", "keep_last", "keep_all", "unknown"}
	reliabilityNames = []string{"system_default", "reliable", "best_effort", "unknown", "best_available"}
	durabilityNames  = []string{"system_default", "transient_local", "volatile", "unknown", "best_available"}
	livelinessNames  = []string{"system_default", "automatic", "manual_by_node", "manual_by_topic", "unknown", "best_available"}
)

// maxQoS bounds the profiles of one topic that are kept.
const maxQoS = 10000

type qosYAML struct {
	History     yaml.Node   `yaml:"history"`
	Depth       yaml.Node   `yaml:"depth"`
	Reliability yaml.Node   `yaml:"reliability"`
	Durability  yaml.Node   `yaml:"durability"`
	Deadline    durationYML `yaml:"deadline"`
	Lifespan    durationYML `yaml:"lifespan"`
	Liveliness  yaml.Node   `yaml:"liveliness"`
	Lease       durationYML `yaml:"liveliness_lease_duration"`
	Avoid       yaml.Node   `yaml:"avoid_ros_namespace_conventions"`
}

type durationYML struct {
	Sec  yaml.Node `yaml:"sec"`
	NSec yaml.Node `yaml:"nsec"`
}

// parseQoSText reads the text of a topics row or of metadata.yaml before
// version 9. Empty text is no profile.
func parseQoSText(text string) ([]storage.QoS, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		return nil, fmt.Errorf("QoS: %w: %w", err, storage.ErrCorrupt)
	}
	return parseQoSNode(&n)
}

// parseQoSNode reads a sequence of profiles.
func parseQoSNode(n *yaml.Node) ([]storage.QoS, error) {
	var list []qosYAML
	if err := n.Decode(&list); err != nil {
		return nil, fmt.Errorf("QoS: %w: %w", err, storage.ErrCorrupt)
	}
	if len(list) > maxQoS {
		return nil, fmt.Errorf("QoS: %d profiles: %w", len(list), storage.ErrUnsupported)
	}
	var out []storage.QoS
	for i := range list {
		q, err := list[i].qos()
		if err != nil {
			return nil, fmt.Errorf("QoS: profile %d: %w: %w", i, err, storage.ErrCorrupt)
		}
		out = append(out, q)
	}
	return out, nil
}

func (y *qosYAML) qos() (q storage.QoS, err error) {
	policy := func(n *yaml.Node, what string, names []string) uint8 {
		v, e := parsePolicy(n.Value, names)
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %w", what, e)
		}
		return v
	}
	number := func(n *yaml.Node, what string) uint64 {
		v, e := parseUint(n.Value)
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %w", what, e)
		}
		return v
	}
	duration := func(d *durationYML, what string) storage.QoSDuration {
		return normalDuration(storage.QoSDuration{Sec: number(&d.Sec, what), NSec: number(&d.NSec, what)})
	}
	q = storage.QoS{
		History:     storage.History(policy(&y.History, "history", historyNames)),
		Depth:       int64(min(number(&y.Depth, "depth"), 1<<63-1)),
		Reliability: storage.Reliability(policy(&y.Reliability, "reliability", reliabilityNames)),
		Durability:  storage.Durability(policy(&y.Durability, "durability", durabilityNames)),
		Deadline:    duration(&y.Deadline, "deadline"),
		Lifespan:    duration(&y.Lifespan, "lifespan"),
		Liveliness:  storage.Liveliness(policy(&y.Liveliness, "liveliness", livelinessNames)),
		Lease:       duration(&y.Lease, "liveliness_lease_duration"),
	}
	q.AvoidROSNamespaceConventions = strings.EqualFold(y.Avoid.Value, "true")
	return q, err
}

// parsePolicy takes a number or a name; nothing is the system's default.
func parsePolicy(s string, names []string) (uint8, error) {
	if s == "" {
		return 0, nil
	}
	if i := slices.Index(names, strings.ToLower(s)); i >= 0 {
		return uint8(i), nil
	}
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil || int(n) >= len(names) {
		return 0, fmt.Errorf("no such policy: %.40q", s)
	}
	return uint8(n), nil
}

// parseUint takes what C++ decoders take for an unsigned number, and a negative
// one as 0.
func parseUint(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	if strings.HasPrefix(s, "-") {
		_, err := strconv.ParseInt(s, 10, 64)
		return 0, err
	}
	return strconv.ParseUint(s, 10, 64)
}

// normalDuration maps the infinities that Fast DDS and Connext leaked into
// Foxy's recordings to the one that rosbag2 writes since.
func normalDuration(d storage.QoSDuration) storage.QoSDuration {
	if d.Sec == 2147483647 && (d.NSec == 4294967295 || d.NSec == 2147483647) {
		return storage.QoSInfinite
	}
	return d
}

// qosText is the YAML text of the profiles, with numbers or with names. No
// profile is "" with numbers and "[]" with names, as rosbag2 writes them.
func qosText(list []storage.QoS, names bool) string {
	if len(list) == 0 {
		if names {
			return "[]"
		}
		return ""
	}
	policy := func(v uint8, table []string) string {
		if int(v) >= len(table) {
			v = uint8(slices.Index(table, "unknown"))
		}
		if names {
			return table[v]
		}
		return strconv.Itoa(int(v))
	}
	var b strings.Builder
	duration := func(key string, d storage.QoSDuration) {
		d = normalDuration(d)
		fmt.Fprintf(&b, "  %s:\n    sec: %d\n    nsec: %d\n", key, d.Sec, d.NSec)
	}
	for _, q := range list {
		fmt.Fprintf(&b, "- history: %s\n  depth: %d\n  reliability: %s\n  durability: %s\n",
			policy(uint8(q.History), historyNames), max(q.Depth, 0),
			policy(uint8(q.Reliability), reliabilityNames), policy(uint8(q.Durability), durabilityNames))
		duration("deadline", q.Deadline)
		duration("lifespan", q.Lifespan)
		fmt.Fprintf(&b, "  liveliness: %s\n", policy(uint8(q.Liveliness), livelinessNames))
		duration("liveliness_lease_duration", q.Lease)
		fmt.Fprintf(&b, "  avoid_ros_namespace_conventions: %t\n", q.AvoidROSNamespaceConventions)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

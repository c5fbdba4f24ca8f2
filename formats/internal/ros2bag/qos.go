package ros2bag

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/yaml"
	"github.com/bagconv/bagconv/storage"
)

// QoS profiles are a YAML list with one map per publisher. Up to metadata
// version 8 the policies are the numbers of rmw, from 9 on (Jazzy) their names;
// each value itself shows which of the two a text has. Source:
// ros2/rosbag2 rosbag2_storage/src/rosbag2_storage/qos.cpp and yaml.hpp.

// maxQoS bounds the profiles of one topic that are kept.
const maxQoS = 10000

// ParseQoS reads the text of a topics row or of metadata.yaml before
// version 9. Empty text is not a profile.
func ParseQoS(text string) ([]storage.QoS, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	root, err := parseYAML(context.Background(), []byte(text))
	if err != nil {
		return nil, fmt.Errorf("QoS: %w", err)
	}
	r := newYAMLReader(len(text))
	return r.profiles(root)
}

// profiles returns a sequence of profiles. It shares the reader's error.
func (r *yamlReader) profiles(n *yaml.Node) (out []storage.QoS, err error) {
	list := r.items(n)
	if len(list) > maxQoS {
		return nil, fmt.Errorf("QoS: %d profiles: %w", len(list), storage.ErrUnsupported)
	}
	for i, n := range list {
		q := r.profile(n)
		if r.err != nil {
			return nil, fmt.Errorf("QoS: profile %d: %w", i, r.err)
		}
		out = append(out, q)
	}
	if r.err != nil {
		return nil, fmt.Errorf("QoS: %w", r.err)
	}
	return out, nil
}

func (r *yamlReader) profile(n *yaml.Node) (q storage.QoS) {
	policy := func(v *yaml.Node, what string, names []string) uint8 {
		p, err := parsePolicy(v.Value, names)
		if err != nil {
			r.fail(v, "%s: %v", what, err)
		}
		return p
	}
	r.fields(n, func(key string, v *yaml.Node) {
		switch key {
		case "history":
			q.History = storage.History(policy(v, key, storage.HistoryNames))
		case "depth":
			q.Depth = int64(min(r.unsigned(v, key), math.MaxInt64))
		case "reliability":
			q.Reliability = storage.Reliability(policy(v, key, storage.ReliabilityNames))
		case "durability":
			q.Durability = storage.Durability(policy(v, key, storage.DurabilityNames))
		case "deadline":
			q.Deadline = r.duration(v, key)
		case "lifespan":
			q.Lifespan = r.duration(v, key)
		case "liveliness":
			q.Liveliness = storage.Liveliness(policy(v, key, storage.LivelinessNames))
		case "liveliness_lease_duration":
			q.Lease = r.duration(v, key)
		case "avoid_ros_namespace_conventions":
			q.AvoidROSNamespaceConventions = strings.EqualFold(v.Value, "true")
		}
	})
	return q
}

func (r *yamlReader) duration(n *yaml.Node, what string) (d storage.QoSDuration) {
	r.fields(n, func(key string, v *yaml.Node) {
		switch key {
		case "sec":
			d.Sec = r.unsigned(v, what)
		case "nsec":
			d.NSec = r.unsigned(v, what)
		}
	})
	return normalDuration(d)
}

func (r *yamlReader) unsigned(n *yaml.Node, what string) uint64 {
	v, err := parseUint(n.Value)
	if err != nil {
		r.fail(n, "%s: %v", what, err)
	}
	return v
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

// normalDuration maps the infinities that Fast DDS and Connext leaked into Foxy's recordings to the
// infinity that rosbag2 writes since.
func normalDuration(d storage.QoSDuration) storage.QoSDuration {
	if d.Sec == 2147483647 && (d.NSec == 4294967295 || d.NSec == 2147483647) {
		return storage.QoSInfinite
	}
	return d
}

// QoSText returns the YAML text of the profiles, with numbers or with names. No
// profile is "" with numbers and "[]" with names, as rosbag2 writes them.
func QoSText(list []storage.QoS, names bool) string {
	if len(list) == 0 {
		if names {
			return "[]"
		}
		return ""
	}
	b := yamlText{step: 2}
	b.elements(len(list), func(i int) { writeProfile(&b, &list[i], names) })
	return strings.TrimSuffix(b.String(), "\n")
}

func writeProfile(b *yamlText, q *storage.QoS, names bool) {
	policy := func(key string, v uint8, table []string) {
		if int(v) >= len(table) {
			v = uint8(slices.Index(table, "unknown"))
		}
		if names {
			b.line(key, ": ", table[v])
		} else {
			b.number(key, int64(v))
		}
	}
	duration := func(key string, d storage.QoSDuration) {
		d = normalDuration(d)
		b.nested(key, func() {
			b.line("sec: ", strconv.FormatUint(d.Sec, 10))
			b.line("nsec: ", strconv.FormatUint(d.NSec, 10))
		})
	}
	policy("history", uint8(q.History), storage.HistoryNames)
	b.number("depth", max(q.Depth, 0))
	policy("reliability", uint8(q.Reliability), storage.ReliabilityNames)
	policy("durability", uint8(q.Durability), storage.DurabilityNames)
	duration("deadline", q.Deadline)
	duration("lifespan", q.Lifespan)
	policy("liveliness", uint8(q.Liveliness), storage.LivelinessNames)
	duration("liveliness_lease_duration", q.Lease)
	b.line("avoid_ros_namespace_conventions: ", strconv.FormatBool(q.AvoidROSNamespaceConventions))
}

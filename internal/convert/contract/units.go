package contract

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/yaml"

	"github.com/bagconv/bagconv/internal/convert/selection"
)

// A Duration is a time in ns, written with its unit: 50ms, 2s, 1h30m.
type Duration int64

// String writes the duration as a contract does.
func (d Duration) String() string { return time.Duration(d).String() }

// MarshalYAML implements yaml.Marshaler.
func (d Duration) MarshalYAML() (any, error) { return d.String(), nil }

// UnmarshalYAML implements yaml.Unmarshaler.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v <= 0 || n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: %q is not a duration, such as 50ms, 2s or 1h30m", n.Line, n.Value)
	}
	*d = Duration(v)
	return nil
}

// A Size is a number of bytes: 1000000, 768K, 2G (of 1024), 2GB (of 1000).
type Size int64

// String writes the number of bytes.
func (s Size) String() string { return strconv.FormatInt(int64(s), 10) + " bytes" }

// MarshalYAML implements yaml.Marshaler.
func (s Size) MarshalYAML() (any, error) { return int64(s), nil }

var sizeUnits = map[string]float64{
	"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30,
	"TIB": 1 << 40,
	"KB":  1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (s *Size) UnmarshalYAML(n *yaml.Node) error {
	text := strings.ToUpper(strings.TrimSpace(n.Value))
	digits := strings.TrimRight(text, "BIKMGT")
	unit, known := sizeUnits[text[len(digits):]]
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if v *= unit; err != nil || !known || !(v >= 0 && v < math.MaxInt64/2) || n.Kind != yaml.ScalarNode {
		return fmt.Errorf("line %d: %q is not a size, such as 768K, 2G or 2GB", n.Line, n.Value)
	}
	*s = Size(v)
	return nil
}

// Types are the types that a topic may have, one or a list of them, as patterns. A
// ROS type is the same with and without the msg that ROS 2 has in the middle.
type Types []string

// MarshalYAML implements yaml.Marshaler.
func (t Types) MarshalYAML() (any, error) {
	if len(t) == 1 {
		return t[0], nil
	}
	return []string(t), nil
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (t *Types) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		var one string
		if err := n.Decode(&one); err != nil {
			return err
		}
		*t = Types{one}
		return nil
	}
	var list []string
	if err := n.Decode(&list); err != nil || len(list) == 0 {
		return fmt.Errorf("line %d: type must be a name or a list of names", n.Line)
	}
	*t = list
	return nil
}

// Allow reports whether a type is one of them.
func (t Types) Allow(name string) bool {
	for _, want := range t {
		if p, err := selection.ParsePattern(want); err == nil && p.MatchType(name) {
			return true
		}
	}
	return false
}

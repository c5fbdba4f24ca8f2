package mapping

import (
	"strings"

	"github.com/bagconv/bagconv/internal/schema/facts"
	"github.com/bagconv/bagconv/storage"
)

// A Which is the definition of a topic, and why it is that one. Its JSON is the JSON of bagconv defs which,
// which docs/json.md describes.
type Which struct {
	Name       string   `json:"name"`
	Type       string   `json:"type"`
	Encoding   string   `json:"encoding"`
	Definition string   `json:"definition"` // "file", "builtin humble", "given PATH", "none"
	Layout     string   `json:"layout"`     // facts.Layout; "" if the type is not of ROS
	Why        []string `json:"why"`
	Tried      int      `json:"tried_messages"`
	Candidates []Try    `json:"candidates"` // that were tried on messages, in the order of preference
}

// Which explains which definition a topic has.
func (m *Mapper) Which(evidence *Evidence, t *storage.Topic) Which {
	w := Which{Name: t.Name, Type: t.Type, Encoding: t.Encoding, Definition: "none", Why: []string{}}
	w.Candidates, w.Tried = evidence.Tries(t)
	d, err := m.Define(t)
	if err != nil {
		w.Why = append(w.Why, err.Error())
		return w
	}
	if w.Definition = d.Origin; d.ROS != nil {
		w.Layout = facts.Layout(d.ROS)
	}
	for _, r := range d.Remarks {
		w.Why = append(w.Why, r.Message)
	}
	if len(w.Why) == 0 {
		w.Why = append(w.Why, ownReason(t))
	}
	return w
}

// ownReason explains why a recording's own definition is used.
func ownReason(t *storage.Topic) string {
	sum := t.Metadata[storage.MetaMD5Sum]
	switch {
	case t.Encoding == "cdr" && strings.HasPrefix(t.Metadata[storage.MetaTypeHash], "RIHS01_"):
		return "the recording's own, which has the type hash of the topic"
	case t.Encoding == "ros1" && sum != "" && sum != "*":
		return "the recording's own, which has the md5sum of the topic"
	case t.Encoding == "ros1" || t.Encoding == "cdr":
		return "the recording's own; it has no sum to compare with"
	}
	return "the recording's own"
}

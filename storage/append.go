package storage

import (
	"bytes"
	"fmt"
	"slices"
)

// Continues reports whether messages of t may be added to a topic of a recording, which
// has its name. The error wraps ErrContradicts: type, encoding and definition must be the
// same as far as both have them, and so must each QoS profile of t. Definitions are the same if their md5sums or hashes
// are, else if their bytes are.
func (t *Topic) Continues(old *Topic) error {
	switch {
	case t.Type != old.Type:
		return contradiction(t, "type", t.Type, old.Type)
	case t.Encoding != old.Encoding:
		return contradiction(t, "encoding", t.Encoding, old.Encoding)
	case len(old.QoS) > 0 && slices.ContainsFunc(t.QoS, func(q QoS) bool { return !slices.Contains(old.QoS, q) }):
		return fmt.Errorf("topic %.200q: it has a QoS profile that this topic does not have in the recording: %w", t.Name,
			ErrContradicts)
	}
	for _, key := range []string{MetaMD5Sum, MetaTypeHash} {
		a, b := t.Metadata[key], old.Metadata[key]
		switch {
		case a == "" || b == "" || a == "*" || b == "*":
		case a != b:
			return contradiction(t, key, a, b)
		default:
			return nil
		}
	}
	if len(t.Schema.Data) > 0 && len(old.Schema.Data) > 0 && (t.Schema.Encoding != old.Schema.Encoding ||
		!bytes.Equal(t.Schema.Data, old.Schema.Data)) {
		return fmt.Errorf("topic %.200q: its definition of %s differs from the one in the recording: %w", t.Name, t.Type,
			ErrContradicts)
	}
	return nil
}

func contradiction(t *Topic, what, is, was string) error {
	return fmt.Errorf("topic %.200q: its %s is %.200s, and in the recording %.200s: %w", t.Name, what, is, was,
		ErrContradicts)
}

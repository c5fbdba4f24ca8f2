package mapping

import (
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// Complete is told all topics of a recording before Map is asked for the first of
// them. It decides whether those that stay CDR and have no definition get the
// standard one. A recording without any definition gets all of them or none:
// readers that find one take the recording's own for everything, and could no
// longer decode the types that have none.
func (m *Mapper) Complete(topics []*storage.Topic) {
	some, missing := false, false
	for _, t := range topics {
		switch {
		case t.Encoding != "cdr":
		case defined(t):
			some = true
		default:
			def, _ := m.standard2(t)
			missing = missing || def == nil
		}
	}
	m.complete = m.o.Encoding == "cdr" && (some || !missing)
}

// defined reports whether a topic comes with its definition. The text of a ROS 2 type
// without fields is empty; a type hash shows if it only is missing.
func defined(t *storage.Topic) bool {
	if len(t.Schema.Data) > 0 || t.Encoding != "cdr" || t.Schema.Encoding == "" {
		return len(t.Schema.Data) > 0
	}
	hash := t.Metadata[storage.MetaTypeHash]
	return !validHash(hash) || hash == hashOf(&schema.Message{Name: fullROS2Name(t.Type)})
}

// standard2 returns the standard definition of a ROS 2 topic: that with its type
// hash; that of its distribution, if that is certain; or one that all
// distributions share. It is nil if there is none.
func (m *Mapper) standard2(t *storage.Topic) (*schema.Message, string) {
	name := fullROS2Name(t.Type)
	if hash := t.Metadata[storage.MetaTypeHash]; validHash(hash) {
		return m.lib.byHash(name, hash)
	}
	if m.o.Certain {
		if def := m.lib.ros2(m.o.SourceDistro, name); def != nil {
			return def, m.o.SourceDistro
		}
	}
	return m.lib.unambiguous(name)
}

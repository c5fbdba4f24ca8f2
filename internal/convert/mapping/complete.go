package mapping

import (
	"slices"
	"strings"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// Complete takes all topics of a recording before Map is called for the first of
// them. It decides whether topics that stay CDR and have no definition get the
// standard one. A recording without any definition gets all definitions or none:
// readers that find one use the definitions in the recording for everything, and
// could no longer decode types without a definition.
func (m *Mapper) Complete(topics []*storage.Topic) {
	some, missing := false, false
	for _, t := range topics {
		switch {
		case t.Encoding != "cdr":
		case m.lib.defined(t):
			some = true
		default:
			def, _ := m.standardROS2(t)
			missing = missing || def == nil
		}
	}
	m.complete = m.o.Encoding == "cdr" && (some || !missing)
}

// defined reports whether a topic comes with its definition. The text of a ROS 2 type without fields
// is empty; a type hash shows whether it is only missing, and so does a definition of the type that is known.
func (l library) defined(t *storage.Topic) bool {
	if len(t.Schema.Data) > 0 || t.Encoding != "cdr" || t.Schema.Encoding == "" {
		return len(t.Schema.Data) > 0
	}
	if hash := t.Metadata[storage.MetaTypeHash]; validHash(hash) {
		return hash == hashOf(&schema.Message{Name: fullROS2Name(t.Type)})
	}
	return !l.hasFields(fullROS2Name(t.Type))
}

// hasFields reports whether some definition of a ROS 2 type that is known has fields.
func (l library) hasFields(name string) bool {
	for _, set := range l.sets {
		if set.Has(name) {
			return true
		}
	}
	return slices.ContainsFunc(ros2Distros(), func(distro string) bool {
		msg := l.ros2(distro, name)
		return msg != nil && len(msg.Fields) > 0
	})
}

// standardROS2 returns a definition for a ROS 2 topic without one: a definition of the user; the
// standard one with its type hash; the only one that fits the messages; the one of its distribution,
// if the distribution is certain; or one that all distributions share. Otherwise it is nil; the error
// is why no definition fits the messages.
func (m *Mapper) standardROS2(t *storage.Topic) (*Definition, error) {
	name, hash := fullROS2Name(t.Type), t.Metadata[storage.MetaTypeHash]
	if !validHash(hash) {
		hash = ""
	}
	if trial := m.lib.evidence.of(t); trial != nil && hash == "" {
		def, choice, err := trial.decide("the recording")
		if err != nil || choice && !m.o.Certain && !strings.HasPrefix(def.Origin, Given) {
			return nil, err
		}
		return def, nil
	}
	if def, _ := m.lib.ros2Given(name, m.o.SourceDistro, hash); def != nil {
		return def.because("the recording has no definition of %s", t.Type), nil
	}
	var msg *schema.Message
	distro := m.o.SourceDistro
	switch {
	case hash != "":
		msg, distro = m.lib.byHash(name, hash)
	case m.o.Certain && m.lib.ros2(distro, name) != nil:
		msg = m.lib.ros2(distro, name)
	default:
		msg, distro = m.lib.unambiguous(name)
	}
	if msg == nil {
		return nil, nil
	}
	d := &Definition{ROS: msg, Origin: "builtin " + distro}
	if shared, _ := m.lib.unambiguous(name); shared == nil && hash == "" {
		d.remark("definition-builtin",
			"the recording has no definition of %s; the definition of its distribution, ROS 2 %s, is written", t.Type, distro)
	}
	return d, nil
}

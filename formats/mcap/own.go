package mcap

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// What a recording has about itself is in metadata records of two names. rosbag2 writes one
// into each file, up to Iron with the distribution alone, since Jazzy with the content of
// metadata.yaml; the last one counts. Source: ros2/rosbag2
// rosbag2_storage_mcap/src/mcap_storage.cpp. Files that are not of ROS 2 get a table of
// the Writer's own.
const (
	recordROS2      = "rosbag2"
	recordOwn       = "bagconv"
	keySerialized   = "serialized_metadata"
	keyDistribution = "ROS_DISTRO"
)

// ownRecords are the metadata records of a file that are not the user's.
type ownRecords struct {
	at         map[int64]bool // offsets
	serialized string         // of the last one
	values     map[string]string
}

// add reads a metadata record, if it is not the user's.
func (o *ownRecords) add(at int64, m *metadata) {
	values := map[string]string{}
	for _, p := range m.values {
		switch {
		case m.name == recordOwn:
			values[p.key] = p.value
		case m.name != recordROS2:
			return
		case p.key == keySerialized:
			o.serialized = p.value
		case p.key == keyDistribution:
			values[storage.MetaDistro] = p.value
		default:
			return
		}
	}
	if m.name != recordOwn && m.name != recordROS2 {
		return
	}
	if o.at == nil {
		o.at, o.values = map[int64]bool{}, map[string]string{}
	}
	o.at[at] = true
	maps.Copy(o.values, values)
}

// readSelfDescription reads what the recording has about itself.
func (r *reader) readSelfDescription() error {
	if r.own.serialized == "" {
		return nil
	}
	m, _, err := ros2bag.ParseMetadata(r.src.Ctx, []byte(ros2bag.WithoutTopics(r.own.serialized)), ros2bag.QoSCache{})
	switch {
	case r.src.Ctx.Err() != nil:
		return r.src.Ctx.Err()
	case err != nil:
		return r.src.Warn("metadata", -1, false, "the metadata record %s cannot be read (%v)", recordROS2, err)
	}
	m.AddTo(r.own.values)
	return nil
}

// An ownMetadata is what a Writer writes about the recording.
type ownMetadata struct {
	values  map[string]string
	always  bool // also if there is nothing but the topics
	profile ros2bag.Profile
}

// writeSelfDescription writes the record, when all messages are written.
func (w *writer) writeSelfDescription() error {
	if len(w.own.values) == 0 && !w.own.always {
		return nil
	}
	w.Mu.Lock()
	err := w.begin() // which decides on the profile
	w.Mu.Unlock()
	if err != nil {
		return err
	}
	m := metadata{name: recordROS2}
	if w.header.profile != profileROS2 {
		m.name = recordOwn
		distro, some := w.own.values[storage.MetaDistro]
		if some = some && w.header.profile != profileROS1; some { // others look for the distribution here
			if err := w.writeMetadata(metadata{recordROS2, []pair{{keyDistribution, distro}}}); err != nil {
				return err
			}
		}
		for _, k := range slices.Sorted(maps.Keys(w.own.values)) {
			if some && k == storage.MetaDistro {
				continue
			}
			if validName(k) && validName(w.own.values[k]) {
				m.values = append(m.values, pair{k, w.own.values[k]})
			}
		}
		if m.values == nil {
			return nil
		}
		return w.writeMetadata(m)
	}
	if distro := w.own.profile.DistroOf(w.own.values); w.own.always && w.own.profile.Distro != "" &&
		!w.own.profile.QoSNames {
		m.values = []pair{{keyDistribution, distro}}
		return w.writeMetadata(m)
	}
	var topics []ros2bag.Topic
	if w.listsTopics() {
		topics = w.addTopics(nil)
	}
	about := w.own.profile.Metadata(mcapStorage, w.own.values, topics, []ros2bag.Part{w.part()})
	if w.out != nil { // a file by itself does not depend on its name
		about.Paths, about.Files = nil, nil
	}
	text, err := about.Encode(false)
	if err != nil {
		return w.fail("metadata record", err)
	}
	m.values = []pair{{keySerialized, text}}
	return w.writeMetadata(m)
}

// listsTopics reports whether the record has the topics, too, which any reader takes from the channels: in a part of a
// folder, in a file that had a record, and where a distribution is asked for, whose recorder writes them.
func (w *writer) listsTopics() bool {
	return w.out == nil || w.old != nil || w.own.profile.Distro != ""
}

// addTopics returns the topics as metadata.yaml has them. Their messages are added to the messages
// in list, which is nil or has the same topics.
func (w *writer) addTopics(list []ros2bag.Topic) []ros2bag.Topic {
	for i := range w.channels {
		c := &w.channels[i]
		if i == len(list) {
			list = append(list, c.about)
		}
		if i < len(w.counts) {
			list[i].Messages += int64(w.counts[i])
		}
	}
	return list
}

// part describes the file as a part of a recording.
func (w *writer) part() ros2bag.Part {
	return ros2bag.Part{Name: filepath.Base(w.path), Messages: int64(w.stats.messages), Start: int64(w.stats.start),
		End: int64(w.stats.end)}
}

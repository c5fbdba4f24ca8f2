package mcap

import (
	"encoding/json"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// Keys of channel metadata that have a place of their own in storage.Topic.
const (
	metaQoS      = "offered_qos_profiles" // YAML, as rosbag2 writes it; the profile ros2 requires the key
	metaTypeHash = "topic_type_hash"      // storage.MetaTypeHash

	// metaBytes has the entries whose key or value is not UTF-8, which MCAP does not
	// have: JSON, a list of pairs in base64.
	metaBytes = "bagconv_bytes"
)

// readMetadata puts what a channel's metadata has into the fields of a topic. A text of QoS
// profiles that the Writer would write otherwise stays in the metadata too.
func readMetadata(t *storage.Topic, cache ros2bag.QoSCache) {
	m := t.Metadata
	if hash, ok := m[metaTypeHash]; ok {
		if _, known := m[storage.MetaTypeHash]; !known {
			delete(m, metaTypeHash)
			m[storage.MetaTypeHash] = hash
		}
	}
	if text, ok := m[metaQoS]; ok {
		qos, err := cache.Parse(text)
		if err == nil {
			t.QoS = qos
			if ros2bag.QoSText(qos, false) == text {
				delete(m, metaQoS)
			}
		}
	}
	if text, ok := m[metaBytes]; ok {
		var list [][2][]byte
		if json.Unmarshal([]byte(text), &list) == nil {
			delete(m, metaBytes)
			for _, p := range list {
				m[string(p[0])] = string(p[1])
			}
		}
	}
}

// qosText returns the text of QoS profiles. kept is the text that the topic came with, or "": it
// stays if it means the same, and no style is asked for.
func (w *writer) qosText(kept string, qos []storage.QoS) string {
	if kept != "" && !w.restyle {
		if list, err := ros2bag.ParseQoS(kept); err == nil && slices.Equal(list, qos) || err != nil && len(qos) == 0 {
			return kept
		}
	}
	return ros2bag.QoSText(qos, w.own.profile.QoSNames)
}

// metadataOf returns the metadata of a topic's channel, sorted by key. With qos it has the key for
// QoS profiles also if there are no profiles.
func metadataOf(t *storage.Topic, qos bool, qosText func(kept string, qos []storage.QoS) string) []pair {
	m := maps.Clone(t.Metadata)
	if m == nil {
		m = map[string]string{}
	}
	if text, kept := m[metaQoS]; kept || qos || len(t.QoS) > 0 {
		m[metaQoS] = qosText(text, t.QoS)
	}
	if hash, ok := m[storage.MetaTypeHash]; ok {
		delete(m, storage.MetaTypeHash)
		m[metaTypeHash] = hash
	}
	var odd [][2][]byte
	var out []pair
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if v := m[k]; utf8.ValidString(k) && utf8.ValidString(v) {
			out = append(out, pair{k, v})
		} else {
			odd = append(odd, [2][]byte{[]byte(k), []byte(v)})
		}
	}
	if odd != nil {
		text, _ := json.Marshal(odd) // bytes always can be
		out = append(out, pair{metaBytes, string(text)})
	}
	return out
}

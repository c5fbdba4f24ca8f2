package ros2bag

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bagconv/bagconv/storage"
)

// CustomKey is the key of custom_data under which bagconv keeps what rosbag2
// has no place for, so that bag -> db3 -> bag is exact. Its value is one line of
// JSON: a list of CustomTopic. Every reader of rosbag2 skips it.
const CustomKey = "bagconv.topics"

// cdr is the encoding of nearly all topics.
const cdr = "cdr"

// CustomTopic is what is kept of one topic. A reader finds the topic by its
// name, type and encoding.
type CustomTopic struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	Encoding string            `json:"encoding,omitempty"` // "" is cdr
	Metadata map[string]string `json:"metadata,omitempty"` // all but type_description_hash

	// Bytes are keys and values that are not both UTF-8, which JSON strings cannot hold.
	Bytes [][2][]byte `json:"metadata_bytes,omitempty"` // base64

	// The topic's own definition, if the storage has another definition for the type, or
	// cannot hold it.
	SchemaEncoding string `json:"schema_encoding,omitempty"`
	Schema         []byte `json:"schema,omitempty"` // base64
}

// KeepTopic returns what is to be kept of a topic, with its definition if ownSchema is
// set; ok is false if there is nothing.
func KeepTopic(t *storage.Topic, ownSchema bool) (c CustomTopic, ok bool) {
	c = CustomTopic{Name: t.Name, Type: t.Type}
	if t.Encoding != cdr {
		c.Encoding = t.Encoding
	}
	for _, k := range slices.Sorted(maps.Keys(t.Metadata)) {
		v := t.Metadata[k]
		switch {
		case k == storage.MetaTypeHash:
		case !utf8.ValidString(k) || !utf8.ValidString(v):
			c.Bytes = append(c.Bytes, [2][]byte{[]byte(k), []byte(v)})
		default:
			if c.Metadata == nil {
				c.Metadata = map[string]string{}
			}
			c.Metadata[k] = v
		}
	}
	if ownSchema {
		c.SchemaEncoding, c.Schema = t.Schema.Encoding, t.Schema.Data
	}
	return c, c.Metadata != nil || c.Bytes != nil || ownSchema
}

// Restore returns to a topic what was kept of it.
func (c *CustomTopic) Restore(t *storage.Topic) {
	maps.Copy(t.Metadata, c.Metadata)
	for _, b := range c.Bytes {
		t.Metadata[string(b[0])] = string(b[1])
	}
	if c.Schema != nil {
		t.Schema = storage.Schema{Encoding: c.SchemaEncoding, Data: c.Schema}
	}
}

// EncodeCustom returns the value of CustomKey; "" if there is nothing to keep.
func EncodeCustom(list []CustomTopic) (string, error) {
	if len(list) == 0 {
		return "", nil
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(list)
	return strings.TrimSpace(b.String()), err
}

// DecodeCustom parses the value of CustomKey.
func DecodeCustom(value string) (list []CustomTopic, err error) {
	err = json.Unmarshal([]byte(value), &list)
	for i := range list {
		if list[i].Encoding == "" {
			list[i].Encoding = cdr
		}
	}
	return list, err
}

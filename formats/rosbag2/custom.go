package rosbag2

import (
	"encoding/json"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/bagconv/bagconv/storage"
)

// customKey is the key of custom_data under which bagconv keeps what rosbag2
// has no place for, so that bag -> db3 -> bag is exact. Its value is one line of
// JSON: a list of customTopic. Every reader of rosbag2 passes over it.
const customKey = "bagconv.topics"

// customTopic is what is kept of one topic. A reader finds the topic by its
// name, type and encoding.
type customTopic struct {
	Name     string            `json:"name"`
	Type     string            `json:"type"`
	Encoding string            `json:"encoding,omitempty"` // "" is cdr
	Metadata map[string]string `json:"metadata,omitempty"` // all but type_description_hash

	// The topic's own definition, where message_definitions has another one for
	// the type, or cannot hold it.
	SchemaEncoding string `json:"schema_encoding,omitempty"`
	Schema         []byte `json:"schema,omitempty"` // base64
}

// customJSON is the value of customKey; "" when there is nothing to keep.
// Strings that are no UTF-8 cannot be kept in JSON and are left out.
func customJSON(topics []outTopic) (string, error) {
	var list []customTopic
	for i := range topics {
		t := &topics[i].Topic
		c := customTopic{Name: t.Name, Type: t.Type}
		if t.Encoding != encoding {
			c.Encoding = t.Encoding
		}
		for k, v := range t.Metadata {
			if k != storage.MetaTypeHash && utf8.ValidString(k) && utf8.ValidString(v) {
				if c.Metadata == nil {
					c.Metadata = map[string]string{}
				}
				c.Metadata[k] = v
			}
		}
		if topics[i].ownSchema {
			c.SchemaEncoding, c.Schema = t.Schema.Encoding, t.Schema.Data
		}
		if c.Metadata != nil || topics[i].ownSchema {
			list = append(list, c)
		}
	}
	if list == nil {
		return "", nil
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(list)
	return strings.TrimSpace(b.String()), err
}

// useCustom gives topics back what customJSON kept of them.
func (r *Reader) useCustom() error {
	value, ok := r.custom[customKey]
	if !ok {
		return nil
	}
	var list []customTopic
	if err := json.Unmarshal([]byte(value), &list); err != nil {
		return r.warn("custom-data", false, "", "custom_data: %s cannot be read (%v)", customKey, err)
	}
	delete(r.custom, customKey)
	for _, c := range list {
		if c.Encoding == "" {
			c.Encoding = encoding
		}
		id, ok := r.index[topicKey{c.Name, c.Type, c.Encoding}]
		if !ok {
			continue
		}
		t := &r.topics[id]
		maps.Copy(t.Metadata, c.Metadata)
		if c.Schema != nil {
			t.Schema = storage.Schema{Encoding: c.SchemaEncoding, Data: c.Schema}
		}
	}
	return nil
}

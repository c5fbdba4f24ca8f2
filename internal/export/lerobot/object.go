package lerobot

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bagconv/bagconv/storage"
)

// An object is one of JSON whose members keep their order, unknown members included.
type object []member

type member struct {
	key   string
	value json.RawMessage
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *object) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("%w: no object of JSON", storage.ErrCorrupt)
	}
	*o = nil
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		*o = append(*o, member{key.(string), value})
	}
	_, err := d.Token()
	return err
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), m.value...)
	}
	return append(b, '}'), nil
}

// set sets a member, at the end if it is new.
func (o *object) set(key string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		panic("internal error: " + err.Error()) // of maps, lists, texts and numbers
	}
	for i := range *o {
		if (*o)[i].key == key {
			(*o)[i].value = text
			return
		}
	}
	*o = append(*o, member{key, text})
}

// get reads a member into v, and reports whether it is there and fits.
func (o object) get(key string, v any) bool {
	for _, m := range o {
		if m.key == key {
			return json.Unmarshal(m.value, v) == nil
		}
	}
	return false
}

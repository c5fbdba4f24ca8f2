package ulog

import (
	"strconv"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A multi is what the M of one name have: a list of values, each in pieces. The file has them.
type multi struct {
	name   string
	typ    string
	values [][]place
}

// A place is bytes of the file.
type place struct {
	at int64
	n  int
}

// addInfo takes an I or an M.
func (r *reader) addInfo(m *message) error {
	kv, _ := parseKeyValue(m.op, m.body)
	if m.op == opInfo {
		text, ok := kv.text()
		if !ok {
			return r.src.WarnLost(storage.Lost{Bytes: m.end() - m.at}, "info", m.at, true,
				"the information %s cannot be read: it has %d bytes and the type %s", kv.name, len(kv.value), kv.typ)
		}
		r.info[kv.name] = text
		return nil
	}
	x := r.byName[kv.name]
	if x == nil {
		x = &multi{name: kv.name}
		r.byName[kv.name] = x
		r.multi = append(r.multi, x)
	}
	x.typ, _, _ = strings.Cut(kv.typ, "[")
	if kv.prefix == 0 || len(x.values) == 0 {
		x.values = append(x.values, nil)
	}
	last := &x.values[len(x.values)-1]
	*last = append(*last, place{m.end() - int64(len(kv.value)), len(kv.value)})
	return nil
}

// Extras lists the M. See storage.ExtraReader.
func (r *reader) Extras() (x storage.Extras, err error) {
	for _, m := range r.multi {
		values := func() (map[string]string, error) { return r.values(m) }
		x.Metadata = append(x.Metadata, storage.MetadataRecord{Name: m.name, Values: values})
	}
	return x, nil
}

// values reads the values of an M: their numbers, from 0, are the keys.
func (r *reader) values(m *multi) (map[string]string, error) {
	values := map[string]string{}
	for i, pieces := range m.values {
		var b []byte
		for _, p := range pieces {
			from := len(b)
			b = append(b, make([]byte, p.n)...)
			if err := iox.ReadFull(r.src.File, b[from:], p.at); err != nil {
				return nil, r.src.Fail(p.at, "information "+m.name, err)
			}
		}
		kv := keyValue{typ: m.typ + "[]", value: b}
		values[strconv.Itoa(i)], _ = kv.text()
	}
	return values, nil
}

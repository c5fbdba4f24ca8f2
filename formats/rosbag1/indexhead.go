package rosbag1

import (
	"encoding/binary"

	"github.com/bagconv/bagconv/formats/internal/chunked"
)

// An indexOrder is the order of the fields in the headers of INDEX_DATA records. The order means
// nothing, but PyPI's rosbags takes the order of the first record of a bag for all
// (rosbag1/reader.py, read_index_data). So records that are added to a bag have the order of its
// own records.
type indexOrder [4]string

// usualOrder is the order in bags that are written anew, and in roscpp's.
var usualOrder = indexOrder{"conn", "count", "op", "ver"}

// appendHead appends an INDEX_DATA record of so many entries up to its data.
func (o *indexOrder) appendHead(dst []byte, conn, count uint32) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, indexHead-8)
	for _, name := range o {
		switch name {
		case "conn":
			dst = appendU32Field(dst, name, conn)
		case "count":
			dst = appendU32Field(dst, name, count)
		case "op":
			dst = appendOp(dst, opIndex)
		case "ver":
			dst = appendU32Field(dst, name, 1)
		}
	}
	return binary.LittleEndian.AppendUint32(dst, count*indexEntry)
}

// parse takes over the order of a record header, without its length. It is false if the header does
// not have exactly the fields that are written.
func (o *indexOrder) parse(b []byte) bool {
	var have indexOrder
	for i := range have {
		name, _, rest, err := nextField(b)
		if err != nil {
			return false
		}
		have[i], b = string(name), rest
	}
	for _, name := range usualOrder {
		if have[0] != name && have[1] != name && have[2] != name && have[3] != name {
			return false
		}
	}
	if len(b) == 0 {
		*o = have
	}
	return len(b) == 0
}

// indexOrder returns the order in the first INDEX_DATA record behind a chunk. In a bag without such
// a record it is the usual order.
func (r *reader) indexOrder() (indexOrder, error) {
	order := usualOrder
	w := r.window()
	for i := range r.blocks {
		b := &r.blocks[i]
		if b.run || b.Offset < 0 {
			continue
		}
		at := b.Offset + b.Size
		var h header
		err := w.header(&h, at)
		if chunked.IsIO(err) {
			return order, r.src.Fail(at, "index", err)
		}
		if err != nil || h.op != opIndex {
			continue
		}
		raw, err := w.Data(at+4, int64(h.headLen)-8)
		if chunked.IsIO(err) {
			return order, r.src.Fail(at, "index", err)
		}
		if err == nil && order.parse(raw) {
			break
		}
	}
	return order, nil
}

package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/bagconv/bagconv/storage"
)

// A value is one of Thrift's compact protocol
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md). The zero value stands for what
// is not there.
type value struct {
	number int64 // of integers and bools
	bytes  []byte
	list   []value
	fields map[int]value
}

// field returns a field of a struct.
func (v value) field(id int) value { return v.fields[id] }

// has reports whether a struct has a field.
func (v value) has(id int) bool { _, ok := v.fields[id]; return ok }

// A decoder reads values.
type decoder struct {
	b     []byte
	at    int
	depth int
	wrong bool
}

// maxThriftDepth is how deep values may be nested.
const maxThriftDepth = 32

// parseThrift reads a struct, and returns how many bytes it takes.
func parseThrift(b []byte) (v value, n int, err error) {
	d := decoder{b: b}
	if v = d.structure(); d.wrong {
		return v, 0, fmt.Errorf("metadata in Thrift end early or are wrong: %w", storage.ErrCorrupt)
	}
	return v, d.at, nil
}

func (d *decoder) u8() byte {
	if d.at >= len(d.b) {
		d.wrong = true
		return 0
	}
	d.at++
	return d.b[d.at-1]
}

func (d *decoder) varint() uint64 {
	v, n := binary.Uvarint(d.b[min(d.at, len(d.b)):])
	if n <= 0 {
		d.wrong = true
		return 0
	}
	d.at += n
	return v
}

func (d *decoder) zigzag() int64 {
	v := d.varint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)-min(d.at, len(d.b))) {
		d.wrong = true
		return nil
	}
	d.at += int(n)
	return d.b[d.at-int(n) : d.at]
}

func (d *decoder) structure() (v value) {
	v.fields = map[int]value{}
	if d.depth++; d.depth > maxThriftDepth {
		d.wrong = true
	}
	for id := 0; !d.wrong; {
		head := d.u8()
		if head == 0 {
			break
		}
		if head>>4 != 0 {
			id += int(head >> 4)
		} else {
			id = int(int16(d.zigzag()))
		}
		switch kind := head & 15; kind {
		case 1, 2:
			v.fields[id] = value{number: int64(2 - kind)}
		default:
			v.fields[id] = d.value(kind)
		}
	}
	d.depth--
	return v
}

func (d *decoder) value(kind byte) (v value) {
	switch kind {
	case 1, 2: // in a list
		v.number = int64(d.u8() & 1)
	case 3:
		v.number = int64(int8(d.u8()))
	case 4, 5, 6:
		v.number = d.zigzag()
	case 7:
		v.bytes = d.take(8)
	case 8:
		v.bytes = d.take(d.varint())
	case 9, 10:
		head := d.u8()
		n := uint64(head >> 4)
		if n == 15 {
			n = d.varint()
		}
		for ; n > 0 && !d.wrong; n-- {
			if d.at >= len(d.b) { // each takes a byte at least
				d.wrong = true
				break
			}
			v.list = append(v.list, d.value(head&15))
		}
	case 11:
		n := d.varint()
		if n == 0 {
			break
		}
		kinds := d.u8()
		for ; n > 0 && !d.wrong; n-- {
			d.value(kinds >> 4)
			d.value(kinds & 15)
			if d.at >= len(d.b) {
				d.wrong = true
			}
		}
	case 12:
		v = d.structure()
	default:
		d.wrong = true
	}
	return v
}

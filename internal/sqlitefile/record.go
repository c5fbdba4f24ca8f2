package sqlitefile

import "encoding/binary"

// A row's record: the size of the header and the types of the values, as
// varints, then the values, big-endian
// (https://www.sqlite.org/fileformat2.html section 2.1). Of messages:
//
//	05..0d | 00 | topic type | time type | 12 + 2n | topic | time | n bytes of data
//
// The id is stored as NULL, because it is the rowid. All before the data is at
// most 29 bytes, which is less than the least that a leaf has of a row.

// serial returns the type of an integer in a record: the least that holds it.
func serial(v int64) byte {
	switch {
	case v == 0:
		return 8
	case v == 1:
		return 9
	case v >= -1<<7 && v < 1<<7:
		return 1
	case v >= -1<<15 && v < 1<<15:
		return 2
	case v >= -1<<23 && v < 1<<23:
		return 3
	case v >= -1<<31 && v < 1<<31:
		return 4
	case v >= -1<<47 && v < 1<<47:
		return 5
	}
	return 6
}

var serialBytes = [16]int{1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}

// putInt writes v in the form of a serial type and returns the bytes used. b has
// room for 8.
func putInt(b []byte, v int64, serial byte) int {
	n := serialBytes[serial&0xf]
	binary.BigEndian.PutUint64(b, uint64(v)<<(64-8*n))
	return n
}

// getInt reads an integer of n bytes, n from 0 to 8. A type of 9 is the number 1.
func getInt(b []byte, serial byte) int64 {
	n := serialBytes[serial&0xf]
	if n == 0 {
		return int64(serial & 1)
	}
	v := int64(int8(b[0]))
	for _, c := range b[1:n] {
		v = v<<8 | int64(c)
	}
	return v
}

// valueBytes returns the size of a value of any type, t not below 0.
func valueBytes(t int64) int64 {
	switch {
	case t >= 12:
		return (t - 12) / 2
	case t == 7: // a floating-point number
		return 8
	}
	return int64(serialBytes[t])
}

func varintLen(v uint64) int {
	n := 1
	for ; v > 0x7f && n < 9; n++ {
		v >>= 7
	}
	return n
}

// putVarint writes 7 bits to a byte, the highest first, and returns the bytes
// used. All values that are written here are below 2^56, so the form of nine
// bytes is never needed.
func putVarint(b []byte, v uint64) int {
	if v < 0x80 {
		b[0] = byte(v)
		return 1
	}
	n := varintLen(v)
	for i := range n - 1 {
		b[i] = byte(v>>(7*(n-1-i))) | 0x80
	}
	b[n-1] = byte(v & 0x7f)
	return n
}

// varint reads a number of 1 to 9 bytes; n is 0 when it is cut.
func varint(b []byte) (v int64, n int) {
	var u uint64
	for i, c := range b {
		if i == 8 {
			return int64(u<<8 | uint64(c)), 9
		}
		u = u<<7 | uint64(c&0x7f)
		if c < 0x80 {
			return int64(u), i + 1
		}
	}
	return 0, 0
}

// localSize returns how many bytes of a row's record stand in its leaf, u being the
// usable bytes of a page.
func localSize(total, u int) int {
	most := u - 35
	if total <= most {
		return total
	}
	least := (u-12)*32/255 - 23
	if k := least + (total-least)%(u-4); k <= most {
		return k
	}
	return least
}

// A shape is what a record turned out to be.
type shape uint8

const (
	isMessage shape = iota
	isOdd           // sound, with values of other types than messages are written with
	isOther         // no row of messages
	isBroken        // contradicts itself
)

// message is a decoded record of messages.
type message struct {
	topic, time int64 // 0 if it is not an integer
	start       int   // where the data begins in the record
	size        int   // of the data

	noTime, noData bool // of an odd one: the time is not an integer, the data is neither blob nor text
}

// parseRow decodes the start of a record of messages, as parseMessage, also one with
// values of other types.
func parseRow(rec []byte, total int, m *message) shape {
	is := parseMessage(rec, total, m)
	if is == isOther {
		is = usual.parse(rec, total, m)
	}
	return is
}

// parseMessage decodes the start of a record of total bytes. rec is what the leaf
// has of it.
func parseMessage(rec []byte, total int, m *message) shape {
	if len(rec) < 5 {
		return isBroken
	}
	head := int(rec[0])
	if head < 5 || head > 13 || rec[1] != 0 {
		return isOther
	}
	if head > len(rec) {
		return isBroken
	}
	tt, mt := rec[2], rec[3]
	if tt == 0 || tt == 7 || tt > 9 || mt == 0 || mt == 7 || mt > 9 {
		return isOther
	}
	dt, n := varint(rec[4:head])
	if n == 0 || 4+n != head || dt < 12 {
		return isOther
	}
	topicLen, timeLen := serialBytes[tt], serialBytes[mt]
	m.start = head + topicLen + timeLen
	if size := (dt - 12) / 2; m.start > len(rec) || size != int64(total-m.start) {
		return isBroken
	}
	m.size = total - m.start
	m.noTime, m.noData = false, false
	m.topic = getInt(rec[head:], tt)
	m.time = getInt(rec[head+topicLen:], mt)
	return isMessage
}

// Kind is the type of a value.
type Kind uint8

// The kinds, as SQLite stores them.
const (
	Null Kind = iota
	Int
	Float
	Blob
	Text
)

// A Value is a column of a row.
type Value struct {
	Kind Kind
	Int  int64
	Data []byte // of Text and Blob
}

// parseValues decodes a whole record. ok is false when it contradicts itself. The
// values point into rec.
func parseValues(rec []byte) (list []Value, ok bool) {
	head, n := varint(rec)
	if n == 0 || head < int64(n) || head > int64(len(rec)) {
		return nil, false
	}
	types, values := rec[n:head], rec[head:]
	for len(types) > 0 {
		t, n := varint(types)
		if n == 0 || t < 0 || t == 10 || t == 11 {
			return nil, false
		}
		types = types[n:]
		size := valueBytes(t)
		if size > int64(len(values)) {
			return nil, false
		}
		v := Value{Data: values[:size]}
		values = values[size:]
		switch {
		case t == 0:
		case t == 7:
			v = Value{Kind: Float}
		case t < 10:
			v = Value{Kind: Int, Int: getInt(v.Data, byte(t))}
		case t&1 == 0:
			v.Kind = Blob
		default:
			v.Kind = Text
		}
		list = append(list, v)
	}
	return list, len(values) == 0
}

package ulog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Types of messages.
const (
	opFlags        = 'B'
	opFormat       = 'F'
	opInfo         = 'I'
	opMulti        = 'M'
	opParameter    = 'P'
	opDefault      = 'Q'
	opSubscription = 'A'
	opEnd          = 'R'
	opData         = 'D'
	opText         = 'L'
	opTagged       = 'C'
	opSync         = 'S'
	opDropout      = 'O'
)

const (
	headLen    = 3          // of a message: size u16, type u8
	dataHead   = 2          // of D: the id
	textHead   = 1 + 8      // of L: level, time
	taggedHead = 1 + 2 + 8  // of C: level, tag, time
	flagsSize  = 8 + 8 + 24 // of B; more may follow
	appended   = 1          // bit of incompat[0]
)

// syncMagic is what an S has.
var syncMagic = []byte{0x2f, 0x73, 0x13, 0x20, 0x25, 0x0c, 0xbb, 0x12}

// names are what PX4's description calls the types; "" for types that are not known here.
var names = [256]string{
	opFlags: "FLAG_BITS", opFormat: "FORMAT", opInfo: "INFO", opMulti: "INFO_MULTIPLE", opParameter: "PARAMETER",
	opDefault: "PARAMETER_DEFAULT", opSubscription: "SUBSCRIPTION", opEnd: "UNSUBSCRIPTION", opData: "DATA",
	opText: "LOGGING", opTagged: "LOGGING_TAGGED", opSync: "SYNC", opDropout: "DROPOUT",
}

// A message is a message of the file. Its body is valid until the window is used again.
type message struct {
	at   int64 // offset of its head
	op   byte
	body []byte

	topic *topic // of D, if it is right
}

// end returns the offset of what follows.
func (m *message) end() int64 { return m.at + headLen + int64(len(m.body)) }

// A keyValue is what I, M, P and Q have.
type keyValue struct {
	typ, name string
	value     []byte
	prefix    byte // of M: it continues the one before; of Q: kinds of defaults
}

// parseKeyValue reads the body of an I, M, P or Q.
func parseKeyValue(op byte, body []byte) (kv keyValue, ok bool) {
	if op == opMulti || op == opDefault {
		if len(body) == 0 {
			return kv, false
		}
		kv.prefix, body = body[0], body[1:]
	}
	if len(body) == 0 || len(body) < 1+int(body[0]) {
		return kv, false
	}
	key := body[1:][:body[0]]
	kv.value = body[1+len(key):]
	typ, name, ok := bytes.Cut(key, []byte{' '})
	if !ok || !legal(typ, "[]_") || !legal(name, "_-/") {
		return kv, false
	}
	kv.typ, kv.name = string(typ), string(name)
	return kv, true
}

// legal reports whether b has letters, digits and some more characters only.
func legal(b []byte, more string) bool {
	for _, c := range b {
		if !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte(more, c) < 0 {
			return false
		}
	}
	return len(b) > 0
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// text returns the value as text, as PX4's tools print it. ok is false if it does not have the size of its type.
func (kv *keyValue) text() (text string, ok bool) {
	base, _, array := strings.Cut(kv.typ, "[")
	kind, known := kinds[base]
	switch {
	case base == "char" && array:
		return strings.ToValidUTF8(string(kv.value), "\uFFFD"), true
	case !known || base == "uint8_t" && array:
		return fmt.Sprintf("%x", kv.value), true
	case len(kv.value)%kind.size != 0 || len(kv.value) == 0 || !array && len(kv.value) != kind.size:
		return "", false
	}
	var list []string
	for b := kv.value; len(b) > 0; b = b[kind.size:] {
		list = append(list, kind.number(b))
	}
	return strings.Join(list, ","), true
}

// parameter returns the value of a parameter.
func (kv *keyValue) parameter() (integer int32, float float32, isFloat, ok bool) {
	if len(kv.value) != 4 {
		return 0, 0, false, false
	}
	bits := binary.LittleEndian.Uint32(kv.value)
	switch kv.typ {
	case "int32_t":
		return int32(bits), 0, false, true
	case "float":
		return 0, math.Float32frombits(bits), true, true
	}
	return 0, 0, false, false
}

// A kind is a basic type.
type kind struct {
	ros  string
	size int // bytes
}

// kinds are the basic types by their names.
var kinds = map[string]kind{
	"int8_t": {"int8", 1}, "uint8_t": {"uint8", 1}, "int16_t": {"int16", 2}, "uint16_t": {"uint16", 2},
	"int32_t": {"int32", 4}, "uint32_t": {"uint32", 4}, "int64_t": {"int64", 8}, "uint64_t": {"uint64", 8},
	"float": {"float32", 4}, "double": {"float64", 8}, "bool": {"bool", 1}, "char": {"char", 1},
}

// number returns the number at the start of b as text.
func (k kind) number(b []byte) string {
	var bits uint64
	for i, c := range b[:k.size] {
		bits |= uint64(c) << (8 * i)
	}
	switch {
	case k.ros == "float32":
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(bits))), 'g', -1, 32)
	case k.ros == "float64":
		return strconv.FormatFloat(math.Float64frombits(bits), 'g', -1, 64)
	case k.ros[0] == 'i': // a sign
		shift := 64 - 8*k.size
		return strconv.FormatInt(int64(bits<<shift)>>shift, 10)
	}
	return strconv.FormatUint(bits, 10)
}

// flags are what B has.
type flags struct {
	unknown  bool    // a bit of incompat is set that has no meaning here
	defaults bool    // Q may be there
	offsets  []int64 // of appended data
}

// parseFlags reads the body of a B.
func parseFlags(body []byte) (f flags, ok bool) {
	if len(body) < flagsSize {
		return f, false
	}
	f.defaults = body[0]&1 != 0
	for i, b := range body[8:16] {
		if i == 0 {
			b &^= appended
		}
		f.unknown = f.unknown || b != 0
	}
	if body[8]&appended != 0 {
		for b := body[16:flagsSize]; len(b) > 0; b = b[8:] {
			if at := binary.LittleEndian.Uint64(b); at != 0 {
				f.offsets = append(f.offsets, int64(min(at, math.MaxInt64)))
			}
		}
	}
	return f, true
}

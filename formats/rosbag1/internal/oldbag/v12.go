package oldbag

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/bagconv/bagconv/storage"
)

const (
	opDefinition = 1
	opMessage    = 2
	opFileHeader = 3
	opIndex      = 4

	indexEntry = 16      // bytes of an entry of INDEX_DATA
	maxHeader  = 4 << 20 // most bytes of a record header, which has the definition of a type
	maxName    = 32      // most bytes of the name of a field, longer than all that are known
)

var (
	errHeaderSize  = errors.New("header length is not plausible")
	errFieldLength = errors.New("header field is longer than the header")
	errFieldEquals = errors.New("header field without '='")
	errFieldSize   = errors.New("header field has a value of the wrong size")
	errNoOp        = errors.New("header lacks a field that its record needs")
)

// v12 is version 1.2.
type v12 struct{}

// The fields that show what a record is.
const (
	hasOp = 1 << iota
	hasTopic
	hasType
	hasMD5
	hasDef
	hasSec
	hasNsec
	hasIndexPos
	hasCount

	needMessage    = hasTopic | hasType | hasMD5 | hasSec | hasNsec
	needDefinition = hasTopic | hasType | hasMD5 | hasDef
	needIndex      = hasTopic | hasCount
)

// fields are the fields of a header that are not in a record.
type fields struct {
	op        byte
	have      int
	sec, nsec uint32
}

func (v12) parse(r *record, b []byte) error {
	r.reset()
	if len(b) < 4 {
		return storage.ErrTruncated
	}
	n := binary.LittleEndian.Uint32(b)
	if n < 8 || n > maxHeader {
		return errHeaderSize
	}
	var f fields
	rest := b[4:min(len(b), 4+int(n))]
	if err := f.read(r, rest, len(b) < 8+int(n)); err != nil {
		return err
	}
	r.size = int64(binary.LittleEndian.Uint32(b[4+n:]))
	r.head = 8 + int(n)
	return f.settle(r)
}

// read reads the fields in b. If cut, b ends before the header does.
func (f *fields) read(r *record, b []byte, cut bool) error {
	for len(b) > 0 {
		if len(b) < 4 {
			break
		}
		n := binary.LittleEndian.Uint32(b)
		if uint64(n) > uint64(len(b)-4) {
			break
		}
		field := b[4 : 4+n]
		b = b[4+n:]
		eq := bytes.IndexByte(field[:min(len(field), maxName)], '=')
		if eq < 0 {
			return errFieldEquals
		}
		if !f.set(r, field[:eq], field[eq+1:]) {
			return errFieldSize
		}
	}
	switch {
	case cut:
		return storage.ErrTruncated
	case len(b) > 0:
		return errFieldLength
	}
	return nil
}

// set stores one field, and reports whether its value has the right size.
func (f *fields) set(r *record, name, v []byte) bool {
	u32 := func(to *uint32) bool {
		if len(v) == 4 {
			*to = binary.LittleEndian.Uint32(v)
		}
		return len(v) == 4
	}
	ok := true
	switch string(name) {
	case "op":
		if ok = len(v) == 1; ok {
			f.op = v[0]
		}
		f.have |= hasOp
	case "topic":
		r.topic = v
		f.have |= hasTopic
	case "type":
		r.typ = v
		f.have |= hasType
	case "md5":
		r.md5 = v
		f.have |= hasMD5
	case "def":
		r.def = v
		f.have |= hasDef
	case "sec":
		ok = u32(&f.sec)
		f.have |= hasSec
	case "nsec":
		ok = u32(&f.nsec)
		f.have |= hasNsec
	case "index_pos":
		if ok = len(v) == 8; ok {
			r.indexPos = binary.LittleEndian.Uint64(v)
		}
		f.have |= hasIndexPos
	case "count":
		ok = u32(&r.count)
		f.have |= hasCount
	case "ver":
		ok = u32(&r.version)
	case "callerid":
		r.callerid = v
	case "latching":
		r.latching = v
	}
	return ok
}

// settle finds the kind of a record by its fields, so that a damaged op does no harm.
// tools/rosbag/FORMATS has op 2 for a file header; its fields distinguish it from a message.
// Records that are not known are skipped, as the format wants it.
func (f *fields) settle(r *record) error {
	want := byte(0)
	switch {
	case f.have&needMessage == needMessage && f.have&hasDef == 0:
		r.kind, want = kindMessage, opMessage
		r.time = carryTime(f.sec, f.nsec)
		for _, v := range [...][]byte{r.topic, r.typ, r.md5, r.callerid, r.latching} {
			r.scratch = append(r.scratch, v...)
			r.scratch = binary.LittleEndian.AppendUint32(r.scratch, uint32(len(v)))
		}
		r.key = r.scratch
	case f.have&needDefinition == needDefinition && f.have&hasSec == 0:
		// It has no data: any other length is damaged.
		r.kind, want = kindDefinition, opDefinition
		r.size = 0
	case f.have&hasIndexPos != 0:
		r.kind, want = kindFileHeader, opFileHeader
		if f.op == opMessage {
			want = opMessage
		}
	case f.have&needIndex == needIndex && f.have&hasMD5 == 0:
		// Every reader goes by the count.
		r.kind, want = kindIndex, opIndex
		r.size = indexEntry * int64(r.count)
	case f.have&hasOp == 0 || f.op >= opDefinition && f.op <= opIndex:
		return errNoOp
	}
	r.guessed = want != 0 && f.op != want
	return nil
}

func (v12) describe(r *record) storage.Topic { return topicOf(r) }

var (
	opField  = []byte("\x04\x00\x00\x00op=")
	defField = []byte("def=")
)

// maxBack is how far before its op the head of a message is looked for. It bounds the
// names that writers put before it.
const maxBack = 512

func (v v12) next(r *record, b []byte, from int) int {
	op, def := from, from // where the next ones are looked for
	for {
		op, def = indexFrom(b, opField, op), indexFrom(b, defField, def)
		switch {
		case op == len(b) && def == len(b):
			return -1
		case def < op:
			// Writers put def first: "...." header length, "...." field length, "def=".
			if start := def - 8; start >= from {
				err := v.parse(r, b[start:])
				if err == nil && r.kind == kindDefinition || errors.Is(err, storage.ErrTruncated) {
					return start // a long head may end after b
				}
			}
			def++
		default:
			for start := op - 4; start >= max(from, op-maxBack); start-- {
				n := binary.LittleEndian.Uint32(b[start:])
				if n < 8 || n > 4*maxBack || start+4+int(n) < op+8 {
					continue
				}
				if v.parse(r, b[start:]) == nil && r.kind != kindOther {
					return start
				}
			}
			op++
		}
	}
}

// indexFrom returns where sep is in b, at or after from; len(b) if nowhere.
func indexFrom(b, sep []byte, from int) int {
	if from >= len(b) {
		return len(b)
	}
	if i := bytes.Index(b[from:], sep); i >= 0 {
		return from + i
	}
	return len(b)
}

package ingest

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/bagconv/bagconv/storage"
)

// A message of Arrow IPC (https://arrow.apache.org/docs/format/Columnar.html, "Encapsulated message format"):
//
//	0  u32  0xFFFFFFFF; streams of before 2019 begin with the next word
//	4  i32  bytes of the metadata that follow; 0 is the end of the stream
//	8  ...  metadata: a flatbuffer (Message.fbs), padded to a multiple of 8
//	   ...  body, whose length is in the metadata
//
// Of the flatbuffers only what is needed to find the next message is read here, and what bounds memory; package ipc of
// Arrow reads the rest.
type ipcHead struct {
	kind  byte  // of the header, as Message.fbs numbers them
	body  int64 // bytes
	rows  int64 // of a record batch
	id    int64 // of a dictionary
	delta bool  // it adds to the one before
}

// The kinds of messages.
const (
	ipcSchema     = 1
	ipcDictionary = 2
	ipcBatch      = 3
)

// Limits of a message.
const (
	maxIPCMetadata = 256 << 20
	maxUnpacked    = 256 << 20 // bytes of compressed buffers when they are decompressed, or 1000 times what they have
)

func badIPC(what string) error {
	return fmt.Errorf("a message of Arrow IPC: %s: %w", what, storage.ErrCorrupt)
}

// A flat is a flatbuffer, and a table in it.
type flat struct {
	b  []byte
	at int
	ok *bool // false after something was out of its bounds
}

// flatRoot returns the first table.
func flatRoot(b []byte) flat {
	ok := true
	f := flat{b, 0, &ok}
	f.at = f.int(0, 4)
	return f
}

// int reads a whole number of so many bytes.
func (f flat) int(at, size int) int {
	if at < 0 || at > len(f.b)-size {
		*f.ok = false
		return 0
	}
	switch size {
	case 1:
		return int(f.b[at])
	case 2:
		return int(binary.LittleEndian.Uint16(f.b[at:]))
	case 4:
		return int(int32(binary.LittleEndian.Uint32(f.b[at:])))
	}
	return int(int64(binary.LittleEndian.Uint64(f.b[at:])))
}

// field returns where field i of the table is; 0: it has its default.
func (f flat) field(i int) int {
	table := f.at - f.int(f.at, 4)
	if 4+2*i >= f.int(table, 2) {
		return 0
	}
	if offset := f.int(table+4+2*i, 2); offset > 0 {
		return f.at + offset
	}
	return 0
}

// number returns a field that is a number.
func (f flat) number(i, size int) int {
	if at := f.field(i); at > 0 {
		return f.int(at, size)
	}
	return 0
}

// table returns a field that is a table; its at is 0 if the field is not there.
func (f flat) table(i int) flat {
	at := f.field(i)
	if at > 0 {
		at += f.int(at, 4)
	}
	return flat{f.b, at, f.ok}
}

// vector returns how many elements of so many bytes a field that is a vector has, and where they begin. All of them
// are in the flatbuffer.
func (f flat) vector(i, size int) (n, at int) {
	v := f.table(i)
	if v.at == 0 {
		return 0, 0
	}
	if n = v.int(v.at, 4); n < 0 || n > (len(f.b)-v.at-4)/size {
		*f.ok = false
		return 0, 0
	}
	return n, v.at + 4
}

// checkFields compares the vectors of the fields of a schema, and of the fields below them, with the flatbuffer:
// package ipc trusts their lengths. left is how many fields there may be.
func (f flat) checkFields(field, depth int, left *int) {
	n, at := f.vector(field, 4)
	if depth > maxIPCDepth {
		*f.ok = false
	}
	for k := 0; k < n && *f.ok; k++ {
		if *left--; *left < 0 {
			*f.ok = false
			return
		}
		c := flat{f.b, at + 4*k, f.ok}
		c.at += c.int(c.at, 4)
		c.checkTexts(6)
		c.vector(0, 1)
		c.checkFields(5, depth+1, left)
	}
}

// checkTexts does so for metadata: tables of a key and a value.
func (f flat) checkTexts(field int) {
	n, at := f.vector(field, 4)
	for k := 0; k < n && *f.ok; k++ {
		c := flat{f.b, at + 4*k, f.ok}
		c.at += c.int(c.at, 4)
		c.vector(0, 1)
		c.vector(1, 1)
	}
}

// Limits of a schema.
const (
	maxIPCDepth  = 64
	maxIPCFields = 100_000
)

// parseIPC reads the metadata of a message.
func parseIPC(metadata []byte) (h ipcHead, err error) {
	m := flatRoot(metadata)
	h.kind, h.body = byte(m.number(1, 1)), int64(m.number(3, 8))
	content := m.table(2)
	batch := content
	if h.kind == ipcDictionary {
		h.id, h.delta = int64(content.number(0, 8)), content.number(2, 1) != 0
		batch = content.table(1)
	}
	switch h.kind {
	case ipcSchema:
		left := maxIPCFields
		content.checkFields(1, 0, &left)
		content.checkTexts(2)
	case ipcBatch, ipcDictionary:
		h.rows = int64(batch.number(0, 8))
		for i, size := range map[int]int{1: 16, 2: 16, 4: 8} { // nodes, buffers, counts of buffers of views
			batch.vector(i, size)
		}
	}
	switch {
	case !*m.ok || m.at == 0 || content.at == 0:
		err = badIPC("its metadata cannot be read")
	case h.body < 0 || h.rows < 0 || h.rows > math.MaxInt32:
		err = badIPC("its length is negative, or it has more than 2^31 rows")
	}
	return h, err
}

// checkBuffers compares the buffers of a record batch or a dictionary with its body, and what they take when they are
// decompressed with a limit.
func checkBuffers(metadata, body []byte) error {
	m := flatRoot(metadata)
	batch := m.table(2)
	if m.number(1, 1) == ipcDictionary {
		batch = batch.table(1)
	}
	packed := batch.at > 0 && batch.table(3).at > 0
	n, first := batch.vector(2, 16) // structs {i64 offset, i64 length}
	unpacked := uint64(0)
	for i := 0; i < n && *m.ok; i++ {
		at := first + 16*i
		offset, length := m.int(at, 8), m.int(at+8, 8)
		if offset < 0 || length < 0 || offset > len(body)-length {
			return badIPC("a buffer is beyond its body")
		}
		if length == 0 || !packed {
			continue
		}
		if length < 8 {
			return badIPC("a compressed buffer has no length")
		}
		size := binary.LittleEndian.Uint64(body[offset:])
		if size == 1<<64-1 { // it is not compressed
			continue
		}
		if unpacked += size; size > 1<<40 || unpacked > max(maxUnpacked, 1000*uint64(len(body))) {
			return badIPC(fmt.Sprintf("%d bytes become more than %d", len(body), maxUnpacked))
		}
	}
	if !*m.ok {
		return badIPC("its metadata cannot be read")
	}
	return nil
}

// ipcMessage appends the next message of the input, all of it, to dst; left is how many bytes may follow, -1 for any
// number. At the end of a stream the kind is 0.
func (in *input) ipcMessage(dst []byte, left int64) (h ipcHead, out []byte, err error) {
	b, err := in.look(8)
	if err == nil && len(b) < 4 {
		err = io.EOF
	}
	if err != nil {
		return h, dst, err
	}
	prefix, n := int64(4), int64(int32(binary.LittleEndian.Uint32(b)))
	if n == -1 {
		if len(b) < 8 {
			return h, dst, io.EOF
		}
		prefix, n = 8, int64(int32(binary.LittleEndian.Uint32(b[4:])))
	}
	if n < 0 || n > maxIPCMetadata || left >= 0 && prefix+n > left {
		return h, dst, badIPC(fmt.Sprintf("its metadata would have %d bytes", n))
	}
	from := len(dst)
	if out, err = in.take(dst, prefix+n); err != nil || n == 0 {
		return h, out, err
	}
	metadata := out[from+int(prefix):]
	if h, err = parseIPC(metadata); err != nil {
		return h, dst, err
	}
	if left >= 0 && h.body > left-prefix-n {
		return h, dst, badIPC(fmt.Sprintf("its body would have %d bytes", h.body))
	}
	if out, err = in.take(out, h.body); err != nil {
		return h, dst, err
	}
	metadata = out[from+int(prefix):][:n]
	if h.kind == ipcBatch || h.kind == ipcDictionary {
		err = checkBuffers(metadata, out[from+int(prefix+n):])
	}
	return h, out, err
}

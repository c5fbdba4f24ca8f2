package oldbag

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bagconv/bagconv/storage"
)

// AppendFields appends the fields of a header, for people to read. Headers of records have one form
// from version 1.2 on, and so do headers of connections.
func AppendFields(list []storage.Fact, b []byte) []storage.Fact {
	for len(b) > 0 {
		n := uint64(0)
		if len(b) >= 4 {
			n = uint64(binary.LittleEndian.Uint32(b))
		}
		if n == 0 || n > uint64(len(b)-4) {
			return append(list, storage.Fact{Key: "?", Value: hex.EncodeToString(b[:min(len(b), 64)])})
		}
		name, value, ok := bytes.Cut(b[4:4+n], []byte("="))
		if !ok {
			return append(list, storage.Fact{Key: "?", Value: hex.EncodeToString(b[:min(len(b), 64)])})
		}
		list = append(list, storage.Fact{Key: string(name), Value: FieldText(string(name), value)})
		b = b[4+n:]
	}
	return list
}

// FieldText writes the value of a field as people read it: numbers in digits, times as
// seconds and nanoseconds with a point between them, a definition as its size.
func FieldText(name string, v []byte) string {
	switch {
	case name == "op" && len(v) == 1:
		return strconv.Itoa(int(v[0]))
	case strings.HasSuffix(name, "time") && len(v) == 8:
		return fmt.Sprintf("%d.%09d", binary.LittleEndian.Uint32(v), binary.LittleEndian.Uint32(v[4:]))
	case strings.HasSuffix(name, "_pos") && len(v) == 8:
		return strconv.FormatUint(binary.LittleEndian.Uint64(v), 10)
	case len(v) == 4 && slices.Contains([]string{"conn", "count", "size", "ver", "conn_count", "chunk_count", "sec",
		"nsec"}, name):
		return strconv.FormatUint(uint64(binary.LittleEndian.Uint32(v)), 10)
	case name == "message_definition", name == "def":
		return fmt.Sprintf("%d bytes", len(v))
	case utf8.Valid(v):
		return string(v)
	}
	return "0x" + hex.EncodeToString(v[:min(len(v), 64)])
}

package schema

import (
	"crypto/md5"
	"encoding/hex"
	"strconv"
	"strings"
)

// MD5 returns the ROS 1 md5sum of a message: the hash over its constants and
// fields in canonical text, with the md5sums of nested types in place of their
// names (ros/genmsg compute_md5_text). Comments, blanks and the names of
// packages play no role. Every message is hashed once, however often it is used.
//
// ROS 1 has no bounds: they do not count. The sum of a ROS 2 message is the sum of the same words
// in ROS 1, where builtin_interfaces/Time would be a struct.
func MD5(m *Message) string { return md5sums{}.of(m) }

type md5sums map[*Message]string

func (sums md5sums) of(m *Message) string {
	if s, ok := sums[m]; ok {
		return s
	}
	var b strings.Builder
	for _, c := range m.Constants {
		b.WriteString(c.Kind.String() + " " + c.Name + "=" + strings.TrimSpace(c.Text) + "\n")
	}
	for _, f := range m.Fields {
		if f.Type.Kind == Struct { // no brackets here, by the definition of the sum
			b.WriteString(sums.of(f.Type.Message) + " " + f.Name + "\n")
			continue
		}
		b.WriteString(f.Type.Kind.String())
		switch f.Type.Array {
		case Fixed:
			b.WriteString("[" + strconv.Itoa(f.Type.Len) + "]")
		case Bounded, Unbounded:
			b.WriteString("[]")
		}
		b.WriteString(" " + f.Name + "\n")
	}
	sum := md5.Sum([]byte(strings.TrimSpace(b.String())))
	sums[m] = hex.EncodeToString(sum[:])
	return sums[m]
}

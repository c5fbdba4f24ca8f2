package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"sync"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/transcode"
)

// A digester is the program of one topic: in the workers of a stream it turns a
// message into its digest,
//
//	0   sha256 of 'c' and the canonical bytes, or of 'r' and the bytes as they are
//	32  1 when the message does not fit its definition, and so has 'r'
//	33  u64 hash of the bytes as they are, of this process only
//	41  u64 hash of the canonical bytes with Header.seq; 0 where it is not compared
//
// or, with full, into the byte at 32 and the bytes that it digests.
type digester struct {
	chain  []mapping.Program // to canonical bytes; nil: bytes are compared as they are
	normal *normalizer
	strip  *transcode.Plan // leaves Header.seq out of canonical bytes; nil: there is none in them
	strict bool            // refuse messages that do not fit their definition
	full   bool
	pool   sync.Pool // of *scratch
}

const digestSize = sha256.Size + 1 + 8 + 8

// The first byte of what is digested.
const (
	kindCanonical = 'c'
	kindRaw       = 'r'
)

type scratch struct{ a, b []byte }

var seed = maphash.MakeSeed()

// SizeHint implements mapping.Program.
func (d *digester) SizeHint(n int) int {
	if d.full {
		for _, p := range d.chain {
			n = p.SizeHint(n)
		}
		return n + 1
	}
	return digestSize
}

// Append implements mapping.Program, for messages at time 0.
func (d *digester) Append(dst, src []byte) ([]byte, error) { return d.AppendAt(dst, src, 0) }

// AppendAt implements mapping.Timed. A message that does not fit its definition is
// digested as it is, unless strict is set.
func (d *digester) AppendAt(dst, src []byte, logTime int64) ([]byte, error) {
	s, _ := d.pool.Get().(*scratch)
	if s == nil {
		s = &scratch{}
	}
	defer d.pool.Put(s)
	bad := byte(0)
	content, err := d.content(s, src, logTime)
	if err != nil && d.strict {
		return dst, err
	}
	if err != nil {
		bad = 1
		s.a = append(append(s.a[:0], kindRaw), src...)
		content = s.a
	}
	if d.full {
		return append(append(dst, bad), content[1:]...), nil
	}
	whole := uint64(0)
	if d.strip != nil && bad == 0 {
		whole = maphash.Bytes(seed, content)
		if s.a, err = d.strip.Append(append(s.a[:0], kindCanonical), content[1:]); err != nil {
			return dst, err
		}
		content = s.a
	}
	sum := sha256.Sum256(content)
	dst = append(append(dst, sum[:]...), bad)
	dst = binary.LittleEndian.AppendUint64(dst, maphash.Bytes(seed, src))
	return binary.LittleEndian.AppendUint64(dst, whole), nil
}

// content returns what is digested of a message.
func (d *digester) content(s *scratch, src []byte, logTime int64) ([]byte, error) {
	if d.chain == nil {
		s.a = append(append(s.a[:0], kindRaw), src...)
		return s.a, nil
	}
	for _, p := range d.chain {
		out, err := mapping.AppendAt(p, append(s.a[:0], kindCanonical), src, logTime)
		if err != nil {
			return nil, err
		}
		s.a, s.b = s.b, out // src may lie in the other one
		src = out[1:]
	}
	return s.b, d.normal.run(s.b[1:])
}

var _ mapping.Timed = (*digester)(nil)

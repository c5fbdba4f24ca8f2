package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"sync"

	"github.com/bagconv/bagconv/convert/content"
	"github.com/bagconv/bagconv/convert/mapping"
)

// A reader reads the messages of a topic as canonical ones.
type reader struct {
	head    mapping.Program // what a conversion makes of Apollo's types goes before; nil: nothing does
	program *content.Program
}

// A digester is the program of one topic: in the workers of a stream it turns a
// message into its digest,
//
//	0   sha256 of 'c' and the canonical bytes, or of 'r' and the bytes as they are
//	32  flags
//	33  u64 hash of the bytes as they are, of this process only
//	41  u64 hash of the counters of Headers; 0 if they are not compared
//	49  u64 of the digest that the other side has when its encoding cannot hold a time or text
//	57  u32 number of times in odd words, see content.Writer.Odd
//
// or, with full, into its flags and the bytes that it digests, the counters of
// Headers among them.
type digester struct {
	reader *reader // nil: bytes are compared as they are
	seq    bool    // counters of Headers are compared
	strict bool    // refuse messages that do not fit their definition
	full   bool
	pool   sync.Pool // of *scratch
}

const digestSize = sha256.Size + 1 + 8 + 8 + 8 + 4

// The flags of a message.
const (
	flagBad  byte = 1 << iota // it does not fit its definition, and is digested as it is
	flagRest                  // it has more than its definition
	flagOpen                  // a string in it does not end with NUL
	flagTime                  // it has a time that the other encoding cannot hold
	flagText                  // it has text that the other encoding cannot hold
)

// rawMark goes before bytes that are digested as they are.
const rawMark = 'r'

type scratch struct {
	buf    []byte
	writer *content.Writer
}

var seed = maphash.MakeSeed()

// SizeHint implements mapping.Program.
func (d *digester) SizeHint(n int) int {
	if d.full {
		return n + n/2 + 64
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
		s = &scratch{writer: content.NewWriter(d.full)}
	}
	defer d.pool.Put(s)
	flags, err := d.read(s, src, logTime)
	if err != nil && d.strict {
		return dst, err
	}
	raw := d.reader == nil || err != nil
	if err != nil {
		flags = flagBad
	}
	if d.full {
		dst = append(dst, flags)
		if raw {
			return append(dst, src...), nil
		}
		return append(dst, s.writer.Bytes()...), nil
	}
	seq, other, odd := uint64(0), uint64(0), uint32(0)
	var sum [sha256.Size]byte
	if raw {
		sum = s.rawSum(src)
	} else {
		sum, odd = s.writer.Sum(), s.writer.Odd
		if d.seq {
			seq = s.writer.Seq
		}
		if flags&(flagTime|flagText) != 0 {
			if other, err = d.other(s, src, logTime); err != nil {
				return dst, err
			}
		}
	}
	dst = append(append(dst, sum[:]...), flags)
	dst = binary.LittleEndian.AppendUint64(dst, maphash.Bytes(seed, src))
	dst = binary.LittleEndian.AppendUint64(dst, seq)
	dst = binary.LittleEndian.AppendUint64(dst, other)
	return binary.LittleEndian.AppendUint32(dst, odd), nil
}

// other reads a message once more, with its times and text as the other encoding has them. It
// returns the beginning of its digest.
func (d *digester) other(s *scratch, src []byte, logTime int64) (uint64, error) {
	other := digester{reader: &reader{d.reader.head, d.reader.program.Held()}}
	if _, err := other.read(s, src, logTime); err != nil {
		return 0, err
	}
	sum := s.writer.Sum()
	return binary.LittleEndian.Uint64(sum[:]), nil
}

// read reads a message into the writer of s.
func (d *digester) read(s *scratch, src []byte, logTime int64) (flags byte, err error) {
	if d.reader == nil {
		return 0, nil
	}
	if d.reader.head != nil {
		if s.buf, err = mapping.AppendAt(d.reader.head, s.buf[:0], src, logTime); err != nil {
			return 0, err
		}
		src = s.buf
	}
	err = d.reader.program.Read(s.writer, src)
	if s.writer.Rest {
		flags |= flagRest
	}
	if s.writer.Open {
		flags |= flagOpen
	}
	if s.writer.Beyond {
		flags |= flagTime
	}
	if s.writer.Replaced {
		flags |= flagText
	}
	return flags, err
}

// rawSum returns the SHA-256 of 'r' and the bytes of a message.
func (s *scratch) rawSum(src []byte) (sum [sha256.Size]byte) {
	h := sha256.New()
	h.Write([]byte{rawMark})
	h.Write(src)
	h.Sum(sum[:0])
	return sum
}

var _ mapping.Timed = (*digester)(nil)

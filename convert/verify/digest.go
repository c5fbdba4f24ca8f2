package verify

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/bagconv/bagconv/internal/convert/content"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/schema"
)

// A reader reads the messages of a topic as canonical ones.
type reader struct {
	head    mapping.Program // what a conversion makes of Apollo's types goes before; nil: nothing does
	program *content.Program
	from    *topicDefinition // of the messages that the program reads
	to      *schema.Message  // the canonical type that it writes
	strict  bool             // how it pairs their fields: see content.FromROS
}

// A fingerprint is what is compared of a message. It goes through the workers as its values in this
// order, in little endian. Hashes of bytes hold in this process only.
type fingerprint struct {
	digest [sha256.Size]byte // of 'c' and the canonical bytes, or of 'r' and the bytes as they are
	flags  byte
	odd    uint32    // number of times in odd words, see content.Writer.Odd
	raw    uint64    // hash of the bytes as they are; 0 if both sides have bytes of their own
	seq    uint64    // hash of the counters of Headers; 0 if they are not compared
	other  uint64    // what digest of the other side begins with, when flagTime or flagText is set
	wire   [2]uint64 // hashes of the bytes that the program reads; 0 without a shortcut
}

const digestSize = sha256.Size + 1 + 4 + 5*8

func (f *fingerprint) append(dst []byte) []byte {
	dst = append(append(dst, f.digest[:]...), f.flags)
	dst = binary.LittleEndian.AppendUint32(dst, f.odd)
	for _, v := range [...]uint64{f.raw, f.seq, f.other, f.wire[0], f.wire[1]} {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

func (f *fingerprint) read(b []byte) {
	f.digest, f.flags, f.odd = [sha256.Size]byte(b), b[sha256.Size], binary.LittleEndian.Uint32(b[sha256.Size+1:])
	for i, v := range [...]*uint64{&f.raw, &f.seq, &f.other, &f.wire[0], &f.wire[1]} {
		*v = binary.LittleEndian.Uint64(b[sha256.Size+5+8*i:])
	}
}

// A digester is the program of one topic: in the workers of a stream it turns a message into its fingerprint or, with
// full, into its flags and the bytes that it digests, the counters of Headers among them.
type digester struct {
	reader   *reader // nil: bytes are compared as they are
	seq      bool    // counters of Headers are compared
	strict   bool    // refuse messages that do not fit their definition
	full     bool
	shortcut *shortcut // nil: equal bytes on the other side may be another message
	hashed   bool      // with a shortcut: messages are hashed and not decoded
}

// A shortcut is shared by the digesters of a pair whose sides have one definition and one program. Equal bytes are then
// equal messages, so the messages of side 1 are not decoded. If one of them has no equal on side 0, the shortcut has
// failed, and the whole pair is compared again without one.
type shortcut struct {
	failed atomic.Bool
}

// The flags of a message.
const (
	flagBad  byte = 1 << iota // it does not fit its definition, and is digested as it is
	flagRest                  // it has more than its definition
	flagOpen                  // a string in it does not end with NUL
	flagTime                  // it has a time that the other encoding cannot hold
	flagText                  // it has text that the other encoding cannot hold
	flagHash                  // it was not decoded: it has no digest but the hashes of its bytes
)

// rawMark goes before bytes that are digested as they are.
const rawMark = 'r'

type scratch struct {
	buf    []byte
	writer *content.Writer
}

var scratches [2]sync.Pool // of *scratch, without full and with it

var seed, seed2 = maphash.MakeSeed(), maphash.MakeSeed()

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
	if d.shortcut != nil && d.shortcut.failed.Load() {
		return dst, nil
	}
	pool := &scratches[0]
	if d.full {
		pool = &scratches[1]
	}
	s, _ := pool.Get().(*scratch)
	if s == nil {
		s = &scratch{writer: content.NewWriter(d.full)}
	}
	defer pool.Put(s)
	plain, err := d.convert(s, src, logTime)
	f := fingerprint{flags: flagHash}
	d.hash(&f, src, plain)
	if d.hashed && err == nil {
		return f.append(dst), nil
	}
	if err == nil {
		f.flags, err = d.read(s, plain)
	}
	if err != nil && d.strict {
		return dst, err
	}
	raw := d.reader == nil || err != nil
	if err != nil {
		f.flags = flagBad
	}
	if d.full {
		dst = append(dst, f.flags)
		if raw {
			return append(dst, src...), nil
		}
		return append(dst, s.writer.Bytes()...), nil
	}
	if raw {
		f.digest = s.rawSum(src)
		return f.append(dst), nil
	}
	f.digest, f.odd = s.writer.Sum(), s.writer.Odd
	if d.seq {
		f.seq = s.writer.Seq
	}
	if f.flags&(flagTime|flagText) != 0 {
		if f.other, err = d.other(s, plain); err != nil {
			return dst, err
		}
	}
	return f.append(dst), nil
}

// hash fills in the hashes of a message and of what convert returned.
func (d *digester) hash(f *fingerprint, src, plain []byte) {
	if !d.full && !d.strict {
		f.raw = maphash.Bytes(seed, src)
	}
	if d.shortcut == nil {
		return
	}
	f.wire = [2]uint64{f.raw, maphash.Bytes(seed2, plain)}
	if d.strict || d.reader.head != nil {
		f.wire[0] = maphash.Bytes(seed, plain)
	}
}

// other reads what convert returned once more, with its times and text as the other encoding has them. It
// returns the beginning of its digest.
func (d *digester) other(s *scratch, plain []byte) (uint64, error) {
	if err := d.reader.program.Clamped().Read(s.writer, plain); err != nil {
		return 0, err
	}
	sum := s.writer.Sum()
	return binary.LittleEndian.Uint64(sum[:]), nil
}

// convert returns what the program reads of a message; its memory may be the memory of s.
func (d *digester) convert(s *scratch, src []byte, logTime int64) (plain []byte, err error) {
	if d.reader == nil || d.reader.head == nil {
		return src, nil
	}
	s.buf, err = mapping.AppendAt(d.reader.head, s.buf[:0], src, logTime)
	return s.buf, err
}

// read reads what convert returns into the writer of s.
func (d *digester) read(s *scratch, src []byte) (flags byte, err error) {
	if d.reader == nil {
		return 0, nil
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

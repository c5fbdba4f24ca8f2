package content

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
)

// A Sum is the content sum of messages of a topic, a number of 256 bits. The sum of a topic is the sum
// of the sums of its parts, if no log time is in two of them. See docs/content-hash.md. The zero
// value is the sum of no messages.
type Sum struct {
	n    [4]uint64 // the least first
	last int64     // log time of the last message
	rank uint32    // of the next message at that time
	some bool
}

// Add adds a message, by its log time in ns since 1970 and its digest. Messages come in the order of
// the topic.
func (s *Sum) Add(logTime int64, digest *[sha256.Size]byte) {
	if !s.some || s.last != logTime {
		s.some, s.last, s.rank = true, logTime, 0
	}
	var text [8 + 4 + sha256.Size]byte
	binary.LittleEndian.PutUint64(text[:], uint64(logTime))
	binary.LittleEndian.PutUint32(text[8:], s.rank)
	copy(text[12:], digest[:])
	s.rank++
	sum := sha256.Sum256(text[:])
	s.add(&sum)
}

// add adds a number of 256 bits, little endian.
func (s *Sum) add(number *[sha256.Size]byte) {
	carry := uint64(0)
	for i := range s.n {
		s.n[i], carry = bits.Add64(s.n[i], binary.LittleEndian.Uint64(number[8*i:]), carry)
	}
}

// AddText adds the sum of another part, as String returns it.
func (s *Sum) AddText(text string) error {
	number, err := hex.DecodeString(text)
	if err != nil || len(number) != sha256.Size {
		return fmt.Errorf("not a content sum: %q", text)
	}
	s.add((*[sha256.Size]byte)(number))
	return nil
}

// String returns the sum as 32 bytes in hex, little endian.
func (s *Sum) String() string {
	var number [sha256.Size]byte
	for i, n := range s.n {
		binary.LittleEndian.PutUint64(number[8*i:], n)
	}
	return hex.EncodeToString(number[:])
}

package mcap

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// A chunk is a Chunk record:
//
//	start u64, end u64     least and greatest log time
//	uncompressed_size u64
//	uncompressed_crc u32   CRC-32 of the uncompressed records; 0: not known
//	compression str        "", "lz4" (a frame) or "zstd"
//	u64 length, data       records, compressed
type chunk struct {
	start, end  uint64
	size        uint64
	crc         uint32
	compression string
	n           uint64 // length of the data, by the record
	head        int    // bytes of the record's body before the data
	data        []byte // as far as it was at hand
}

// chunkFixed is the size of a Chunk record without the name of its compression and
// its data.
const chunkFixed = recordHead + 8 + 8 + 8 + 4 + 4 + 8

// parse reads b, the start of a body that has length bytes. The data ends with b,
// or sooner. An error means that length and the fields do not fit each other; the
// fields are there all the same if head is above 0.
func (c *chunk) parse(b []byte, length uint64) error {
	f := fields{b: b}
	*c = chunk{start: f.u64(), end: f.u64(), size: f.u64(), crc: f.u32(), compression: f.str(), n: f.u64()}
	if f.bad {
		return errShort
	}
	c.head = len(b) - len(f.b)
	c.data = f.b[:min(uint64(len(f.b)), c.n)]
	if c.n > length || uint64(c.head)+c.n > length {
		return errShort
	}
	return nil
}

// codecName is the name that a codec has in a chunk.
func codecName(c *compress.Codec) string {
	if c == compress.None {
		return ""
	}
	return c.Name()
}

var codecs = [...]*compress.Codec{compress.None, compress.LZ4, compress.Zstd}

// codecOf returns the codec of that name in a chunk, or nil.
func codecOf(name string) *compress.Codec {
	for _, k := range codecs {
		if name == codecName(k) {
			return k
		}
	}
	return nil
}

// codec returns what the chunk is compressed with; nil if nothing shows it. sure is false if the
// chunk states another name.
func (c *chunk) codec() (codec *compress.Codec, sure bool) {
	if k := codecOf(c.compression); k != nil {
		return k, true
	}
	for _, k := range codecs {
		if strings.EqualFold(c.compression, k.Name()) {
			return k, false
		}
	}
	if len(c.data) >= 4 {
		switch binary.LittleEndian.Uint32(c.data) {
		case 0x184D2204:
			return compress.LZ4, false
		case 0xFD2FB528:
			return compress.Zstd, false
		}
	}
	if c.n == c.size {
		return compress.None, false
	}
	return nil, false
}

// If the size of a chunk cannot be right, it may decompress to some times the
// bytes that are stored, as messages of sensors hardly do, and a small one to a
// little more: maxOpen if there is no size, and maxWrong if the size turns out
// to be too small. What zstd makes of one value is any number of times smaller.
const (
	maxGrowth = 16
	maxOpen   = 64 << 20
	maxWrong  = 4 << 20
	maxZstd   = 520 << 20
)

// limit is how much stored bytes of the chunk may decompress to. A size that the stored bytes can
// hardly have been made from is not believed.
func (c *chunk) limit(codec *compress.Codec, stored int64) int64 {
	if c.open() {
		return max(maxOpen, maxGrowth*stored)
	}
	most := max(maxOpen, 1024*stored)
	if codec == compress.Zstd {
		most = max(most, maxZstd)
	}
	return int64(min(c.size, uint64(most)))
}

// open reports whether the recorder stopped within the chunk: its sizes were to be
// filled in at its end.
func (c *chunk) open() bool { return c.size == 1<<64-1 }

// sum is the checksum to compare with; 0: no checksum.
func (c *chunk) sum() uint32 {
	if c.open() {
		return 0
	}
	return c.crc
}

// decode returns the records of the chunk. They are in the memory of dst if it has the room, or, if
// nothing is compressed, in the memory of c.data. What is wrong goes to d; at is where the chunk is
// in the file.
func (c *chunk) decode(dst []byte, at int64, d *chunked.Damage) []byte {
	codec, sure := c.codec()
	switch {
	case codec == nil:
		d.Add("compression", at, int64(len(c.data)), "a chunk has the unknown compression %.20q and is not read",
			c.compression)
		return nil
	case !sure:
		d.Repair("compression", at, "a chunk has the compression %.20q; it is read as %s", c.compression, codec.Name())
	}
	if codec == compress.None {
		if uint64(len(c.data)) != c.size && !c.open() {
			d.Repair("chunk-size", at, "a chunk that is not compressed has %d bytes and states %d", len(c.data), c.size)
		}
		c.check(c.data, at, d)
		return c.data
	}
	if len(c.data) == 0 {
		if c.size > 0 {
			d.Add("compressed-data", at, 0, "a chunk states %d bytes, and has none", c.size)
		}
		return nil
	}
	limit := c.limit(codec, int64(len(c.data)))
	out := storage.Grow(dst, int(min(limit, 8*int64(len(c.data))+1<<16)))[:0]
	out, err := c.unpack(codec, out, limit)
	if errors.Is(err, compress.ErrLimit) && !c.open() && uint64(len(out)) == c.size {
		// It may be the size that is wrong: then the data decodes without error.
		if more, e := codec.Decode(nil, c.data, max(maxWrong, maxGrowth*int64(len(c.data)))); e == nil {
			out, err = more, nil
		} else if errors.Is(e, compress.ErrLimit) && len(more) > len(out) {
			out = more
		}
	}
	switch {
	case err != nil && uint64(len(out)) == c.size && (c.crc != 0 && crc32.ChecksumIEEE(out) == c.crc || c.crc == 0 &&
		errors.Is(err, compress.ErrTrailing)):
		d.Repair("compressed-data", at,
			"a chunk could be decompressed completely, but there is something wrong behind its data (%v)", err)
		return out
	case err != nil && uint64(len(out)) == c.size:
		d.Add("compressed-data", at, 0, "all bytes of a chunk could be decompressed, but not without an error (%v): its "+
			"messages are read, and some of them may be damaged", err)
		return out
	case err != nil:
		d.Add("compressed-data", at, c.unread(len(out)),
			"the compressed data of a chunk is damaged (%v); %d bytes of it could be read", err, len(out))
		return out
	case uint64(len(out)) != c.size && !c.open():
		d.Repair("chunk-size", at, "a chunk states %d bytes before compression, and it has %d", c.size, len(out))
	}
	c.check(out, at, d)
	return out
}

// unpack appends the decompressed data: up to the size that the chunk states, else up to the limit.
func (c *chunk) unpack(codec *compress.Codec, dst []byte, limit int64) ([]byte, error) {
	if c.open() {
		return codec.Decode(dst, c.data, limit)
	}
	return chunked.Unpack(codec, dst, c.data, int64(min(c.size, math.MaxInt64)), recordsEnd)
}

// recordsEnd returns where the last record ends that begins in b, and whether b has nothing but
// records of a chunk.
func recordsEnd(b []byte) (end int64, ok bool) {
	for len(b) > 0 {
		h, err := parseHead(b)
		if errors.Is(err, storage.ErrTruncated) {
			return end + recordHead, true
		}
		if err != nil || h.op != opMessage && h.op != opSchema && h.op != opChannel || h.length > chunked.MaxMessage {
			return 0, false
		}
		n := recordHead + int64(h.length)
		if end += n; n >= int64(len(b)) {
			return end, true
		}
		b = b[n:]
	}
	return end, true
}

// check compares the checksum.
func (c *chunk) check(records []byte, at int64, d *chunked.Damage) {
	if sum := c.sum(); sum != 0 && (d.Places == 0 || d.Repaired) && crc32.ChecksumIEEE(records) != sum {
		d.Add("chunk-crc", at, 0, "the checksum of a chunk differs: its messages are read, and some of them may be damaged")
	}
}

// rawSize is the memory that reading stored bytes of the chunk takes.
func (c *chunk) rawSize(codec *compress.Codec, stored int64) int64 {
	if codec == compress.None {
		return stored
	}
	return stored + c.limit(codec, stored)
}

// unread is how many of the stored bytes could not be decompressed, about, when got
// bytes came of them; 0 when it is not known how many there should be.
func (c *chunk) unread(got int) int64 {
	if c.open() || uint64(got) >= c.size {
		return 0
	}
	return int64(float64(len(c.data)) * float64(c.size-uint64(got)) / float64(c.size))
}

package tables

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bagconv/bagconv/internal/export/columns"
)

// appendPlain appends values of a leaf in the encoding PLAIN; integers of 8 and 16 bits have 32.
func appendPlain(dst []byte, l *leaf, c *columns.Column, spans []span) []byte {
	w := c.Field.Width()
	for _, s := range spans {
		switch {
		case c.Offsets != nil:
			for i := s.from; i < s.to; i++ {
				v := c.Values[c.Offsets[i]:c.Offsets[i+1]]
				dst = append(binary.LittleEndian.AppendUint32(dst, uint32(len(v))), v...)
			}
		case w < 4 && l.physical == format.Int32:
			for i := s.from; i < s.to; i++ {
				dst = binary.LittleEndian.AppendUint32(dst, widened(c, i))
			}
		default:
			dst = append(dst, c.Values[s.from*w:s.to*w]...)
		}
	}
	return dst
}

// widened returns an integer of 8 or 16 bits with its sign in 32.
func widened(c *columns.Column, i int) uint32 {
	switch c.Field.Kind {
	case columns.Int8:
		return uint32(int32(int8(c.Values[i])))
	case columns.Uint8:
		return uint32(c.Values[i])
	}
	v := binary.LittleEndian.Uint16(c.Values[2*i:])
	if c.Field.Kind == columns.Int16 {
		return uint32(int32(int16(v)))
	}
	return uint32(v)
}

// appendBits appends bytes that are 0 or 1 as bits, the lowest first.
func appendBits(dst []byte, values []byte) []byte {
	for len(values) >= 8 {
		// The lowest bits of the 8 bytes come together in the highest byte of the product.
		v := binary.LittleEndian.Uint64(values)
		dst = append(dst, byte(v*0x0102040810204080>>56))
		values = values[8:]
	}
	if len(values) > 0 {
		var b byte
		for i, v := range values {
			b |= v << i
		}
		dst = append(dst, b)
	}
	return dst
}

// appendDelta appends integers of a page in PLAIN as DELTA_BINARY_PACKED.
func (e *pageEncoder) appendDelta(dst, plain []byte, physical format.Type) []byte {
	if physical == format.Int64 {
		e.packed, _ = (&delta.BinaryPackedEncoding{}).EncodeInt64(e.packed, numbers[int64](plain)) // it has no errors
	} else {
		e.packed, _ = (&delta.BinaryPackedEncoding{}).EncodeInt32(e.packed, numbers[int32](plain))
	}
	return append(dst, e.packed...)
}

// numbers has bytes as numbers in little endian, which all machines have that this program is built for.
func numbers[T any](b []byte) []T {
	var t T
	n := len(b) / int(unsafe.Sizeof(t))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// appendLevels appends levels with their length.
func (e *pageEncoder) appendLevels(dst []byte, levels []uint8, most int) ([]byte, error) {
	var err error
	if e.packed, err = (&rle.Encoding{BitWidth: bits.Len(uint(most))}).EncodeLevels(e.packed, levels); err != nil {
		return nil, err
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(e.packed)))
	return append(dst, e.packed...), nil
}

// appendIndexes appends indexes into a dictionary of n values.
func (e *pageEncoder) appendIndexes(dst []byte, indexes []int32, n int) ([]byte, error) {
	width := max(1, bits.Len(uint(n-1))) // some readers refuse 0
	var err error
	if e.packed, err = (&rle.Encoding{BitWidth: width}).EncodeInt32(e.packed, indexes); err != nil {
		return nil, err
	}
	return append(append(dst, byte(width)), e.packed...), nil
}

package cloud

import "encoding/binary"

// LZF is tokens, each a byte and what follows:
//
//	000LLLLL                      L+1 bytes as they are follow
//	LLLOOOOO          oooooooo    L+2 bytes again, from O<<8|o, and 1, bytes back; L is 1 to 6
//	111OOOOO LLLLLLLL oooooooo    L+9 bytes again
const (
	lzfWindow  = 1 << 13 // how far back, bytes
	lzfLongest = 9 + 255 // of a repetition, bytes
	lzfPlain   = 32      // bytes of one token of bytes as they are
	tableBits  = 14      // of hashes
	tableSize  = 1 << tableBits
	patience   = 6 // after each 1<<patience bytes without a repetition, one more is skipped at a time
	longestHop = 8 // bytes that are skipped at a time, at most: the next column may repeat itself
)

// appendLZF appends src, compressed. table has tableSize entries, whose values do not matter.
func appendLZF(dst, src []byte, table []uint32) []byte {
	clear(table)
	plain := 0 // where the bytes begin that no token has
	for i := 0; i+4 <= len(src); {
		three := binary.LittleEndian.Uint32(src[i:]) << 8
		slot := &table[three*2654435761>>(32-tableBits)]
		back := int(*slot) - 1 // positions are stored plus 1
		*slot = uint32(i + 1)
		if back < 0 || i-back > lzfWindow || binary.LittleEndian.Uint32(src[back:])<<8 != three {
			i += min(1+(i-plain)>>patience, longestHop)
			continue
		}
		n, most := 3, min(len(src)-i, lzfLongest)
		for n < most && src[back+n] == src[i+n] {
			n++
		}
		dst = appendPlain(dst, src[plain:i])
		offset := i - back - 1
		if n < 9 {
			dst = append(dst, byte((n-2)<<5|offset>>8), byte(offset))
		} else {
			dst = append(dst, byte(7<<5|offset>>8), byte(n-9), byte(offset))
		}
		i += n
		plain = i
	}
	return appendPlain(dst, src[plain:])
}

// appendPlain appends bytes as they are.
func appendPlain(dst, src []byte) []byte {
	for len(src) > 0 {
		n := min(len(src), lzfPlain)
		dst = append(append(dst, byte(n-1)), src[:n]...)
		src = src[n:]
	}
	return dst
}

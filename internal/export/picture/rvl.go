package picture

import "encoding/binary"

// An image of RVL may have this many pixels, or as many for each of its bytes. A few bytes can be a run of any
// length: an empty image has no more. Decoders of ROS refuse more than 5 or 50 pixels for each byte.
const (
	emptyRVL   = 4 << 20
	perByteRVL = 64
)

// decodeRVL reads the RVL of compressedDepth, which is after A. D. Wilson, "Fast Lossless Depth Image
// Compression", 2017:
//
//	width u32  height u32  words u32 ...        little endian
//
// A word is eight nibbles, the upper first. A number is nibbles of three bits, the lower first, of which the
// upper bit says that another one follows. The numbers are, until there are width * height samples:
//
//	how many samples are 0, how many are not, and for each of these the difference to the last that was not 0,
//	as 0, -1, 1, -2, 2 ...
func decodeRVL(data []byte) (Raw, error) {
	if len(data) < 8 {
		return Raw{}, corrupt("RVL of %d bytes", len(data))
	}
	width, height := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
	if width == 0 || height == 0 {
		return Raw{}, corrupt("RVL of %d x %d pixels", width, height)
	}
	if most := max(emptyRVL, perByteRVL*uint64(len(data))); uint64(width)*uint64(height) > most {
		return Raw{}, corrupt("RVL of %d x %d pixels in %d bytes, which have %d at most", width, height, len(data), most)
	}
	pixels := int(width) * int(height)
	out := make([]byte, 0, 2*min(pixels, 8*len(data)))
	r := nibbles{words: data[8:]}
	var last uint16
	for left := pixels; left > 0; {
		zeros, values := r.number(), r.number()
		if r.ended || uint64(zeros)+uint64(values) > uint64(left) || zeros == 0 && values == 0 {
			return Raw{}, corrupt("RVL of %d x %d pixels is damaged or cut after %d pixels", width, height, len(out)/2)
		}
		left -= int(zeros) + int(values)
		out = append(out, make([]byte, 2*zeros)...)
		for range values {
			n := r.number()
			if r.ended {
				break
			}
			last += uint16(n>>1) ^ -uint16(n&1)
			out = binary.LittleEndian.AppendUint16(out, last)
		}
		if r.ended {
			return Raw{}, corrupt("RVL of %d x %d pixels is cut", width, height)
		}
	}
	return Raw{Width: width, Height: height, Encoding: "16UC1", Data: out}, nil
}

// nibbles reads numbers.
type nibbles struct {
	words []byte
	word  uint32
	left  int  // nibbles in word
	ended bool // a number was cut, or is too long
}

// number returns the next number, 0 after the end.
func (r *nibbles) number() (n uint32) {
	for shift := 0; ; shift += 3 {
		if r.left == 0 {
			if len(r.words) < 4 || shift > 30 {
				r.ended = true
				return 0
			}
			r.word, r.words, r.left = binary.LittleEndian.Uint32(r.words), r.words[4:], 8
		}
		nibble := r.word >> 28
		r.word <<= 4
		r.left--
		n |= nibble & 7 << shift
		if nibble < 8 {
			return n
		}
		if shift >= 30 {
			r.ended = true
			return 0
		}
	}
}

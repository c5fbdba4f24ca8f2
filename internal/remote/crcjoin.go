//go:build clouds

package remote

import "hash/crc32"

// A crcMatrix is a linear map of a CRC's register: column i is what bit i becomes.
type crcMatrix [32]uint32

func (m *crcMatrix) times(v uint32) (sum uint32) {
	for i := 0; v != 0; i, v = i+1, v>>1 {
		if v&1 != 0 {
			sum ^= m[i]
		}
	}
	return sum
}

func (m *crcMatrix) squared() (s crcMatrix) {
	for i := range m {
		s[i] = m.times(m[i])
	}
	return s
}

// crcJoin returns the CRC-32C of a and b, which has n bytes, one after the other. The register
// after n zero bytes is a linear map of the register before; the map of 2n bytes is the square of that
// of n.
func crcJoin(a, b uint32, n int64) uint32 {
	var m crcMatrix // of one bit
	m[0] = crc32.Castagnoli
	for i := 1; i < 32; i++ {
		m[i] = 1 << (i - 1)
	}
	for range 3 { // one byte
		m = m.squared()
	}
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			a = m.times(a)
		}
		m = m.squared()
	}
	return a ^ b
}

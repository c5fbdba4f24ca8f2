// Package crc joins checksums of pieces.
package crc

// Join returns the CRC-32 of two pieces, one after the other, from the sum of each and the
// length of the second, in bytes. polynomial is crc32.IEEE or another one in that form. The first sum
// is multiplied by x^(8*length) modulo the polynomial: bit i of power, the highest first, is the
// term x^i.
func Join(polynomial, first, second uint32, length int64) uint32 {
	power := uint32(1 << 31)  // x^0
	square := uint32(1 << 23) // x^8
	for ; length > 0; length >>= 1 {
		if length&1 != 0 {
			power = times(power, square, polynomial)
		}
		square = times(square, square, polynomial)
	}
	return times(first, power, polynomial) ^ second
}

// times multiplies two polynomials modulo a third.
func times(a, b, modulo uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 != 0 {
			product ^= b
		}
		odd := b & 1
		b = b>>1 ^ modulo*odd
	}
	return product
}

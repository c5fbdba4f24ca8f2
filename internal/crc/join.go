package mcap

import "hash/crc32"

// joinSums returns the CRC-32 of two pieces, one after the other, from that of each and the
// length of the second, in bytes. The first is multiplied by x^(8*length) modulo the
// polynomial: bit i of power, the highest first, is the term x^i.
func joinSums(first, second uint32, length int64) uint32 {
	power := uint32(1 << 31)  // x^0
	square := uint32(1 << 23) // x^8
	for ; length > 0; length >>= 1 {
		if length&1 != 0 {
			power = timesPolynomial(power, square)
		}
		square = timesPolynomial(square, square)
	}
	return timesPolynomial(first, power) ^ second
}

// timesPolynomial multiplies two polynomials modulo that of CRC-32 (IEEE).
func timesPolynomial(a, b uint32) (product uint32) {
	for ; a != 0; a <<= 1 {
		if a>>31 != 0 {
			product ^= b
		}
		odd := b & 1
		b = b>>1 ^ crc32.IEEE*odd
	}
	return product
}

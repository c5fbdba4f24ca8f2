package picture

import "encoding/binary"

// mosaicRow is a row of a Bayer mosaic with the two colors that each pixel lacks as the mean of the two or
// four nearest pixels that have them, rounded up from a half:
//
//	bayer_rggb   R G R G     green at R: of the 4 beside, above, below     blue at R: of the 4 at the corners
//	             G B G B     red at G of the first row: of the 2 beside    blue there: of the 2 above, below
//
// Pixels of the edges are the pixels next to them inside, as OpenCV has them, too.
func mosaicRow(s *source, dst []byte, y int) []byte {
	inner := min(max(y, 1), s.height-2)
	above, here, below := s.samples(inner-1), s.samples(inner), s.samples(inner+1)
	size := s.sample.Size
	out := dst[:3*s.width*size]
	redX, redY := s.enc.pattern&1, s.enc.pattern>>1
	onRed := inner&1 == redY // a row of red and green, not of blue and green
	for x := 1; x < s.width-1; x++ {
		var red, green, blue uint32
		side := uint32(here[x-1]) + uint32(here[x+1])
		updown := uint32(above[x]) + uint32(below[x])
		if (x&1 == redX) == onRed { // red or blue
			own := uint32(here[x])
			corners := uint32(above[x-1]) + uint32(above[x+1]) + uint32(below[x-1]) + uint32(below[x+1])
			red, green, blue = own, (side+updown+2)>>2, (corners+2)>>2
		} else {
			red, green, blue = (side+1)>>1, uint32(here[x]), (updown+1)>>1
		}
		if !onRed {
			red, blue = blue, red
		}
		if size == 1 {
			p := out[3*x : 3*x+3]
			p[0], p[1], p[2] = byte(red), byte(green), byte(blue)
		} else {
			s.put16(out[6*x:], uint16(red), uint16(green), uint16(blue))
		}
	}
	pixel := 3 * size
	copy(out[:pixel], out[pixel:2*pixel])
	copy(out[len(out)-pixel:], out[len(out)-2*pixel:])
	return out
}

// put16 writes a pixel of 16-bit samples.
func (s *source) put16(dst []byte, red, green, blue uint16) {
	_ = dst[5]
	if s.bigOut {
		binary.BigEndian.PutUint16(dst, red)
		binary.BigEndian.PutUint16(dst[2:], green)
		binary.BigEndian.PutUint16(dst[4:], blue)
		return
	}
	binary.LittleEndian.PutUint16(dst, red)
	binary.LittleEndian.PutUint16(dst[2:], green)
	binary.LittleEndian.PutUint16(dst[4:], blue)
}

// samples returns the samples of a row; the last three rows are kept.
func (s *source) samples(y int) []uint16 {
	slot := y % 3
	if s.scratchRow[slot] == y {
		return s.scratch[slot]
	}
	if s.scratch[slot] == nil {
		s.scratch[slot] = make([]uint16, s.width)
	}
	row, src := s.scratch[slot], s.data[y*s.stride:][:s.width*s.sample.Size]
	switch {
	case s.sample.Size == 1:
		for x, b := range src {
			row[x] = uint16(b)
		}
	case s.big:
		for x := range row {
			row[x] = binary.BigEndian.Uint16(src[2*x:])
		}
	default:
		for x := range row {
			row[x] = binary.LittleEndian.Uint16(src[2*x:])
		}
	}
	s.scratchRow[slot] = y
	return row
}

package mp4

// bits reads the fields of a parameter set, bit by bit from the upper one of each byte. After its end all
// fields are 0.
type bits struct {
	data  []byte
	at    int // the next bit
	ended bool
}

// unescape returns the payload of a NAL unit: without the 03 that follows 00 00 so that no start code is in it.
func unescape(unit []byte) []byte {
	out, zeros := make([]byte, 0, len(unit)), 0
	for _, b := range unit {
		if zeros >= 2 && b == 3 {
			zeros = 0
			continue
		}
		if b == 0 {
			zeros++
		} else {
			zeros = 0
		}
		out = append(out, b)
	}
	return out
}

// take returns n bits, 32 at most.
func (b *bits) take(n int) (v uint32) {
	for range n {
		v <<= 1
		if b.at >= 8*len(b.data) {
			b.ended = true
			continue
		}
		v |= uint32(b.data[b.at/8]>>(7-b.at%8)) & 1
		b.at++
	}
	return v
}

func (b *bits) flag() bool { return b.take(1) == 1 }

// number returns a number of the form ue(v): n zeros, a one, and n bits.
func (b *bits) number() uint32 {
	zeros := 0
	for !b.flag() {
		if zeros++; zeros > 31 || b.ended {
			b.ended = true
			return 0
		}
	}
	return 1<<zeros - 1 + b.take(zeros)
}

// signed returns a number of the form se(v): 0, 1, -1, 2, -2 ...
func (b *bits) signed() int32 {
	n := b.number()
	if n&1 == 1 {
		return int32(n>>1) + 1
	}
	return -int32(n >> 1)
}

// err returns an error if the fields were more than the bits.
func (b *bits) err(what string) error {
	if b.ended {
		return corrupt("%s is cut or damaged", what)
	}
	return nil
}

// A picture is what a sequence parameter set says of the pictures.
type picture struct {
	width, height       int // pixels that are shown
	chroma              int // 0 gray, 1 4:2:0, 2 4:2:2, 3 4:4:4
	lumaBits, colorBits int
	profile             []byte // H.264: profile, constraints, level; H.265: the 12 bytes of profile_tier_level
	layers              byte   // H.265: temporal layers
	nested              bool   // H.265
}

// size sets the size that is shown, after cropping: given in samples of color, left and right, above and below.
func (p *picture) size(width, height uint64, crop [4]uint32, lines uint64) error {
	unitX, unitY := uint64(1), lines
	if p.chroma == 1 || p.chroma == 2 {
		unitX = 2
	}
	if p.chroma == 1 {
		unitY *= 2
	}
	cutX := unitX * (uint64(crop[0]) + uint64(crop[1]))
	cutY := unitY * (uint64(crop[2]) + uint64(crop[3]))
	if width == 0 || height == 0 || cutX >= width || cutY >= height {
		return corrupt("pictures of %d x %d pixels without %d and %d", width, height, cutX, cutY)
	}
	width, height = width-cutX, height-cutY
	if width > 65535 || height > 65535 {
		return unsupported("", "pictures of %d x %d pixels, 65535 at most", width, height)
	}
	p.width, p.height = int(width), int(height)
	return nil
}

package mp4

import "slices"

// highProfiles are the profiles of H.264 whose parameter sets say how colors are sampled.
var highProfiles = []uint32{100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135}

// parseSPS reads a sequence parameter set of H.264 up to the size of pictures, and its number.
func parseSPS(unit []byte) (p picture, id uint32, err error) {
	if len(unit) < 4 {
		return p, 0, corrupt("a sequence parameter set of %d bytes", len(unit))
	}
	b := bits{data: unescape(unit)[1:]}
	profile := b.take(8)
	p = picture{chroma: 1, lumaBits: 8, colorBits: 8, profile: unit[1:4]}
	b.take(16) // constraints, level
	id = b.number()
	if slices.Contains(highProfiles, profile) {
		p.chroma = int(b.number())
		if p.chroma == 3 {
			b.take(1) // separate planes
		}
		p.lumaBits, p.colorBits = 8+int(b.number()), 8+int(b.number())
		b.take(1) // lossless
		if b.flag() {
			skipScaling(&b, p.chroma)
		}
	}
	b.number() // log2_max_frame_num
	switch kind := b.number(); kind {
	case 0:
		b.number()
	case 1:
		b.take(1)
		b.signed()
		b.signed()
		n := b.number()
		for i := uint32(0); i < n && !b.ended; i++ {
			b.signed()
		}
	}
	b.number() // max_num_ref_frames
	b.take(1)
	width, height := 16*(uint64(b.number())+1), 16*(uint64(b.number())+1)
	lines := uint64(1)
	if !b.flag() { // fields
		lines = 2
		b.take(1)
	}
	b.take(1) // direct_8x8_inference
	var crop [4]uint32
	if b.flag() {
		for i := range crop {
			crop[i] = b.number()
		}
	}
	if err := b.err("a sequence parameter set"); err != nil {
		return p, id, err
	}
	if p.chroma > 3 || p.lumaBits > 14 || p.colorBits > 14 || id > 31 {
		return p, id, corrupt("a sequence parameter set %d with a chroma format %d, %d and %d bits",
			id, p.chroma, p.lumaBits, p.colorBits)
	}
	return p, id, p.size(width, height*lines, crop, lines)
}

// skipScaling skips scaling matrices.
func skipScaling(b *bits, chroma int) {
	lists := 8
	if chroma == 3 {
		lists = 12
	}
	for i := range lists {
		if !b.flag() {
			continue
		}
		size := 16
		if i >= 6 {
			size = 64
		}
		last, next := int32(8), int32(8)
		for range size {
			if next != 0 {
				next = (last + b.signed() + 256) & 255
			}
			if next != 0 {
				last = next
			}
		}
	}
}

// parsePPS returns the number of a picture parameter set of H.264.
func parsePPS(unit []byte) (id uint32, err error) {
	b := bits{data: unescape(unit[:min(len(unit), 16)])[1:]}
	if id = b.number(); b.ended || id > 255 {
		return 0, corrupt("a picture parameter set is cut or damaged")
	}
	return id, nil
}

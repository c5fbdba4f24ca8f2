package mp4

// parseHEVC returns the number of a parameter set of H.265 and, of a sequence parameter set, what it says of
// the pictures.
func parseHEVC(kind byte, unit []byte) (p picture, id uint32, err error) {
	if len(unit) < 3 {
		return p, 0, corrupt("a parameter set of %d bytes", len(unit))
	}
	b := bits{data: unescape(unit)[2:]}
	switch kind {
	case hevcVPS:
		return p, b.take(4), b.err("a video parameter set")
	case hevcPPS:
		id = b.number()
		if id > 63 {
			b.ended = true
		}
		return p, id, b.err("a picture parameter set")
	}
	b.take(4) // of the video parameter set
	layers := b.take(3)
	p.layers, p.nested = byte(layers+1), b.flag()
	for range 12 {
		p.profile = append(p.profile, byte(b.take(8)))
	}
	skipLayers(&b, layers)
	id = b.number()
	p.chroma = int(b.number())
	if p.chroma == 3 {
		b.take(1) // separate planes
	}
	width, height := uint64(b.number()), uint64(b.number())
	var crop [4]uint32
	if b.flag() {
		for i := range crop {
			crop[i] = b.number()
		}
	}
	p.lumaBits, p.colorBits = 8+int(b.number()), 8+int(b.number())
	if err := b.err("a sequence parameter set"); err != nil {
		return p, id, err
	}
	if layers > 6 || p.chroma > 3 || p.lumaBits > 15 || p.colorBits > 15 || id > 15 {
		return p, id, corrupt("a sequence parameter set %d with a chroma format %d, %d and %d bits",
			id, p.chroma, p.lumaBits, p.colorBits)
	}
	return p, id, p.size(width, height, crop, 1)
}

// skipLayers skips the profiles and levels of temporal layers.
func skipLayers(b *bits, layers uint32) {
	var profile, level [8]bool
	for i := range layers {
		profile[i], level[i] = b.flag(), b.flag()
	}
	if layers > 0 {
		b.take(2 * int(8-layers))
	}
	for i := range layers {
		if profile[i] {
			b.take(32)
			b.take(32)
			b.take(24)
		}
		if level[i] {
			b.take(8)
		}
	}
}

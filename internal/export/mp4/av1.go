package mp4

// The types of OBUs, the units of AV1.
const (
	obuSequence, obuDelimiter, obuHeader, obuFrame = 1, 2, 3, 6
)

// av1Frame adds a temporal unit of AV1, without the delimiter that it may begin with:
//
//	OBU: 0  type, 4 bits  extended, 1 bit  sized, 1 bit  0  [extension u8]  [size, leb128]  payload
func (w *Writer) av1Frame(data []byte, time int64) error {
	picture, key, still := false, false, false
	start, sequence := 0, w.sequence
	err := eachOBU(data, func(kind byte, payload []byte, end int) error {
		switch kind {
		case obuDelimiter:
			if picture || start > 0 {
				return unsupported("", "a frame of two temporal units of AV1")
			}
			start = end
		case obuSequence:
			e, isStill, err := av1Sequence(payload)
			if err != nil {
				return err
			}
			sequence, still = &e, isStill
		case obuHeader, obuFrame:
			if !picture { // of the first frame: not one shown again, a key frame, shown
				b := bits{data: payload}
				key = still || b.take(1) == 0 && b.take(2) == 0 && b.take(1) == 1
			}
			picture = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	w.sequence = sequence
	switch {
	case !picture:
		w.sum.Headers++
		return nil
	case key:
		return w.whole(data[start:], time, w.sequence)
	}
	return w.whole(data[start:], time, nil)
}

// eachOBU calls do with each OBU, and where it ends.
func eachOBU(data []byte, do func(kind byte, payload []byte, end int) error) error {
	if len(data) == 0 {
		return corrupt("a frame of AV1 without bytes")
	}
	for at := 0; at < len(data); {
		head := data[at]
		if head&0x81 != 0 {
			return corrupt("a unit of AV1 at byte %d that begins with %02x", at, head)
		}
		at++
		if head&4 != 0 {
			at++
		}
		size := uint64(max(0, len(data)-at))
		if head&2 != 0 {
			n, used := leb128(data[min(at, len(data)):])
			if used == 0 {
				return corrupt("a unit of AV1 at byte %d without a size", at)
			}
			size, at = n, at+used
		}
		if at > len(data) || size > uint64(len(data)-at) {
			return corrupt("a unit of AV1 of %d bytes at byte %d of %d", size, at, len(data))
		}
		end := at + int(size)
		if err := do(head>>3&15, data[at:end], end); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// leb128 returns a number of 7 bits a byte, the lower first, and its length; 0 if it is not one.
func leb128(b []byte) (n uint64, used int) {
	for i := range min(len(b), 8) {
		n |= uint64(b[i]&0x7f) << (7 * i)
		if b[i] < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}

// av1Sequence reads a sequence header, 5.5 of the specification of AV1, up to the colors, and returns its entry
// and whether all frames are still pictures without a header of their own.
func av1Sequence(payload []byte) (e entry, still bool, err error) {
	b := bits{data: payload}
	profile := b.take(3)
	b.take(1)
	still = b.flag()
	var level, tier uint32
	if still {
		level = b.take(5)
	} else {
		level, tier = av1Points(&b)
	}
	widthBits, heightBits := int(b.take(4))+1, int(b.take(4))+1
	width, height := int(b.take(widthBits))+1, int(b.take(heightBits))+1
	if !still && b.flag() {
		b.take(7)
	}
	b.take(3) // larger blocks, filters
	av1Tools(&b, still)
	b.take(3) // superresolution, filters
	colors := av1Colors(&b, profile)
	if b.ended {
		return e, still, corrupt("a sequence header of AV1 of %d bytes is cut or damaged", len(payload))
	}
	if len(payload) > 4096 || width > 65535 || height > 65535 {
		return e, still, unsupported("", "a sequence header of AV1 of %d bytes, of %d x %d pixels", len(payload), width,
			height)
	}
	// AV1CodecConfigurationRecord: 81  profile, level  tier, colors  0  the header as an OBU with its size
	config := []byte{0x81, byte(profile<<5 | level), byte(tier<<7) | colors, 0, obuSequence<<3 | 2}
	for n := len(payload); ; n >>= 7 {
		if n < 0x80 {
			config = append(config, byte(n))
			break
		}
		config = append(config, byte(n)|0x80)
	}
	return entry{width: width, height: height, config: string(append(config, payload...))}, still, nil
}

// av1Points skips the operating points, and returns level and tier of the first.
func av1Points(b *bits) (level, tier uint32) {
	delay, model := 0, false
	if b.flag() { // timing
		b.take(32)
		b.take(32)
		if b.flag() {
			b.number()
		}
		if model = b.flag(); model {
			delay = int(b.take(5)) + 1
			b.take(32)
			b.take(10)
		}
	}
	displayed := b.flag()
	for i := range b.take(5) + 1 {
		b.take(12)
		l, t := b.take(5), uint32(0)
		if l > 7 {
			t = b.take(1)
		}
		if i == 0 {
			level, tier = l, t
		}
		if model && b.flag() {
			b.take(delay)
			b.take(delay)
			b.take(1)
		}
		if displayed && b.flag() {
			b.take(4)
		}
	}
	return level, tier
}

// av1Tools skips the tools of prediction.
func av1Tools(b *bits, still bool) {
	if still {
		return
	}
	b.take(4)
	ordered := b.flag()
	if ordered {
		b.take(2)
	}
	screen := b.flag() // chosen for each frame
	if !screen {
		screen = b.flag() // for all
	}
	if screen && !b.flag() {
		b.take(1)
	}
	if ordered {
		b.take(3)
	}
}

// av1Colors returns the lower bits of a byte of av1C: more than 8 bits, 12 bits, gray, halved in x, in y, and
// 2 bits of where colors are.
func av1Colors(b *bits, profile uint32) byte {
	high, twelve, gray := b.take(1), uint32(0), uint32(0)
	if profile == 2 && high == 1 {
		twelve = b.take(1)
	}
	if profile != 1 {
		gray = b.take(1)
	}
	rgb := false
	if b.flag() {
		rgb = b.take(24) == 1<<16|13<<8 // BT.709, sRGB, no matrix
	}
	x, y, position := uint32(1), uint32(1), uint32(0)
	switch {
	case gray == 1:
		b.take(1)
	case rgb:
		x, y = 0, 0
	default:
		b.take(1)
		switch {
		case profile == 1:
			x, y = 0, 0
		case profile == 2 && twelve == 1:
			if x, y = b.take(1), 0; x == 1 {
				y = b.take(1)
			}
		case profile == 2:
			y = 0
		}
		if x == 1 && y == 1 {
			position = b.take(2)
		}
	}
	return byte(high<<6 | twelve<<5 | gray<<4 | x<<3 | y<<2 | position)
}

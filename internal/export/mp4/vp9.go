package mp4

// vp9Frame adds a frame of VP9 as it is: a frame, or a superframe of several of which one is shown.
func (w *Writer) vp9Frame(data []byte, time int64) error {
	b := bits{data: data}
	if b.take(2) != 2 {
		return corrupt("a frame that begins with % x, as none of VP9 does", data[:min(len(data), 4)])
	}
	profile := b.take(1) | b.take(1)<<1
	if profile == 3 {
		b.take(1)
	}
	if shown := b.flag(); shown { // a frame from before is shown again
		return w.whole(data, time, nil)
	}
	if b.flag() {
		return w.whole(data, time, nil)
	}
	b.take(2) // shown, with resilience against errors
	if b.take(24) != 0x498342 {
		return corrupt("a key frame of VP9 without its sync code")
	}
	c := vp9Colors(&b, profile)
	width, height := int(b.take(16))+1, int(b.take(16))+1
	if b.ended {
		return corrupt("a key frame of VP9 of %d bytes", len(data))
	}
	if width > 65535 || height > 65535 {
		return unsupported("", "pictures of %d x %d pixels, 65535 at most", width, height)
	}
	c.level = vp9Level(width * height)
	return w.whole(data, time, &entry{width: width, height: height, config: string(c.record())})
}

// A vp9Config is what the vpcC box says.
type vp9Config struct{ profile, level, bits, sampling, full, matrix byte }

// vp9Colors reads color_config of a key frame.
func vp9Colors(b *bits, profile uint32) (c vp9Config) {
	c = vp9Config{profile: byte(profile), bits: 8, sampling: 1}
	if profile >= 2 {
		c.bits = 10 + 2*byte(b.take(1))
	}
	space := b.take(3)
	c.matrix = [...]byte{2, 6, 1, 6, 7, 9, 2, 0}[space] // of ISO/IEC 23001-8, for what VP9 calls so; 2: unknown
	odd := profile&1 == 1
	if space == 7 { // red, green and blue
		c.full, c.sampling = 1, 3
		if odd {
			b.take(1)
		}
		return c
	}
	c.full = byte(b.take(1))
	if odd {
		x, y := b.flag(), b.flag()
		b.take(1)
		switch {
		case x && y:
		case x:
			c.sampling = 2
		default:
			c.sampling = 3
		}
	}
	return c
}

// vp9Level returns the least level, times ten, for the pixels of a picture.
func vp9Level(pixels int) byte {
	for _, l := range []struct {
		pixels int
		level  byte
	}{{36864, 10}, {73728, 11}, {122880, 20}, {245760, 21}, {552960, 30}, {983040, 31}, {2228224, 40}, {8912896, 50}} {
		if pixels <= l.pixels {
			return l.level
		}
	}
	return 60
}

// record returns a VPCodecConfigurationRecord, version 1, after the document "VP Codec ISO Media File Format
// Binding":
//
//	1 0 0 0  profile u8  level u8  bits << 4 | sampling << 1 | full range  primaries u8  transfer u8  matrix u8  0 u16
func (c vp9Config) record() []byte {
	primaries := map[byte]byte{6: 6, 1: 1, 9: 9}[c.matrix]
	if primaries == 0 {
		primaries = 2
	}
	transfer := primaries
	if primaries == 9 {
		transfer = 14
	}
	return []byte{1, 0, 0, 0, c.profile, c.level, c.bits<<4 | c.sampling<<1 | c.full, primaries, transfer, c.matrix, 0, 0}
}

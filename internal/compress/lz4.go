package compress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// The LZ4 frame (LZ4 Frame Format Description 1.6.1), which a ROS 1 bag uses as
// it is (ros_comm, utilities/roslz4/src/lz4s.c):
//
//	u32 magic 0x184D2204
//	u8  FLG: version 01, bits: independent blocks, block checksum, content size, content checksum, -, dictionary
//	u8  BD: block size id 4 to 7 = 64 KiB, 256 KiB, 1 MiB, 4 MiB, in bits 4 to 6
//	u64 content size, u32 dictionary id: if FLG has them
//	u8  header checksum: second byte of xxh32 over FLG to here
//	blocks: u32 length, highest bit set = stored plain; bytes; u32 xxh32 of the bytes if FLG has it
//	u32 0: the end
//	u32 xxh32 of the content, if FLG has it
//
// roslz4 reads only version 01 with independent blocks, a content checksum, and
// nothing else in FLG, and exactly one frame; so that is what encode writes, with
// its block size of 1 MiB. Decode reads the whole format but dictionaries.
const (
	lz4Magic = 0x184D2204

	lz4Version     = 0x40
	lz4Independent = 0x20
	lz4BlockSum    = 0x10
	lz4ContentSize = 0x08
	lz4ContentSum  = 0x04
	lz4Dict        = 0x01

	lz4Plain     = 1 << 31
	lz4BlockSize = 1 << 20
	lz4BlockID   = 6
	lz4Window    = 64 << 10
)

var (
	lz4Fast = sync.Pool{New: func() any { return new(lz4.CompressorCCompat) }}
	lz4High = sync.Pool{New: func() any { return new(lz4.CompressorHC) }}
)

func encodeLZ4(dst, src []byte, level int) ([]byte, error) {
	descriptor := [2]byte{lz4Version | lz4Independent | lz4ContentSum, lz4BlockID << 4}
	dst = binary.LittleEndian.AppendUint32(dst, lz4Magic)
	dst = append(dst, descriptor[0], descriptor[1], byte(xxh32(descriptor[:])>>8))

	compress, release := lz4Compressor(level)
	defer release()
	for rest := src; len(rest) > 0; {
		block := rest[:min(len(rest), lz4BlockSize)]
		rest = rest[len(block):]
		at := len(dst)
		dst = grow(dst, 4+len(block))
		// With less room than the worst case needs, the compressor answers 0
		// for a block that does not shrink; such a block is stored.
		n, err := compress(block, dst[at+4:at+4+len(block)-1])
		if err != nil && !errors.Is(err, lz4.ErrInvalidSourceShortBuffer) {
			return dst[:at], err
		}
		head := uint32(n)
		if n == 0 || err != nil {
			n = copy(dst[at+4:cap(dst)], block)
			head = uint32(n) | lz4Plain
		}
		dst = dst[:at+4+n]
		binary.LittleEndian.PutUint32(dst[at:], head)
	}
	dst = binary.LittleEndian.AppendUint32(dst, 0)
	return binary.LittleEndian.AppendUint32(dst, xxh32(src)), nil
}

// lz4Compressor takes a compressor out of its pool. Level 0 is the fast
// compressor, 1 to 9 are the levels of the slow one.
func lz4Compressor(level int) (compress func(src, dst []byte) (int, error), release func()) {
	if level == 0 {
		c := lz4Fast.Get().(*lz4.CompressorCCompat)
		return c.CompressBlock, func() { lz4Fast.Put(c) }
	}
	c := lz4High.Get().(*lz4.CompressorHC)
	c.Level = lz4.CompressionLevel(1 << (8 + level))
	return c.CompressBlock, func() { lz4High.Put(c) }
}

// grow returns dst with room for n more bytes, its length unchanged.
func grow(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	out := make([]byte, len(dst), max(len(dst)+n, 2*cap(dst)))
	copy(out, dst)
	return out
}

// decodeLZ4 decodes frame after frame, and skips skippable frames. It goes on
// after a wrong checksum, so that the caller gets the bytes as they are, and reports it
// at the end.
func decodeLZ4(dst, src []byte, limit int64) ([]byte, error) {
	start, first := len(dst), true
	var damage error
	for len(src) > 0 || first {
		if n := skippableLZ4(src); n > 0 {
			src = src[min(n, int64(len(src))):]
			continue
		}
		if !first && (len(src) < 4 || binary.LittleEndian.Uint32(src) != lz4Magic) {
			if damage == nil {
				damage = fmt.Errorf("%d %w", len(src), ErrTrailing)
			}
			break
		}
		var err error
		dst, src, err = decodeLZ4Frame(dst, src, limit-int64(len(dst)-start))
		if damage == nil {
			damage = err
		}
		if src == nil {
			break
		}
		first = false
	}
	return dst, damage
}

// skippableLZ4 returns the size of a skippable frame, 0 for other frames.
func skippableLZ4(src []byte) int64 {
	if len(src) < 8 || binary.LittleEndian.Uint32(src)&^0xF != 0x184D2A50 {
		return 0
	}
	return 8 + int64(binary.LittleEndian.Uint32(src[4:]))
}

// decodeLZ4Frame decodes one frame and returns what follows it, nil when its end was
// not found.
func decodeLZ4Frame(dst, src []byte, limit int64) (out, rest []byte, damage error) {
	head, n, damage := parseLZ4Header(src)
	if n == 0 {
		return dst, nil, damage
	}
	src = src[n:]
	start := len(dst)
	for {
		if len(src) < 4 {
			return dst, nil, cutLZ4("block length")
		}
		word := binary.LittleEndian.Uint32(src)
		src = src[4:]
		if word == 0 {
			break
		}
		size := int(word &^ lz4Plain)
		if size > head.blockSize {
			return dst, nil, fmt.Errorf("block of %d bytes where at most %d may be: %w", size, head.blockSize, ErrCorrupt)
		}
		block := src[:min(size, len(src))]
		room := limit - int64(len(dst)-start)
		window := dst[start:]
		if head.independent {
			window = nil
		}
		var err error
		dst, err = decodeLZ4Block(dst, block, window, word&lz4Plain != 0, len(block) < size, head.blockSize, room)
		if err != nil {
			return dst, nil, err
		}
		src = src[size:]
		if head.blockSum {
			if len(src) < 4 {
				return dst, nil, cutLZ4("block checksum")
			}
			if binary.LittleEndian.Uint32(src) != xxh32(block) && damage == nil {
				damage = fmt.Errorf("wrong block checksum: %w", ErrCorrupt)
			}
			src = src[4:]
		}
	}
	if head.contentSum {
		if len(src) < 4 {
			return dst, nil, cutLZ4("content checksum")
		}
		if binary.LittleEndian.Uint32(src) != xxh32(dst[start:]) && damage == nil {
			damage = fmt.Errorf("wrong content checksum: %w", ErrCorrupt)
		}
		src = src[4:]
	}
	return dst, src[:len(src):len(src)], damage
}

func cutLZ4(what string) error { return fmt.Errorf("cut in %s: %w", what, io.ErrUnexpectedEOF) }

type lz4Header struct {
	blockSize                         int
	independent, blockSum, contentSum bool
}

// parseLZ4Header returns the header and its length, which is 0 when nothing can
// be decoded. A wrong header checksum is an error with a length.
func parseLZ4Header(src []byte) (h lz4Header, n int, err error) {
	if len(src) < 7 {
		return h, 0, cutLZ4("frame header")
	}
	if binary.LittleEndian.Uint32(src) != lz4Magic {
		return h, 0, fmt.Errorf("no frame magic: %w", ErrCorrupt)
	}
	flags, id := src[4], src[5]>>4&7
	if flags&0xC0 != lz4Version || id < 4 {
		return h, 0, fmt.Errorf("frame flags %#02x, block size id %d: %w", flags, id, ErrCorrupt)
	}
	if flags&lz4Dict != 0 {
		return h, 0, ErrDict
	}
	end := 6
	if flags&lz4ContentSize != 0 {
		end += 8
	}
	if len(src) <= end {
		return h, 0, cutLZ4("frame header")
	}
	if byte(xxh32(src[4:end])>>8) != src[end] {
		err = fmt.Errorf("wrong frame header checksum: %w", ErrCorrupt)
	}
	h = lz4Header{
		blockSize:   1 << (8 + 2*int(id)),
		independent: flags&lz4Independent != 0,
		blockSum:    flags&lz4BlockSum != 0,
		contentSum:  flags&lz4ContentSum != 0,
	}
	return h, end + 1, err
}

// decodeLZ4Block appends one block. window is the output that matches may reach
// back to. Of a cut or damaged block the bytes before the damage are returned.
func decodeLZ4Block(dst, block, window []byte, plain, cut bool, blockSize int, room int64) ([]byte, error) {
	if plain {
		if int64(len(block)) > room {
			return append(dst, block[:max(room, 0)]...), ErrLimit
		}
		dst = append(dst, block...)
		if cut {
			return dst, cutLZ4("block")
		}
		return dst, nil
	}
	most := min(int64(blockSize), 255*int64(len(block)), max(room, 0))
	dst = grow(dst, int(most))
	free := dst[len(dst) : len(dst)+int(most)]
	if len(window) > lz4Window {
		window = window[len(window)-lz4Window:]
	}
	if !cut && most > 0 { // without room the library panics
		if n, err := lz4.UncompressBlockWithDict(block, free, window); err == nil {
			return dst[:len(dst)+n], nil
		}
	}
	n := salvageLZ4Block(free, block, window)
	dst = dst[:len(dst)+n]
	switch {
	case int64(n) == room:
		return dst, ErrLimit
	case cut:
		return dst, cutLZ4("block")
	}
	return dst, fmt.Errorf("block of %d bytes: %w", len(block), ErrCorrupt)
}

// salvageLZ4Block decodes a cut or damaged block byte by byte, and returns how
// many bytes came out before the cut or the damage. It is slow, simple and never
// writes outside dst.
func salvageLZ4Block(dst, src, window []byte) int {
	length := func(code int) (int, bool) {
		for n := code; code == 15; {
			if len(src) == 0 {
				return 0, false
			}
			b := src[0]
			src = src[1:]
			n += int(b)
			if b != 255 {
				return n, true
			}
		}
		return code, true
	}
	di := 0
	for len(src) > 0 {
		token := src[0]
		src = src[1:]
		n, ok := length(int(token >> 4))
		if !ok {
			return di
		}
		fit := copy(dst[di:], src[:min(n, len(src))])
		di += fit
		if fit < n || len(src)-n < 2 {
			return di
		}
		offset := int(binary.LittleEndian.Uint16(src[n:]))
		src = src[n+2:]
		n, ok = length(int(token & 15))
		if !ok || offset == 0 || offset > di+len(window) {
			return di
		}
		for n += 4; n > 0 && di < len(dst); n-- {
			if from := di - offset; from >= 0 {
				dst[di] = dst[from]
			} else {
				dst[di] = window[len(window)+from]
			}
			di++
		}
	}
	return di
}

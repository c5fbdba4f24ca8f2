package picture

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// appendNPY appends an image as NumPy's format 1.0, an array of (height, width) or, with more than one
// channel, (height, width, channels):
//
//	93 N U M P Y  1 0  length of the header u16  header: a dictionary of Python, spaces, a line feed  samples
//
// The samples begin at a multiple of 64 bytes, in little endian.
func appendNPY(dst []byte, s *source) []byte {
	shape := fmt.Sprintf("%d, %d", s.height, s.width)
	if s.channels > 1 {
		shape += fmt.Sprintf(", %d", s.channels)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", s.sample, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	dst = append(dst, "\x93NUMPY\x01\x00"...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(header)))
	return s.appendRows(append(dst, header...))
}

// The tags of TIFF 6.0 that are written, and types of their values.
const (
	tagWidth, tagHeight, tagBits, tagCompression, tagPhotometric = 256, 257, 258, 259, 262
	tagStripOffset, tagSamples, tagStripRows, tagStripBytes      = 273, 277, 278, 279
	tagPlanar, tagExtra, tagFormat                               = 284, 338, 339

	tiffShort, tiffLong = 3, 4
)

// appendTIFF appends an image as TIFF with one strip, not compressed, in little endian:
//
//	I I 2A 00  8 u32                                           the list of entries begins at byte 8
//	n u16  n * (tag u16, type u16, count u32, value u32)  0 u32
//	values that are longer than 4 bytes                        bits and formats, one for each channel
//	samples
//
// Three channels are red, green and blue, four have alpha; others are gray with more samples of no meaning.
func appendTIFF(dst []byte, s *source) ([]byte, error) {
	size := uint64(s.rowBytes()) * uint64(s.height)
	if size > math.MaxUint32-1<<16 {
		return dst, unsupported("write .npy", "an image of %d bytes as TIFF, 4 GB at most", size)
	}
	formats := map[byte]uint16{'u': 1, 'i': 2, 'f': 3}
	photometric, extra := uint16(1), s.channels-1
	if s.channels == 3 || s.channels == 4 {
		photometric, extra = 2, s.channels-3
	}
	meaning := uint16(0)
	if s.channels == 4 {
		meaning = 2 // alpha that the colors are not multiplied with
	}
	f := tiffFile{entries: 11}
	if extra > 0 {
		f.entries++
	}
	f.values = 8 + 2 + 12*f.entries + 4
	f.long(tagWidth, uint32(s.width))
	f.long(tagHeight, uint32(s.height))
	f.shorts(tagBits, uint16(8*s.sample.Size), s.channels)
	f.shorts(tagCompression, 1, 1)
	f.shorts(tagPhotometric, photometric, 1)
	strip := len(f.list) + 8
	f.long(tagStripOffset, 0)
	f.shorts(tagSamples, uint16(s.channels), 1)
	f.long(tagStripRows, uint32(s.height))
	f.long(tagStripBytes, uint32(size))
	f.shorts(tagPlanar, 1, 1)
	if extra > 0 {
		f.shorts(tagExtra, meaning, extra)
	}
	f.shorts(tagFormat, formats[s.sample.Kind], s.channels)
	f.tail = append(f.tail, make([]byte, -(f.values+len(f.tail))&7)...)
	binary.LittleEndian.PutUint32(f.list[strip:], uint32(f.values+len(f.tail)))

	dst = append(dst, "II*\x00\x08\x00\x00\x00"...)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(f.entries))
	dst = append(append(dst, f.list...), 0, 0, 0, 0)
	return s.appendRows(append(dst, f.tail...)), nil
}

// A tiffFile is a list of entries that grows.
type tiffFile struct {
	entries    int
	values     int    // where the long values begin
	list, tail []byte // the entries, and the long values
}

func (f *tiffFile) entry(tag, kind uint16, count, value uint32) {
	f.list = binary.LittleEndian.AppendUint16(f.list, tag)
	f.list = binary.LittleEndian.AppendUint16(f.list, kind)
	f.list = binary.LittleEndian.AppendUint32(f.list, count)
	f.list = binary.LittleEndian.AppendUint32(f.list, value)
}

func (f *tiffFile) long(tag uint16, v uint32) { f.entry(tag, tiffLong, 1, v) }

// shorts adds an entry with the same number n times.
func (f *tiffFile) shorts(tag, v uint16, n int) {
	if n <= 2 {
		value := uint32(v)
		if n == 2 {
			value |= value << 16
		}
		f.entry(tag, tiffShort, uint32(n), value)
		return
	}
	f.entry(tag, tiffShort, uint32(n), uint32(f.values+len(f.tail)))
	for range n {
		f.tail = binary.LittleEndian.AppendUint16(f.tail, v)
	}
}

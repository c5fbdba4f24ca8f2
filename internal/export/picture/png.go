package picture

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zlib"
)

// A Level is how hard PNG files are compressed. All of them keep every bit.
//
// The chunks of PNG are written here, around the zlib of klauspost/compress, because image/png has the slower
// DEFLATE, tries all filters for each row, and wants four channels for three. Of a color image of a RealSense
// camera with 1280 x 720 pixels, per core (BenchmarkPNG has others):
//
//	Fast    150 MB/s of pixels, 2.57 times smaller      image/png's BestSpeed    38 MB/s, 2.31
//	Small    18 MB/s,           2.68                    its default               8 MB/s, 2.74
//
// and of one of depth Fast 150 MB/s, 5.4, BestSpeed 31 MB/s, 5.2. The default is Fast: for a sixteenth of the
// bytes Small takes eight times as long, and a recording has many images.
type Level int

// The levels.
const (
	Fast  Level = iota // one filter, and the fastest compression: for recordings, which have many images
	Small              // the best filter for each row, and a better compression
	Store              // not compressed
)

// zlibLevels are the levels of zlib.
var zlibLevels = [...]int{Fast: zlib.BestSpeed, Small: 7, Store: zlib.NoCompression}

// pngEncoders are encoders that wait for their next image, by level.
var pngEncoders [len(zlibLevels)]sync.Pool

// A pngEncoder has the buffers of a PNG file that is being written:
//
//   - 89 P N G 0D 0A 1A 0A +
//   - 13 IHDR  width u32  height u32  depth u8  color u8  0 0 0  CRC +     big endian
//   - n  IDAT  zlib of: for each row the filter u8, and its bytes  CRC +
//   - 0  IEND  CRC +
type pngEncoder struct {
	level      Level
	compressor *zlib.Writer
	out        appender
	rows       [2][]byte // room for this row and the one above
	lines      [5][]byte // a filter and a filtered row, for each filter that is tried
	zero       []byte    // the row above the first
}

// An appender appends what is written to bytes.
type appender struct{ b []byte }

// Write appends p.
func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

var _ io.Writer = (*appender)(nil)

// appendPNG appends an image of 1, 3 or 4 channels of 1 or 2 bytes.
func appendPNG(dst []byte, s *source, level Level) ([]byte, error) {
	if level < 0 || int(level) >= len(zlibLevels) {
		return dst, unsupported("there are Fast, Small and Store", "level %d of PNG", level)
	}
	e, _ := pngEncoders[level].Get().(*pngEncoder)
	if e == nil {
		compressor, err := zlib.NewWriterLevel(nil, zlibLevels[level])
		if err != nil {
			return dst, err
		}
		e = &pngEncoder{level: level, compressor: compressor}
	}
	e.out.b = dst
	err := e.encode(s)
	file := e.out.b
	e.out.b = nil
	pngEncoders[level].Put(e)
	if err != nil {
		return dst, err
	}
	return file, nil
}

// encode appends the file to e.out.
func (e *pngEncoder) encode(s *source) error {
	s.bigOut = true
	e.out.b = append(e.out.b, "\x89PNG\r\n\x1a\n"...)
	at := e.begin("IHDR")
	e.out.b = binary.BigEndian.AppendUint32(e.out.b, uint32(s.width))
	e.out.b = binary.BigEndian.AppendUint32(e.out.b, uint32(s.height))
	colors := [...]byte{1: 0, 3: 2, 4: 6}
	e.out.b = append(e.out.b, byte(8*s.sample.Size), colors[s.channels], 0, 0, 0)
	if err := e.end(at); err != nil {
		return err
	}
	at = e.begin("IDAT")
	if err := e.pixels(s); err != nil {
		return err
	}
	if err := e.end(at); err != nil {
		return err
	}
	return e.end(e.begin("IEND"))
}

// begin appends the head of a chunk, and returns where it is.
func (e *pngEncoder) begin(kind string) int {
	at := len(e.out.b)
	e.out.b = append(append(e.out.b, 0, 0, 0, 0), kind...)
	return at
}

// end fills in the length of the chunk that begins at a place, and appends its CRC.
func (e *pngEncoder) end(at int) error {
	n := len(e.out.b) - at - 8
	if n > math.MaxInt32 {
		return unsupported("", "an image of %d bytes as PNG, 2 GB at most", n)
	}
	binary.BigEndian.PutUint32(e.out.b[at:], uint32(n))
	e.out.b = binary.BigEndian.AppendUint32(e.out.b, crc32.ChecksumIEEE(e.out.b[at+4:]))
	return nil
}

// pixels compresses the rows.
func (e *pngEncoder) pixels(s *source) error {
	n, bpp := s.rowBytes(), s.channels*s.sample.Size
	for i := range e.rows {
		e.rows[i] = room(e.rows[i], n)
	}
	for i := range e.lines {
		e.lines[i] = room(e.lines[i], n+1)
	}
	e.zero = room(e.zero, n)
	clear(e.zero)
	e.compressor.Reset(&e.out)
	above := e.zero
	for y := range s.height {
		row := s.row(e.rows[y&1], y)
		if _, err := e.compressor.Write(e.filter(row, above, bpp)); err != nil {
			return err
		}
		above = row
	}
	return e.compressor.Close()
}

// room returns b with n bytes, or new ones.
func room(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// filter returns a filter and the filtered row. Fast takes the one that is best for most images: the
// difference to the pixel before for 8 bits, and Paeth's predictor for 16, whose lower bytes are noise.
func (e *pngEncoder) filter(row, above []byte, bpp int) []byte {
	switch {
	case e.level == Store:
		return filterRow(e.lines[filterNone], filterNone, row, above, bpp)
	case e.level == Small:
		best, least := 0, math.MaxInt
		for f := range e.lines {
			if sum := absolute(filterRow(e.lines[f], f, row, above, bpp)[1:], least); sum < least {
				best, least = f, sum
			}
		}
		return e.lines[best]
	case bpp == 2 || bpp >= 6:
		return filterRow(e.lines[filterPaeth], filterPaeth, row, above, bpp)
	}
	return filterRow(e.lines[filterSub], filterSub, row, above, bpp)
}

// absolute returns the sum of bytes as signed numbers without their sign, or, if it is above a limit, one
// that is.
func absolute(line []byte, limit int) (sum int) {
	for len(line) > 0 && sum <= limit {
		n := min(len(line), 256)
		for _, b := range line[:n] {
			v := int(int8(b))
			sum += max(v, -v)
		}
		line = line[n:]
	}
	return sum
}

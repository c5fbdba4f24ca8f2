package picture

import (
	"math"
	"slices"
)

// A Raw is an image with the fields of sensor_msgs/Image.
type Raw struct {
	Width, Height uint32 // pixels
	Step          uint32 // bytes from one row to the next; 0: rows without padding
	Encoding      string
	BigEndian     bool // the order of bytes in samples of more than one
	Data          []byte
}

// Options are what files are like. The zero value is the default.
type Options struct {
	Level   Level
	Debayer bool // bayer_*: red, green and blue by bilinear interpolation, not the gray samples as they are
	TIFF    bool // what no PNG can be, such as floats, becomes TIFF, not .npy
}

// Pixels is an image as rows without padding.
type Pixels struct {
	Width, Height int
	Channels      int // 1 gray, 3 red, green and blue, 4 with alpha; others have no colors
	Sample        Sample
	Data          []byte // Height * Width * Channels samples in little endian
}

// AppendPixels appends the pixels of an image to dst, which may be nil, and returns them with all of dst as
// Pixels.Data from where it ended. Of the options Debayer counts.
func (r *Raw) AppendPixels(dst []byte, o Options) (Pixels, error) {
	s, err := r.open(o)
	if err != nil {
		return Pixels{}, err
	}
	start := len(dst)
	dst = s.appendRows(dst)
	return Pixels{s.width, s.height, s.channels, s.sample, dst[start:]}, nil
}

// AppendFile appends the image as a file to dst, which may be nil, and returns the ending of its name without
// a point, "png", "npy" or "tiff", and dst with the file.
func (r *Raw) AppendFile(dst []byte, o Options) (ext string, file []byte, err error) {
	s, err := r.open(o)
	if err != nil {
		return "", dst, err
	}
	switch {
	case s.sample.Kind == 'u' && s.sample.Size <= 2 && s.channels != 2 && s.channels <= 4:
		file, err = appendPNG(dst, s, o.Level)
		return "png", file, err
	case o.TIFF:
		file, err = appendTIFF(dst, s)
		return "tiff", file, err
	}
	return "npy", appendNPY(dst, s), nil
}

// Excess returns how many bytes of Data are after the last row with its padding: no file has them. It is 0
// for images that AppendFile refuses.
func (r *Raw) Excess() int {
	s, err := r.open(Options{})
	if err != nil {
		return 0
	}
	return max(0, len(r.Data)-s.padded)
}

// A source is an image whose sizes are checked.
type source struct {
	width, height int
	channels      int    // of the pixels that come out
	sample        Sample // of them
	data          []byte
	stride        int  // bytes from one row to the next
	big           bool // the order of bytes in data
	bigOut        bool // the order of bytes that come out
	padded        int  // bytes of data with all padding
	enc           encoding
	convert       func(s *source, dst []byte, y int) []byte
	scratch       [3][]uint16 // rows of a mosaic
	scratchRow    [3]int      // which; -1: none
}

// rowBytes returns how many bytes come out for a row.
func (s *source) rowBytes() int { return s.width * s.channels * s.sample.Size }

// appendRows appends all rows.
func (s *source) appendRows(dst []byte) []byte {
	n := s.rowBytes()
	dst = slices.Grow(dst, n*s.height)
	for y := range s.height {
		room := dst[len(dst) : len(dst)+n]
		if row := s.row(room, y); &row[0] != &room[0] {
			copy(room, row)
		}
		dst = dst[:len(dst)+n]
	}
	return dst
}

// row returns row y, as rowBytes bytes that are dst or lie in the image.
func (s *source) row(dst []byte, y int) []byte { return s.convert(s, dst, y) }

// open checks an image.
func (r *Raw) open(o Options) (*source, error) {
	e, err := parseEncoding(r.Encoding)
	if err != nil {
		return nil, err
	}
	if r.Width == 0 || r.Height == 0 {
		return nil, corrupt("an image of %d x %d pixels", r.Width, r.Height)
	}
	shared := e.layout == pairs || e.layout == triplanar || e.layout == biplanar && !e.full
	if shared && (r.Width%2 != 0 || r.Height%2 != 0 && e.layout != pairs) {
		return nil, unsupported("export its bytes in a table", "an image of %d x %d pixels of %s, which needs even numbers",
			r.Width, r.Height, r.Encoding)
	}
	s := &source{channels: e.channels, sample: e.sample, data: r.Data, big: r.BigEndian, enc: e}
	if err := s.fit(r); err != nil {
		return nil, err
	}
	s.convert = packedRow
	switch e.layout {
	case pairs:
		s.channels, s.convert = 3, pairsRow
	case biplanar:
		s.channels, s.convert = 3, biplanarRow
	case triplanar:
		s.channels, s.convert = 3, triplanarRow
	case mosaic:
		if !o.Debayer {
			break
		}
		if s.width < 3 || s.height < 3 {
			return nil, unsupported("write its samples as they are", "debayer an image of %d x %d pixels, which needs 3 x 3",
				s.width, s.height)
		}
		s.channels, s.convert = 3, mosaicRow
		s.scratchRow = [3]int{-1, -1, -1}
	}
	return s, nil
}

// fit sets the sizes, and compares them with the bytes that are there.
func (s *source) fit(r *Raw) error {
	width, height := uint64(r.Width), uint64(r.Height)
	tight := width * uint64(s.enc.channels*s.enc.sample.Size) // below 1 << 32 * 512 * 8
	have := uint64(len(r.Data))
	if have > math.MaxInt32 { // so that no product below is too large, together with the next two
		return unsupported("", "an image of %d bytes, 2 GB at most", have)
	}
	if tight > have || tight*height > have {
		return corrupt("an image of %d x %d pixels of %s has only %d bytes", r.Width, r.Height, r.Encoding, have)
	}
	step := uint64(r.Step)
	planes := s.enc.layout == biplanar || s.enc.layout == triplanar
	if step == 0 || planes && have == s.planeRows(height)*tight/2 {
		step = tight
	}
	if step*(height-1) > have {
		return corrupt("an image of %d rows of %d bytes has only %d bytes", height, step, have)
	}
	if step < tight {
		return corrupt("an image has a step of %d bytes, but its row of %d pixels of %s has %d",
			r.Step, r.Width, r.Encoding, tight)
	}
	least, padded := step*(height-1)+tight, step*height
	if planes {
		if s.enc.layout == triplanar && step%2 != 0 {
			return corrupt("an image of %s has a step of %d bytes, which is odd", r.Encoding, r.Step)
		}
		padded = s.planeRows(height) * step / 2
		least = padded - (step - tight)
		if s.enc.layout == triplanar {
			least = padded - (step-tight)/2
		} else if s.enc.full {
			least = padded - 2*(step-tight)
		}
	}
	if least > have {
		return corrupt("an image of %d rows of %d bytes of %s needs %d bytes and has %d",
			r.Height, step, r.Encoding, least, have)
	}
	s.width, s.height, s.stride, s.padded = int(width), int(height), int(step), int(padded)
	return nil
}

// planeRows returns how many half rows of Y all planes are as long as.
func (s *source) planeRows(height uint64) uint64 {
	if s.enc.full {
		return 6 * height
	}
	return 3 * height
}

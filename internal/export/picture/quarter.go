package picture

import (
	"encoding/binary"
	"errors"
	"image"
	"math"
)

// A quarter decodes a JPEG to a fourth of its width and height, at a fraction of the cost: a block of 8 x 8 pixels
// becomes the means of its 2 x 2 parts, which need no transform of the block. It reads baseline JPEGs in YCbCr or gray
// with one scan, as cameras write them. Everything else is errNotQuarter, and whoever gets that decodes as usual.
//
//	FFD8  FFxx n16 segment ...  FFDA n16 head of the scan  bits of MCUs, FF00 for FF  [FFD0..D7 after some MCUs]  FFD9
//
// Source: ITU-T T.81, sections B (segments), F.2 (Huffman decoding) and A.2 (order of blocks).
type quarter struct {
	data []byte
	at   int

	width, height int
	parts         []part
	quants        [4]*[64]int32 // of each table the values in zigzag order, times their share of a mean
	dc, ac        [4]*huffman
	restart       int // MCUs between two markers; 0: no markers

	bits uint64 // the next ones, from the upper end
	have int    // how many
	made int    // of these, zeros behind the end of the data
}

// A part is a component of the picture.
type part struct {
	id, h, v int
	quant    int
	dc, ac   int
	stride   int
	pix      []byte
	last     int32 // DC of the block before
}

// errNotQuarter is the error for JPEGs that are not decoded like this, or are broken.
var errNotQuarter = errors.New("no JPEG that can be decoded in part")

// decodeQuarter decodes a JPEG to a fourth of its sides, rounded up.
func decodeQuarter(file []byte) (image.Image, error) {
	d := quarter{data: file, at: 2}
	for {
		marker, body, err := d.segment()
		switch {
		case err != nil:
			return nil, err
		case marker == 0xc0 || marker == 0xc1:
			err = d.frame(body)
		case marker == 0xc4:
			err = d.tables(body)
		case marker == 0xdb:
			err = d.quantization(body)
		case marker == 0xdd && len(body) >= 2:
			d.restart = int(binary.BigEndian.Uint16(body))
		case marker == 0xee && len(body) >= 12 && string(body[:5]) == "Adobe" && body[11] != 1: // no YCbCr
			err = errNotQuarter
		case marker == 0xda:
			if err = d.scan(body); err == nil {
				return d.image(), nil
			}
		case marker >= 0xe0 && marker <= 0xef, marker == 0xfe: // for programs
		default: // progressive, lossless, arithmetic
			err = errNotQuarter
		}
		if err != nil {
			return nil, err
		}
	}
}

// segment returns the next segment.
func (d *quarter) segment() (marker byte, body []byte, err error) {
	for d.at+1 < len(d.data) && d.data[d.at] == 0xff && d.data[d.at+1] == 0xff { // fill
		d.at++
	}
	if d.at+4 > len(d.data) || d.data[d.at] != 0xff {
		return 0, nil, errNotQuarter
	}
	n := int(binary.BigEndian.Uint16(d.data[d.at+2:]))
	if n < 2 || d.at+2+n > len(d.data) {
		return 0, nil, errNotQuarter
	}
	marker, body = d.data[d.at+1], d.data[d.at+4:d.at+2+n]
	d.at += 2 + n
	return marker, body, nil
}

// frame reads the sizes and the components.
func (d *quarter) frame(b []byte) error {
	if len(b) < 6 || b[0] != 8 || d.parts != nil || b[5] != 1 && b[5] != 3 || len(b) != 6+3*int(b[5]) {
		return errNotQuarter
	}
	d.height, d.width = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
	if d.width == 0 || d.height == 0 || d.width*d.height > MaxDecoded {
		return errNotQuarter
	}
	for b = b[6:]; len(b) > 0; b = b[3:] {
		d.parts = append(d.parts, part{id: int(b[0]), h: int(b[1] >> 4), v: int(b[1] & 15), quant: int(b[2] & 3)})
	}
	first := &d.parts[0]
	if len(d.parts) == 1 {
		first.h, first.v = 1, 1 // a scan of one component has its blocks one by one
	} else if _, ok := ratios[[2]int{first.h, first.v}]; !ok || d.parts[0].id == 'R' && d.parts[1].id == 'G' {
		return errNotQuarter
	}
	for i := 1; i < len(d.parts); i++ {
		if d.parts[i].h != 1 || d.parts[i].v != 1 {
			return errNotQuarter
		}
	}
	across, down := d.units()
	for i := range d.parts {
		p := &d.parts[i]
		p.stride = 2 * across * p.h
		p.pix = make([]byte, p.stride*2*down*p.v)
	}
	return nil
}

// ratios are the sizes of the first component in units of the others.
var ratios = map[[2]int]image.YCbCrSubsampleRatio{
	{1, 1}: image.YCbCrSubsampleRatio444, {2, 1}: image.YCbCrSubsampleRatio422, {1, 2}: image.YCbCrSubsampleRatio440,
	{2, 2}: image.YCbCrSubsampleRatio420, {4, 1}: image.YCbCrSubsampleRatio411, {4, 2}: image.YCbCrSubsampleRatio410,
}

// units returns how many MCUs are in a row, and how many rows.
func (d *quarter) units() (across, down int) {
	w, h := 8*d.parts[0].h, 8*d.parts[0].v
	return (d.width + w - 1) / w, (d.height + h - 1) / h
}

// shareBits are the bits of a share behind the point.
const shareBits = 12

// A share says what a frequency adds to the means of the four parts of a block: the same to all, or with another sign
// to the right ones, to the lower ones, or to two that are across from each other; or nothing.
type share struct {
	kind  uint8 // 0: all, 1: right, 2: lower, 3: across, 4: nothing
	value float64
}

// shares are the shares of all frequencies, in zigzag order. Those with an even number but 0 have the mean 0.
var shares = func() (list [64]share) {
	var mean [8]float64 // over one half, of the orthonormal cosine
	mean[0] = math.Sqrt(1. / 8)
	for k := 1; k < 8; k += 2 {
		for x := range 4 {
			mean[k] += math.Cos(float64((2*x+1)*k)*math.Pi/16) / 8
		}
	}
	u, v, up := 0, 0, true
	for i := range list {
		list[i] = share{uint8(u%2 + v%2*2), mean[u] * mean[v]}
		if u%2 == 0 && u > 0 || v%2 == 0 && v > 0 {
			list[i].kind = 4
		}
		switch {
		case up && u == 7:
			v, up = v+1, false
		case up && v == 0:
			u, up = u+1, false
		case up:
			u, v = u+1, v-1
		case v == 7:
			u, up = u+1, true
		case u == 0:
			v, up = v+1, true
		default:
			u, v = u-1, v+1
		}
	}
	return list
}()

// quantization reads tables of quantization.
func (d *quarter) quantization(b []byte) error {
	for len(b) > 0 {
		size, id := 1+int(b[0]>>4), b[0]&15
		if size > 2 || id > 3 || len(b) < 1+64*size {
			return errNotQuarter
		}
		var q [64]int32
		for i := range q {
			value := int(b[1+i*size])
			if size == 2 {
				value = value<<8 | int(b[2+i*size])
			}
			q[i] = int32(math.Round(float64(value) * shares[i].value * (1 << shareBits)))
		}
		d.quants[id] = &q
		b = b[1+64*size:]
	}
	return nil
}

// scan decodes all blocks.
func (d *quarter) scan(b []byte) error {
	if len(d.parts) == 0 || len(b) != 4+2*len(d.parts) || int(b[0]) != len(d.parts) {
		return errNotQuarter
	}
	for i := range d.parts {
		p := &d.parts[i]
		id, tables := int(b[1+2*i]), b[2+2*i]
		p.dc, p.ac = int(tables>>4), int(tables&15)
		if id != p.id || p.dc > 3 || p.ac > 3 || d.dc[p.dc] == nil || d.ac[p.ac] == nil || d.quants[p.quant] == nil {
			return errNotQuarter
		}
	}
	across, down := d.units()
	left := d.restart
	for y := range down {
		for x := range across {
			if d.restart > 0 {
				if left == 0 {
					if !d.again() {
						return errNotQuarter
					}
					left = d.restart
				}
				left--
			}
			for i := range d.parts {
				p := &d.parts[i]
				for n := range p.h * p.v {
					if !d.block(p, x*p.h+n%p.h, y*p.v+n/p.h) {
						return errNotQuarter
					}
				}
			}
		}
		if d.have < d.made { // zeros were read that are not there
			return errNotQuarter
		}
	}
	return nil
}

// again begins after a marker between MCUs.
func (d *quarter) again() bool {
	if d.have < d.made || d.at+2 > len(d.data) || d.data[d.at] != 0xff || d.data[d.at+1]&^7 != 0xd0 {
		return false
	}
	d.at += 2
	d.bits, d.have, d.made = 0, 0, 0
	for i := range d.parts {
		d.parts[i].last = 0
	}
	return true
}

// block decodes a block of a component.
func (d *quarter) block(p *part, x, y int) bool {
	q := d.quants[p.quant]
	size, ok := d.symbol(d.dc[p.dc])
	if !ok || size > 11 {
		return false
	}
	p.last += d.receive(int(size))
	var sums [5]int32 // by kind of share
	for k := 1; k < 64; k++ {
		s, ok := d.symbol(d.ac[p.ac])
		if !ok {
			return false
		}
		run, size := int(s>>4), int(s&15)
		if size == 0 {
			if run != 15 {
				break
			}
			k += 15
			continue
		}
		if k += run; k > 63 {
			return false
		}
		sums[shares[k].kind] += d.receive(size) * q[k]
	}
	a, b, e, f := p.last*q[0], sums[1], sums[2], sums[3]
	at := 2*y*p.stride + 2*x
	p.pix[at], p.pix[at+1] = level(a+b+e+f), level(a-b+e-f)
	at += p.stride
	p.pix[at], p.pix[at+1] = level(a+b-e-f), level(a-b-e+f)
	return true
}

// level returns the pixel of a sum of shares, which is its distance from the middle.
func level(v int32) byte { return byte(min(max((v+1<<(shareBits-1))>>shareBits+128, 0), 255)) }

// image returns the picture.
func (d *quarter) image() image.Image {
	size := image.Rect(0, 0, (d.width+3)/4, (d.height+3)/4)
	p := d.parts
	if len(p) == 1 {
		return &image.Gray{Pix: p[0].pix, Stride: p[0].stride, Rect: size}
	}
	return &image.YCbCr{Y: p[0].pix, Cb: p[1].pix, Cr: p[2].pix, YStride: p[0].stride, CStride: p[1].stride,
		SubsampleRatio: ratios[[2]int{p[0].h, p[0].v}], Rect: size}
}

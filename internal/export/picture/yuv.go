package picture

// ITU-R BT.601 for Y from 16 to 235, in units of 1 / 1<<20:
//
//	red    1.164 (Y-16)               + 1.596 (V-128)
//	green  1.164 (Y-16) - 0.391 (U-128) - 0.813 (V-128)
//	blue   1.164 (Y-16) + 2.018 (U-128)
//
// These are the rounded products that OpenCV has, too: its results are the same to the last bit.
const (
	yuvShift = 20
	yuvHalf  = 1 << (yuvShift - 1)
	perY     = 1220542
	redV     = 1673527
	greenU   = -409993
	greenV   = -852492
	blueU    = 2116026
)

// A chroma is what U and V add to each color.
type chroma struct{ red, green, blue int32 }

func chromaOf(u, v byte) chroma {
	du, dv := int32(u)-128, int32(v)-128
	return chroma{yuvHalf + redV*dv, yuvHalf + greenU*du + greenV*dv, yuvHalf + blueU*du}
}

// put writes a pixel of red, green and blue.
func (c chroma) put(dst []byte, y byte) {
	_ = dst[2]
	luma := max(0, int32(y)-16) * perY
	dst[0] = saturate((luma + c.red) >> yuvShift)
	dst[1] = saturate((luma + c.green) >> yuvShift)
	dst[2] = saturate((luma + c.blue) >> yuvShift)
}

// saturate has no branch, which real images would mispredict.
func saturate(v int32) byte { return byte(min(max(v, 0), 255)) }

// pairsRow is a row of pairs of pixels:
//
//	uyvy   U Y0 V Y1        yuyv   Y0 U Y1 V
func pairsRow(s *source, dst []byte, y int) []byte {
	src := s.data[y*s.stride:][:2*s.width]
	dst = dst[:3*s.width]
	luma, color := s.enc.first, 1-s.enc.first
	for i, j := 0, 0; i+3 < len(src); i, j = i+4, j+6 {
		p := src[i : i+4]
		c := chromaOf(p[color], p[color+2])
		c.put(dst[j:j+3], p[luma])
		c.put(dst[j+3:j+6], p[luma+2])
	}
	return dst
}

// biplanarRow is a row of an image with a plane of Y and one of U and V:
//
//	nv12   Height rows of Y, Height/2 of U V ..., each for 2 x 2 pixels
//	nv24   Height rows of Y, Height of U V ..., twice as long, each for a pixel
func biplanarRow(s *source, dst []byte, y int) []byte {
	luma := s.data[y*s.stride:][:s.width]
	dst = dst[:3*s.width]
	u, v := 0, 1
	if s.enc.vFirst {
		u, v = 1, 0
	}
	plane := s.data[s.height*s.stride:]
	if s.enc.full {
		colors := plane[2*y*s.stride:][:2*s.width]
		for x, l := range luma {
			chromaOf(colors[2*x+u], colors[2*x+v]).put(dst[3*x:], l)
		}
		return dst
	}
	colors := plane[y/2*s.stride:][:s.width]
	for x := 0; x+1 < len(luma); x += 2 {
		c := chromaOf(colors[x+u], colors[x+v])
		c.put(dst[3*x:], luma[x])
		c.put(dst[3*x+3:], luma[x+1])
	}
	return dst
}

// triplanarRow is a row of an image with three planes:
//
//	i420   Height rows of Y, Height/2 of U, half as long, Height/2 of V; yv12: V before U
func triplanarRow(s *source, dst []byte, y int) []byte {
	luma := s.data[y*s.stride:][:s.width]
	dst = dst[:3*s.width]
	half := s.stride / 2
	first := s.height*s.stride + y/2*half
	second := first + s.height/2*half
	u, v := s.data[first:][:s.width/2], s.data[second:][:s.width/2]
	if s.enc.vFirst {
		u, v = v, u
	}
	for x := range u {
		c := chromaOf(u[x], v[x])
		c.put(dst[6*x:], luma[2*x])
		c.put(dst[6*x+3:], luma[2*x+1])
	}
	return dst
}

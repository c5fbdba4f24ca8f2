package picture

// packedRow is a row of pixels that lie one after the other: the bytes of the image itself if nothing is to
// be changed.
func packedRow(s *source, dst []byte, y int) []byte {
	n := s.rowBytes()
	src := s.data[y*s.stride:][:n]
	reversed := s.big != s.bigOut && s.sample.Size > 1
	if !reversed && !s.enc.swapped {
		return src
	}
	dst = dst[:n]
	switch {
	case s.enc.swapped:
		swapColors(dst, src, s.channels, s.sample.Size, reversed)
	default:
		reverse(dst, src, s.sample.Size)
	}
	return dst
}

// reverse copies numbers of size bytes with their bytes in the other order.
func reverse(dst, src []byte, size int) {
	dst = dst[:len(src)]
	switch size {
	case 2:
		for i := 0; i+1 < len(src); i += 2 {
			dst[i], dst[i+1] = src[i+1], src[i]
		}
	default:
		for i := 0; i+size <= len(src); i += size {
			for j := range size {
				dst[i+j] = src[i+size-1-j]
			}
		}
	}
}

// swapColors copies pixels of 3 or 4 samples of size bytes with the first and the third exchanged.
func swapColors(dst, src []byte, channels, size int, reversed bool) {
	if size == 1 {
		dst = dst[:len(src)]
		if channels == 3 {
			for i := 0; i+2 < len(src); i += 3 {
				dst[i], dst[i+1], dst[i+2] = src[i+2], src[i+1], src[i]
			}
			return
		}
		for i := 0; i+3 < len(src); i += 4 {
			dst[i], dst[i+1], dst[i+2], dst[i+3] = src[i+2], src[i+1], src[i], src[i+3]
		}
		return
	}
	low, high := 0, 1 // bytes of a sample, in the order that comes out
	if reversed {
		low, high = 1, 0
	}
	for i := 0; i+2*channels <= len(src); i += 2 * channels {
		p, q := src[i:][:2*channels], dst[i:][:2*channels]
		q[0], q[1] = p[4+low], p[4+high]
		q[2], q[3] = p[2+low], p[2+high]
		q[4], q[5] = p[low], p[high]
		if channels == 4 {
			q[6], q[7] = p[6+low], p[6+high]
		}
	}
}

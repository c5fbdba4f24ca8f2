package render

import (
	"unicode/utf16"
	"unicode/utf8"
)

// wstring reads a wide string, in the forms that package transcode reads, and
// writes it.
func (r *rosRun) wstring(write bool) error {
	n, err := r.count()
	if err != nil {
		return err
	}
	width := 4
	if r.sizes {
		width, n = 2, n/2
	} else if n > (len(r.src)-r.pos)/4 {
		width = 2
	}
	if n > (len(r.src)-r.pos)/width {
		return r.short(n * width)
	}
	p, err := r.take(n * width)
	if err != nil || !write {
		return err
	}
	r.wide = r.wide[:0]
	for i := 0; i < n; i++ {
		c := r.unit(p, i, width)
		if utf16.IsSurrogate(c) && i+1 < n {
			if full := utf16.DecodeRune(c, r.unit(p, i+1, width)); full != utf8.RuneError {
				r.wide = utf8.AppendRune(r.wide, full)
				i++
				continue
			}
		}
		r.wide = utf8.AppendRune(r.wide, c) // a surrogate that stands alone becomes U+FFFD
	}
	r.text(r.wide)
	return nil
}

func (r *rosRun) unit(p []byte, i, width int) rune {
	if width == 4 {
		return rune(uint16(r.u32(p[4*i:])))
	}
	return rune(r.u16(p[2*i:]))
}

package picture

// A huffman is a table of codes of a JPEG: of a prefix of 9 bits, or by length.
type huffman struct {
	short   [512]uint16 // by prefix: 256 * length + symbol; 0: the code is longer
	symbols []byte      // in the order of their codes
	ends    [17]int32   // by length: the code behind the last one of that length
	from    [17]int32   // index of the first symbol of the length, less its code
}

// tables reads tables of codes.
func (d *quarter) tables(b []byte) error {
	for len(b) > 0 {
		if len(b) < 17 || b[0]&15 > 3 || b[0]>>4 > 1 {
			return errNotQuarter
		}
		n := 0
		for _, c := range b[1:17] {
			n += int(c)
		}
		if n > 256 || len(b) < 17+n {
			return errNotQuarter
		}
		t := &huffman{symbols: b[17 : 17+n]}
		if !t.fill(b[1:17]) {
			return errNotQuarter
		}
		list := &d.dc
		if b[0]>>4 == 1 {
			list = &d.ac
		}
		list[b[0]&15] = t
		b = b[17+n:]
	}
	return nil
}

// fill makes the codes: they count up, and become twice as large with each bit.
func (t *huffman) fill(counts []byte) bool {
	code, at := int32(0), int32(0)
	for i, n := range counts {
		length := i + 1
		t.from[length] = at - code
		for range n {
			if length <= 9 {
				first := code << (9 - length)
				if first >= 512 {
					return false
				}
				for k := range int32(1) << (9 - length) {
					t.short[first+k] = uint16(length)<<8 | uint16(t.symbols[at])
				}
			}
			code, at = code+1, at+1
		}
		if code > 1<<length {
			return false
		}
		t.ends[length] = code
		code <<= 1
	}
	return true
}

// more reads bytes until there are more than 48 bits, or the data end: at a marker, and then zeros follow.
func (d *quarter) more() {
	for d.have <= 48 {
		var b byte
		switch {
		case d.at >= len(d.data), d.data[d.at] == 0xff && (d.at+1 >= len(d.data) || d.data[d.at+1] != 0):
			d.made += 8
		case d.data[d.at] == 0xff:
			b = 0xff
			d.at += 2
		default:
			b = d.data[d.at]
			d.at++
		}
		d.bits |= uint64(b) << (56 - d.have)
		d.have += 8
	}
}

// symbol decodes a symbol.
func (d *quarter) symbol(t *huffman) (byte, bool) {
	if d.have < 32 { // a code and its bits
		d.more()
	}
	if e := t.short[d.bits>>55]; e != 0 {
		d.skip(int(e >> 8))
		return byte(e), true
	}
	for length := 10; length <= 16; length++ {
		if code := int32(d.bits >> (64 - length)); code < t.ends[length] {
			i := t.from[length] + code
			if i < 0 || int(i) >= len(t.symbols) {
				return 0, false
			}
			d.skip(length)
			return t.symbols[i], true
		}
	}
	return 0, false
}

func (d *quarter) skip(n int) {
	d.bits <<= n
	d.have -= n
}

// receive returns the number of so many bits that follow a symbol: those that begin with 0 are negative.
func (d *quarter) receive(size int) int32 {
	if size == 0 {
		return 0
	}
	v := int32(d.bits >> (64 - size))
	d.skip(size)
	if v < 1<<(size-1) {
		v += -1<<size + 1
	}
	return v
}

package cloud

import "math"

// A run is bytes of a point that follow each other in the cloud and in the file.
type run struct{ from, to, size int }

// A move copies moveSize bytes of a run. Its last bytes may be of what follows in the cloud; the next move, or the
// first of the next point, overwrites them.
type move struct{ from, to int }

const (
	moveSize = 16 // bytes: a load and a store of the machine
	maxMoves = 12 // more are not faster than copies of runs
)

// plan joins columns into runs, and cuts these into moves.
func (l *layout) plan() {
	at := 0
	for i := range l.columns {
		c := &l.columns[i]
		if n := len(l.runs); n > 0 && l.runs[n-1].from+l.runs[n-1].size == c.offset {
			l.runs[n-1].size += c.width()
		} else {
			l.runs = append(l.runs, run{c.offset, at, c.width()})
		}
		at += c.width()
	}
	for _, r := range l.runs {
		for i := 0; i < r.size; i += moveSize {
			if len(l.moves) == maxMoves {
				l.moves = nil
				return
			}
			l.moves = append(l.moves, move{r.from + i, r.to + i})
		}
	}
}

// pack writes the points of a grid into dst, which has exactly their size, row by row, point by point.
func (l *layout) pack(dst []byte, g *grid, notes *Notes) {
	if l.convert {
		l.packValues(dst, g, notes)
		return
	}
	rows, width, src := g.height, g.width, g.data
	if g.stride == g.width*g.step { // no padding: one long row
		rows, width = 1, rows*width
	}
	for range rows {
		if len(l.runs) == 1 && l.size == g.step {
			copy(dst[:width*l.size], src)
		} else {
			l.packRow(dst, src, width, g.step)
		}
		dst = dst[width*l.size:]
		src = src[min(g.stride, len(src)):] // the last row may lack its padding
	}
}

// packRow packs n points. dst and src go on behind them if there are more rows; the moves may touch that.
func (l *layout) packRow(dst, src []byte, n, step int) {
	if fast := l.packFast(dst, src, n, step); fast > 0 {
		dst, src, n = dst[fast*l.size:], src[fast*step:], n-fast
	}
	for i := range n {
		from, to := src[i*step:(i+1)*step], dst[i*l.size:(i+1)*l.size]
		for _, r := range l.runs {
			copy(to[r.to:r.to+r.size], from[r.from:])
		}
	}
}

// packFast packs the points whose moves stay inside of dst and src, and returns how many these are.
func (l *layout) packFast(dst, src []byte, n, step int) int {
	if len(l.moves) == 0 {
		return 0
	}
	reachFrom, reachTo := 0, 0
	for _, m := range l.moves {
		reachFrom, reachTo = max(reachFrom, m.from+moveSize), max(reachTo, m.to+moveSize)
	}
	if len(src) < reachFrom || len(dst) < reachTo {
		return 0
	}
	n = min(n, (len(src)-reachFrom)/step+1, (len(dst)-reachTo)/l.size+1)
	size, m := l.size, l.moves
	switch len(m) {
	case 1:
		a := m[0]
		for i := range n {
			from, to := src[i*step:], dst[i*size:]
			*(*[moveSize]byte)(to[a.to:]) = *(*[moveSize]byte)(from[a.from:])
		}
	case 2:
		a, b := m[0], m[1]
		for i := range n {
			from, to := src[i*step:], dst[i*size:]
			*(*[moveSize]byte)(to[a.to:]) = *(*[moveSize]byte)(from[a.from:])
			*(*[moveSize]byte)(to[b.to:]) = *(*[moveSize]byte)(from[b.from:])
		}
	case 3:
		a, b, c := m[0], m[1], m[2]
		for i := range n {
			from, to := src[i*step:], dst[i*size:]
			*(*[moveSize]byte)(to[a.to:]) = *(*[moveSize]byte)(from[a.from:])
			*(*[moveSize]byte)(to[b.to:]) = *(*[moveSize]byte)(from[b.from:])
			*(*[moveSize]byte)(to[c.to:]) = *(*[moveSize]byte)(from[c.from:])
		}
	default:
		for i := range n {
			from, to := src[i*step:], dst[i*size:]
			for _, a := range m {
				*(*[moveSize]byte)(to[a.to:]) = *(*[moveSize]byte)(from[a.from:])
			}
		}
	}
	return n
}

// packValues packs values that are swapped or become doubles.
func (l *layout) packValues(dst []byte, g *grid, notes *Notes) {
	for row := range g.height {
		for x := range g.width {
			from := g.data[row*g.stride+x*g.step:]
			for i := range l.columns {
				c := &l.columns[i]
				for v := range int(c.count) {
					bits := load(from[c.offset+v*c.size:], c.size, l.big)
					if l.kind == ply && c.datatype >= Int64 {
						bits = double(bits, c.datatype == Int64, notes)
					}
					store(dst, bits, c.size)
					dst = dst[c.size:]
				}
			}
		}
	}
}

// double returns the bits of the float64 of an integer, and counts one that it does not hold.
func double(bits uint64, signed bool, notes *Notes) uint64 {
	magnitude, negative := bits, signed && int64(bits) < 0
	if negative {
		magnitude = -bits
	}
	f := float64(magnitude)
	if f == 1<<64 || uint64(f) != magnitude {
		notes.Rounded++
	}
	if negative {
		f = -f
	}
	return math.Float64bits(f)
}

// transpose writes the points of a grid into dst column by column: all values of the first, then of the second.
func (l *layout) transpose(dst []byte, g *grid) {
	for i := range l.columns {
		c := &l.columns[i]
		for row := range g.height {
			from := g.data[row*g.stride:]
			for x := range g.width {
				value := from[x*g.step+c.offset:]
				if c.count == 1 {
					store(dst, load(value, c.size, l.big), c.size)
					dst = dst[c.size:]
					continue
				}
				for v := range int(c.count) {
					store(dst, load(value[v*c.size:], c.size, l.big), c.size)
					dst = dst[c.size:]
				}
			}
		}
	}
}

package picture

// The filters of PNG, by what they subtract from a byte.
const (
	filterNone    = iota
	filterSub     // the same byte of the pixel before
	filterUp      // the byte above
	filterAverage // the mean of both, rounded down
	filterPaeth   // the value of the pixel before, above, or above before that is nearest to before + above - above before
)

// filterRow writes a filter and the filtered row into line, which is one byte longer, and returns it. Before
// the first pixel all bytes are 0.
func filterRow(line []byte, filter int, row, above []byte, bpp int) []byte {
	line[0] = byte(filter)
	out := line[1:][:len(row)]
	above = above[:len(row)]
	switch filter {
	case filterNone:
		copy(out, row)
	case filterSub:
		copy(out[:bpp], row)
		before := row[:len(row)-bpp]
		rest, to := row[bpp:][:len(before)], out[bpp:][:len(before)]
		for i, b := range before {
			to[i] = rest[i] - b
		}
	case filterUp:
		for i, b := range row {
			out[i] = b - above[i]
		}
	case filterAverage:
		for i := range bpp {
			out[i] = row[i] - above[i]>>1
		}
		for i := bpp; i < len(row); i++ {
			out[i] = row[i] - byte((int(row[i-bpp])+int(above[i]))>>1)
		}
	case filterPaeth:
		for i := range bpp {
			out[i] = row[i] - above[i]
		}
		paeth(out[bpp:], row[bpp:], row, above[bpp:], above)
	}
	return line
}

// paeth subtracts the predictor; before and aboveBefore are of the pixel before.
func paeth(out, row, before, above, aboveBefore []byte) {
	out, before, above, aboveBefore = out[:len(row)], before[:len(row)], above[:len(row)], aboveBefore[:len(row)]
	for i, v := range row {
		a, b, c := int(before[i]), int(above[i]), int(aboveBefore[i])
		da, db := b-c, a-c // how far the prediction is from a, and from b
		dc := da + db
		da, db, dc = max(da, -da), max(db, -db), max(dc, -dc)
		switch {
		case da <= db && da <= dc:
			out[i] = v - byte(a)
		case db <= dc:
			out[i] = v - byte(b)
		default:
			out[i] = v - byte(c)
		}
	}
}

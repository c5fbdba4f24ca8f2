package cloud

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// sizes of datatypes, on their own.
var sizeOf = map[uint8]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 8: 8, 9: 8, 10: 8}

// naive returns the values of each field, little endian, point by point.
func naive(c *Cloud) (columns [][]byte) {
	stride := int(c.RowStep)
	if stride == 0 {
		stride = int(c.Width * c.PointStep)
	}
	for _, f := range c.Fields {
		var column []byte
		size := sizeOf[f.Datatype]
		for y := range int(c.Height) {
			for x := range int(c.Width) {
				for v := range int(max(f.Count, 1)) {
					at := y*stride + x*int(c.PointStep) + int(f.Offset) + v*size
					value := slices.Clone(c.Data[at : at+size])
					if c.BigEndian {
						slices.Reverse(value)
					}
					column = append(column, value...)
				}
			}
		}
		columns = append(columns, column)
	}
	return columns
}

// random makes a cloud: fields with gaps, overlaps, any order and type, padded rows.
func random(r *rand.Rand) *Cloud {
	c := &Cloud{Width: uint32(r.IntN(40)), Height: 1, BigEndian: r.IntN(4) == 0}
	if r.IntN(2) == 0 {
		c.Height = uint32(r.IntN(5))
	}
	at := uint32(0)
	for i := range 1 + r.IntN(10) {
		f := Field{Name: fmt.Sprintf("f%d", i), Datatype: uint8(1 + r.IntN(10)), Count: 1}
		if i < 3 && r.IntN(2) == 0 {
			f.Name, f.Datatype = "xyz"[i:i+1], Float32
		}
		switch r.IntN(10) {
		case 0:
			f.Count = uint32(r.IntN(30))
		case 1:
			at += uint32(r.IntN(9))
		case 2:
			at -= min(at, uint32(r.IntN(9)))
		}
		f.Offset = at
		at += uint32(sizeOf[f.Datatype]) * max(f.Count, 1)
		c.Fields = append(c.Fields, f)
	}
	if r.IntN(3) == 0 {
		r.Shuffle(len(c.Fields), func(i, j int) { c.Fields[i], c.Fields[j] = c.Fields[j], c.Fields[i] })
	}
	for _, f := range c.Fields {
		c.PointStep = max(c.PointStep, f.Offset+uint32(sizeOf[f.Datatype])*max(f.Count, 1))
	}
	c.PointStep += uint32(r.IntN(3)) * 5
	c.RowStep = c.Width*c.PointStep + uint32(r.IntN(2)*r.IntN(20))
	n := int(c.Height * c.RowStep)
	if c.Height > 0 && r.IntN(2) == 0 {
		n = int((c.Height-1)*c.RowStep + c.Width*c.PointStep) // the last row has no padding
	}
	c.Data = make([]byte, n)
	for i := range c.Data {
		c.Data[i] = byte(r.IntN(256) >> (r.IntN(2) * 7)) // half of them repeat themselves
	}
	return c
}

// readPCD reads what AppendPCD wrote: the names and the values of each field.
func readPCD(t *testing.T, file []byte) (names []string, columns [][]byte, header map[string]string) {
	t.Helper()
	header = map[string]string{}
	for {
		line, rest, ok := bytes.Cut(file, []byte("\n"))
		if !ok {
			t.Fatalf("no DATA in %.300q", file)
		}
		file = rest
		key, value, _ := strings.Cut(string(line), " ")
		header[key] = value
		if key == "DATA" {
			break
		}
	}
	names = strings.Split(header["FIELDS"], " ")
	sizes, counts := strings.Split(header["SIZE"], " "), strings.Split(header["COUNT"], " ")
	points := number(t, header["POINTS"])
	var widths []int
	total := 0
	for i := range names {
		widths = append(widths, number(t, sizes[i])*number(t, counts[i]))
		total += widths[i]
	}
	columns = make([][]byte, len(names))
	if header["DATA"] == "binary_compressed" {
		if int(binary.LittleEndian.Uint32(file)) != len(file)-8 || int(binary.LittleEndian.Uint32(file[4:])) != total*points {
			t.Fatalf("sizes %x of %d bytes, for %d points of %d", file[:8], len(file), points, total)
		}
		file = decompress(t, file[8:])
		for i, w := range widths {
			columns[i], file = file[:w*points], file[w*points:]
		}
	} else {
		for range points {
			for i, w := range widths {
				columns[i], file = append(columns[i], file[:w]...), file[w:]
			}
		}
	}
	if len(file) != 0 {
		t.Fatalf("%d bytes are left", len(file))
	}
	return names, columns, header
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// decompress reads LZF.
func decompress(t *testing.T, src []byte) (dst []byte) {
	t.Helper()
	for len(src) > 0 {
		n := int(src[0])
		if n < 32 {
			dst, src = append(dst, src[1:n+2]...), src[n+2:]
			continue
		}
		back := n & 31 << 8
		n >>= 5
		if n == 7 {
			n += int(src[1])
			src = src[1:]
		}
		back |= int(src[1])
		src = src[2:]
		for range n + 2 {
			dst = append(dst, dst[len(dst)-back-1])
		}
	}
	return dst
}

// TestRandom: every value of random clouds is in the files, whatever their layout, with one Encoder for all.
func TestRandom(t *testing.T) {
	var e Encoder
	for seed := range uint64(3000) {
		c := random(rand.New(rand.NewPCG(seed, 1)))
		wanted := naive(c)
		for _, o := range []Options{{}, {Compressed: true}} {
			file, err := e.AppendPCD([]byte("before"), c, o)
			if err != nil {
				t.Fatal(seed, err)
			}
			_, columns, header := readPCD(t, file[len("before"):])
			if header["WIDTH"] != strconv.Itoa(int(c.Width)) || header["HEIGHT"] != strconv.Itoa(int(c.Height)) {
				t.Fatal(seed, header)
			}
			for i := range wanted {
				if !bytes.Equal(columns[i], wanted[i]) {
					t.Fatalf("seed %d %+v: field %d of %+v: %x, not %x", seed, o, i, c.Fields, columns[i], wanted[i])
				}
			}
		}
		checkPLY(t, &e, c, wanted)
	}
}

// checkPLY compares a PLY file with the packed points.
func checkPLY(t *testing.T, e *Encoder, c *Cloud, columns [][]byte) {
	t.Helper()
	file, err := e.AppendPLY(nil, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	points := int(c.Width * c.Height)
	var packed []byte
	for p := range points {
		for i, f := range c.Fields {
			w := len(columns[i]) / points
			value := slices.Clone(columns[i][p*w : (p+1)*w])
			for v := 0; f.Datatype >= Int64 && v < w; v += 8 {
				x := binary.LittleEndian.Uint64(value[v:])
				d := float64(x)
				if f.Datatype == Int64 {
					d = float64(int64(x))
				}
				binary.LittleEndian.PutUint64(value[v:], math.Float64bits(d))
			}
			packed = append(packed, value...)
		}
	}
	_, body, ok := bytes.Cut(file, []byte("end_header\n"))
	if !ok || !bytes.Equal(body, packed) {
		t.Fatalf("%+v: %x, not %x", c.Fields, body, packed)
	}
}

// velodyne returns a cloud of the Velodyne driver.
func velodyne(points int) *Cloud {
	return of(points, 32, Field{"x", 0, Float32, 1}, Field{"y", 4, Float32, 1}, Field{"z", 8, Float32, 1},
		Field{"intensity", 16, Float32, 1}, Field{"ring", 20, Uint16, 1}, Field{"time", 24, Float32, 1})
}

// of returns a cloud of one row, with values that look like those of a sensor.
func of(points int, step uint32, fields ...Field) *Cloud {
	c := &Cloud{Width: uint32(points), Height: 1, PointStep: step, RowStep: uint32(points) * step, Fields: fields,
		Data: make([]byte, points*int(step))}
	r := rand.New(rand.NewPCG(1, 1))
	for p := range points {
		for _, f := range fields {
			b := c.Data[p*int(step)+int(f.Offset):]
			switch {
			case f.Datatype == Float32:
				binary.LittleEndian.PutUint32(b, math.Float32bits(float32(math.Round(r.NormFloat64()*1e4)/1e3)))
			case sizeOf[f.Datatype] == 2:
				binary.LittleEndian.PutUint16(b, uint16(p%64))
			default:
				store(b, uint64(p), sizeOf[f.Datatype])
			}
		}
	}
	return c
}

// TestHeader: the text of both headers.
func TestHeader(t *testing.T) {
	c := velodyne(6)
	c.Width, c.Height, c.RowStep = 3, 2, 96
	c.Fields = append(c.Fields, Field{"normal", 0, Float32, 3}, Field{"t", 0, Uint64, 1}, Field{"tag", 0, Int8, 0})
	file, err := c.AppendPCD(nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const head = "# .PCD v0.7 - Point Cloud Data file format\nVERSION 0.7\nFIELDS x y z intensity ring time normal t tag\n" +
		"SIZE 4 4 4 4 2 4 4 8 1\nTYPE F F F F U F F U I\nCOUNT 1 1 1 1 1 1 3 1 1\nWIDTH 3\nHEIGHT 2\nVIEWPOINT 0 0 0 1 0 0 " +
		"0\nPOINTS 6\nDATA binary\n"
	if !strings.HasPrefix(string(file), head) || len(file) != len(head)+6*43 {
		t.Errorf("%q", file)
	}
	if file, err = c.AppendPLY(nil, Options{}); err != nil {
		t.Fatal(err)
	}
	const plyHead = "ply\nformat binary_little_endian 1.0\ncomment organised: 2 rows of 3 points\nelement vertex " +
		"6\nproperty float x\n" +
		"property float y\nproperty float z\nproperty float intensity\nproperty uint16 ring\nproperty float time\nproperty " +
		"float normal_0\n" +
		"property float normal_1\nproperty float normal_2\nproperty double t\nproperty char tag\nend_header\n"
	if !strings.HasPrefix(string(file), plyHead) {
		t.Errorf("%q", file)
	}
}

// TestNames: names that a format cannot hold become others, each its own, and are reported.
func TestNames(t *testing.T) {
	fields := []Field{{"x", 0, Uint8, 1}, {"x", 0, Uint8, 1}, {"x_2", 0, Uint8, 1}, {"a b\n", 0, Uint8, 1},
		{"", 0, Uint8, 1}, {"_", 0, Uint8, 1},
		{"größe", 0, Uint8, 1}, {"n", 0, Uint8, 2}, {"n_1", 0, Uint8, 1}, {strings.Repeat("l", 300), 0, Uint8, 1}}
	c := of(1, 2, fields...)
	var e Encoder
	file, err := e.AppendPCD(nil, c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	names, _, _ := readPCD(t, file)
	wanted := []string{"x", "x_2", "x_2_2", "a_b_", "unnamed", "unnamed_2", "gr__e", "n", "n_1", strings.Repeat("l", 255)}
	if !slices.Equal(names, wanted) {
		t.Errorf("%q", names)
	}
	if n := e.Notes(); len(n.Renamed) != 7 || n.Renamed[0] != (Renaming{"x", "x_2"}) {
		t.Errorf("%q", n.Renamed)
	}
	if file, err = e.AppendPLY(nil, c, Options{}); err != nil || !strings.Contains(string(file),
		"uchar n_0\nproperty uchar n_1\nproperty uchar n_1_2\n") {
		t.Errorf("%q %v", file, err)
	}
}

// TestManyNames: equal names take time in proportion to their number.
func TestManyNames(t *testing.T) {
	fields := make([]Field, maxNames)
	for i := range fields {
		fields[i] = Field{strings.Repeat("n", 300), uint32(i), Uint8, 1}
	}
	c := of(1, maxNames, fields...)
	attempts := testing.AllocsPerRun(1, func() {
		if _, err := c.AppendPLY(nil, Options{}); err != nil {
			t.Fatal(err)
		}
	})
	if attempts > 20*maxNames {
		t.Errorf("%v allocations", attempts)
	}
}

// TestLies: clouds that contradict themselves, and those that no file can hold.
func TestLies(t *testing.T) {
	const huge = math.MaxUint32
	many := make([]Field, 2000)
	for i := range many {
		many[i] = Field{"f", 0, Uint8, 1}
	}
	for name, change := range map[string]func(c *Cloud){
		"corrupt: short data":       func(c *Cloud) { c.Data = c.Data[:len(c.Data)-1] },
		"corrupt: no data":          func(c *Cloud) { c.Data = nil },
		"corrupt: huge size":        func(c *Cloud) { c.Width, c.Height = huge, huge },
		"corrupt: huge everything":  func(c *Cloud) { c.Width, c.Height, c.PointStep, c.RowStep = huge, huge, huge, huge },
		"corrupt: huge row_step":    func(c *Cloud) { c.Height, c.Width, c.RowStep = 2, 1, huge },
		"corrupt: small row_step":   func(c *Cloud) { c.Height, c.Width, c.RowStep = 2, 5, 159 },
		"corrupt: short last row":   func(c *Cloud) { c.Height, c.Width, c.RowStep, c.Data = 2, 5, 160, c.Data[:319] },
		"corrupt: point_step 0":     func(c *Cloud) { c.PointStep = 0 },
		"corrupt: point_step lies":  func(c *Cloud) { c.PointStep = 27 },
		"corrupt: offset":           func(c *Cloud) { c.Fields[1].Offset = huge },
		"corrupt: count":            func(c *Cloud) { c.Fields[1].Count = huge },
		"unsupported: datatype 0":   func(c *Cloud) { c.Fields[2].Datatype = 0 },
		"unsupported: datatype 255": func(c *Cloud) { c.Fields[2].Datatype = 255 },
		"unsupported: no fields":    func(c *Cloud) { c.Fields = nil },
		"unsupported: 2000 fields":  func(c *Cloud) { c.Fields = many },
		"unsupported: overlaps":     func(c *Cloud) { c.Fields = many[:500] },
		"unsupported: empty, huge":  func(c *Cloud) { c.Width, c.Fields[1].Count, c.Fields[1].Datatype = 0, huge, Float64 },
	} {
		c := velodyne(10)
		change(c)
		wanted := storage.ErrCorrupt
		if strings.HasPrefix(name, "unsupported") {
			wanted = storage.ErrUnsupported
		}
		for kind, write := range map[string]func([]byte, Options) ([]byte, error){"PCD": c.AppendPCD, "PLY": c.AppendPLY} {
			dst, err := write([]byte("before"), Options{})
			if !errors.Is(err, wanted) || string(dst) != "before" {
				t.Errorf("%s, %s: %v, %d bytes", kind, name, err, len(dst))
			}
		}
	}
}

// TestTolerated: what drivers do wrong, and what is reported of it.
func TestTolerated(t *testing.T) {
	var e Encoder
	for name, c := range map[string]struct {
		change func(c *Cloud)
		notes  Notes
	}{
		"row_step 0":         {func(c *Cloud) { c.RowStep = 0 }, Notes{}},
		"row_step too small": {func(c *Cloud) { c.RowStep = 1 }, Notes{RowSteps: 1}},
		"too much data":      {func(c *Cloud) { c.Data = append(c.Data, 1, 2, 3) }, Notes{Unused: 3}},
		"count 0":            {func(c *Cloud) { c.Fields[0].Count = 0 }, Notes{CountZero: 1}},
		"empty, with data":   {func(c *Cloud) { c.Width = 0 }, Notes{Unused: 320}},
		"empty, point_step":  {func(c *Cloud) { c.Width, c.PointStep, c.RowStep, c.Data = 0, 0, 0, nil }, Notes{}},
	} {
		e = Encoder{}
		cloud := velodyne(10)
		c.change(cloud)
		if _, err := e.AppendPCD(nil, cloud, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := *e.Notes(); fmt.Sprint(got) != fmt.Sprint(c.notes) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestDropNaN: points without a position are left out only if asked for, in floats of both sizes and byte orders.
func TestDropNaN(t *testing.T) {
	for _, big := range []bool{false, true} {
		for _, size := range []int{4, 8} {
			datatype := map[int]uint8{4: Float32, 8: Float64}[size]
			s := uint32(size)
			c := of(8, 3*s+1, Field{"id", 3 * s, Uint8, 1}, Field{"x", 0, datatype, 1}, Field{"y", s, datatype, 1},
				Field{"z", 2 * s, datatype, 1})
			c.Width, c.Height, c.RowStep, c.BigEndian = 4, 2, 4*c.PointStep, big
			bits := map[int]uint64{4: 0x7fc00000, 8: 0x7ff8 << 48}[size]
			infinite := map[int]uint64{4: 0xff800000, 8: 0xfff0 << 48}[size]
			for p := range 8 {
				point := c.Data[p*int(c.PointStep):]
				clear(point[:3*s])
				point[3*s] = byte(p)
				if p%3 == 1 {
					v := point[p/3*size:][:size] // in x, then y, then z
					store(v, []uint64{bits, infinite, bits}[p/3], size)
					if big {
						slices.Reverse(v)
					}
				}
			}
			var e Encoder
			for o, wanted := range map[Options]string{{}: "\x00\x01\x02\x03\x04\x05\x06\x07",
				{DropNaN: true}: "\x00\x02\x03\x05\x06", {DropNaN: true, Compressed: true}: "\x00\x02\x03\x05\x06"} {
				file, err := e.AppendPCD(nil, c, o)
				if err != nil {
					t.Fatal(err)
				}
				_, columns, header := readPCD(t, file)
				if string(columns[0]) != wanted || o.DropNaN && (header["WIDTH"] != "5" || header["HEIGHT"] != "1") {
					t.Errorf("%d big %v %+v: %q %v", size, big, o, columns[0], header)
				}
			}
			if e.Notes().Dropped != 6 {
				t.Errorf("%+v", e.Notes())
			}
		}
	}
	var e Encoder
	c := of(5, 4, Field{"x", 0, Float32, 1})
	if _, err := e.AppendPCD(nil, c, Options{DropNaN: true}); err != nil || e.Notes().Unplaced != 1 {
		t.Error(err, e.Notes())
	}
}

// TestRounded counts integers that a double does not hold.
func TestRounded(t *testing.T) {
	c := &Cloud{Width: 5, Height: 1, PointStep: 8, Fields: []Field{{"t", 0, Int64, 1}}}
	for _, x := range []int64{math.MinInt64, -1, 1<<53 + 1, math.MaxInt64, 1700000000000000001} {
		c.Data = binary.LittleEndian.AppendUint64(c.Data, uint64(x))
	}
	var e Encoder
	if _, err := e.AppendPLY(nil, c, Options{}); err != nil || e.Notes().Rounded != 3 {
		t.Error(err, e.Notes())
	}
	c.Fields[0].Datatype = Uint64 // of the same bits: 2^63 fits; -1 and the odd ones do not
	if _, err := e.AppendPLY(nil, c, Options{}); err != nil || e.Notes().Rounded != 3+4 {
		t.Error(err, e.Notes())
	}
}

// TestReuse: an Encoder keeps the layout while the fields are the same, not when any of them changes, and keeps no
// slice of the caller.
func TestReuse(t *testing.T) {
	var e Encoder
	c := velodyne(3)
	write := func() *layout {
		t.Helper()
		if _, err := e.AppendPCD(nil, c, Options{}); err != nil {
			t.Fatal(err)
		}
		return e.layout
	}
	first := write()
	if write() != first {
		t.Error("it was compiled twice")
	}
	for i, change := range []func(){func() { c.Fields[3].Name = "i" }, func() { c.Fields[3].Offset = 12 },
		func() { c.BigEndian = true },
		func() { c.Fields[5].Datatype = Uint8 }, func() { c.Fields[5].Count = 2 }, func() {
			c.PointStep = 31
			c.RowStep = 93
		}} {
		before := e.layout
		change()
		if write() == before {
			t.Errorf("change %d: the layout is the old one", i)
		}
	}
}

// TestCompressedSmaller: what repeats itself becomes small, what does not grows by one byte in 32 at most.
func TestCompressedSmaller(t *testing.T) {
	table := make([]uint32, tableSize)
	r := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 1<<16)
	for i := range noise {
		noise[i] = byte(r.IntN(256))
	}
	for name, c := range map[string]struct {
		src  []byte
		most int
	}{
		"zeros": {make([]byte, 1<<20), 1 << 20 / 80}, "noise": {noise, len(noise) + len(noise)/32 + 1}, "twice": {
			slices.Concat(noise[:8000], noise[:8000]), 8000 + 600},
		"nothing": {nil, 0}, "one": {[]byte{7}, 2}, "short": {[]byte("aaaaaa"), 6},
	} {
		got := appendLZF(nil, c.src, table)
		if len(got) > c.most || !bytes.Equal(decompress(t, got), c.src) {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
}

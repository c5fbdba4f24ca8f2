package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/costtest"
	"github.com/bagconv/bagconv/storage"
)

// TestPixels: the pixels of small images, by hand.
func TestPixels(t *testing.T) {
	for _, c := range []struct {
		name          string
		width, height uint32
		big           bool
		data          string
		sample        string
		want          string
	}{
		{"rgb8", 2, 1, false, "abcdef", "|u1", "abcdef"},
		{"bgr8", 2, 1, false, "abcdef", "|u1", "cbafed"},
		{"bgra8", 2, 1, false, "abcdefgh", "|u1", "cbadgfeh"},
		{"BGR8", 1, 1, false, "abc", "|u1", "cba"},
		{"mono16", 2, 1, false, "abcd", "<u2", "abcd"},
		{"mono16", 2, 1, true, "abcd", "<u2", "badc"},
		{"bgr16", 1, 1, false, "aAbBcC", "<u2", "cCbBaA"},
		{"bgra16", 1, 1, true, "AaBbCcDd", "<u2", "cCbBaAdD"},
		{"16UC3", 1, 1, false, "aAbBcC", "<u2", "aAbBcC"},
		{"32FC1", 1, 1, true, "abcd", "<f4", "dcba"},
		{"64FC2", 1, 1, true, "abcdefghABCDEFGH", "<f8", "hgfedcbaHGFEDCBA"},
		{"8SC", 1, 2, true, "ab", "|i1", "ab"},
		{"bayer_rggb8", 2, 2, false, "abcd", "|u1", "abcd"},
		{"yuyv", 2, 1, false, "\x10\x80\xeb\x80", "|u1", "\x00\x00\x00\xff\xff\xff"},
		{"uyvy", 2, 1, false, "\x80\x10\x80\xeb", "|u1", "\x00\x00\x00\xff\xff\xff"},
		{"yuv422", 2, 1, false, "\x80\x51\xf0\x51", "|u1", "\xfe\x00\x4c\xfe\x00\x4c"},
		{"nv12", 2, 2, false, "\x10\xeb\x10\xeb\x80\x80", "|u1", "\x00\x00\x00\xff\xff\xff\x00\x00\x00\xff\xff\xff"},
	} {
		r := Raw{Width: c.width, Height: c.height, Encoding: c.name, BigEndian: c.big, Data: []byte(c.data)}
		p, err := r.AppendPixels([]byte("before"), Options{})
		if err != nil || string(p.Data) != c.want || p.Sample.String() != c.sample || p.Width != int(c.width) ||
			p.Height != int(c.height) {
			t.Errorf("%s: %q %v, %v, want %q %s", c.name, p.Data, p.Sample, err, c.want, c.sample)
		}
		if string(r.Data) != c.data {
			t.Errorf("%s: the data were changed", c.name)
		}
	}
}

// TestDebayer: a mosaic of one color is that color at each pixel, whatever the pattern.
func TestDebayer(t *testing.T) {
	for _, size := range []int{1, 2} {
		for pattern, name := range []string{"rggb", "grbg", "gbrg", "bggr"} {
			letters := [4]byte{name[0], name[1], name[2], name[3]}
			const width, height = 5, 4
			var data []byte
			for y := range height {
				for x := range width {
					v := map[byte]byte{'r': 200, 'g': 100, 'b': 7}[letters[y%2*2+x%2]]
					data = append(data, make([]byte, size-1)...)
					data = append(data, v)
				}
			}
			r := Raw{Width: width, Height: height, Encoding: fmt.Sprintf("bayer_%s%d", name, 8*size), BigEndian: true,
				Data: data}
			p, err := r.AppendPixels(nil, Options{Debayer: true})
			if err != nil || p.Channels != 3 || len(p.Data) != 3*size*width*height {
				t.Fatalf("pattern %d: %+v, %v", pattern, p, err)
			}
			for i := 0; i < len(p.Data); i += 3 * size {
				if p.Data[i] != 200 || p.Data[i+size] != 100 || p.Data[i+2*size] != 7 {
					t.Fatalf("%s at %d: % x", r.Encoding, i/3/size, p.Data[i:i+3*size])
				}
			}
		}
	}
}

// TestPNG: image/png reads the pixels back, of all levels, and padding and the order of bytes change nothing.
func TestPNG(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"mono8", "rgb8", "rgba8", "mono16", "rgb16", "rgba16", "bgra16", "nv21"} {
		for level := range Level(len(zlibLevels)) {
			r := randomRaw(random, name, 34, 18)
			p, err := r.AppendPixels(nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			ext, file, err := r.AppendFile([]byte("before"), Options{Level: level})
			if err != nil || ext != "png" || !bytes.HasPrefix(file, []byte("before")) {
				t.Fatalf("%s: %q, %v", name, ext, err)
			}
			decoded, err := png.Decode(bytes.NewReader(file[len("before"):]))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := samplesOf(decoded, p); !bytes.Equal(got, p.Data) {
				t.Errorf("%s, level %d: image/png reads other pixels", name, level)
			}
		}
	}
	if _, _, err := (&Raw{Width: 1, Height: 1, Encoding: "mono8", Data: []byte{1}}).AppendFile(nil,
		Options{Level: 9}); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("level 9: %v", err)
	}
}

// samplesOf returns the samples of an image in the shape of p.
func samplesOf(m image.Image, p Pixels) (out []byte) {
	for y := range p.Height {
		for x := range p.Width {
			c := color.NRGBA64Model.Convert(m.At(x, y)).(color.NRGBA64)
			if n, ok := m.(*image.NRGBA64); ok {
				c = n.NRGBA64At(x, y)
			}
			for _, v := range []uint16{c.R, c.G, c.B, c.A}[:p.Channels] {
				if n, ok := m.(*image.NRGBA); ok { // without the loss of the way over premultiplied alpha
					c8 := n.NRGBAAt(x, y)
					v = uint16([]uint8{c8.R, c8.G, c8.B, c8.A}[len(out)%p.Channels]) << 8
				}
				if p.Sample.Size == 2 {
					out = append(out, byte(v))
				}
				out = append(out, byte(v>>8))
			}
		}
	}
	return out
}

// TestRefused: what is no image is an error with the right cause, and costs no memory.
func TestRefused(t *testing.T) {
	const huge = math.MaxUint32
	for _, c := range []struct {
		r     Raw
		cause error
		words string
	}{
		{Raw{Width: 0, Height: 4, Encoding: "mono8", Data: []byte{1}}, storage.ErrCorrupt, "0 x 4"},
		{Raw{Width: 4, Height: 0, Encoding: "mono8"}, storage.ErrCorrupt, "4 x 0"},
		{Raw{Width: 2, Height: 2, Step: 2, Encoding: "mono8", Data: []byte{1, 2, 3}}, storage.ErrCorrupt, "only 3 bytes"},
		{Raw{Width: 2, Height: 2, Step: 3, Encoding: "mono8", Data: []byte{1, 2, 3, 4}}, storage.ErrCorrupt,
			"needs 5 bytes and has 4"},
		{Raw{Width: 2, Height: 1, Step: 2, Encoding: "rgb8", Data: make([]byte, 6)}, storage.ErrCorrupt,
			"a step of 2 bytes, but its row of 2 pixels of rgb8 has 6"},
		{Raw{Width: huge, Height: huge, Step: huge, Encoding: "mono8", Data: make([]byte, 9)}, storage.ErrCorrupt,
			"only 9 bytes"},
		{Raw{Width: 1, Height: huge, Step: huge, Encoding: "8UC512", Data: make([]byte, 999)}, storage.ErrCorrupt, "bytes"},
		{Raw{Width: 1, Height: 9, Step: huge, Encoding: "mono8", Data: make([]byte, 999)}, storage.ErrCorrupt, "bytes"},
		{Raw{Width: huge, Height: 1, Encoding: "64FC512", Data: make([]byte, 999)}, storage.ErrCorrupt, "bytes"},
		{Raw{Width: 2, Height: 2, Step: 2, Encoding: "nv12", Data: make([]byte, 5)}, storage.ErrCorrupt,
			"needs 6 bytes and has 5"},
		{Raw{Width: 2, Height: 2, Step: 4, Encoding: "nv24", Data: make([]byte, 19)}, storage.ErrCorrupt, "needs 20 bytes"},
		{Raw{Width: 2, Height: 2, Step: 3, Encoding: "i420", Data: make([]byte, 99)}, storage.ErrCorrupt, "odd"},
		{Raw{Width: 3, Height: 2, Step: 6, Encoding: "uyvy", Data: make([]byte, 99)}, storage.ErrUnsupported, "even"},
		{Raw{Width: 2, Height: 3, Step: 2, Encoding: "nv21", Data: make([]byte, 99)}, storage.ErrUnsupported, "even"},
		{Raw{Width: 2, Height: 2, Encoding: "rgb565", Data: make([]byte, 99)}, storage.ErrUnsupported,
			"there are rgb8, rgba8"},
		{Raw{Width: 2, Height: 2, Encoding: "8UC0", Data: make([]byte, 99)}, storage.ErrUnsupported, "16UC1"},
		{Raw{Width: 2, Height: 2, Encoding: "8FC1", Data: make([]byte, 99)}, storage.ErrUnsupported, "8FC1"},
		{Raw{Width: 2, Height: 2, Encoding: "8UC513", Data: make([]byte, 9999)}, storage.ErrUnsupported, "8UC513"},
		{Raw{Width: 2, Height: 2, Encoding: strings.Repeat("C", 1<<20)}, storage.ErrUnsupported, "CCC..."},
	} {
		for _, o := range []Options{{}, {Debayer: true, TIFF: true}} {
			before := []byte{7}
			_, out, err := c.r.AppendFile(before, o)
			if !errors.Is(err, c.cause) || !strings.Contains(fmt.Sprint(err), c.words) || len(out) != 1 {
				t.Errorf("%.20s %d x %d: %v, want %v with %q", c.r.Encoding, c.r.Width, c.r.Height, err, c.cause, c.words)
			}
			if _, err := c.r.AppendPixels(nil, o); !errors.Is(err, c.cause) {
				t.Errorf("%.20s: pixels: %v", c.r.Encoding, err)
			}
		}
		if n := c.r.Excess(); n != 0 {
			t.Errorf("%.20s: %d bytes too many", c.r.Encoding, n)
		}
	}
	small := Raw{Width: 2, Height: 9, Encoding: "bayer_rggb8", Data: make([]byte, 18)}
	if _, _, err := small.AppendFile(nil, Options{Debayer: true}); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("debayer 2 x 9: %v", err)
	}
}

// TestSteps: padding of the last row may be missing, planes without padding are known by their size, and
// bytes after the image are counted.
func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name             string
		step             uint32
		bytes, excess    int
		padded, accepted bool
	}{
		{"mono8", 6, 10, 0, true, true}, {"mono8", 6, 12, 0, true, true}, {"mono8", 6, 15, 3, true, true}, {"mono8", 0, 8, 0,
			false, true},
		{"mono8", 6, 9, 0, true, false},
		{"nv12", 4, 12, 0, false, true}, {"nv12", 6, 12, 0, false, true}, {"nv12", 6, 16, 0, true, true}, {"nv12", 6, 18, 0,
			true, true},
		{"nv12", 6, 15, 0, true, false}, {"nv12", 6, 19, 1, true, true},
		{"nv24", 8, 24, 0, false, true}, {"nv24", 4, 24, 0, false, true}, {"nv24", 6, 32, 0, true, true}, {"nv24", 6, 31, 0,
			true, false},
		{"i420", 6, 17, 0, true, true}, {"i420", 6, 16, 0, true, false}, {"i420", 0, 12, 0, false, true},
	} {
		r := Raw{Width: 4, Height: 2, Step: c.step, Encoding: c.name, Data: make([]byte, c.bytes)}
		s, err := r.open(Options{})
		if (err == nil) != c.accepted || err == nil && ((s.stride > 4) != c.padded || r.Excess() != c.excess) {
			t.Errorf("%s with a step of %d and %d bytes: %+v, %d too many, %v", c.name, c.step, c.bytes, s, r.Excess(), err)
		}
	}
}

// TestPool: many goroutines make the same bytes, for all levels, with images of several sizes.
func TestPool(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var images []*Raw
	var want [][]byte
	for i := range 12 {
		images = append(images, randomRaw(random, []string{"rgb8", "mono16", "bgra8"}[i%3], 2+i*7, 20-i))
		_, file, err := images[i].AppendFile(nil, Options{Level: Level(i % 3)})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, file)
	}
	var wait sync.WaitGroup
	for g := range 4 {
		wait.Go(func() {
			for n := range 60 {
				i := (n*5 + g) % len(images)
				if _, file, err := images[i].AppendFile(nil, Options{Level: Level(i % 3)}); err != nil ||
					!bytes.Equal(file, want[i]) {
					t.Errorf("image %d: other bytes, %v", i, err)
				}
			}
		})
	}
	wait.Wait()
}

// TestCost: memory is in proportion to the image.
func TestCost(t *testing.T) {
	costtest.Linear(t, 300, func(n int) {
		r := Raw{Width: 400, Height: uint32(n), Encoding: "bayer_rggb16", Data: make([]byte, 800*n)}
		if _, err := r.AppendPixels(nil, Options{Debayer: true}); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzRaw: no image panics, or makes a file that image/png does not read.
func FuzzRaw(f *testing.F) {
	for i := range encodings {
		f.Add(encodings[i].name, uint32(4), uint32(4), uint32(16), make([]byte, 200), i%2 == 0, true)
	}
	for _, name := range generalNames {
		f.Add(name, uint32(3), uint32(2), uint32(0), make([]byte, 400), true, true)
	}
	f.Fuzz(func(t *testing.T, name string, width, height, step uint32, data []byte, big, extra bool) {
		r := Raw{Width: width, Height: height, Step: step, Encoding: name, BigEndian: big, Data: data}
		ext, file, err := r.AppendFile(nil, Options{Debayer: extra, TIFF: extra})
		p, err2 := r.AppendPixels(nil, Options{Debayer: extra})
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%v but %v", err, err2)
		}
		if err != nil {
			if !storage.IsDamage(err) {
				t.Fatalf("not about the image: %v", err)
			}
			return
		}
		if want := p.Width * p.Height * p.Channels * p.Sample.Size; len(p.Data) != want {
			t.Fatalf("%d bytes of pixels, want %d", len(p.Data), want)
		}
		if ext == "png" {
			decoded, err := png.Decode(bytes.NewReader(file))
			if err != nil || !bytes.Equal(samplesOf(decoded, p), p.Data) {
				t.Fatalf("image/png reads other pixels: %v", err)
			}
		} else if !bytes.HasSuffix(file, p.Data) {
			t.Fatalf("%s does not end with the samples", ext)
		}
	})
}

// FuzzStored: no compressed image panics or takes much memory.
func FuzzStored(f *testing.F) {
	header := make([]byte, depthHeader)
	gray := image.NewGray16(image.Rect(0, 0, 5, 4))
	var b bytes.Buffer
	if err := png.Encode(&b, gray); err != nil {
		f.Fatal(err)
	}
	f.Add("32FC1; compressedDepth png", append(header, b.Bytes()...))
	f.Add("16UC1; compressedDepth", append(header, b.Bytes()...))
	f.Add("16UC1; compressedDepth rvl", rvlImage(3, 1, 0x03000000|0x00123456))
	f.Add("jpeg", []byte("\xff\xd8\xff\xe0"))
	f.Add("h264", []byte("\x00\x00\x00\x01\x67"))
	f.Fuzz(func(t *testing.T, format string, data []byte) {
		ext, file, err := Stored(format, data, Options{Level: Store})
		switch {
		case err != nil && !storage.IsDamage(err):
			t.Fatalf("not about the image: %v", err)
		case err == nil && (ext == "" || len(file) == 0):
			t.Fatalf("a file %q of %d bytes", ext, len(file))
		}
	})
}

// rvlImage is the header of depth and of RVL, and words.
func rvlImage(width, height uint32, words ...uint32) []byte {
	b := make([]byte, depthHeader)
	for _, w := range append([]uint32{width, height}, words...) {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

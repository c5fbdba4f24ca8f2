package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
)

var all = []*Codec{None, LZ4, BZ2, Zstd}

// text is like small messages: headers, counters, floats that change slowly.
func text(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, n+100)
	for i := 0; len(b) < n; i++ {
		b = fmt.Appendf(b, "seq: %d stamp: %d.%09d frame_id: base_link x: %.6f y: %.6f\n", i, 1700000000+i/100, rng.IntN(1e9),
			rng.Float64(), rng.Float64())
	}
	return b[:n]
}

// image is like a camera picture: smooth with noise in the low bits.
func image(n int) []byte {
	rng := rand.New(rand.NewPCG(3, 4))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i/640) + byte(i%640/8) + byte(rng.IntN(4))
	}
	return b
}

func noise(n int) []byte {
	rng := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

var inputs = map[string][]byte{
	"empty": {}, "one": {7}, "zeros": make([]byte, 1<<20), "text": text(1<<20 + 12345), "image": image(300 << 10),
	"noise": noise(200<<10 + 1), "short": []byte("abcabcabcabcabcabc"),
}

func TestRoundTrip(t *testing.T) {
	for _, c := range all {
		for name, src := range inputs {
			for _, level := range []int{0, 1, c.MaxLevel()} {
				if level > c.MaxLevel() {
					continue
				}
				packed, err := c.Encode([]byte("front"), src, level)
				if err != nil {
					t.Fatal(c.Name(), name, level, err)
				}
				again, _ := c.Encode(nil, src, level)
				if !bytes.Equal(packed[5:], again) || string(packed[:5]) != "front" {
					t.Errorf("%s %s level %d: not the same bytes twice", c.Name(), name, level)
				}
				out, err := c.Decode([]byte("front"), packed[5:], int64(len(src)))
				if err != nil || !bytes.Equal(out[5:], src) || string(out[:5]) != "front" {
					t.Errorf("%s %s level %d: %d bytes back of %d, %v", c.Name(), name, level, len(out)-5, len(src), err)
				}
				if len(src) == 0 {
					continue
				}
				out, err = c.Decode(nil, packed[5:], int64(len(src))-1)
				if !errors.Is(err, ErrLimit) || len(out) > len(src)-1 || !bytes.HasPrefix(src, out) {
					t.Errorf("%s %s level %d: limit gives %d bytes of %d, %v", c.Name(), name, level, len(out), len(src), err)
				}
			}
		}
	}
}

func TestNoSuchLevel(t *testing.T) {
	for _, c := range all {
		if _, err := c.Encode(nil, nil, c.MaxLevel()+1); err == nil {
			t.Error(c.Name())
		}
	}
	if Lookup("lz4") != LZ4 || Lookup("LZ4") != nil {
		t.Error("lookup")
	}
}

// TestCut cuts compressed data: what comes back is a prefix, and an error reports
// that the input ended.
func TestCut(t *testing.T) {
	src := text(150_000)
	for _, c := range []*Codec{LZ4, BZ2, Zstd} {
		packed, _ := c.Encode(nil, src, 0)
		last := 0
		for n := 0; n < len(packed); n += 1 + len(packed)/100 {
			out, err := c.Decode(nil, packed[:n], int64(len(src)))
			if !errors.Is(err, io.ErrUnexpectedEOF) && n > 0 {
				t.Fatalf("%s cut at %d: %v", c.Name(), n, err)
			}
			if !bytes.HasPrefix(src, out) || len(out) < last {
				t.Fatalf("%s cut at %d: %d bytes that are no prefix, or fewer than before", c.Name(), n, len(out))
			}
			last = len(out)
		}
		if c == LZ4 && last < len(src)*9/10 {
			t.Errorf("lz4 gave back only %d of %d bytes", last, len(src))
		}
	}
}

func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for _, c := range all {
		src := text(100_000)
		want, _ := c.Encode(nil, src, 0)
		for range 4 {
			wg.Go(func() {
				for range 5 {
					got, err := c.Encode(nil, src, 0)
					back, err2 := c.Decode(nil, got, int64(len(src)))
					if err != nil || err2 != nil || !bytes.Equal(got, want) || !bytes.Equal(back, src) {
						t.Error(c.Name(), err, err2)
					}
				}
			})
		}
	}
	wg.Wait()
}

// TestZstdSize: it is no less than what a frame decompresses to, and near it where the
// frame states that.
func TestZstdSize(t *testing.T) {
	for _, n := range []int{1, 100, 255, 256, 1000, 128 << 10, 1 << 20, 10 << 20} {
		for name, src := range map[string][]byte{"zeros": make([]byte, n), "counts": counting(n)} {
			frame, err := Zstd.Encode(nil, src, 0)
			if err != nil {
				t.Fatal(err)
			}
			size, ok := ZstdSize(frame[:min(len(frame), 24)])
			if !ok || size < int64(n) || n >= 256 && size != int64(n) || size > max(int64(n), zstdBlock) {
				t.Errorf("%d %s: %d, %t", n, name, size, ok)
			}
		}
	}
	for _, src := range []string{"", "\x28\xb5\x2f\xfd", "no frame at all, but long enough"} {
		if size, ok := ZstdSize([]byte(src)); ok {
			t.Errorf("%q: %d", src, size)
		}
	}
}

func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i ^ i>>8)
	}
	return b
}

// TestDecodeKeepsRoom: what is decoded into a longer buffer leaves the rest of it to
// what comes next, however low the limit is.
func TestDecodeKeepsRoom(t *testing.T) {
	src := counting(1000)
	for _, c := range []*Codec{None, LZ4, BZ2, Zstd} {
		packed, err := c.Encode(nil, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		room := make([]byte, 0, 10*len(src)+1) // one more, to see that there is no more
		out := room
		for range 10 {
			if out, err = c.Decode(out, packed, int64(len(src))); err != nil {
				t.Fatal(err)
			}
		}
		if len(out) != 10*len(src) || &out[0] != &room[:1][0] {
			t.Errorf("%s: %d bytes are in a buffer of %d, want them in that of %d", c.Name(), len(out), cap(out), cap(room))
		}
	}
}

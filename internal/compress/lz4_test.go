package compress

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// TestLZ4Frames reads frames of all shapes that the library's stream writer makes.
func TestLZ4Frames(t *testing.T) {
	src := append(text(5<<20), image(300<<10)...)
	for _, size := range []lz4.BlockSize{lz4.Block64Kb, lz4.Block256Kb, lz4.Block1Mb, lz4.Block4Mb} {
		for _, blockSum := range []bool{false, true} {
			for _, sum := range []bool{false, true} {
				for _, length := range []uint64{0, uint64(len(src))} {
					var buf bytes.Buffer
					w := lz4.NewWriter(&buf)
					if err := w.Apply(lz4.BlockSizeOption(size), lz4.BlockChecksumOption(blockSum), lz4.ChecksumOption(sum),
						lz4.SizeOption(length)); err != nil {
						t.Fatal(err)
					}
					w.Write(src)
					w.Close()
					out, err := LZ4.Decode(nil, buf.Bytes(), int64(len(src)))
					if err != nil || !bytes.Equal(out, src) {
						t.Errorf("block size %v, block sum %v, sum %v, length %d: %d bytes, %v", size, blockSum, sum, length, len(out),
							err)
					}
					if blockSum || sum {
						packed := buf.Bytes()
						packed[len(packed)/2] ^= 1
						if _, err := LZ4.Decode(nil, packed, int64(len(src))); err == nil {
							t.Errorf("block size %v, block sum %v, sum %v: a flipped bit is not seen", size, blockSum, sum)
						}
					}
				}
			}
		}
	}
}

// TestLZ4Linked reads a frame whose second block reaches back into the first.
func TestLZ4Linked(t *testing.T) {
	first := []byte("0123456789abcdef")
	frame := []byte{0x04, 0x22, 0x4d, 0x18, lz4Version, 4 << 4}
	frame = append(frame, byte(xxh32(frame[4:])>>8))
	frame = append(frame, 16, 0, 0, 0x80)
	frame = append(frame, first...)
	// A match of 10 from 16 back, then five literals, as the last five bytes must be.
	block := []byte{0x06, 16, 0, 0x50, 'v', 'w', 'x', 'y', 'z'}
	frame = append(frame, byte(len(block)), 0, 0, 0)
	frame = append(frame, block...)
	whole := append(frame, 0, 0, 0, 0)
	want := "0123456789abcdef0123456789vwxyz"
	for _, dst := range [][]byte{nil, []byte("front")} {
		out, err := LZ4.Decode(dst, whole, 100)
		if err != nil || string(out[len(dst):]) != want {
			t.Fatalf("%q, %v", out, err)
		}
	}
	// Cut within the second block, the slow decoder takes over.
	out, err := LZ4.Decode(nil, frame[:len(frame)-2], 100)
	if err == nil || string(out) != want[:len(want)-2] {
		t.Fatalf("cut: %q, %v", out, err)
	}
	// With independent blocks the match reaches before the beginning.
	whole[4] |= lz4Independent
	whole[6] = byte(xxh32(whole[4:6]) >> 8)
	out, err = LZ4.Decode([]byte("front and more than sixteen"), whole, 100)
	if !errors.Is(err, ErrCorrupt) {
		t.Fatalf("independent: %q, %v", out, err)
	}
}

// TestLZ4ForROS pins what roslz4 insists on: see lz4.go.
func TestLZ4ForROS(t *testing.T) {
	src := text(2<<20 + 1)
	packed, _ := LZ4.Encode(nil, src, 0)
	if got := hex.EncodeToString(packed[:7]); got != "04224d18646085" {
		t.Errorf("frame header %s", got)
	}
	if out, err := LZ4.Decode(nil, append(packed, 1), 4<<20); !errors.Is(err, ErrTrailing) || len(out) != len(src) {
		t.Errorf("a byte after the frame: %d bytes, %v", len(out), err)
	}
}

// TestLZ4SeveralFrames: one frame after the other, and frames to be skipped; the last one
// may be cut.
func TestLZ4SeveralFrames(t *testing.T) {
	skip := []byte("\x5e\x2a\x4d\x18\x05\x00\x00\x00hello")
	one, err := LZ4.Encode(nil, bytes.Repeat([]byte("one"), 100), 0)
	if err != nil {
		t.Fatal(err)
	}
	two, err := LZ4.Encode(nil, bytes.Repeat([]byte("two"), 1000), 0)
	if err != nil {
		t.Fatal(err)
	}
	want := append(bytes.Repeat([]byte("one"), 100), bytes.Repeat([]byte("two"), 1000)...)
	src := bytes.Join([][]byte{skip, one, skip, skip, two, skip}, nil)
	if out, err := LZ4.Decode(nil, src, 3300); err != nil || !bytes.Equal(out, want) {
		t.Errorf("%d bytes of %d, %v", len(out), len(want), err)
	}
	if out, err := LZ4.Decode(nil, src, 3299); !errors.Is(err, ErrLimit) || len(out) != 3299 {
		t.Errorf("over the limit: %d bytes, %v", len(out), err)
	}
	for n := range src {
		out, err := LZ4.Decode([]byte("x"), src[:n], 4000)
		if len(out) == 0 || out[0] != 'x' || !bytes.HasPrefix(want, out[1:]) {
			t.Fatalf("cut at %d: %d bytes that are not the first ones, %v", n, len(out), err)
		}
	}
}

// TestBZ2Trailing: bytes after a stream are distinguished from damage in it.
func TestBZ2Trailing(t *testing.T) {
	src := text(1000)
	packed, _ := BZ2.Encode(nil, src, 0)
	if out, err := BZ2.Decode(nil, append(packed, "more"...), 4000); !errors.Is(err, ErrTrailing) ||
		!bytes.Equal(out, src) {
		t.Errorf("%d bytes, %v", len(out), err)
	}
	packed[50] ^= 1
	if _, err := BZ2.Decode(nil, packed, 4000); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a flipped bit: %v", err)
	}
}

// Values of the reference implementation.
func TestXXH32(t *testing.T) {
	for in, want := range map[string]uint32{"": 0x02cc5d05, "a": 0x550d7456, "abc": 0x32d153ff,
		"Nobody inspects the spammish repetition": 0xe2293b2f} {
		if got := xxh32([]byte(in)); got != want {
			t.Errorf("%q: %08x, want %08x", in, got, want)
		}
	}
}

// FuzzDecode: no panic, no output over the limit, and what encodes comes back.
func FuzzDecode(f *testing.F) {
	for _, c := range all {
		for _, src := range [][]byte{nil, []byte("abcabcabcabcabcabcabcabc"), text(500)} {
			packed, _ := c.Encode(nil, src, 0)
			f.Add(c.Name(), packed)
			f.Add(c.Name(), packed[:len(packed)*2/3])
		}
	}
	f.Fuzz(func(t *testing.T, name string, b []byte) {
		c := Lookup(name)
		if c == nil {
			return
		}
		const limit = 1 << 20
		if out, _ := c.Decode(nil, b, limit); len(out) > limit {
			t.Fatalf("%d bytes", len(out))
		}
		packed, err := c.Encode(nil, b, 0)
		if err != nil {
			t.Fatal(err)
		}
		back, err := c.Decode(nil, packed, int64(len(b)))
		if err != nil || !bytes.Equal(back, b) {
			t.Fatalf("%v, %d bytes of %d", err, len(back), len(b))
		}
	})
}

// TestLZ4NoRoom: a block that begins where nothing may come any more is an error.
func TestLZ4NoRoom(t *testing.T) {
	block := bytes.Repeat([]byte{0x1f, 'a', 1, 0}, 52)
	if out, err := decodeLZ4Block(nil, block, nil, false, false, 64<<10, 0); !errors.Is(err, ErrLimit) || len(out) > 0 {
		t.Errorf("%d bytes, %v", len(out), err)
	}
}

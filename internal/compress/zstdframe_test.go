package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// sample returns n bytes that compress, but not to nothing.
func sample(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		if i%7 > 3 {
			b[i] = byte(r.Uint32())
		}
	}
	return b
}

// TestRawFrame: a decoder reads back what was stored, and the length is as foretold.
func TestRawFrame(t *testing.T) {
	for _, n := range []int{0, 1, 255, 28672, zstdBlock - 1, zstdBlock, zstdBlock + 1, 3*zstdBlock + 5} {
		data := sample(n)
		frame := AppendRawFrame([]byte{}, data)
		got, err := Zstd.Decode(nil, frame, int64(n))
		if err != nil || !bytes.Equal(got, data) || len(frame) != RawFrameSize(n) {
			t.Errorf("%d bytes: %v, frame of %d bytes, want %d", n, err, len(frame), RawFrameSize(n))
		}
		if size, ok := ZstdSize(frame); !ok || size != int64(n) {
			t.Errorf("%d bytes: the frame states %d, %v", n, size, ok)
		}
	}
}

// TestZstdStream: head and blocks are one frame with its size, whatever was written.
func TestZstdStream(t *testing.T) {
	for _, n := range []int{0, 1, 4096, zstdBlock, 1 << 20, 9<<20 + 3} {
		for _, headLen := range []int{0, 4096, 200_000} {
			head, data := sample(headLen), sample(n)
			var rest bytes.Buffer
			s, err := NewZstdStream(&rest, 1)
			if err != nil {
				t.Fatal(err)
			}
			for p := data; len(p) > 0; {
				k := min(len(p), 1<<20)
				if _, err := s.Write(p[:k]); err != nil {
					t.Fatal(err)
				}
				p = p[k:]
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			front := s.Head(head)
			if len(front) != ZstdStreamHead(headLen) {
				t.Errorf("a head of %d bytes takes %d, want %d", headLen, len(front), ZstdStreamHead(headLen))
			}
			frame := append(front, rest.Bytes()...)
			var h zstd.Header
			if err := h.Decode(frame); err != nil || h.FrameContentSize != uint64(n+headLen) {
				t.Errorf("%d + %d bytes: %v, content size %d", headLen, n, err, h.FrameContentSize)
			}
			got, err := Zstd.Decode(nil, frame, 1<<30)
			if err != nil || !bytes.Equal(got, append(head, data...)) {
				t.Errorf("%d + %d bytes: %v, %d came back", headLen, n, err, len(got))
			}
		}
	}
}

// TestEncodeZstdFrame: a frame of any size states it, and has nothing after it.
func TestEncodeZstdFrame(t *testing.T) {
	for _, n := range []int{0, 1, 28, 255, 256, 70_000, 1 << 20} {
		for _, level := range []int{0, 1, 19} {
			data := sample(n)
			frame, err := EncodeZstdFrame(nil, data, level)
			if err != nil {
				t.Fatal(err)
			}
			var h zstd.Header
			if err := h.Decode(frame); err != nil || !h.HasFCS || h.FrameContentSize != uint64(n) || h.HasCheckSum {
				t.Errorf("%d bytes, level %d: %v, %+v", n, level, err, h)
			}
			if got, err := Zstd.Decode(nil, frame, int64(n)); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes, level %d: %v", n, level, err)
			}
		}
	}
	if _, err := EncodeZstdFrame(nil, []byte("x"), 23); err == nil {
		t.Error("level 23")
	}
}

// TestTrailing: bytes behind whole frames are told from frames that are damaged or cut, also if all
// of the data comes out of those.
func TestTrailing(t *testing.T) {
	data := sample(3*zstdBlock + 5)
	for _, c := range []*Codec{LZ4, Zstd, BZ2} {
		frame, err := c.Encode(nil, data, 0)
		if err != nil {
			t.Fatal(err)
		}
		wrong := bytes.Clone(frame)
		wrong[len(wrong)-2] ^= 1 // of the checksum
		for name, x := range map[string]struct {
			src   []byte
			trail bool
		}{
			"trailing":       {append(bytes.Clone(frame), "xxxxxxxxx"...), true},
			"a zero":         {append(bytes.Clone(frame), 0, 0, 0, 0), true},
			"two, trailing":  {append(append(bytes.Clone(frame), frame...), "xxxxxxxxx"...), true},
			"cut checksum":   {frame[:len(frame)-1], false},
			"wrong checksum": {wrong, false},
		} {
			out, err := c.Decode(nil, x.src, 1<<30)
			if c == BZ2 && name == "wrong checksum" && err == nil {
				continue // that bit is of the padding
			}
			if errors.Is(err, ErrTrailing) != x.trail || err == nil {
				t.Errorf("%s, %s: %v", c.Name(), name, err)
			}
			if x.trail && !bytes.HasPrefix(out, data) {
				t.Errorf("%s, %s: %d bytes of %d", c.Name(), name, len(out), len(data))
			}
		}
	}
}

// TestLargeFrames: frames above the largest window that is accepted come back, those of this package and those of
// others whose window is all of their content; a size that is stated and not there takes no memory.
func TestLargeFrames(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 130 MB")
	}
	data := make([]byte, zstdWindow+1<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := 0; i < len(data); i += 8 { // a third of it remains
		binary.LittleEndian.PutUint64(data[i:], rng.Uint64()&0xfffff)
	}
	own, err := EncodeZstdFrame(nil, data, 0)
	if err != nil {
		t.Fatal(err)
	}
	e, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true), zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	foreign := e.EncodeAll(data, nil)
	for name, frame := range map[string][]byte{"own": own, "foreign": foreign} {
		if size, ok := ZstdSize(frame); !ok || size != int64(len(data)) {
			t.Errorf("%s: it states %d bytes", name, size)
		}
		if got, err := Zstd.Decode(nil, frame, int64(len(data))); err != nil || !bytes.Equal(got, data) {
			t.Errorf("%s: %d of %d bytes: %v", name, len(got), len(data), err)
		}
		if _, err := Zstd.Decode(nil, frame, int64(len(data)-1)); !errors.Is(err, ErrLimit) {
			t.Errorf("%s: over the limit: %v", name, err)
		}
		bad := bytes.Clone(frame)
		bad[len(bad)/2] ^= 1
		if got, err := Zstd.Decode(nil, bad, int64(len(data))); err == nil && bytes.Equal(got, data) ||
			errors.Is(err, ErrLimit) {
			t.Errorf("%s: a changed byte: %v", name, err)
		}
	}
	if got, err := Zstd.Decode(nil, foreign[:1000], int64(len(data))); err == nil || cap(got) > 1<<20 {
		t.Errorf("the start of it: %v, and %d bytes of memory", err, cap(got))
	}
}

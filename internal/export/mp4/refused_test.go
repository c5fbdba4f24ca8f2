package mp4

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/costtest"
	"github.com/bagconv/bagconv/storage"
)

// TestRefusedFrames: a frame that is none is an error about it alone.
func TestRefusedFrames(t *testing.T) {
	good := map[Codec][]byte{JPEG: jpegFrame(t, 8, 8, 0), H264: tiny(t, H264)[0], H265: tiny(t, H265)[0],
		VP9: tiny(t, VP9)[0], AV1: tiny(t, AV1)[0]}
	for _, c := range []struct {
		codec Codec
		data  string
		cause error
		words string
	}{
		{JPEG, "", storage.ErrCorrupt, "as no JPEG does"},
		{JPEG, "\x89PNG\r\n", storage.ErrCorrupt, "as no JPEG does"},
		{JPEG, "\xff\xd8\xff\xe0\x00\x10JFIF", storage.ErrCorrupt, "without a size"},
		{JPEG, "\xff\xd8\xff\xc0\x00\x11\x08\x00\x00\x00\x08\x01", storage.ErrCorrupt, "8 x 0"},
		{JPEG, "\xff\xd8\xff\xe0\x00\x00\xff\xd9\xff\xff", storage.ErrCorrupt, "without a size"},
		{H264, "", storage.ErrCorrupt, "start code"},
		{H264, "\x00\x00\x00\x01\xe7", storage.ErrCorrupt, "e7"},
		{H264, "\x00\x00\x00\x01\x67", storage.ErrCorrupt, "1 bytes"},
		{H264, "\x00\x00\x00\x01\x67\x42\x00\x0a", storage.ErrCorrupt, "cut or damaged"},
		{H264, "\x00\x00\x00\x01\x68\x00", storage.ErrCorrupt, "cut or damaged"},
		{H265, "\x00\x00\x00\x01\x40", storage.ErrCorrupt, "40"},
		{H265, "\x00\x00\x00\x01\x42\x01\x01\x01", storage.ErrCorrupt, "cut or damaged"},
		{VP9, "", storage.ErrCorrupt, "as none of VP9 does"},
		{VP9, "\x82\x49\x83\x43", storage.ErrCorrupt, "sync code"},
		{VP9, "\x82\x49\x83\x42\x00\x00", storage.ErrCorrupt, "of 6 bytes"},
		{VP9, "\x82\x49\x83\x42\x0f\xff\xff\xff\xff", storage.ErrUnsupported, "65536"},
		{AV1, "", storage.ErrCorrupt, "without bytes"},
		{AV1, "\x92\x00", storage.ErrCorrupt, "92"},
		{AV1, "\x12", storage.ErrCorrupt, "without a size"},
		{AV1, "\x12\x00\x0a\x05\x00", storage.ErrCorrupt, "of 5 bytes"},
		{AV1, "\x12\x00\x0a\x01\x00", storage.ErrCorrupt, "cut or damaged"},
		{AV1, "\x0e", storage.ErrCorrupt, "without a size"},
		{AV1, "\x12\x00\x32\x01\x10\x12\x00\x32\x01\x10", storage.ErrUnsupported, "two temporal units"},
		{H264, strings.Repeat("\x00\x00\x01\x68\x80", 17), storage.ErrUnsupported, "more than 16"},
		{H264, "\x00\x00\x00\x01\x68\x80" + strings.Repeat("x", 70000), storage.ErrUnsupported, "65535 at most"},
	} {
		for _, first := range []bool{true, false} {
			var b bytes.Buffer
			w, err := NewWriter(&b, c.codec)
			if err != nil {
				t.Fatal(err)
			}
			if !first {
				if err := w.Frame(good[c.codec], 0); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Frame([]byte(c.data), 1); !errors.Is(err, c.cause) || !strings.Contains(fmt.Sprint(err), c.words) {
				t.Errorf("%v %.30q: %v, want %v with %q", c.codec, c.data, err, c.cause, c.words)
			}
			if err := w.Frame(good[c.codec], 2e6); err != nil {
				t.Fatalf("%v: after %.20q: %v", c.codec, c.data, err)
			}
			sum, err := w.Close()
			if d, err2 := demux(b.Bytes()); err != nil || err2 != nil || len(d.samples) != sum.Frames || sum.Frames == 0 {
				t.Errorf("%v: %v, %v", c.codec, err, err2)
			}
		}
	}
	w, _ := NewWriter(io.Discard, JPEG)
	for _, at := range []int64{1<<63 - 1, -1 << 63} {
		if err := w.Frame(good[JPEG], at); !errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("at %d: %v", at, err)
		}
	}
	for c := Unknown; int(c) < len(codecs); c++ {
		_, err := NewWriter(io.Discard, c)
		if writable := c != Unknown && c != VP8; (err == nil) != writable || !writable &&
			!errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// A failing writer fails after some bytes.
type failing struct{ left int }

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// TestWriteErrors: an error of any write is that of Frame or Close, and remains.
func TestWriteErrors(t *testing.T) {
	frame := append(jpegFrame(t, 8, 8, 0), make([]byte, copiedFrames)...)
	small := jpegFrame(t, 8, 8, 0)
	whole, _ := mux(t, JPEG, [][]byte{small, frame, small}, jitter(3, 0))
	for left := 0; left < len(whole); left += 50 {
		w, _ := NewWriter(&failing{left}, JPEG)
		for i, f := range [][]byte{small, frame, small} {
			w.Frame(f, int64(i)*1e6)
		}
		if _, err := w.Close(); !errors.Is(err, io.ErrClosedPipe) {
			t.Fatalf("after %d bytes of %d: %v", left, len(whole), err)
		}
		if err := w.Frame(small, 9e9); !errors.Is(err, io.ErrClosedPipe) {
			t.Fatalf("a frame after the error: %v", err)
		}
	}
}

// TestParts: frames are in mdats of about 1 MB; large ones, copied or not, have one of their own.
func TestParts(t *testing.T) {
	for _, extra := range []int{3000, copiedFrames - 2000, copiedFrames, 3 << 20} {
		var frames [][]byte
		for i := range 1 + 4<<20/(extra+700) {
			frames = append(frames, append(jpegFrame(t, 8, 8, byte(i)), make([]byte, extra+i)...))
		}
		file, _ := mux(t, JPEG, frames, jitter(len(frames), 0))
		d, err := demux(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := range frames {
			if !bytes.Equal(d.samples[i], frames[i]) {
				t.Fatalf("frame %d of %d bytes differs", i, len(frames[i]))
			}
		}
		if least := len(file)/(partSize+extra+2000) - 1; d.mdats < least || d.mdats > len(frames) || extra < 10000 &&
			d.mdats > 6 {
			t.Errorf("%d mdats in %d bytes", d.mdats, len(file))
		}
	}
}

// TestCost: memory is 16 bytes for a frame and as many while Close writes, not their bytes.
func TestCost(t *testing.T) {
	frame := jpegFrame(t, 8, 8, 1)
	costtest.Linear(t, 20000, func(n int) {
		w, err := NewWriter(io.Discard, JPEG)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if err := w.Frame(frame, int64(i)*33e6); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

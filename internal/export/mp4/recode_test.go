package mp4

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestRate: frames of a video with a rate are at k/rate s exactly, whatever their times are rounded to.
func TestRate(t *testing.T) {
	for _, rate := range []int{1, 30, 24, 1000} {
		var file bytes.Buffer
		w, err := NewWriter(&file, JPEG)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.SetRate(rate); err != nil {
			t.Fatal(err)
		}
		picture := []byte{0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0, 9, 0, 9, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1, 0xff, 0xd9}
		for k := range int64(70) {
			if err := w.Frame(picture, k*1e9/int64(rate)); err != nil {
				t.Fatal(err)
			}
		}
		if sum, err := w.Close(); err != nil || sum.Moved != 0 || sum.Frames != 70 {
			t.Fatal(sum, err)
		}
		d, err := demux(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for k, at := range d.times {
			if at*uint64(rate) != uint64(k)*uint64(d.scale) {
				t.Fatalf("rate %d: frame %d at %d/%d s", rate, k, at, d.scale)
			}
		}
	}
	w, err := NewWriter(&bytes.Buffer{}, JPEG)
	if err != nil {
		t.Fatal(err)
	}
	for _, rate := range []int{0, -1, maxRate + 1} {
		if err := w.SetRate(rate); !errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("rate %d: %v", rate, err)
		}
	}
}

// TestRecoder: pictures become frames of H.264 and AV1, one of each, and these become pictures again.
func TestRecoder(t *testing.T) {
	ffmpeg := needFFmpeg(t)
	for _, codec := range []Codec{H264, AV1} {
		var frames [][]byte
		recode(t, RecodeOptions{FFmpeg: ffmpeg, Pixels: RGB, Width: 66, Height: 65, Output: codec, KeyEach: 2, Quality: 20},
			9,
			func(k int) []byte { return bytes.Repeat([]byte{byte(20 * k)}, 66*65*3) },
			func(frame []byte) { frames = append(frames, bytes.Clone(frame)) })
		keys := 0
		for k, frame := range frames {
			s, err := ShapeOf(codec, frame)
			if err != nil || s.Key && (s.Width != 66 || s.Height != 66) {
				t.Errorf("%v: frame %d: %+v, %v", codec, k, s, err)
			}
			if s.Key {
				keys++
			}
		}
		if len(frames) != 9 || keys < 4 {
			t.Errorf("%v: %d frames of 9, %d key frames", codec, len(frames), keys)
		}
		k := 0
		recode(t, RecodeOptions{FFmpeg: ffmpeg, Codec: codec, Width: 66, Height: 66, Decoded: Gray}, len(frames),
			func(k int) []byte { return frames[k] },
			func(pixels []byte) {
				if at := int(pixels[66*20+20]); len(pixels) != 66*66 || at < 20*k-3 || at > 20*k+3 {
					t.Errorf("%v: picture %d has the level %d", codec, k, at)
				}
				k++
			})
		if k != 9 {
			t.Errorf("%v: %d pictures of 9 frames", codec, k)
		}
	}
}

// recode sends n frames through a Recoder.
func recode(t *testing.T, o RecodeOptions, n int, frame func(k int) []byte, sink func([]byte)) {
	t.Helper()
	r, err := NewRecoder(t.Context(), o, func(data []byte) error {
		sink(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for k := range n {
		if err := r.Frame(frame(k)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRecoderRefused: frames and options that ffmpeg is not asked about, and a sink that fails.
func TestRecoderRefused(t *testing.T) {
	for _, o := range []RecodeOptions{{}, {Codec: VP8}, {Codec: H264}, {Codec: H264, Width: 4, Decoded: RGB},
		{Pixels: RGB, Width: 4, Height: 4, Output: H265}} {
		if _, err := NewRecoder(t.Context(), o, nil); !errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	ffmpeg := needFFmpeg(t)
	failed := fmt.Errorf("the disk is full")
	r, err := NewRecoder(t.Context(), RecodeOptions{FFmpeg: ffmpeg, Pixels: Gray, Width: 64, Height: 64, Output: H264},
		func([]byte) error { return failed })
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Frame(make([]byte, 5)); !errors.Is(err, storage.ErrUnsupported) {
		t.Error(err)
	}
	for range 100 {
		if err = r.Frame(make([]byte, 64*64)); err != nil {
			break
		}
	}
	if err := r.Close(); !errors.Is(err, failed) {
		t.Error(err)
	}
}

// TestTemporalUnits: units of AV1 are found whatever the pieces are in which they come, and what is cut is an error.
func TestTemporalUnits(t *testing.T) {
	unit := []byte{0x12, 0, 0x32, 3, 1, 2, 3, 0x1e, 0x20, 1, 9} // a delimiter, a frame, and an OBU with an extension
	var stream []byte
	for range 5 {
		stream = append(stream, unit...)
	}
	for size := 1; size < 20; size++ {
		n := 0
		err := eachTemporalUnit(&pieces{stream, size}, func(got []byte) error {
			if n++; !bytes.Equal(got, unit) {
				return fmt.Errorf("% x", got)
			}
			return nil
		})
		if err != nil || n != 5 {
			t.Errorf("pieces of %d: %d units, %v", size, n, err)
		}
	}
	if err := eachTemporalUnit(bytes.NewReader(stream[:len(stream)-1]), func([]byte) error { return nil }); !errors.Is(err,
		storage.ErrCorrupt) {
		t.Error(err)
	}
}

// needFFmpeg returns the path of ffmpeg, and skips the test on a user's machine without it.
func needFFmpeg(t *testing.T) string {
	t.Helper()
	path := FindFFmpeg()
	if path == "" && os.Getenv("CI") != "" {
		t.Fatal("ffmpeg is not on the path")
	}
	if path == "" {
		t.Skip("ffmpeg is not on the path")
	}
	return path
}

package mp4

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestRead: what a Writer has written is read again, frame by frame, with its times and key frames.
func TestRead(t *testing.T) {
	ffmpeg := needFFmpeg(t)
	for _, codec := range []Codec{H264, AV1} {
		var frames [][]byte
		recode(t, RecodeOptions{FFmpeg: ffmpeg, Pixels: Gray, Width: 64, Height: 64, Output: codec, KeyEach: 3, Quality: 20},
			10,
			func(k int) []byte { return bytes.Repeat([]byte{byte(20 * k)}, 64*64) },
			func(frame []byte) { frames = append(frames, bytes.Clone(frame)) })
		var file bytes.Buffer
		w, err := NewWriter(&file, codec)
		if err != nil {
			t.Fatal(err)
		}
		for k, frame := range frames {
			if err := w.Frame(frame, int64(k)*33_000_000); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := Open(bytes.NewReader(file.Bytes()), int64(file.Len()))
		if err != nil || f.Codec != codec || f.Width != 64 || f.Height != 64 || len(f.Samples) != 10 {
			t.Fatalf("%+v, %v", f, err)
		}
		for k := range f.Samples {
			s, err := ShapeOf(codec, frames[k])
			got, e := f.Frame(nil, k)
			if err != nil || e != nil || f.Samples[k].Time != int64(k)*33_000_000 || f.Samples[k].Key != s.Key {
				t.Errorf("%v: frame %d: %+v, %v, %v", codec, k, f.Samples[k], err, e)
			}
			if s.Key && Sniff(got) != codec {
				t.Errorf("%v: frame %d is taken for %v", codec, k, Sniff(got))
			}
			if again, err := ShapeOf(codec, got); err != nil || again != s {
				t.Errorf("%v: frame %d is %+v, %v, want %+v", codec, k, again, err, s)
			}
		}
		hostile(t, file.Bytes())
	}
}

// hostile opens a file that is cut or changed anywhere.
func hostile(t *testing.T, file []byte) {
	t.Helper()
	read := func(b []byte) error {
		f, err := Open(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return err
		}
		for k := range f.Samples {
			if _, err := f.Frame(nil, k); err != nil {
				return err
			}
		}
		return nil
	}
	for n := 0; n < len(file); n += 1 + n/100 {
		if err := read(file[:n]); n < len(file)-1 && !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("cut at %d of %d: %v", n, len(file), err)
		}
	}
	for n := len(file) - 1; n >= 0; n -= 1 + (len(file)-n)/200 {
		for _, flip := range []byte{1, 0x80, 0xff} {
			b := bytes.Clone(file)
			b[n] ^= flip
			_ = read(b) // must not panic
		}
	}
}

// TestReadOthers: files of ffmpeg with frames in another order than they are shown, and with their tables at the begin,
// have the times that ffprobe reads.
func TestReadOthers(t *testing.T) {
	ffmpeg := needFFmpeg(t)
	name := filepath.Join(t.TempDir(), "b.mp4")
	out, err := exec.Command(ffmpeg, "-v", "error", "-f", "lavfi", "-i", "testsrc=size=64x64:rate=25:duration=1", "-c:v",
		"libx264", "-bf", "2", "-movflags", "+faststart", name).CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(text), int64(len(text)))
	if err != nil || len(f.Samples) != 25 {
		t.Fatal(f, err)
	}
	seen, ordered := map[int64]bool{}, true
	for i, s := range f.Samples {
		seen[s.Time] = true
		ordered = ordered && (i == 0 || s.Time > f.Samples[i-1].Time)
	}
	for k := range int64(25) {
		if !seen[k*40_000_000] {
			t.Errorf("no frame at %d ms: %v", k*40, f.Samples)
		}
	}
	if ordered {
		t.Error("the frames are in the order of time")
	}
	fragments := filepath.Join(t.TempDir(), "f.mp4")
	if out, err := exec.Command(ffmpeg, "-v", "error", "-i", name, "-c", "copy", "-movflags", "frag_keyframe+empty_moov",
		fragments).CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if text, err = os.ReadFile(fragments); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(bytes.NewReader(text), int64(len(text))); !errors.Is(err, storage.ErrUnsupported) {
		t.Error(err)
	}
}

// FuzzOpen: no file makes the reader panic.
func FuzzOpen(f *testing.F) {
	var file bytes.Buffer
	w, err := NewWriter(&file, JPEG)
	if err != nil {
		f.Fatal(err)
	}
	if err := w.Frame([]byte{0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0, 9, 0, 9, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1, 0xff,
		0xd9}, 0); err != nil {
		f.Fatal(err)
	}
	if _, err := w.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		if v, err := Open(bytes.NewReader(b), int64(len(b))); err == nil {
			for k := range v.Samples[:min(len(v.Samples), 100)] {
				_, _ = v.Frame(nil, k)
			}
		}
	})
}

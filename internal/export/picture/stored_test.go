package picture

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"runtime"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestEnding: the first bytes of the formats.
func TestEnding(t *testing.T) {
	for begin, want := range map[string]string{
		"\xff\xd8\xff\xe0": "jpg", "\x89PNG\r\n\x1a\n": "png", "RIFF\x24\x00\x00\x00WEBPVP8 ": "webp", "II*\x00": "tiff",
		"MM\x00*": "tiff",
		"BM6":     "bmp", "GIF89a": "gif", "\x00\x00\x00\x20ftypavif": "avif", "\xff\x0a": "jxl",
		"\x00\x00\x00\x0cJXL \r\n\x87\n": "jxl",
		"\x00\x00\x00\x0cjP  \r\n\x87\n": "jp2", "\xff\x4f\xff\x51": "j2k", "P5 3 3": "pgm", "RIFF\x24\x00\x00\x00WAVE": "",
		"\xff\xd8": "", "": "",
	} {
		if got := Ending([]byte(begin)); got != want {
			t.Errorf("%q: %q, want %q", begin, got, want)
		}
	}
}

// TestStoredRefused: what is refused, with which cause and next step.
func TestStoredRefused(t *testing.T) {
	zeros := make([]byte, depthHeader)
	for _, c := range []struct {
		format string
		data   []byte
		cause  error
		words  string
	}{
		{"jpeg", nil, storage.ErrCorrupt, "without data"},
		{"jpeg", []byte("????????????????????"), storage.ErrUnsupported, "that begins with 3f 3f"},
		{"h264", []byte{9, 9}, storage.ErrUnsupported, "write the topic as video"},
		{"jpeg", []byte{0, 0, 0, 1, 0x67, 1}, storage.ErrUnsupported, "write the topic as video"},
		{"16UC1; compressedDepth", zeros, storage.ErrCorrupt, "12 bytes"},
		{"16UC1; compressedDepth", append(zeros[:12:12], 1, 2, 3), storage.ErrCorrupt, "no image"},
		{"32FC1; compressedDepth png", append(zeros[:12:12], 1, 2, 3), storage.ErrCorrupt, "PNG"},
		{"8UC1; compressedDepth", append(zeros[:12:12], 1, 2, 3), storage.ErrUnsupported, "16UC1 and 32FC1"},
		{"16UC1; compressedDepth rvl", append(zeros[:12:12], 1, 2, 3), storage.ErrCorrupt, "RVL of 3 bytes"},
		{"16UC1; compressedDepth rvl", rvlImage(0, 9), storage.ErrCorrupt, "0 x 9"},
		{"16UC1; compressedDepth rvl", rvlImage(1<<30, 1<<30, 1), storage.ErrCorrupt, "at most"},
		{"16UC1; compressedDepth rvl", rvlImage(2048, 2048, 0), storage.ErrCorrupt, "damaged or cut"},
		{"16UC1; compressedDepth rvl", rvlImage(2, 1, 0xffffffff, 0xffffffff), storage.ErrCorrupt, "damaged or cut"},
		{"16UC1; compressedDepth rvl", rvlImage(100, 1, 0x09cc0000), storage.ErrCorrupt, "damaged or cut"},
		{"16UC1; compressedDepth rvl", rvlImage(6, 1, 0x06222222), storage.ErrCorrupt, ""},
	} {
		_, _, err := Stored(c.format, c.data, Options{})
		if c.words == "" {
			if err != nil {
				t.Errorf("%s: %v", c.format, err)
			}
		} else if !errors.Is(err, c.cause) || !strings.Contains(fmt.Sprint(err), c.words) {
			t.Errorf("%s % x: %v, want %v with %q", c.format, c.data, err, c.cause, c.words)
		}
	}
}

// TestBomb: a PNG that claims 8 GB of pixels is refused without the memory for them.
func TestBomb(t *testing.T) {
	r := Raw{Width: 1, Height: 1, Encoding: "mono16", Data: []byte{1, 2}}
	_, file, err := r.AppendFile(make([]byte, depthHeader), Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := &pngEncoder{}
	e.out.b = append(e.out.b, file[:depthHeader+8]...)
	at := e.begin("IHDR")
	e.out.b = append(e.out.b, 0, 1, 0, 0, 0, 1, 0, 0, 16, 0, 0, 0, 0)
	if err := e.end(at); err != nil {
		t.Fatal(err)
	}
	bomb := append(e.out.b, file[depthHeader+8+25:]...)
	if c, err := png.DecodeConfig(bytes.NewReader(bomb[depthHeader:])); err != nil || c.Width != 1<<16 {
		t.Fatalf("%+v, %v", c, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, _, err := Stored("32FC1; compressedDepth png", bomb, Options{}); !errors.Is(err, storage.ErrCorrupt) {
		t.Error(err)
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
		t.Errorf("%d bytes of memory", after.TotalAlloc-before.TotalAlloc)
	}
}

// TestTruncatedRVL: no beginning of an image is one.
func TestTruncatedRVL(t *testing.T) {
	whole := rvlImage(6, 1, 0x16222222, 0)
	if _, _, err := Stored("16UC1; compressedDepth rvl", rvlImage(6, 1, 0x15222220), Options{}); err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) - 4 {
		if _, _, err := Stored("16UC1; compressedDepth rvl", whole[:n], Options{}); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

package mp4

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestSniff: codecs by bytes and by names.
func TestSniff(t *testing.T) {
	for _, c := range []Codec{H264, H265} {
		for i, f := range tiny(t, c) {
			if got := Sniff(f); got != c {
				t.Errorf("%v, frame %d: %v", c, i, got)
			}
			if got := Sniff(withLengths(t, f)); got != c {
				t.Errorf("%v, frame %d with lengths: %v", c, i, got)
			}
			for _, u := range stripped(t, c, f) { // slices alone
				if kind := u[0] & 31; c == H264 && kind != avcSlice && kind != avcIDR || c == H265 && u[0]>>1 > hevcLastPicture {
					continue
				}
				if got := Sniff(append([]byte{0, 0, 1}, u...)); got != c {
					t.Errorf("%v, frame %d, %x: %v", c, i, u[:2], got)
				}
			}
		}
	}
	for _, c := range []Codec{VP9, AV1} {
		if got := Sniff(tiny(t, c)[0]); got != c {
			t.Errorf("%v: %v", c, got)
		}
	}
	for data, want := range map[string]Codec{
		"": Unknown, "\x00": Unknown, "\x00\x00\x01": Unknown, "\x89PNG\r\n\x1a\n": Unknown, "\xff\xd8\xff\xe0": JPEG,
		"\x12\x00\x0a\x0b\x00": AV1,
		"\x82\x49\x83\x42\x00": VP9, "\x10\x02\x00\x9d\x01\x2a\x40\x01\x00\x00": VP8, "\x00\x00\x00\x01\x7f\x01": Unknown,
	} {
		if got := Sniff([]byte(data)); got != want {
			t.Errorf("%q: %v, want %v", data, got, want)
		}
	}
	for name, want := range map[string]Codec{"h264": H264, "H.265": H265, "hevc": H265, "rgb8; jpeg compressed bgr8": JPEG,
		"libx264": H264, "vp9": VP9, "av1": AV1, "png": Unknown} {
		if got := Named(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// TestLengthLikeStartCode: a first length of 256 to 511 looks like a start code.
func TestLengthLikeStartCode(t *testing.T) {
	for n := 256; n < 512; n++ {
		unit := append([]byte{0x65, 0x88}, bytes.Repeat([]byte{7}, n-2)...)
		lengthed := append(binary.BigEndian.AppendUint32(nil, uint32(n)), unit...)
		got := framingOf(lengthed)
		// The lower byte of the length is where the header of a unit would be: a few are both, and frames
		// rarely are that short.
		if ambiguous := plausibleAVC(lengthed[3:]) || plausibleHEVC(lengthed[3:]); (got == lengths) == ambiguous {
			t.Errorf("a length of %d: %v", n, got)
		}
		if coded := append([]byte{0, 0, 1}, unit...); framingOf(coded) != startCodes {
			t.Errorf("a start code before %d bytes: %v", n, framingOf(coded))
		}
	}
}

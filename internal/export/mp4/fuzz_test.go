package mp4

import (
	"bytes"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// FuzzFrames: any bytes as frames give errors or a file whose boxes are sound and whose frames are those that
// were accepted.
func FuzzFrames(f *testing.F) {
	for _, c := range []Codec{H264, H265} {
		frames := tiny(f, c)
		f.Add(int(c), bytes.Join(frames[:3], []byte("|")), int64(1000))
		f.Add(int(c), append(withLengths(f, frames[0]), '|'), int64(-1))
		for n := 5; n < len(frames[0]); n += 40 {
			f.Add(int(c), frames[0][:n], int64(0))
		}
	}
	for _, c := range []Codec{VP9, AV1} {
		f.Add(int(c), bytes.Join(tiny(f, c)[:3], []byte("|")), int64(1e6))
	}
	f.Add(int(JPEG), jpegFrame(f, 8, 8, 0), int64(1e15))
	f.Fuzz(func(t *testing.T, codec int, data []byte, step int64) {
		var b bytes.Buffer
		w, err := NewWriter(&b, Codec(codec))
		if err != nil {
			return
		}
		accepted, at := 0, int64(0)
		for _, frame := range bytes.Split(data, []byte("|")) {
			switch err := w.Frame(frame, at); {
			case err == nil:
				accepted++
			case !storage.IsDamage(err):
				t.Fatalf("not about the frame: %v", err)
			}
			at += step
		}
		sum, err := w.Close()
		if sum.Frames+sum.Dropped+sum.Headers != accepted {
			t.Fatalf("%d frames of %d: %+v", sum.Frames, accepted, sum)
		}
		if err != nil {
			if sum.Frames > 0 || !storage.IsDamage(err) {
				t.Fatal(err)
			}
			return
		}
		d, err := demux(b.Bytes())
		if err != nil || len(d.samples) != sum.Frames || len(d.entries) != sum.Entries {
			t.Fatalf("%v, %+v", err, sum)
		}
	})
}

// FuzzParameters: no parameter set panics, or has a size of nothing.
func FuzzParameters(f *testing.F) {
	for _, c := range []Codec{H264, H265} {
		for _, u := range units(f, tiny(f, c)[0]) {
			if setKind(c, u) >= 0 {
				f.Add(c == H265, u)
			}
		}
	}
	f.Add(false, []byte("\x67\xf4\x00\x0a\x91\x9b\x2b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, hevc bool, unit []byte) {
		if len(unit) == 0 {
			return
		}
		var p picture
		var err error
		if hevc {
			p, _, err = parseHEVC(hevcSPS, unit)
		} else {
			p, _, err = parseSPS(unit)
		}
		switch {
		case err == nil && (p.width <= 0 || p.height <= 0 || p.width > 65535 || p.height > 65535):
			t.Fatalf("%+v", p)
		case err != nil && !storage.IsDamage(err):
			t.Fatal(err)
		}
		setID(H264, pictureSets, unit)
		setID(H265, videoSets, unit)
	})
}

// FuzzUnits: units have no start code in them, and joined they are split again.
func FuzzUnits(f *testing.F) {
	f.Add([]byte("\x00\x00\x01\x65\x00\x00\x00\x01\x41\x00"))
	f.Add([]byte("\x00\x00\x01\x00\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var all [][]byte
		var joined []byte
		err := eachStartCode(data, func(u []byte) error {
			if len(u) == 0 || bytes.Contains(u, startCode) || u[len(u)-1] == 0 {
				t.Fatalf("unit % x", u)
			}
			all = append(all, u)
			joined = append(append(joined, 0, 0, 0, 1), u...)
			return nil
		})
		if err != nil || len(all) == 0 {
			return
		}
		i := 0
		eachStartCode(joined, func(u []byte) error {
			if !bytes.Equal(u, all[i]) {
				t.Fatalf("unit %d: % x, want % x", i, u, all[i])
			}
			i++
			return nil
		})
		if i != len(all) {
			t.Fatalf("%d units, want %d", i, len(all))
		}
	})
}

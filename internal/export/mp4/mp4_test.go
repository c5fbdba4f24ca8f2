package mp4

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// jpegFrame makes a JPEG.
func jpegFrame(t testing.TB, width, height int, shade byte) []byte {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		m.Pix[i] = shade + byte(i%7)
	}
	m.SetGray(0, 0, color.Gray{Y: 255})
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// jitter returns times as cameras have them, with a gap of 1.5 s.
func jitter(n int, start int64) (times []int64) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		start += 33_333_333 + random.Int64N(4_000_001) - 2_000_000
		if i == n/2 {
			start += 1_500_000_000
		}
		times = append(times, start)
	}
	return times
}

// mux writes frames to a file.
func mux(t testing.TB, c Codec, frames [][]byte, times []int64) ([]byte, Summary) {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, c)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range frames {
		if err := w.Frame(f, times[i]); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
	}
	sum, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if int(sum.Bytes) != b.Len() {
		t.Errorf("%d bytes, the summary has %d", b.Len(), sum.Bytes)
	}
	return b.Bytes(), sum
}

// TestSmall: each frame is in the file, at its time to 1 us, as it was, with its parameter sets in stsd.
func TestSmall(t *testing.T) {
	for _, c := range []Codec{JPEG, H264, H265, VP9, AV1} {
		var frames [][]byte
		if c == JPEG {
			for i := range 12 {
				frames = append(frames, jpegFrame(t, 64, 48, byte(i)))
			}
		} else {
			frames = tiny(t, c)
		}
		times := jitter(len(frames), 1_700_000_000_123_456_789)
		file, sum := mux(t, c, frames, times)
		d, err := demux(file)
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		if d.scale != 1e6 || sum.Scale != 1e6 || d.width != 64 || d.height != 48 || len(d.samples) != 12 ||
			sum.Frames != 12 || sum.Width != 64 || sum.Height != 48 ||
			sum.Dropped+sum.Moved+sum.Headers != 0 || sum.Start != times[0] || sum.End != times[11] || sum.Entries != 1 ||
			len(d.entries) != 1 {
			t.Errorf("%v: %+v, %+v", c, sum, d.scale)
		}
		for i, s := range d.samples {
			if want := (times[i] - times[0] + 500) / 1000; int64(d.times[i]) != want {
				t.Errorf("%v: frame %d is at %d us, want %d", c, i, d.times[i], want)
			}
			if d.keys[i] != (c == JPEG || i%5 == 0) {
				t.Errorf("%v: frame %d is a key frame: %v", c, i, d.keys[i])
			}
			want := inFile(t, c, frames[i])
			if !bytes.Equal(s, want) {
				t.Errorf("%v: frame %d has other bytes", c, i)
			}
		}
		if d.durations[11] != d.durations[10] {
			t.Errorf("%v: the last frame takes %d us, the one before %d", c, d.durations[11], d.durations[10])
		}
		if c != H264 && c != H265 {
			continue
		}
		for _, u := range units(t, frames[0]) {
			if setKind(c, u) >= 0 && !bytes.Contains(d.entries[0], u) {
				t.Errorf("%v: a parameter set is not in stsd", c)
			}
		}
	}
}

// TestStartWhole: frames of VP9 and AV1 before the first key frame are left out and counted; a sequence header
// of AV1 may come alone.
func TestStartWhole(t *testing.T) {
	for _, c := range []Codec{VP9, AV1} {
		frames := tiny(t, c)
		file, sum := mux(t, c, frames[2:], jitter(10, 0))
		d, err := demux(file)
		if err != nil || sum.Frames != 7 || sum.Dropped != 3 || !d.keys[0] || !d.keys[5] || d.keys[1] {
			t.Errorf("%v: %+v, %v, %v", c, sum, d.keys, err)
		}
	}
	frames := tiny(t, AV1)
	header := frames[0][:14] // the delimiter and the sequence header
	key := frames[0][14:]
	_, sum := mux(t, AV1, append([][]byte{key, header, key}, frames[1:]...), jitter(14, 0))
	if sum.Frames != 12 || sum.Dropped != 1 || sum.Headers != 1 || sum.Width != 64 || sum.Height != 48 {
		t.Errorf("%+v", sum)
	}
}

// TestFramings: start codes of 3 and 4 bytes, more zeros, and lengths give the same file.
func TestFramings(t *testing.T) {
	for _, c := range []Codec{H264, H265} {
		frames := tiny(t, c)
		times := jitter(len(frames), 0)
		want, _ := mux(t, c, frames, times)
		for name, form := range map[string]func([]byte) []byte{
			"lengths": func(b []byte) []byte { return withLengths(t, b) },
			"short": func(b []byte) (out []byte) {
				for _, u := range units(t, b) {
					out = append(append(out, 0, 0, 1), u...)
				}
				return out
			},
			"zeros": func(b []byte) (out []byte) {
				for _, u := range units(t, b) {
					out = append(append(append(out, 0, 0, 0, 0, 0, 1), u...), 0, 0, 0)
				}
				return out
			},
		} {
			var other [][]byte
			for _, f := range frames {
				other = append(other, form(f))
			}
			if got, _ := mux(t, c, other, times); !bytes.Equal(got, want) {
				t.Errorf("%v with %s: another file", c, name)
			}
		}
	}
}

// TestStart: frames before the first key frame with all parameter sets are left out and counted; parameter
// sets may come in data of their own.
func TestStart(t *testing.T) {
	for _, c := range []Codec{H264, H265} {
		frames := tiny(t, c)
		times := jitter(len(frames), 0)
		var headers, picture []byte
		for _, u := range units(t, frames[0]) {
			if setKind(c, u) >= 0 {
				headers = append(append(headers, 0, 0, 0, 1), u...)
			} else {
				picture = append(append(picture, 0, 0, 0, 1), u...)
			}
		}
		for _, s := range []struct {
			name                    string
			frames                  [][]byte
			count, dropped, headers int
			first                   int // its time
			err                     bool
		}{
			{"in the middle", frames[2:], 7, 3, 0, 5, false},
			{"no parameter sets before the second key frame", append([][]byte{picture}, frames[1:]...), 7, 5, 0, 5, false},
			{"headers alone", append([][]byte{headers, picture}, frames[1:11]...), 11, 0, 1, 1, false},
			{"headers after", append([][]byte{picture, headers}, frames[5:]...), 7, 1, 1, 2, false},
			{"nothing but others", frames[1:5], 0, 4, 0, 0, true},
			{"nothing", nil, 0, 0, 0, 0, true},
		} {
			var b bytes.Buffer
			w, err := NewWriter(&b, c)
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range s.frames {
				at := times[i]
				if s.name == "in the middle" {
					at = times[i+2]
				}
				if err := w.Frame(f, at); err != nil {
					t.Fatalf("%s: %v", s.name, err)
				}
			}
			sum, err := w.Close()
			if (err != nil) != s.err || s.err && (!errors.Is(err, storage.ErrUnsupported) || b.Len() > 0) {
				t.Errorf("%v, %s: %v, %d bytes", c, s.name, err, b.Len())
			}
			if sum.Frames != s.count || sum.Dropped != s.dropped || sum.Headers != s.headers ||
				!s.err && sum.Start != times[s.first] {
				t.Errorf("%v, %s: %+v", c, s.name, sum)
			}
			if !s.err {
				if d, err := demux(b.Bytes()); err != nil || !d.keys[0] {
					t.Errorf("%v, %s: %v", c, s.name, err)
				}
			}
		}
	}
}

// TestTimes: equal and backward times are 1 us later and counted, gaps of any length are kept, and durations
// need not have 32 bits.
func TestTimes(t *testing.T) {
	const ms, hour = int64(1e6), int64(3600e9)
	for _, c := range []struct {
		name      string
		times     []int64
		want      []uint64
		scale     uint32
		moved     int
		movedMost int64
	}{
		{"rounded, not added up", []int64{1, 1501, 3001, 4499}, []uint64{0, 2, 3, 4}, 1e6, 0, 0},
		{"equal", []int64{5 * ms, 5 * ms, 5 * ms, 9 * ms}, []uint64{0, 1, 2, 4000}, 1e6, 2, 2000},
		{"backward", []int64{5 * ms, 9 * ms, 2 * ms, 10 * ms}, []uint64{0, 4000, 4001, 5000}, 1e6, 1, 7*ms + 1000},
		{"before 1970", []int64{-3 * ms, -2 * ms, 4 * ms}, []uint64{0, 1000, 7000}, 1e6, 0, 0},
		{"an hour", []int64{0, hour, hour + 1000}, []uint64{0, 3600e6, 3600e6 + 1}, 1e6, 0, 0},
		{"two hours of an hour", []int64{0, hour, 2 * hour}, []uint64{0, 3600e6, 7200e6}, 1e6, 0, 0},
		{"a gap of two hours", []int64{0, ms, 2*hour + ms, 2*hour + 2*ms}, []uint64{0, 100, 720000100, 720000200}, 1e5, 0, 0},
		{"a year", []int64{0, 1, 8760 * hour}, []uint64{0, 1, 8760 * 3600 * 100}, 100, 0, 0},
		{"one frame", []int64{77}, []uint64{0}, 1e6, 0, 0},
		{"below 1 us", []int64{0, 300, 600, 2000}, []uint64{0, 1, 2, 3}, 1e6, 0, 0},
	} {
		var frames [][]byte
		for i := range c.times {
			frames = append(frames, jpegFrame(t, 8, 8, byte(i)))
		}
		file, sum := mux(t, JPEG, frames, c.times)
		d, err := demux(file)
		if err != nil || !slices.Equal(d.times, c.want) || d.scale != c.scale || sum.Scale != c.scale ||
			sum.Moved != c.moved || sum.MovedMost != c.movedMost {
			t.Errorf("%s: %v in %d, want %v in %d; %+v, %v", c.name, d.times, d.scale, c.want, c.scale, sum, err)
		}
	}
}

// TestEntries: a changed size or parameter set gets its entry in stsd, one that is back has its old one, and
// sets that are only added are in the entry that is there.
func TestEntries(t *testing.T) {
	small, large := jpegFrame(t, 8, 8, 1), jpegFrame(t, 24, 16, 2)
	file, sum := mux(t, JPEG, [][]byte{small, large, large, small}, jitter(4, 0))
	d, err := demux(file)
	if err != nil || sum.Entries != 2 || !slices.Equal(d.sampleEntry, []int{1, 2, 2, 1}) || d.mdats != 3 ||
		sum.Width != 8 {
		t.Errorf("JPEG: %v, %d mdats, %+v, %v", d.sampleEntry, d.mdats, sum, err)
	}

	frames := tiny(t, H264)
	var other []byte // the first frame with another picture parameter set of the same number
	var extra []byte // and a P frame with one more
	for _, u := range units(t, frames[0]) {
		if setKind(H264, u) == pictureSets {
			u = append(bytes.Clone(u), 0x80)
		}
		other = append(append(other, 0, 0, 0, 1), u...)
	}
	extra = append(append(extra, frames[1]...), 0, 0, 0, 1, 0x68, 0x40|0x08) // number 1
	file, sum = mux(t, H264, [][]byte{frames[0], extra, frames[2], other, frames[1], frames[0], frames[1]}, jitter(7, 0))
	d, err = demux(file)
	if err != nil || sum.Entries != 2 || !slices.Equal(d.sampleEntry, []int{1, 1, 1, 2, 2, 1, 1}) {
		t.Errorf("H.264: %v, %+v, %v", d.sampleEntry, sum, err)
	}
	if !bytes.Contains(d.entries[0], []byte{0x68, 0x48}) {
		t.Error("the set that was added later is not in the first entry")
	}
}

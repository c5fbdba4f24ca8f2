package mp4

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// ffmpeg returns what a program of ffmpeg prints; it fails the test if that prints a word about errors or
// doubts.
func ffmpeg(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must have ffmpeg")
		}
		t.Skip("ffmpeg is not installed")
	}
	cmd := exec.Command(path, append([]string{"-hide_banner", "-v", "warning"}, args...)...)
	var words bytes.Buffer
	cmd.Stderr = &words
	out, err := cmd.Output()
	doubts := 0
	for line := range strings.Lines(words.String()) {
		if !usual.MatchString(line) {
			doubts++
		}
	}
	if err != nil || doubts > 0 {
		t.Fatalf("%s %q: %v: %s", program, args, err, words.String())
	}
	return out
}

// usual are words about any JPEG: that its colors have the full range, and of those of image/jpeg, also if they
// are files of their own, that their end is missing, which it is not.
var usual = regexp.MustCompile("deprecated pixel format used|EOI missing, emulating")

// encoded is a stream that ffmpeg makes of its test picture.
func encoded(t *testing.T, c Codec, size string, frames int) [][]byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stream")
	source := fmt.Sprintf("testsrc2=size=%s:rate=30", size)
	args := []string{"-y", "-f", "lavfi", "-i", source, "-frames:v", fmt.Sprint(frames), "-pix_fmt", "yuv420p", "-bf", "0",
		"-g", "15"}
	switch c {
	case H264:
		ffmpeg(t, "ffmpeg", append(args, "-c:v", "libx264", "-preset", "ultrafast", "-x264-params", "repeat-headers=1:aud=1",
			"-f", "h264", path)...)
	case H265:
		ffmpeg(t, "ffmpeg", append(args, "-c:v", "libx265", "-preset", "ultrafast", "-x265-params",
			"repeat-headers=1:aud=1:bframes=0:open-gop=0:log-level=0", "-f", "hevc", path)...)
	case VP9:
		ffmpeg(t, "ffmpeg", append(args, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-crf", "40",
			"-b:v", "0", "-f", "ivf", path)...)
	case AV1:
		ffmpeg(t, "ffmpeg", append(args, "-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-crf", "40", "-b:v",
			"0", "-f", "ivf", path)...)
	default:
		ffmpeg(t, "ffmpeg", "-y", "-f", "lavfi", "-i", source, "-frames:v", fmt.Sprint(frames), "-pix_fmt", "yuvj420p",
			"-strict", "unofficial", "-c:v", "mjpeg", "-f", "mjpeg", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch c {
	case H264, H265:
		return accessUnits(t, data, c)
	case VP9, AV1:
		return ivf(t, data)
	}
	var out [][]byte
	for len(data) > 0 {
		n := bytes.Index(data[1:], []byte("\xff\xd8\xff")) + 1
		if n == 0 {
			n = len(data)
		}
		out, data = append(out, data[:n]), data[n:]
	}
	return out
}

// pts are the times of all packets that ffprobe finds, in us, and which are key frames.
func pts(t *testing.T, path string) (times []int64, keys []bool) {
	t.Helper()
	text := ffmpeg(t, "ffprobe", "-select_streams", "v", "-show_entries", "packet=pts_time,flags", "-of", "csv=p=0", path)
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		seconds, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		times, keys = append(times, int64(math.Round(seconds*1e6))), append(keys, strings.HasPrefix(fields[1], "K"))
	}
	return times, keys
}

// TestFFmpeg: ffprobe finds each frame at its time to 1 us, ffmpeg takes the stream out again as it was, and
// decodes it to the same pictures as the stream itself, without a word.
func TestFFmpeg(t *testing.T) {
	for _, c := range []Codec{JPEG, H264, H265, VP9, AV1} {
		frames := encoded(t, c, "160x128", 60)
		if len(frames) != 60 {
			t.Fatalf("%v: %d frames", c, len(frames))
		}
		times := jitter(60, 1_700_000_000_123_456_789)
		file, _ := mux(t, c, frames, times)
		path := filepath.Join(t.TempDir(), "x.mp4")
		save(t, path, file)
		got, keys := pts(t, path)
		if len(got) != 60 {
			t.Fatalf("%v: ffprobe finds %d frames", c, len(got))
		}
		for i := range got {
			if d := got[i]*1000 - (times[i] - times[0]); d < -1000 || d > 1000 {
				t.Errorf("%v: frame %d is %d ns off", c, i, d)
			}
			if want := c == JPEG || i%15 == 0; keys[i] != want && (c != VP9 && c != AV1 || i == 0) {
				t.Errorf("%v: frame %d is a key frame: %v", c, i, keys[i])
			}
		}
		form := map[Codec]string{JPEG: "mjpeg", H264: "h264", H265: "hevc", VP9: "ivf", AV1: "ivf"}[c]
		out := ffmpeg(t, "ffmpeg", "-i", path, "-c", "copy", "-f", form, "-")
		stream := bytes.Join(frames, nil)
		var same bool
		switch c {
		case VP9, AV1:
			same = bytes.Equal(bytes.Join(ivf(t, out), nil), stream)
			stream = asIVF(c, frames)
		case JPEG:
			same = bytes.Equal(out, stream)
		default:
			same = sameUnits(t, c, out, stream)
		}
		if !same {
			t.Errorf("%v: the stream is another", c)
		}
		raw := filepath.Join(t.TempDir(), "raw")
		save(t, raw, stream)
		want := ffmpeg(t, "ffmpeg", "-f", form, "-i", raw, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-fps_mode",
			"passthrough", "-")
		if len(want) != 60*160*128*3/2 {
			t.Fatalf("%d bytes of pictures", len(want))
		}
		if got := ffmpeg(t, "ffmpeg", "-i", path, "-f", "rawvideo", "-pix_fmt", "yuv420p", "-fps_mode", "passthrough",
			"-"); !bytes.Equal(got, want) {
			t.Errorf("%v: other pictures", c)
		}
		created := strings.TrimSpace(string(ffmpeg(t, "ffprobe", "-show_entries", "format_tags=creation_time", "-of",
			"csv=p=0", path)))
		if created != "2023-11-14T22:13:20.000000Z" {
			t.Errorf("%v: created at %s", c, created)
		}
	}
}

// asIVF returns frames as an IVF file.
func asIVF(c Codec, frames [][]byte) []byte {
	out := append([]byte("DKIF\x00\x00\x20\x00"), map[Codec]string{VP9: "VP90", AV1: "AV01"}[c]...)
	out = append(out, "\xa0\x00\x80\x00\x1e\x00\x00\x00\x01\x00\x00\x00\x3c\x00\x00\x00\x00\x00\x00\x00"...)
	for i, f := range frames {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(f)))
		out = binary.LittleEndian.AppendUint64(out, uint64(i))
		out = append(out, f...)
	}
	return out
}

func save(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sameUnits reports whether two streams have the same NAL units. ffmpeg puts the parameter sets before the key
// frames, where they were, but before the delimiter and SEI: their order is compared without the others'.
func sameUnits(t *testing.T, c Codec, a, b []byte) bool {
	sets := func(data []byte) (out, rest [][]byte) {
		for _, u := range units(t, data) {
			if setKind(c, u) >= 0 {
				out = append(out, u)
			} else {
				rest = append(rest, u)
			}
		}
		return out, rest
	}
	setsA, restA := sets(a)
	setsB, restB := sets(b)
	return len(setsB) > 0 && bytes.Equal(bytes.Join(setsA, startCode), bytes.Join(setsB, startCode)) &&
		bytes.Equal(bytes.Join(restA, startCode), bytes.Join(restB, startCode))
}

// TestFFmpegProfiles: the size and the kinds of samples are found for profiles with cropping, fields, scaling
// lists and all samplings, and the box with the configuration is that of ffmpeg's own MP4.
func TestFFmpegProfiles(t *testing.T) {
	for i, c := range []struct {
		codec           Codec
		width, height   int
		format, options string
	}{
		{H264, 1920, 1080, "yuv420p", ""},
		{H264, 322, 244, "yuv420p", "tff=1:cqm=jvt"},
		{H264, 322, 242, "yuv422p", "cqm=jvt:8x8dct=1"},
		{H264, 321, 241, "yuv444p", "cqm=jvt"},
		{H264, 320, 240, "yuv420p10le", ""},
		{H264, 320, 240, "gray", ""},
		{H264, 176, 144, "yuv420p", "no-8x8dct=1:no-cabac=1:weightp=0"},
		{H265, 1920, 1080, "yuv420p", ""},
		{H265, 322, 242, "yuv422p10le", ""},
		{H265, 321, 241, "yuv444p", ""},
		{H265, 320, 240, "yuv420p", "temporal-layers=1"},
		{H265, 320, 240, "gray", ""},
		{VP9, 322, 242, "yuv420p", ""},
		{VP9, 321, 241, "yuv444p", ""},
		{VP9, 1280, 720, "yuv422p10le", ""},
		{VP9, 64, 48, "gbrp", ""},
		{AV1, 322, 242, "yuv420p", ""},
		{AV1, 321, 241, "yuv444p10le", ""},
		{AV1, 320, 240, "yuv422p", ""},
		{AV1, 320, 240, "yuv420p12le", ""},
		{AV1, 320, 240, "gbrp", ""},
		{AV1, 320, 240, "gray", ""},
	} {
		if testing.Short() && i%3 != 0 {
			continue
		}
		name := fmt.Sprintf("%v %dx%d %s %s", c.codec, c.width, c.height, c.format, c.options)
		frames, stream := profile(t, c.codec, fmt.Sprintf("testsrc=size=%dx%d", c.width, c.height), c.format, c.options)
		file, sum := mux(t, c.codec, frames, jitter(len(frames), 0))
		if sum.Width != c.width || sum.Height != c.height || sum.Frames != len(frames) {
			t.Errorf("%s: %+v", name, sum)
		}
		path, theirs := filepath.Join(t.TempDir(), "x.mp4"), filepath.Join(t.TempDir(), "ffmpeg.mp4")
		save(t, path, file)
		text := string(ffmpeg(t, "ffprobe", "-show_entries", "stream=width,height,pix_fmt", "-of", "csv=p=0", path))
		if c.format == "gray" && c.codec != AV1 { // ffmpeg decodes it as if with colors
			c.format = ""
		}
		if want := fmt.Sprintf("%d,%d,%s", c.width, c.height, c.format); !strings.HasPrefix(text, want) {
			t.Errorf("%s: ffprobe has %q, want %q", name, text, want)
		}
		ffmpeg(t, "ffmpeg", "-y", "-v", "fatal", "-i", stream, "-c", "copy", "-tag:v", map[Codec]string{H264: "avc1",
			H265: "hvc1", VP9: "vp09", AV1: "av01"}[c.codec], theirs)
		want, err := os.ReadFile(theirs)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := configuration(t, c.codec, file), configuration(t, c.codec, want); !bytes.Equal(got, want) {
			t.Errorf("%s: the configuration is\n% x, ffmpeg's is\n% x", name, got, want)
		}
	}
}

// profile encodes six frames of a source, and returns them and the path of their stream.
func profile(t *testing.T, c Codec, source, format, options string) (frames [][]byte, stream string) {
	t.Helper()
	stream = filepath.Join(t.TempDir(), "stream")
	args := []string{"-y", "-f", "lavfi", "-i", source, "-frames:v", "6", "-pix_fmt", format}
	params := "repeat-headers=1:aud=1"
	if options != "" {
		params += ":" + options
	}
	switch c {
	case H264:
		args = append(args, "-c:v", "libx264", "-preset", "ultrafast", "-bf", "0", "-x264-params", params, "-f", "h264")
	case H265:
		args = append(args, "-c:v", "libx265", "-preset", "ultrafast", "-x265-params", params+":bframes=0:log-level=0", "-f",
			"hevc")
	case VP9:
		args = append(args, "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-crf", "40", "-b:v", "0", "-f",
			"ivf")
	case AV1:
		args = append(args, "-c:v", "libaom-av1", "-usage", "realtime", "-cpu-used", "8", "-crf", "40", "-b:v", "0", "-f",
			"ivf")
	}
	ffmpeg(t, "ffmpeg", append(args, stream)...)
	data, err := os.ReadFile(stream)
	if err != nil {
		t.Fatal(err)
	}
	if c == VP9 || c == AV1 {
		return ivf(t, data), stream
	}
	return accessUnits(t, data, c), stream
}

// configuration is the box in the first entry of stsd of a file.
func configuration(t *testing.T, c Codec, file []byte) []byte {
	t.Helper()
	kind := map[Codec]string{H264: "avcC", H265: "hvcC", VP9: "vpcC", AV1: "av1C"}[c]
	at := bytes.Index(file, []byte(kind))
	if at < 4 {
		t.Fatalf("no %s", kind)
	}
	return file[at : at-4+int(binary.BigEndian.Uint32(file[at-4:]))]
}

// TestFFmpegEntries: a stream whose size changes in the middle, and back, decodes.
func TestFFmpegEntries(t *testing.T) {
	for _, c := range []Codec{H264, H265} {
		a, b := encoded(t, c, "320x240", 20), encoded(t, c, "160x128", 20)
		frames := append(append(append([][]byte{}, a...), b...), a...)
		times := jitter(60, 0)
		file, sum := mux(t, c, frames, times)
		if sum.Entries != 2 {
			t.Errorf("%v: %+v", c, sum)
		}
		path := filepath.Join(t.TempDir(), "x.mp4")
		save(t, path, file)
		text := string(ffmpeg(t, "ffprobe", "-show_entries", "frame=width,height", "-of", "csv=p=0", path))
		if strings.Count(text, "320,240") != 40 || strings.Count(text, "160,128") != 20 {
			t.Errorf("%v: %q", c, text)
		}
	}
}

// TestFFmpegTimes: durations of more than 32 bits, and gaps.
func TestFFmpegTimes(t *testing.T) {
	const hour = int64(3600e9)
	for _, c := range []struct {
		times     []int64
		precision int64 // us
	}{
		{[]int64{0, 333_333, hour, 2*hour - 7000, 3*hour + 1000}, 1},
		{[]int64{5, 40 * hour, 40*hour + 70e6, 90 * hour}, 50},
		{[]int64{-1e9, 0, 1e6, 1e6, 2e6}, 1},
	} {
		var frames [][]byte
		for i := range c.times {
			frames = append(frames, jpegFrame(t, 16, 16, byte(i)))
		}
		file, _ := mux(t, JPEG, frames, c.times)
		path := filepath.Join(t.TempDir(), "x.mp4")
		save(t, path, file)
		got, _ := pts(t, path)
		for i := range got {
			if d := got[i] - (c.times[i]-c.times[0])/1000; d < -c.precision || d > c.precision {
				t.Errorf("frame %d at %d us, want %d ns", i, got[i], c.times[i]-c.times[0])
			}
		}
		if len(got) != len(c.times) {
			t.Errorf("%d frames", len(got))
		}
	}
}

// pictures are frames of a moving ramp.
func pictures(format PixelFormat, width, height, n int) (out [][]byte) {
	for i := range n {
		b := make([]byte, 0, width*height*format.channels())
		for y := range height {
			for x := range width {
				ramp := (x*2 + y + i*4) % 240
				for c := range format.channels() {
					b = append(b, byte(60+max(ramp, 240-ramp)/2+c*20))
				}
			}
		}
		out = append(out, b)
	}
	return out
}

// TestEncoder: pixels become video whose pictures are near them and have their times, with ffmpeg and without.
func TestEncoder(t *testing.T) {
	ffmpeg(t, "ffmpeg", "-version")
	for _, c := range []struct {
		format        PixelFormat
		width, height int
		path          string
	}{
		{RGB, 320, 240, FindFFmpeg()}, {Gray, 64, 48, FindFFmpeg()}, {RGBA, 63, 47, FindFFmpeg()},
		{RGB, 320, 240, ""}, {Gray, 63, 47, ""}, {RGBA, 64, 48, ""},
	} {
		name := fmt.Sprintf("%s %dx%d with %q", c.format, c.width, c.height, c.path)
		frames, times := pictures(c.format, c.width, c.height, 70), jitter(70, 1e18)
		var b bytes.Buffer
		e, err := NewEncoder(context.Background(), &b, c.format, c.width, c.height,
			EncodeOptions{FFmpeg: c.path, Args: []string{"-preset", "ultrafast", "-qp", "4"}, Quality: 98})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range frames {
			if err := e.Frame(f, times[i]); err != nil {
				t.Fatal(err)
			}
		}
		sum, err := e.Close()
		if err != nil || sum.Frames != 70 || sum.Start != times[0] || sum.End != times[69] ||
			(sum.Encoder == "libx264") != (c.path != "") || sum.Width < c.width || sum.Height < c.height {
			t.Fatalf("%s: %+v, %v", name, sum, err)
		}
		path := filepath.Join(t.TempDir(), "x.mp4")
		save(t, path, b.Bytes())
		got, _ := pts(t, path)
		for i := range got {
			if want := (times[i] - times[0] + 500) / 1000; got[i] != want {
				t.Errorf("%s: frame %d at %d, want %d", name, i, got[i], want)
			}
		}
		crop := fmt.Sprintf("crop=%d:%d:0:0:exact=1,scale=in_color_matrix=%s", c.width, c.height,
			map[bool]string{true: "bt709", false: "bt601"}[c.path != ""])
		out := ffmpeg(t, "ffmpeg", "-i", path, "-vf", "format=yuv444p,"+crop, "-f", "rawvideo", "-pix_fmt", string(c.format),
			"-fps_mode", "passthrough", "-")
		if len(out) != 70*len(frames[0]) {
			t.Fatalf("%s: %d bytes of pictures", name, len(out))
		}
		worst, all := 0.0, bytes.Join(frames, nil)
		var square float64
		for i := range out {
			if c.format == RGBA && i%4 == 3 {
				continue
			}
			d := math.Abs(float64(out[i]) - float64(all[i]))
			worst, square = max(worst, d), square+d*d
		}
		if mean := math.Sqrt(square / float64(len(out))); mean > 6 {
			t.Errorf("%s: %.1f off on the mean, %.0f at most", name, mean, worst)
		} else {
			t.Logf("%s: %.1f off on the mean, %.0f at most, %d bytes", name, mean, worst, sum.Bytes)
		}
	}
}

// TestEncoderEnds: a wrong argument is an error in ffmpeg's words, a context that ends is its error, and so is
// one of the writer; each comes soon, and ffmpeg has ended when it does.
func TestEncoderEnds(t *testing.T) {
	ffmpeg(t, "ffmpeg", "-version")
	const width, height = 640, 480
	frame := pictures(RGB, width, height, 1)[0]
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		w     io.Writer
		o     EncodeOptions
		cause error
		words string
	}{
		{"an unknown encoder", context.Background(), io.Discard, EncodeOptions{Encoder: "no_such_encoder"}, nil,
			"no_such_encoder"},
		{"a wrong argument", context.Background(), io.Discard, EncodeOptions{Args: []string{"-no_such_option", "1"}}, nil,
			"no_such_option"},
		{"a full disk", context.Background(), &failing{100}, EncodeOptions{Args: []string{"-preset", "ultrafast", "-tune",
			"zerolatency"}}, io.ErrClosedPipe, ""},
		{"a context that ends", ctx, io.Discard, EncodeOptions{}, context.Canceled, ""},
		{"no such program", context.Background(), io.Discard, EncodeOptions{FFmpeg: "/no/such/program"}, os.ErrNotExist,
			"start ffmpeg"},
	} {
		if c.o.FFmpeg == "" {
			c.o.FFmpeg = FindFFmpeg()
		}
		e, err := NewEncoder(c.ctx, c.w, RGB, width, height, c.o)
		begin := time.Now()
		for i := 0; err == nil && i < 400; i++ {
			if i == 3 && c.ctx == ctx {
				cancel()
			}
			err = e.Frame(frame, int64(i)*33e6)
		}
		if e != nil && e.process != nil {
			_, err2 := e.Close()
			if err2 == nil {
				t.Errorf("%s: Frame %v, Close none", c.name, err)
			}
			if err == nil { // the disk is only full when the first MB is written
				err = err2
			}
			if e.process.cmd.ProcessState == nil {
				t.Errorf("%s: ffmpeg has not ended", c.name)
			}
		}
		if c.cause != nil && !errors.Is(err, c.cause) || !strings.Contains(fmt.Sprint(err), c.words) ||
			time.Since(begin) > 20*time.Second {
			t.Errorf("%s: %v after %v", c.name, err, time.Since(begin))
		}
	}
	e, err := NewEncoder(context.Background(), io.Discard, RGB, width, height, EncodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Frame(frame[1:], 0); err == nil || !strings.Contains(err.Error(), "another video") {
		t.Error(err)
	}
}

// TestAccessUnits: a stream is cut before its delimiters, however it comes.
func TestAccessUnits(t *testing.T) {
	frames := tiny(t, H264)
	stream := bytes.Join(frames, nil)
	for _, size := range []int{1, 2, 3, 5, 7, 100, 1 << 20} {
		var got [][]byte
		if err := eachAccessUnit(&pieces{stream, size}, func(b []byte) error {
			got = append(got, bytes.Clone(b))
			return nil
		}); err != nil || len(got) != len(frames) {
			t.Fatalf("pieces of %d: %d frames, %v", size, len(got), err)
		}
		for i := range got {
			if !bytes.Equal(bytes.Join(units(t, got[i]), startCode), bytes.Join(units(t, frames[i]), startCode)) {
				t.Errorf("pieces of %d: frame %d differs", size, i)
			}
		}
	}
}

// pieces reads at most size bytes at once.
type pieces struct {
	data []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.data)
	p.data = p.data[n:]
	return n, nil
}

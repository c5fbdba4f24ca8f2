package lerobot_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/export/lerobot"
	"github.com/bagconv/bagconv/internal/export/mp4"
)

// needFFmpeg skips a test on a machine without ffmpeg.
func needFFmpeg(t *testing.T) {
	t.Helper()
	if mp4.FindFFmpeg() == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("ffmpeg is not on the path")
		}
		t.Skip("ffmpeg is not on the path")
	}
}

// noFFmpeg hides ffmpeg.
func noFFmpeg(t *testing.T) { t.Setenv("PATH", t.TempDir()) }

// levels reads the gray levels of the frames of a video, by ffmpeg.
func levels(t *testing.T, name string, width, height int) (list []int) {
	t.Helper()
	out, err := exec.Command("ffmpeg", "-v", "error", "-i", name, "-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt",
		"gray", "-").Output()
	if err != nil {
		t.Fatal(name, err)
	}
	for i := 0; i+width*height <= len(out); i += width * height {
		list = append(list, int(out[i+width*height/2+width/2])/10*10+5) // coarse
	}
	return list
}

// cameras makes a recording of two cameras at 10 Hz, whose gray levels are 5, 15, 25 and so on.
func cameras(n int) *world {
	w := &world{}
	for i := range n {
		w.joints(float64(i)*100, "/s", float64(i))
		w.picture(float64(i)*100+10, "/a", 96, 64, uint8(10*i+5))
		w.picture(float64(i)*100+20, "/b/compressed", 64, 64, uint8(10*i+5))
	}
	return w
}

const twoCameras = plain + "cameras: {a: /a, b.two: /b/compressed}\n"

// TestVideos: each frame of a video is the picture of its row, and the video has an exactly constant rate.
func TestVideos(t *testing.T) {
	needFFmpeg(t)
	source := cameras(12).write(t)
	for _, codec := range []string{"h264", "av1", "stored"} {
		dir, report := export(t, source, twoCameras+"codec: "+codec)
		for key, size := range map[string][2]int{"a": {96, 64}, "b.two": {64, 64}} {
			name := filepath.Join(dir, "videos/observation.images."+key+"/chunk-000/file-000.mp4")
			got := levels(t, name, size[0], size[1])
			want := []int{5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 105, 115} // the first frame is at 20 ms
			if !slices.Equal(got, want) {
				t.Errorf("%s %s: %v, want %v", codec, key, got, want)
			}
			out, err := exec.Command("ffprobe", "-v", "error", "-show_entries",
				"packet=pts_time:stream=r_frame_rate,avg_frame_rate,codec_name", "-of", "csv=p=0", name).Output()
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Fields(string(out))
			for i, line := range lines[:len(lines)-1] {
				if want := fmt.Sprintf("%d.%d00000", i/10, i%10); line != want {
					t.Errorf("%s: packet %d at %s, want %s", codec, i, line, want)
				}
			}
			wantEnd := map[string]string{"h264": "h264", "av1": "av1", "stored": "mjpeg"}[codec] + ",10/1,10/1"
			if lines[len(lines)-1] != wantEnd {
				t.Errorf("%s: %s, want %s", codec, lines[len(lines)-1], wantEnd)
			}
		}
		if len(codes(report)) > 0 {
			t.Error(codes(report))
		}
	}
}

// TestImages: with codec images, and without ffmpeg, pictures are in the tables, JPEG as it is.
func TestImages(t *testing.T) {
	source := cameras(12).write(t)
	asked, _ := export(t, source, twoCameras+"codec: images")
	noFFmpeg(t)
	dir, report := export(t, source, twoCameras)
	said := false
	for _, l := range report.Notes {
		said = said || strings.Contains(l.Message, "ffmpeg is not on the path: the pictures of a are images in the tables")
	}
	if !said {
		t.Errorf("%+v", report.Notes)
	}
	same(t, filesOf(t, dir), filesOf(t, asked))
	for name := range filesOf(t, dir) {
		if strings.Contains(name, "video") {
			t.Error(name)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "data/chunk-000/file-000.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if rows := column(t, dir, "timestamp"); len(rows) != 12 {
		t.Errorf("%d rows", len(rows))
	}
	if !bytes.Contains(text, []byte("observation.images.b.two")) {
		t.Error("no column for the camera b.two")
	}
}

// TestPictures: pictures of another size, and damaged ones, are not used, and counted; the one before comes again.
func TestPictures(t *testing.T) {
	needFFmpeg(t)
	w := &world{}
	for i := range 10 {
		switch at := float64(i) * 100; i {
		case 3:
			w.picture(at, "/a", 48, 64, 200)
		case 5:
			whole := jpegOf(64, 48, 200)
			w.data(at, "/a", whole[:len(whole)-80])
		case 7:
			w.data(at, "/a", []byte("no picture"))
		default:
			w.picture(at, "/a", 64, 48, uint8(10*i+5))
		}
	}
	dir, report := export(t, w.write(t), "fps: 10\ntask: x\ncameras: {a: /a}")
	if got, want := codes(report), []string{"lerobot-size 1", "lerobot-picture 2"}; !slices.Equal(got, want) {
		t.Errorf("losses %v, want %v", got, want)
	}
	got := levels(t, filepath.Join(dir, "videos/observation.images.a/chunk-000/file-000.mp4"), 64, 48)
	if want := []int{5, 15, 25, 25, 45, 45, 65, 65, 85, 95}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSlowCamera: a camera that is slower than the rate has repeated frames, and the report has them.
func TestSlowCamera(t *testing.T) {
	noFFmpeg(t)
	w := &world{}
	for i := range 21 {
		w.joints(float64(i)*100, "/s", float64(i))
		if i%4 == 0 {
			w.picture(float64(i)*100, "/a", 16, 16, 9)
		}
	}
	dir, _ := export(t, w.write(t), plain+"cameras: {a: /a}\n")
	r, err := lerobot.ReadReport(nil, dir)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Episodes[0].Streams, func(s lerobot.StreamReport) bool { return s.Topic == "/a" })
	if s := r.Episodes[0].Streams[i]; s.Repeated != 15 || s.Messages != 6 || s.Skipped != 0 || s.LongestMS != 300 {
		t.Errorf("%+v", s)
	}
}

// h264 makes frames of H.264 with gray levels, a key frame each so many, by ffmpeg.
func h264(t *testing.T, n, keyEach int) (frames [][]byte) {
	t.Helper()
	r, err := mp4.NewRecoder(t.Context(), mp4.RecodeOptions{FFmpeg: mp4.FindFFmpeg(), Pixels: mp4.Gray, Width: 64,
		Height: 64, Output: mp4.H264,
		KeyEach: keyEach, Quality: 20}, func(frame []byte) error {
		frames = append(frames, bytes.Clone(frame))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := r.Frame(bytes.Repeat([]byte{byte(10*i + 5)}, 64*64)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil || len(frames) != n {
		t.Fatal(len(frames), err)
	}
	return frames
}

// TestH264: frames of H.264 stay as they are where each row has its own and that is asked for, and are encoded again
// else.
func TestH264(t *testing.T) {
	needFFmpeg(t)
	frames := h264(t, 20, 5)
	w := &world{}
	for i, f := range frames {
		w.data(float64(i)*100, "/a", f)
	}
	source := w.write(t)
	for mapping, want := range map[string][]int{
		"fps: 10\ncodec: stored": {5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 105, 115, 125, 135, 145, 155, 165, 175, 185, 195},
		"fps: 10\ncodec: h264":   {5, 15, 25, 35, 45, 55, 65, 75, 85, 95, 105, 115, 125, 135, 145, 155, 165, 175, 185, 195},
		"fps: 5\ncodec: stored":  {5, 25, 45, 65, 85, 105, 125, 145, 165, 185},
		"fps: 20\ncodec: av1\n":  nil,
	} {
		dir, _ := export(t, source, mapping+"\ntask: x\ncameras: {a: /a}")
		name := filepath.Join(dir, "videos/observation.images.a/chunk-000/file-000.mp4")
		got := levels(t, name, 64, 64)
		if want == nil {
			for i := range 39 {
				want = append(want, i/2*10+5)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v", mapping, got)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		same := bytes.Contains(text, frames[1][len(frames[1])-20:])
		if wantSame := mapping == "fps: 10\ncodec: stored"; same != wantSame {
			t.Errorf("%s: the frames are those of the recording: %v", mapping, same)
		}
	}

	noFFmpeg(t)
	export(t, source, "fps: 10\ntask: x\ncameras: {a: /a}")
	job := jobOf(t, source, lerobot.Name, "fps: 7\ntask: x\ncameras: {a: /a}")
	if _, err := convert.Run(t.Context(), job); err == nil || !strings.Contains(err.Error(),
		"the camera a: it is H.264 without a frame of its own for each tick, and ffmpeg") {
		t.Error(err)
	}
}

// TestLateKey: frames of video before the first key frame are not used; those before an episode are decoded for it.
func TestLateKey(t *testing.T) {
	needFFmpeg(t)
	frames := h264(t, 20, 5)
	w := &world{}
	for i, f := range frames[3:] {
		w.data(float64(i)*100, "/a", f)
		if i >= 9 {
			w.joints(float64(i)*100, "/s", 1)
		}
	}
	dir, report := export(t, w.write(t), plain+"cameras: {a: /a}")
	got := levels(t, filepath.Join(dir, "videos/observation.images.a/chunk-000/file-000.mp4"), 64, 64)
	if want := []int{125, 135, 145, 155, 165, 175, 185, 195}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := codes(report); !slices.Equal(got, []string{"lerobot-begin 2"}) {
		t.Errorf("losses %v", got)
	}
}

// TestColors: the statistics of pictures are those of their pixels, from 0 to 1.
func TestColors(t *testing.T) {
	noFFmpeg(t)
	w := &world{}
	for i := range 4 {
		w.picture(float64(i)*100, "/a", 64, 48, 51)
	}
	dir, _ := export(t, w.write(t), "fps: 10\ntask: x\ncameras: {a: /a}")
	m, err := jpeg.Decode(bytes.NewReader(jpegOf(64, 48, 51)))
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for y := range 48 {
		for x := range 64 {
			r, _, _, _ := m.At(x, y).RGBA()
			sum += float64(r>>8) / 255
		}
	}
	mean := table(t, dir+"/meta/episodes/*/*.parquet", "stats/observation.images.a/mean")[0]
	if len(mean) != 3 || mean[0]-sum/(64*48) > 1e-9 || sum/(64*48)-mean[0] > 1e-9 {
		t.Errorf("%v, want %v", mean, sum/(64*48))
	}
	if q := table(t, dir+"/meta/episodes/*/*.parquet", "stats/observation.images.a/q50")[0]; q[0] != 0.2 || q[2] != 0.2 {
		t.Errorf("median %v", q)
	}
	if n := table(t, dir+"/meta/episodes/*/*.parquet", "stats/observation.images.a/count")[0]; n[0] != 4 {
		t.Errorf("count %v", n)
	}
}

// TestOddSize: an odd side of pictures is one pixel longer in a video of H.264, and in info.json, and not in images.
func TestOddSize(t *testing.T) {
	needFFmpeg(t)
	w := &world{}
	for i := range 4 {
		w.picture(float64(i)*100, "/a", 65, 67, uint8(10*i+5))
	}
	source := w.write(t)
	for codec, want := range map[string]string{"h264": "[68 66 3]", "stored": "[67 65 3]", "images": "[67 65 3]"} {
		dir, _ := export(t, source, "fps: 10\ntask: x\ncameras: {a: /a}\ncodec: "+codec)
		var info struct {
			Features map[string]struct {
				Shape []int `json:"shape"`
			} `json:"features"`
		}
		if err := json.Unmarshal([]byte(filesOf(t, dir)["meta/info.json"]), &info); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(info.Features["observation.images.a"].Shape); got != want {
			t.Errorf("%s: shape %s, want %s", codec, got, want)
		}
		if codec == "h264" {
			if got := levels(t, filepath.Join(dir, "videos/observation.images.a/chunk-000/file-000.mp4"), 66,
				68); !slices.Equal(got, []int{5, 15, 25, 35}) {
				t.Errorf("levels %v", got)
			}
		}
	}
}

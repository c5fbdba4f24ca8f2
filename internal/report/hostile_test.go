package report_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/report"
	"github.com/bagconv/bagconv/internal/report/page"
	"github.com/bagconv/bagconv/storage"
)

// A written recording: topics of ROS 1 without definitions, as the standard ones are known.
type written struct {
	t        *testing.T
	path     string
	w        storage.Writer
	messages int
}

func create(t *testing.T, name string) *written {
	path := filepath.Join(t.TempDir(), name)
	w, err := all.Registry().Named(name).Create(t.Context(), path, storage.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &written{t: t, path: path, w: w}
}

func (w *written) topic(name, typ string) storage.TopicID {
	w.t.Helper()
	id, err := w.w.CreateTopic(storage.Topic{Name: name, Type: typ, Encoding: "ros1"})
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *written) add(id storage.TopicID, at int64, data []byte) {
	w.t.Helper()
	if err := w.w.Write(&storage.Message{Topic: id, LogTime: at, PublishTime: at, Data: data}); err != nil {
		w.t.Fatal(err)
	}
	w.messages++
}

func (w *written) close() string {
	w.t.Helper()
	if _, err := w.w.Finish(); err != nil {
		w.t.Fatal(err)
	}
	if err := w.w.Commit(); err != nil {
		w.t.Fatal(err)
	}
	return w.path
}

// ros1 serializes values as ROS 1 does.
func ros1(values ...any) (b []byte) {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v...)
		case []byte:
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v...)
		default:
			b, _ = binary.Append(b, binary.LittleEndian, v)
		}
	}
	return b
}

// header is a std_msgs/Header.
func header(frame string) []byte { return ros1(uint32(0), uint64(0), frame) }

// sized returns the JSON and the page of a recording, and fails if they are too large.
func sized(t *testing.T, rec *report.Recording, most int) {
	t.Helper()
	r := &report.Report{Program: "bagconv", Recordings: []report.Recording{*rec}}
	text, err := json.Marshal(r)
	if err != nil || len(text) > most {
		t.Errorf("%d bytes of JSON, %v", len(text), err)
	}
	var b bytes.Buffer
	if err := page.Write(&b, r); err != nil || b.Len() > most+400_000 || strings.Contains(b.String(), "<script>alert") {
		t.Errorf("a page of %d bytes, %v", b.Len(), err)
	}
}

// TestManyTopics: of 20,000 topics with names full of markup the page has the ones with the most messages.
func TestManyTopics(t *testing.T) {
	const topics = 20_000
	w := create(t, "many.mcap")
	for i := range topics {
		id := w.topic(fmt.Sprintf("/%d</script><script>alert(%d)</script>%s", i, i, strings.Repeat("<", i%500)),
			"std_msgs/Float32")
		for k := range 1 + i/19_500 {
			w.add(id, int64(i+k*topics)*1e6, ros1(float32(i)))
		}
	}
	rec, _ := gathered(t, w.close(), report.Options{})
	sized(t, rec, 1_700_000)
	if len(rec.Topics) != 1000 || len(rec.Plots) != 24 || rec.Messages != int64(w.messages) {
		t.Errorf("%d topics, %d plots, %d messages", len(rec.Topics), len(rec.Plots), rec.Messages)
	}
	for _, want := range []string{"19,000 of 20,000 topics", "plots", "the end of"} {
		if !slices.ContainsFunc(rec.LeftOut, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("left out: %q, without %q", rec.LeftOut, want)
		}
	}
}

// pictureOf makes a small picture.
func pictureOf(encode func(*bytes.Buffer, image.Image) error) []byte {
	m := image.NewRGBA(image.Rect(0, 0, 600, 4))
	for x := range 600 {
		for y := range 4 {
			m.SetRGBA(x, y, color.RGBA{uint8(x), 100, 0, 255})
		}
	}
	var b bytes.Buffer
	if err := encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// TestPictures: pictures that are broken, of wrong sizes or of no known encoding are counted and named, and the others
// are shown.
func TestPictures(t *testing.T) {
	good := pictureOf(func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) })
	bomb := slices.Clone(good)
	at := bytes.Index(bomb, []byte{0xff, 0xc0})
	copy(bomb[at+5:], []byte{0xff, 0xff, 0xff, 0xff}) // 65535 x 65535 pixels
	raw := func(width, height, step uint32, encoding string, data []byte) []byte {
		return append(header("cam"), ros1(height, width, encoding, uint8(0), step, data)...)
	}
	stored := func(format string, data []byte) []byte { return append(header("cam"), ros1(format, data)...) }
	for _, c := range []struct {
		name, typ string
		data      []byte
		note      string // "": it is shown
		w, h      int
	}{
		{"jpeg", "sensor_msgs/CompressedImage", stored("jpeg", good), "", 240, 2},
		{"png", "sensor_msgs/CompressedImage", stored("png",
			pictureOf(func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })), "", 240, 2},
		{"cut", "sensor_msgs/CompressedImage", stored("jpeg", good[:len(good)/2]), "corrupt", 0, 0},
		{"bomb", "sensor_msgs/CompressedImage", stored("jpeg", bomb), "65535 x 65535 pixels", 0, 0},
		{"empty", "sensor_msgs/CompressedImage", stored("", nil), "without data", 0, 0},
		{"h264", "sensor_msgs/CompressedImage", stored("h264", []byte{0, 0, 0, 1, 9}), "video: this report decodes none", 0,
			0},
		{"mono", "sensor_msgs/Image", raw(3, 2, 3, "mono8", make([]byte, 6)), "", 3, 2},
		{"wide", "sensor_msgs/Image", raw(10_000, 1, 0, "rgb8", make([]byte, 30_000)), "", 240, 1},
		{"depth", "sensor_msgs/Image", raw(2, 2, 8, "32FC1", ros1(float32(math.NaN()), float32(1), float32(math.Inf(1)),
			float32(2))), "", 2, 2},
		{"short", "sensor_msgs/Image", raw(640, 480, 1920, "bgr8", make([]byte, 100)), "has only 100 bytes", 0, 0},
		{"huge", "sensor_msgs/Image", raw(1<<31, 1<<31, 1, "bgr8", make([]byte, 100)), "has only 100 bytes", 0, 0},
		{"none", "sensor_msgs/Image", raw(0, 0, 0, "", nil), "", 0, 0},
		{"odd", "sensor_msgs/Image", raw(2, 2, 2, "secret", make([]byte, 4)), "secret", 0, 0},
		{"flow", "sensor_msgs/Image", raw(2, 1, 16, "32FC2", make([]byte, 16)), "have no colors", 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := create(t, "pictures.bag")
			id := w.topic("/cam", c.typ)
			for i := range 20 {
				w.add(id, 1e18+int64(i)*1e8, c.data)
			}
			rec, doubts := gathered(t, w.close(), report.Options{})
			cam := rec.Cameras[0]
			if c.w > 0 {
				if len(cam.Samples) != 16 || cam.Samples[0].Width != c.w || cam.Samples[0].Height != c.h || cam.Note != "" {
					t.Errorf("%d pictures, %+v", len(cam.Samples), cam)
				}
				if _, err := jpeg.Decode(bytes.NewReader(cam.Samples[0].JPEG)); err != nil {
					t.Error(err)
				}
				return
			}
			if len(cam.Samples) != 0 || cam.Note == "" || !strings.Contains(cam.Note, c.note) {
				t.Errorf("%+v", cam)
			}
			if c.name != "h264" && (len(doubts) != 1 || !strings.Contains(doubts[0], "16 of 16 pictures of /cam")) {
				t.Errorf("doubts: %q", doubts)
			}
		})
	}
}

// TestTimes: messages of 1970 and 2262 with positions that are no numbers, whole and quick.
func TestTimes(t *testing.T) {
	w := create(t, "times.mcap")
	odom, fix := w.topic("/odom", "nav_msgs/Odometry"), w.topic("/fix", "sensor_msgs/NavSatFix")
	for i, at := range []int64{0, 1, 1e18, math.MaxInt64 - 1, math.MaxInt64} {
		v := []float64{math.NaN(), math.Inf(-1), 1e308, -1e308, 3}[i]
		data := append(header("odom"), ros1("base", v, v, v, [4]float64{0, 0, 0, 1}, [36]float64{}, [6]float64{v, v},
			[36]float64{})...)
		w.add(odom, at, data)
		w.add(fix, at, append(header("gps"), ros1(int8(0), uint16(0), v, v, v, [9]float64{}, uint8(0))...))
	}
	path := w.close()
	for _, quick := range []bool{false, true} {
		rec, doubts := gathered(t, path, report.Options{Quick: quick})
		sized(t, rec, 100_000)
		if rec.Duration < 9.2e9 || !strings.HasPrefix(rec.Begin, "1970-01-01 ") ||
			!strings.HasPrefix(rec.Finish, "2262-04-11 ") {
			t.Errorf("%v s, from %s to %s", rec.Duration, rec.Begin, rec.Finish)
		}
		sum := uint32(0)
		for _, n := range rec.Topics[0].Bins {
			sum += n
		}
		if len(rec.Topics) != 2 || sum != 5 || len(rec.Topics[0].Bins) > 600 {
			t.Errorf("%d messages in %d bins of %d topics", sum, len(rec.Topics[0].Bins), len(rec.Topics))
		}
		if !slices.ContainsFunc(doubts, func(s string) bool { return strings.Contains(s, "have no position") }) {
			t.Errorf("doubts: %q", doubts)
		}
	}
}

package main

import (
	"context"
	le "encoding/binary"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// TestViewer: Rerun's web viewer opens what a bag became, has its times, and shows the
// picture in it.
func TestViewer(t *testing.T) {
	t.Parallel() // it waits for frames most of the time
	chromium, modules := os.Getenv("BAGCONV_CHROMIUM"), os.Getenv("BAGCONV_NODE_MODULES")
	if chromium == "" || modules == "" {
		missing(t, "Chromium with npm's @rerun-io/web-viewer (set BAGCONV_CHROMIUM and BAGCONV_NODE_MODULES)")
	}
	dir := t.TempDir()
	bag, path, shot := filepath.Join(dir, "in.bag"), filepath.Join(dir, "out.mcap"), filepath.Join(dir, "shot.png")
	paint := color.RGBA{250, 20, 190, 255}
	const start, step, n = 1_700_000_000_000_000_000, 100_000_000, 20
	writePictures(t, bag, paint, start, step, n)
	convert(t, bag, path, "--no-sync")
	seeInViewer(t, path, shot, paint, start, start+(n-1)*step)
}

// browser is locked while a viewer runs: two at once take minutes to draw a frame.
var browser sync.Mutex

// seeInViewer lets Rerun's viewer open a file or an address, and compares the log times of its first and
// last message, and the colour of its picture.
func seeInViewer(t *testing.T, path, shot string, paint color.RGBA, times ...int64) {
	t.Helper()
	browser.Lock()
	defer browser.Unlock()
	out := jsonLines[struct {
		Started bool
		Source  string
		Log     []string
	}](t, exec.Command("node", "testdata/referee/mcap/viewer.mjs", path, shot))
	if len(out) != 1 || !out[0].Started {
		t.Skip("the viewer does not start in this machine's Chromium")
	}
	got := out[0]
	if got.Source == "" || len(got.Log) != len(times) {
		t.Fatalf("the viewer did not open %s: %+v", path, got)
	}
	for i, want := range times {
		// JavaScript rounds it
		if at, err := strconv.ParseInt(got.Log[i], 10, 64); err != nil || math.Abs(float64(at-want)) > 1000 {
			t.Errorf("log time %s in the viewer, want %d", got.Log[i], want)
		}
	}
	if seen := count(t, shot, paint); seen < 5000 {
		keep := filepath.Join(t.ArtifactDir(), "viewer.png") // which -artifacts -outputdir DIR keeps
		if b, err := os.ReadFile(shot); err == nil {
			_ = os.WriteFile(keep, b, 0o600)
		}
		t.Errorf("%d pixels have the colour of the picture; see %s", seen, keep)
	}
}

// writePictures writes a bag with n pictures of one colour.
func writePictures(t *testing.T, path string, c color.RGBA, start, step int64, n int) {
	t.Helper()
	const width, height = 64, 48
	def, ok := builtin.Lookup("noetic", "sensor_msgs/Image")
	if !ok {
		t.Fatal("sensor_msgs/Image is not built in")
	}
	format := all.Registry().Named(path)
	ctx := context.Background()
	w, err := format.Create(ctx, path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	id, err := w.CreateTopic(storage.Topic{Name: "/camera", Type: "sensor_msgs/Image", Encoding: "ros1",
		Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte(def)},
		Metadata: map[string]string{storage.MetaMD5Sum: "060021388200f6f0f447d0fcd9c64743"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		at := start + int64(i)*step
		m := le.LittleEndian.AppendUint32(nil, uint32(i))
		m = le.LittleEndian.AppendUint32(m, uint32(at/1e9))
		m = le.LittleEndian.AppendUint32(m, uint32(at%1e9))
		m = appendString(m, "camera")
		m = le.LittleEndian.AppendUint32(m, height)
		m = le.LittleEndian.AppendUint32(m, width)
		m = append(appendString(m, "rgb8"), 0)
		m = le.LittleEndian.AppendUint32(m, 3*width)
		m = le.LittleEndian.AppendUint32(m, 3*width*height)
		for range width * height {
			m = append(m, c.R, c.G, c.B)
		}
		if err := w.Write(&storage.Message{Topic: id, LogTime: at, PublishTime: at, Data: m}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func appendString(b []byte, s string) []byte {
	return append(le.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
}

// count counts the pixels of a picture that nearly have a colour.
func count(t *testing.T, path string, c color.RGBA) (n int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var img image.Image
	if img, err = png.Decode(f); err != nil {
		t.Fatal(err)
	}
	near := func(a uint32, b uint8) bool { return math.Abs(float64(a>>8)-float64(b)) < 12 }
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); near(r, c.R) && near(g, c.G) && near(b, c.B) {
				n++
			}
		}
	}
	return n
}

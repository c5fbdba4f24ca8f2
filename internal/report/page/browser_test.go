package page

import (
	"encoding/json"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/report"
	"github.com/bagconv/bagconv/storage"
)

var update = flag.Bool("update", false, "write testdata/references of what is seen now; look at it before")

var widths = []int{360, 800, 1600}

// A sight is what see.mjs prints.
type sight struct {
	Faults []string
	Seen   map[string]any
}

// see opens the page of a report in Chromium: with pictures, in the folder that it returns and -artifacts keeps, and
// with
// axe-core, if they are asked for.
func see(t *testing.T, r *report.Report, shots, axe bool) (sight, string) {
	t.Helper()
	modules := os.Getenv("BAGCONV_NODE_MODULES")
	if os.Getenv("BAGCONV_CHROMIUM") == "" || modules == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("Chromium is missing, and CI must have it")
		}
		t.Skip("Chromium with npm's playwright-core and axe-core is not installed (set BAGCONV_CHROMIUM and BAGCONV_NODE_MODULES)")
	}
	dir := t.ArtifactDir()
	path := filepath.Join(dir, "page.html")
	if err := os.WriteFile(path, []byte(written(t, r)), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"testdata/see.mjs", path, "", ""}
	if shots {
		args[2] = dir
	}
	if axe {
		args[3] = filepath.Join(modules, "axe-core", "axe.min.js")
	}
	for _, w := range widths {
		args = append(args, strconv.Itoa(w))
	}
	cmd := exec.Command("node", args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var s sight
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		t.Fatalf("%v: %.2000s", err, out)
	}
	for _, fault := range s.Faults {
		t.Error(fault)
	}
	for _, w := range widths {
		if got := s.Seen["wide "+strconv.Itoa(w)]; got != float64(w) {
			t.Errorf("a window of %d pixels shows a page of %v", w, got)
		}
	}
	return s, dir
}

// TestBrowser: in Chromium, the page asks for nothing, reports no error and no fault of accessibility; keys and pointer
// move the one time; and it looks as it did when somebody looked at it.
func TestBrowser(t *testing.T) {
	t.Parallel()
	s, dir := see(t, sample(t), true, true)
	for key, want := range map[string]any{"start": "0.000 s", "right": "12.000 s", "finding": "41.200 s", "turned": true, "filtered": 0.0,
		"large": "/camera/front/image_raw/compressed, 10.000 s, 2 of 12"} {
		if s.Seen[key] != want {
			t.Errorf("%s: %v, want %v", key, s.Seen[key], want)
		}
	}
	if help, _ := s.Seen["help"].(string); !strings.Contains(help, "next, previous finding") {
		t.Errorf("the help is %q", help)
	}
	if axis, _ := s.Seen["axis"].([]any); len(axis) < 2 || axis[0] == "0" {
		t.Errorf("after +, the axis has %v", axis)
	}
	pointer, _ := s.Seen["pointer"].(map[string]any)
	if pointer[".row:not(.top) canvas"] != "1:30.000" || pointer[".u-over"] != "1:30.000" {
		t.Errorf("the pointer at three quarters: %v", pointer)
	}
	if got, _ := s.Seen["follow"].(map[string]any); got["picture"] == "/camera/front/image_raw/compressed at 0.00 s" || got["value"] == "–" || got["place"] == "" {
		t.Errorf("what follows the time: %v", got)
	}
	for _, name := range []string{"360", "800", "1600", "dark"} {
		same(t, filepath.Join(dir, name+".png"), "testdata/references/"+name+".png")
	}
}

// TestBrowserDemo: the page of a recording that was read looks as it did when somebody looked at it.
func TestBrowserDemo(t *testing.T) {
	t.Parallel()
	format, err := all.Registry().Detect("../../../testdata/demo.bag")
	if err != nil {
		t.Fatal(err)
	}
	r, err := format.Open(t.Context(), "../../../testdata/demo.bag", storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, _, err := report.Gather(t.Context(), r, report.Options{Name: "demo.bag", Path: "demo.bag"})
	if err != nil {
		t.Fatal(err)
	}
	_, dir := see(t, &report.Report{Program: "bagconv", Recordings: []report.Recording{*rec}}, true, false)
	for _, name := range []string{"360", "800", "1600"} {
		same(t, filepath.Join(dir, name+".png"), "testdata/references/demo-"+name+".png")
	}
}

// TestBrowserHostile: markup in names is text, and values that make no sense break nothing.
func TestBrowserHostile(t *testing.T) {
	t.Parallel()
	s, _ := see(t, hostile(), false, false)
	if s.Seen["hit"] != "" {
		t.Errorf("the %v of a recording was run", s.Seen["hit"])
	}
	text, _ := s.Seen["text"].(string)
	for _, what := range []string{"name", "path", "message", "hint", "topic", "type", "unit", "kind", "note", "frame", "loss", "left out", "summary", "line", "program"} {
		if !strings.Contains(text, "<script>window.hit='"+what+"'</script>") {
			t.Errorf("%s is not seen as text", what)
		}
	}
}

// same compares a picture with a reference of a tenth of its size: fonts differ between machines, the layout does not.
func same(t *testing.T, path, reference string) {
	t.Helper()
	got := small(t, path)
	if *update {
		f, err := os.Create(reference)
		if err == nil {
			err = png.Encode(f, got)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		return
	}
	f, err := os.Open(reference)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	decoded, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	want := decoded.Bounds()
	if d := got.Bounds().Dy() - want.Dy(); got.Bounds().Dx() != want.Dx() || d*d > want.Dy()*want.Dy()/100 {
		t.Errorf("%s is %v, its reference %v", path, got.Bounds(), want)
		return
	}
	sum, n := 0, 0
	for y := range min(want.Dy(), got.Bounds().Dy()) {
		for x := range want.Dx() {
			d := int(got.GrayAt(x, y).Y) - int(color.GrayModel.Convert(decoded.At(x, y)).(color.Gray).Y)
			sum, n = sum+max(d, -d), n+1
		}
	}
	if mean := float64(sum) / float64(n); mean > 6 {
		t.Errorf("%s differs from its reference by %.1f of 255; look at it, and -update if it is right", path, mean)
	}
}

// small is a picture in grey, where a pixel is the mean of ten times ten.
func small(t *testing.T, path string) *image.Gray {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	const step = 10
	out := image.NewGray(image.Rect(0, 0, m.Bounds().Dx()/step, m.Bounds().Dy()/step))
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			sum := 0
			for i := range step * step {
				sum += int(color.GrayModel.Convert(m.At(x*step+i%step, y*step+i/step)).(color.Gray).Y)
			}
			out.SetGray(x, y, color.Gray{Y: uint8(sum / (step * step))})
		}
	}
	return out
}

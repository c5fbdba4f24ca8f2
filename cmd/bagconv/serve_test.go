package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

// startServe runs bagconv serve on a free port until the test ends, and returns its address.
func startServe(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0", "--no-cache"}, args...)...)
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("bagconv serve ended with %v", err)
		}
	})
	address := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if at := regexp.MustCompile(`http://[^/ ]+`).FindString(lines.Text()); at != "" {
				select {
				case address <- at:
				default:
				}
			}
		}
		close(address)
	}()
	at, ok := <-address
	if !ok {
		t.Fatal("bagconv serve does not say where")
	}
	return at
}

// TestServeNode: npm's @mcap/core reads recordings of all formats by HTTP, whole and in ranges, as
// the files that convert writes.
func TestServeNode(t *testing.T) {
	r := findReferees(t)
	dir := t.TempDir()
	db := filepath.Join(dir, "db3")
	convert(t, "../../testdata/demo.bag", db+"/", "--no-sync")
	sources := []string{"../../testdata/demo.bag", "../../testdata/demo.record", db}
	base := startServe(t, append(sources, "--chunk-size", "20K")...)
	args := []string{"testdata/referee/mcap/read.mjs"}
	for _, source := range sources {
		path := filepath.Join(dir, filepath.Base(source)+".mcap")
		convert(t, source, path, "--no-sync", "--compression", "none", "--chunk-size", "20K")
		args = append(args, path, base+"/mcap/"+filepath.Base(path))
	}
	cmd := exec.Command(r.node, args...)
	cmd.Env = append(os.Environ(), "BAGCONV_NODE_MODULES="+r.modules)
	got := jsonLines[struct {
		Path          string
		Stream, Index nodeReading
	}](t, cmd)
	if len(got) != 2*len(sources) {
		t.Fatalf("%d readings of %d", len(got), 2*len(sources))
	}
	for i := 0; i < len(got); i += 2 {
		file, url := got[i], got[i+1]
		want := fmt.Sprint(file.Stream, file.Index)
		if fmt.Sprint(url.Stream, url.Index) != want || file.Index.Messages < 600 || file.Index.Messages != url.Stream.Messages {
			t.Errorf("%s: %v %v, want %s", url.Path, url.Stream, url.Index, want)
		}
	}
}

// TestServeViewer: Rerun's web viewer, in a page of another port, opens a bag by the address that
// serve lists.
func TestServeViewer(t *testing.T) {
	t.Parallel()
	chromium, modules := os.Getenv("BAGCONV_CHROMIUM"), os.Getenv("BAGCONV_NODE_MODULES")
	if chromium == "" || modules == "" {
		missing(t, "Chromium with npm's @rerun-io/web-viewer (set BAGCONV_CHROMIUM and BAGCONV_NODE_MODULES)")
	}
	dir := t.TempDir()
	bag := filepath.Join(dir, "in.bag")
	const start, step, n = 1_700_000_000_000_000_000, 100_000_000, 20
	paint := color.RGBA{20, 230, 90, 255}
	writePictures(t, bag, paint, start, step, n)
	base := startServe(t, bag)
	res, err := http.Get(base + "/index.json")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var index struct {
		Recordings []struct{ As []struct{ URL string } }
	}
	text, err := io.ReadAll(res.Body)
	if err == nil {
		err = json.Unmarshal(text, &index)
	}
	if err != nil || len(index.Recordings) != 1 || len(index.Recordings[0].As) != 1 {
		t.Fatalf("%v %s", err, text)
	}
	shot := filepath.Join(dir, "shot.png")
	out := jsonLines[struct {
		Started bool
		Source  string
		Log     []string
	}](t, exec.Command("node", "testdata/referee/mcap/viewer.mjs", index.Recordings[0].As[0].URL, shot))
	if len(out) != 1 || !out[0].Started {
		t.Skip("the viewer does not start in this machine's Chromium")
	}
	if out[0].Source == "" || len(out[0].Log) != 2 {
		t.Fatalf("the viewer did not open the address: %+v", out[0])
	}
	for i, want := range []int64{start, start + (n-1)*step} {
		if at, err := strconv.ParseInt(out[0].Log[i], 10, 64); err != nil || math.Abs(float64(at-want)) > 1000 { // JavaScript rounds it
			t.Errorf("log time %s in the viewer, want %d", out[0].Log[i], want)
		}
	}
	if seen := count(t, shot, paint); seen < 5000 {
		t.Errorf("%d pixels have the colour of the picture", seen)
	}
}

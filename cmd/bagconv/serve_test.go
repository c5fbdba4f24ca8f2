package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

// startServe runs bagconv serve on a free port until the test ends, and returns its address.
func startServe(t *testing.T, args ...string) string {
	t.Helper()
	p := start(t, `http://[^/ ]+`, append([]string{"serve", "--listen", "127.0.0.1:0", "--no-cache"}, args...)...)
	t.Cleanup(func() { p.end(t, os.Interrupt) })
	return p.address
}

// A process is a bagconv that runs until it is interrupted.
type process struct {
	*exec.Cmd
	address string       // that it prints
	stderr  bytes.Buffer // complete when ended is closed
	ended   chan struct{}
}

// start runs bagconv until the line with an address of that form, and kills it with the test.
func start(t *testing.T, address string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	stderr, err := p.StderrPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	found := make(chan string, 1)
	go func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			fmt.Fprintln(&p.stderr, lines.Text())
			if at := regexp.MustCompile(address).FindString(lines.Text()); at != "" {
				select {
				case found <- at:
				default:
				}
			}
		}
		close(found)
		close(p.ended)
	}()
	if p.address = <-found; p.address == "" {
		t.Fatalf("bagconv %q does not print an address: %s", args, &p.stderr)
	}
	return p
}

// end waits until it ends well, after a signal if that is not nil, and returns what it has printed.
func (p *process) end(t *testing.T, signal os.Signal) string {
	t.Helper()
	if signal != nil {
		if err := p.Process.Signal(signal); err != nil {
			t.Error(err)
		}
	}
	timer := time.AfterFunc(time.Minute, func() { _ = p.Process.Kill() })
	defer timer.Stop()
	<-p.ended
	if err := p.Wait(); err != nil {
		t.Errorf("%s ended with %v: %s", p, err, &p.stderr)
	}
	return p.stderr.String()
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
		if fmt.Sprint(url.Stream, url.Index) != want || file.Index.Messages < 600 ||
			file.Index.Messages != url.Stream.Messages {
			t.Errorf("%s: %v %v, want %s", url.Path, url.Stream, url.Index, want)
		}
	}
}

// TestServePlaysNode: npm's client of the Foxglove WebSocket and a raw socket get all messages of a recording that is
// served.
func TestServePlaysNode(t *testing.T) {
	node := nodePeers(t)
	in := filepath.Join(t.TempDir(), "in.mcap")
	convert(t, "../../testdata/demo.bag", in, "--encoding", "keep", "--no-sync")
	want, n := sumsOf(t, in)
	base := startServe(t, in, "--latch", "none")
	url := strings.Replace(base, "http:", "ws:", 1) + "/ws/in.mcap"
	clients := startPeer(t, node, "testdata/referee/foxglove/client.mjs", url, fmt.Sprint(len(want)), fmt.Sprint(n))
	for range 2 {
		var got sums
		if clients.line(t, &got); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

// TestServeBrowser: the pages of serve in Chromium: nothing but them is requested, no error, no fault of accessibility;
// the
// report of a recording works there.
func TestServeBrowser(t *testing.T) {
	t.Parallel()
	modules := os.Getenv("BAGCONV_NODE_MODULES")
	if os.Getenv("BAGCONV_CHROMIUM") == "" || modules == "" {
		missing(t, "Chromium with npm's playwright-core and axe-core (set BAGCONV_CHROMIUM and BAGCONV_NODE_MODULES)")
	}
	base := startServe(t, "../../testdata/demo.bag", "../../testdata/tiny.record")
	for path, want := range map[string]string{"/?q=cam": "1 of 2 have cam", "/messages/demo.bag?topic=/imu/data": "The first 50 messages",
		"/info/demo.bag": "All recordings"} {
		axe := filepath.Join(modules, "axe-core", "axe.min.js")
		if strings.HasPrefix(path, "/info/") {
			axe = "" // the page of a report has its own test
		}
		cmd := exec.Command("node", "../../internal/report/page/testdata/see.mjs", base+path, "", axe, "800")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		var s struct {
			Faults []string
			Seen   struct{ Text string }
		}
		if err == nil {
			err = json.Unmarshal(out, &s)
		}
		if err != nil || len(s.Faults) > 0 || !strings.Contains(s.Seen.Text, want) {
			t.Errorf("%s: %v %v, want %q in %.500s", path, err, s.Faults, want, s.Seen.Text)
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
	seeInViewer(t, index.Recordings[0].As[0].URL, filepath.Join(dir, "shot.png"), paint, start, start+(n-1)*step)
}

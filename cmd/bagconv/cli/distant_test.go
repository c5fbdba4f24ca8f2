package cli_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// A distantServer serves the files of a folder, each answer after a delay, and counts.
type distantServer struct {
	root  string
	fs    *packedFS
	delay time.Duration

	mu       sync.Mutex
	bytes    int64
	requests int
	rounds   int // requests one after the other: each began after the answer of the one before
	log      []string
}

func (d *distantServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	d.requests++
	round := d.rounds + 1
	d.log = append(d.log, fmt.Sprint(round, " ", r.URL.Path, " ", r.Header.Get("Range")))
	d.mu.Unlock()
	time.Sleep(d.delay)
	f, err := d.fs.Open(filepath.Join(d.root, filepath.FromSlash(r.URL.Path)))
	if err == nil {
		defer f.Close()
		st, e := f.Stat()
		if err = e; err == nil && st.IsDir() {
			err = os.ErrNotExist
		}
	}
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", `"1"`)
	d.mu.Lock()
	d.rounds = max(d.rounds, round)
	d.mu.Unlock()
	http.ServeContent(&countedResponse{w, d}, r, r.URL.Path, time.Unix(1_700_000_000, 0), f)
}

type countedResponse struct {
	http.ResponseWriter
	d *distantServer
}

func (c *countedResponse) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.d.mu.Lock()
	defer c.d.mu.Unlock()
	c.d.bytes += int64(n)
	return n, err
}

// reset forgets what was counted.
func (d *distantServer) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.bytes, d.requests, d.rounds, d.log = 0, 0, 0, nil
}

// stream is one of a recording for tests: messages of zeros.
type zeroStream struct {
	name string
	size int
	hz   int64
}

var zeroStreams = []zeroStream{
	{"/camera", 1920 * 1080 * 3, 5}, {"/mono", 1920 * 1200, 10}, {"/lidar", 131072 * 16, 10}, {"/imu", 320, 400},
	{"/tf", 100, 100}, {"/odom", 700, 50},
}

// writeZeros writes a recording of n bytes, at about 75 MB/s.
func writeZeros(t *testing.T, format, path string, fs storage.FS, n int64) {
	t.Helper()
	w, err := all.Registry().Lookup(format).Create(context.Background(), path, storage.WriteOptions{NoSync: true, FS: fs,
		Compression: "none"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	due := make([]int64, len(zeroStreams))
	ids := make([]storage.TopicID, len(zeroStreams))
	for i, s := range zeroStreams {
		topic := storage.Topic{Name: s.name, Type: "std_msgs/String", Encoding: "ros1",
			Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")}}
		switch format {
		case "db3", "ros2mcap":
			topic.Type, topic.Encoding, topic.Schema = "std_msgs/msg/String", "cdr", storage.Schema{Encoding: "ros2msg",
				Data: []byte("string data\n")}
		case "record":
			topic.Encoding, topic.Schema = "protobuf", storage.Schema{}
		}
		if ids[i], err = w.CreateTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	data := make([]byte, 8<<20)
	for written := int64(0); written < n; {
		next := 0
		for i := range due {
			if due[i] < due[next] {
				next = i
			}
		}
		s := zeroStreams[next]
		m := storage.Message{Topic: ids[next], LogTime: 1_700_000_000e9 + due[next], Data: data[:s.size]}
		m.PublishTime = m.LogTime
		if err := w.Write(&m); err != nil {
			t.Fatal(err)
		}
		due[next] += 1e9 / s.hz
		written += int64(s.size)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// distant are recordings on a distant server, and how many questions one after the other a command may
// ask there; a busy machine asks more, so the limits are about twice what an idle one needs.
var distant = []struct {
	format, name    string
	info, nth, read int
}{
	{"bag", "x.bag", 12, 20, 60},
	{"record", "x.record", 20, 30, 80},
	{"mcap", "x.mcap", 20, 26, 60},
	{"db3", "db/", 24, 70, 120},
	{"ros2mcap", "mc/", 28, 34, 80},
}

// TestDistant: info of a recording on a web server reads less than a hundredth of it, a cut at most 1.5
// times its own bytes, and neither asks many questions one after the other; counted at the server. With
// BAGCONV_EXHAUSTIVE=1 the recordings have 10 GB, and -v prints the table of docs/benchmarks/remote.md.
func TestDistant(t *testing.T) {
	size, from, long, delay, whole := int64(150e6), "300ms", "800ms", 20*time.Millisecond, os.Getenv(
		"BAGCONV_EXHAUSTIVE") != ""
	if whole {
		size, from, long, delay = 10e9, "50s", "10s", 50*time.Millisecond
	}
	var table strings.Builder
	for _, c := range distant {
		t.Run(c.format, func(t *testing.T) {
			d := &distantServer{root: t.TempDir(), fs: newPackedFS(), delay: delay}
			server := httptest.NewServer(d)
			defer server.Close()
			writeZeros(t, c.format, filepath.Join(d.root, strings.TrimSuffix(c.name, "/")), d.fs, size)
			in, out := server.URL+"/"+c.name, t.TempDir()+"/"+c.name
			run := func(what string, rounds int, args ...string) (sent int64) {
				d.reset()
				must(t, args...)
				d.mu.Lock()
				defer d.mu.Unlock()
				fmt.Fprintf(&table, "| %s | %s | %.2f | %d | %d |\n", c.format, what, float64(d.bytes)/1e6, d.requests, d.rounds)
				if !whole && d.rounds > rounds {
					t.Errorf("%s asks %d questions one after the other, %d are enough:\n%s", what, d.rounds, rounds,
						strings.Join(d.log, "\n"))
				}
				return d.bytes
			}
			if sent := run("info", c.info, "info", in); sent > size/100 {
				t.Errorf("info reads %d bytes of %d", sent, size)
			}
			if sent := run("cat --nth", c.nth, "cat", in, "-t", "/imu", "--nth", "5", "--raw"); sent > size/50 {
				t.Errorf("one message: %d bytes of %d", sent, size)
			}
			sent := run("cut", c.read, "filter", in, out, "-S", from, "-u", long, "-q")
			if cut := sizeOf(t, out); float64(sent) > 1.5*float64(cut) {
				t.Errorf("a cut of %d bytes reads %d", cut, sent)
			} else {
				fmt.Fprintf(&table, "| | bytes of the cut | %.2f | | |\n", float64(cut)/1e6)
			}
		})
	}
	t.Logf("| format | command | MB | requests | one after the other |\n|---|---|---|---|---|\n%s", table.String())
}

// sizeOf returns the bytes of a file, or of all in a folder.
func sizeOf(t *testing.T, path string) (n int64) {
	t.Helper()
	err := filepath.WalkDir(path, func(_ string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err == nil && !d.IsDir() {
			n += st.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

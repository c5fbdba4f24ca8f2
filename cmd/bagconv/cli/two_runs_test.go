package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/internal/testing/s3test"
)

// A meeting is a web server that answers the first request of each of some paths when all of them have been asked for.
type meeting struct {
	http.Handler
	mu     sync.Mutex
	asked  map[string]int // requests, by path
	guests int            // how many paths
	all    chan struct{}
}

func meet(t *testing.T, guests int, h http.Handler) (*meeting, string) {
	m := &meeting{Handler: h, asked: map[string]int{}, guests: guests, all: make(chan struct{})}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	return m, server.URL
}

func (m *meeting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	if m.asked[r.URL.Path]++; m.asked[r.URL.Path] == 1 && len(m.asked) == m.guests {
		close(m.all)
	}
	m.mu.Unlock()
	select {
	case <-m.all:
	case <-time.After(10 * time.Second): // the other run asks nothing: its counts will show that
	}
	m.Handler.ServeHTTP(w, r)
}

// atOnce runs commands at the same time, and returns what each prints.
func atOnce(lines ...[]string) (outs, errs []string) {
	outs, errs = make([]string, len(lines)), make([]string, len(lines))
	var runs sync.WaitGroup
	for i, line := range lines {
		runs.Go(func() {
			var out, err bytes.Buffer
			cli.Run(context.Background(), append([]string{"bagconv"}, line...), cli.Stdio{Out: &out, Err: &err}, all.Registry())
			outs[i], errs[i] = out.String(), err.String()
		})
	}
	runs.Wait()
	return outs, errs
}

// TestRunsAtOnce: of two runs at once, each has its own retries, counts its own bytes, and tells its own notes.
func TestRunsAtOnce(t *testing.T) {
	pause := remote.Pause
	remote.Pause = time.Millisecond
	t.Cleanup(func() { remote.Pause = pause })
	t.Run("retries", func(t *testing.T) {
		down := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "later",
				http.StatusServiceUnavailable)
		})
		line := func(url, name string, retries int) []string {
			return []string{"info", "--retries", fmt.Sprint(retries), url + "/" + name}
		}
		alone, url := meet(t, 1, down)
		atOnce(line(url, "a", 1))
		other, url := meet(t, 1, down)
		atOnce(line(url, "b", 3))
		both, url := meet(t, 2, down)
		atOnce(line(url, "a", 1), line(url, "b", 3))
		a, b := alone.asked["/a"], other.asked["/b"]
		if a < 2 || b != 2*a || both.asked["/a"] != a || both.asked["/b"] != b {
			t.Errorf("alone %d and %d requests, at once %v", a, b, both.asked)
		}
	})
	t.Run("bytes", func(t *testing.T) {
		files := http.FileServer(http.Dir("../../../testdata"))
		line := func(url, name string) []string {
			return []string{url + "/" + name, filepath.Join(t.TempDir(), "x.mcap"), "--json", "--no-sync"}
		}
		names := []string{"demo.bag", "tiny.bag"}
		var want [2]int64
		for i, name := range names {
			_, url := meet(t, 1, files)
			outs, errs := atOnce(line(url, name))
			if want[i] = bytesRead(t, outs[0]); want[i] == 0 {
				t.Fatal(errs)
			}
		}
		_, url := meet(t, 2, files)
		outs, _ := atOnce(line(url, names[0]), line(url, names[1]))
		for i, out := range outs {
			if got := bytesRead(t, out); got != want[i] {
				t.Errorf("%s: %d bytes read, alone %d", names[i], got, want[i])
			}
		}
	})
	t.Run("notes", func(t *testing.T) {
		s := s3test.NewFake(t)
		for _, key := range []string{"d/x", "d//y", "e/x", "e/../y"} {
			s.Put(key, []byte("x"))
		}
		_, errs := atOnce([]string{"info", "s3://" + s3test.Bucket + "/d/"},
			[]string{"info", "s3://" + s3test.Bucket + "/e/"})
		for i, mine := range []string{"/d/: keys", "/e/: keys"} {
			if strings.Count(errs[i], mine) != 1 || strings.Contains(errs[i], []string{"/e/", "/d/"}[i]+": keys") {
				t.Errorf("it says %s", errs[i])
			}
		}
	})
}

// bytesRead returns what a report says.
func bytesRead(t *testing.T, report string) int64 {
	t.Helper()
	var r struct {
		IO struct {
			Read int64 `json:"bytes_read"`
		} `json:"io"`
	}
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		t.Fatalf("%v: %s", err, report)
	}
	return r.IO.Read
}

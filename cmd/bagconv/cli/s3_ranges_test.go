package cli_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/internal/testing/s3test"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// TestS3Ranges: a recording on a server becomes one rosbag2 folder there, in ranges that two processes
// convert. The collect that joins them is killed again and again: 3 times for each kind of folder,
// and 8 with BAGCONV_EXHAUSTIVE=1.
func TestS3Ranges(t *testing.T) { eachServer(t, s3test.Names, testRanges) }

func testRanges(t *testing.T, server string) {
	s := s3test.Start(t, server)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "x y.bag")
	if err := makeBag([]string{"-n", "200", path}); err != nil {
		t.Fatal(err)
	}
	must(t, "-q", path, s.URL+"/in/x y.bag", "--compression", "none", "--chunk-size", "2k")
	must(t, "-q", path, s.URL+"/one/x y/")
	for i, flags := range [][]string{{"--to", "db3"}, {"--to", "ros2mcap"}, {"--to", "db3", "--compression-mode",
		"file"}} {
		out := fmt.Sprintf("%s/out%d", s.URL, i)
		plan := out + ".jsonl"
		text := must(t, append([]string{"plan", "-O", out, s.URL + "/in/x y.bag", "--range-size", "10k", "--verify",
			"content", "-o", plan}, flags...)...)
		for k := range 2 {
			must(t, "work", "-q", "--task", plan, "--shard", fmt.Sprintf("%d/2", k))
		}
		for range samples.Pick(8, 3, 3) {
			cmd := exec.Command("bagconv", "collect", "-q", plan)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Duration(rand.IntN(300))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			timer.Stop()
			if status, out := bagconv("work", "-q", "--task", plan); status != 0 && status != 75 {
				t.Fatalf("work while it is joined: exit status %d: %s", status, out)
			}
		}
		must(t, "collect", "-q", plan)
		must(t, "collect", "-q", plan) // there is nothing left to do
		must(t, "verify", "-q", "--exact", "header-seq,types,publish-time", s.URL+"/one/x y/", out+"/x y/")
		must(t, "check", "--fail-on", "error", out+"/x y/")
		if again := must(t, "work", "-q", "--task", plan); strings.Contains(again, `"skipped":false`) ||
			!strings.Contains(again, `"skipped":true`) {
			t.Errorf("not all are skipped: %s", again)
		}
		if text := contentOf(t, out+"/manifest.jsonl"); strings.Count(text, "\n") != 1 || !strings.Contains(text, `"sum":`) {
			t.Errorf("the manifest: %s", text)
		}
		keys := s.Keys(t, fmt.Sprintf("out%d/x y", i))
		if len(keys) < 4 || keys[0] != fmt.Sprintf("out%d/x y/metadata.yaml", i) || strings.Contains(strings.Join(keys, "\n"),
			".parts") {
			t.Errorf("%s: the server has %q", text, keys)
		}
	}
	if left := s.Uploads(t); len(left) > 0 {
		t.Errorf("uploads are left: %q", left)
	}

	// What is no recording of these parts is not replaced.
	plan := s.URL + "/other.jsonl"
	must(t, "-q", "../../../testdata/tiny.bag", s.URL+"/other/x y/")
	must(t, "plan", "-q", "-O", s.URL+"/other", s.URL+"/in/x y.bag", "--range-size", "10k", "--to", "db3", "-o", plan)
	must(t, "work", "-q", "--task", plan)
	if status, out := bagconv("collect", "-q", plan); status == 0 || !strings.Contains(out, "remove what stands there") {
		t.Errorf("over another recording: exit status %d: %s", status, out)
	}
	must(t, "verify", "-q", "../../../testdata/tiny.bag", s.URL+"/other/x y/")
}

// TestS3JoinFaults: a join in a store that dies at any request is finished by the next one, and until then there
// is no metadata.yaml, which is what makes the folder a recording.
func TestS3JoinFaults(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := s3test.NewFake(t)
	db3 := all.Registry().Lookup("db3")
	for n := int64(1); ; n++ {
		stores := remote.New(context.Background(), &remote.Settings{})
		fsys := iox.Join(nil, stores)
		dir := iox.Canonical(fmt.Sprintf("s3://%s/%d", s3test.Bucket, n))
		var parts []string
		for i := range 3 {
			part := filepath.Join(dir, fmt.Sprintf("drive.parts/%d/drive", i))
			writePart(t, fsys, db3, part, int64(i))
			parts = append(parts, part)
		}
		stage, path := filepath.Join(dir, "drive.parts/joined"), filepath.Join(dir, "drive")
		var asked atomic.Int64
		s.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
			if asked.Add(1) < n {
				return false
			}
			s3test.Refuse(w, 403, "AccessDenied", "no more")
			return true
		}
		_, err := db3.Shards.Join(context.Background(), fsys, parts, stage, path)
		s.Fault = nil
		if whole := s.Get(fmt.Sprintf("%d/drive/metadata.yaml", n)) != nil; err == nil && !whole {
			t.Fatalf("request %d: joined, and not there", n)
		}
		stores.Close()
		stores = remote.New(context.Background(), &remote.Settings{}) // another process
		fsys = iox.Join(nil, stores)
		if _, err := stores.CleanUp(path); err != nil {
			t.Fatal(err)
		}
		if _, err := db3.Shards.Join(context.Background(), fsys, parts, stage, path); err != nil {
			t.Fatalf("request %d, again: %v", n, err)
		}
		r, err2 := db3.Open(context.Background(), path, storage.ReadOptions{FS: fsys, Strict: true})
		if err2 != nil {
			t.Fatal(err2)
		}
		for i := range int64(3) {
			if m, err := r.ReadNext(); err != nil || m.LogTime != i {
				t.Fatalf("request %d: message %d: %+v, %v", n, i, m, err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := fsys.Stat(stage); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("request %d: %v, %s is left", n, err, stage)
		}
		stores.Close()
		if asked.Load() < n { // no request was refused
			if err != nil || n < 20 {
				t.Fatalf("%d requests: %v", n, err)
			}
			break
		}
	}
	if left := s.Uploads(); len(left) > 0 {
		t.Errorf("uploads are left: %q", left)
	}
}

// writePart writes a recording of one message.
func writePart(t *testing.T, fsys storage.FS, f *storage.Format, path string, at int64) {
	t.Helper()
	w, err := f.Create(t.Context(), path, storage.WriteOptions{FS: fsys})
	if err != nil {
		t.Fatal(err)
	}
	id, err := w.CreateTopic(storage.Topic{Name: "/a", Type: "std_msgs/msg/String", Encoding: "cdr"})
	if err == nil {
		err = w.Write(&storage.Message{Topic: id, LogTime: at, PublishTime: at, Data: []byte{0, 1, 0, 0, 2, 0, 0, 0, 'a', 0}})
	}
	if err = errors.Join(err, w.Commit(), w.Close()); err != nil {
		t.Fatal(err)
	}
}

package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/internal/testing/s3test"
)

// TestS3Tasks: batch, plan, work and collect with everything on a server: inputs, outputs, receipts,
// manifests, plans and results.
func TestS3Tasks(t *testing.T) { eachServer(t, s3test.Names, testTasks) }

// TestS3Receipts: a process sees at once what others have written about a task, even if it has just looked.
func TestS3Receipts(t *testing.T) {
	s3test.NewFake(t)
	here, there := remote.New(context.Background(), &remote.Settings{}), remote.New(context.Background(),
		&remote.Settings{})
	task := &tasks.Task{ID: "5f0c", OutputDir: filepath.Clean("s3://recordings/out"),
		Output: filepath.Clean("s3://recordings/out/x.bag")}
	mine, theirs := tasks.Store{FS: iox.Join(nil, here)}, tasks.Store{FS: iox.Join(nil, there)}
	for _, status := range []string{"", tasks.StatusPending, batch.StatusOK, tasks.StatusPending} {
		if status != "" {
			r := task.Pending()
			r.Status = status
			if err := theirs.Save(task, r, true); err != nil {
				t.Fatal(err)
			}
		}
		r, err := mine.Load(task)
		if err != nil || (r == nil) != (status == "") || r != nil && r.Status != status {
			t.Errorf("%q: %+v, %v", status, r, err)
		}
	}
}

func testTasks(t *testing.T, server string) {
	s := s3test.Start(t, server)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	defer func() {
		if left := s.Uploads(t); len(left) > 0 {
			t.Errorf("uploads are left: %q", left)
		}
	}()
	dir, bucket := t.TempDir(), s.URL
	const files = 4
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("in/%d/x y.bag", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := makeBag([]string{"-n", fmt.Sprint(10 + 30*i), path}); err != nil {
			t.Fatal(err)
		}
		must(t, "-q", path, fmt.Sprintf("%s/in/%d/x y.bag", bucket, i), "--compression", "none", "--chunk-size", "2k")
	}
	content := func(url string) string { return contentOf(t, url) }
	sound := func(name string, text string, lines int) {
		t.Helper()
		if n := strings.Count(text, "\n"); n != lines || !strings.Contains(text, `"`+bucket+"/in/1/x y.bag") ||
			regexp.MustCompile(`(s3|gs|az):/[^/]`).MatchString(text) {
			t.Errorf("%s, %d lines, want %d: %s", name, n, lines, text)
		}
	}

	// A batch, its manifest beside the outputs; and again.
	must(t, "batch", "-q", "-O", bucket+"/batch", bucket+"/in")
	sound("manifest of a batch", content(bucket+"/batch/manifest.jsonl"), files)
	if out := must(t, "batch", "-O", bucket+"/batch", bucket+"/in", "--resume"); !strings.Contains(out, "skipped") {
		t.Errorf("again: %s", out)
	}

	// Tasks.
	must(t, "plan", "-q", "-O", bucket+"/out", "--to", "mcap", "-o", bucket+"/plan.jsonl", bucket+"/in")
	sound("plan", content(bucket+"/plan.jsonl"), files)
	var all sync.WaitGroup
	results := make([]string, 3)
	for i := range results { // each does all, at the same time
		all.Go(func() {
			cmd := exec.Command("bagconv", "work", "-q", "--task", bucket+"/plan.jsonl")
			var said bytes.Buffer
			cmd.Stderr = &said
			out, err := cmd.Output()
			if results[i] = string(out); err != nil {
				t.Errorf("%v: %s", err, said.String())
			}
		})
	}
	all.Wait()
	for i, text := range results {
		sound(fmt.Sprintf("results %d", i), text, files)
	}
	write(t, filepath.Join(dir, "results.jsonl"), results[0])
	must(t, "collect", "-q", bucket+"/plan.jsonl")
	from := content(bucket + "/out/manifest.jsonl")
	sound("manifest of tasks", from, files)
	must(t, "collect", "-q", bucket+"/plan.jsonl", filepath.Join(dir, "results.jsonl"), "--manifest",
		bucket+"/m/other.jsonl")
	sound("manifest from results", content(bucket+"/m/other.jsonl"), files)
	for i := range files {
		must(t, "verify", "-q", fmt.Sprintf("%s/in/%d/x y.bag", bucket, i), fmt.Sprintf("%s/out/%d/x y.mcap", bucket, i))
		must(t, "verify", "-q", fmt.Sprintf("%s/in/%d/x y.bag", bucket, i), fmt.Sprintf("%s/batch/%d/x y/", bucket, i))
	}

	// One recording in ranges, on a store: numbered files stand as they are.
	must(t, "plan", "-q", "-O", bucket+"/ranges", bucket+"/in/3/x y.bag", "--range-size", "10k", "--to", "mcap",
		"--verify", "content", "-o", bucket+"/ranges.jsonl")
	must(t, "work", "-q", "--task", bucket+"/ranges.jsonl")
	must(t, "collect", "-q", bucket+"/ranges.jsonl")
	if text := content(bucket + "/ranges/manifest.jsonl"); strings.Count(text, "\n") != 1 ||
		!strings.Contains(text, `"sum":`) || !strings.Contains(text, "x y_001.mcap") {
		t.Errorf("ranges: %s", text)
	}
}

// contentOf returns the text of an object.
func contentOf(t *testing.T, url string) string {
	t.Helper()
	f, err := remote.New(context.Background(), &remote.Settings{}).Open(url)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestS3WorkCleansUp: a task that nobody has begun gives up what a killed run has left in the bucket: that run may
// have been killed while it wrote the first receipt of a task.
func TestS3WorkCleansUp(t *testing.T) {
	s := s3test.Start(t, "versitygw")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	cmd := start(t, "-q", largeBag(t, 24), s.URL+"/killed.bag", "--bandwidth", "10M")
	waitUntil(func() bool { return len(s.Uploads(t)) > 0 })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if len(s.Uploads(t)) == 0 {
		t.Fatal("the kill has left nothing")
	}
	plan := filepath.Join(t.TempDir(), "plan.jsonl")
	must(t, "plan", "-q", "-O", s.URL+"/out", "--to", "mcap", "-o", plan, "../../../testdata/tiny.bag")
	must(t, "work", "-q", "--task", plan)
	if left := s.Uploads(t); len(left) > 0 {
		t.Errorf("uploads are left: %q", left)
	}
}

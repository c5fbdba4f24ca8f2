package cli_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/internal/testing/s3test"
)

// TestS3Batches: a batch whose manifest is on a store goes on after it was killed and after the manifest
// was cut in half, and two at once are as good as one.
func TestS3Batches(t *testing.T) { testBatches(t, "versitygw") }

func testBatches(t *testing.T, server string) {
	s := s3test.Start(t, server)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const files = 8
	in, out, manifest := s.URL+"/in", s.URL+"/out", s.URL+"/out/manifest.jsonl"
	for i := range files {
		path := filepath.Join(t.TempDir(), "x.bag")
		if err := makeBag([]string{"-n", fmt.Sprint(1000 + 100*i), path}); err != nil {
			t.Fatal(err)
		}
		must(t, "-q", path, fmt.Sprintf("%s/%d.bag", in, i), "--compression", "none")
	}
	store := remote.New(context.Background(), &remote.Settings{})
	whole := func(what string) {
		t.Helper()
		text := contentOf(t, manifest)
		if n, ok := strings.Count(text, "\n"), strings.Count(text, `"status":"ok"`); n != files || ok != files {
			t.Errorf("%s: the manifest has %d lines, and %d of them are ok: %s", what, n, ok, text)
		}
		if keys := s.Keys(t, "out/"); len(keys) != files+1 {
			t.Errorf("%s: the store has %q", what, keys)
		}
		if left := s.Uploads(t); len(left) > 0 {
			t.Errorf("%s: uploads are left: %q", what, left)
		}
		for i := range files {
			must(t, "verify", "-q", fmt.Sprintf("%s/%d.bag", in, i), fmt.Sprintf("%s/%d.mcap", out, i))
		}
	}
	batch := []string{"batch", "-q", "-j", "2", "-O", out, in, "--to", "mcap"}

	// Killed when there is an output: then there is no manifest, and receipts tell what is done.
	cmd := start(t, append(batch, "--bandwidth", "200k")...)      // so slow that a busy store is asked in time
	waitUntil(func() bool { return len(s.Keys(t, "out/2")) > 0 }) // one of the first two then has its receipt
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if n := len(s.Keys(t, "out/")); n == 0 || n > 2*files { // outputs and receipts
		t.Errorf("killed with %d objects", n)
	}
	if _, err := store.Stat(manifest); err == nil {
		t.Error("a batch that was killed has written a manifest")
	}
	if out := must(t, "batch", "-O", out, in, "--to", "mcap", "--resume"); !strings.Contains(out, "skipped") {
		t.Errorf("after a kill nothing is skipped: %s", out)
	}
	whole("after a kill")

	// Cut in half, in a line.
	text := contentOf(t, manifest)
	f, err := store.OpenFile(manifest, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o666)
	if err == nil {
		_, err = io.WriteString(f, text[:len(text)*6/10])
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	if status, text := bagconv(append(batch, "--resume")...); status != 5 || !strings.Contains(text, "exists already") {
		t.Errorf("outputs without a line: status %d: %s", status, text)
	}
	must(t, append(batch, "--resume", "--force")...)
	whole("after half a manifest")

	// Two at once, which have no lock: both do the same.
	var two sync.WaitGroup
	for range 2 {
		two.Go(func() {
			cmd := start(t, append(batch, "--force")...)
			if err := cmd.Wait(); err != nil {
				t.Errorf("two at once: %v: %s", err, said(cmd))
			}
		})
	}
	two.Wait()
	whole("two at once")
}

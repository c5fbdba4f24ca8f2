package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestAppendKilled: kill -9 at random moments of bagconv append leaves the target as it was
// or with all that was added, and the next run adds to it.
func TestAppendKilled(t *testing.T) {
	moments := 5
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		moments = 50
	}
	in := generated(t, "-profile", "small", "-mb", "12")
	_, all := read(t, in)
	dir := t.TempDir()
	for _, to := range []string{"bag", "record", "db3", "ros2mcap"} {
		fresh, target := filepath.Join(dir, to, "fresh"), filepath.Join(dir, to, "target")
		if err := os.Mkdir(filepath.Join(dir, to), 0o777); err != nil {
			t.Fatal(err)
		}
		convert(t, in, fresh, "--to", to)
		took := time.Duration(0)
		killed := 0
		for i := range moments + 1 {
			if out, err := exec.Command("cp", "-r", fresh, target).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			cmd := exec.Command(binary, "append", "-q", target, in)
			began := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if i > 0 { // the first one is timed
				time.Sleep(time.Duration(rand.Int64N(int64(took))))
				_ = cmd.Process.Kill()
			}
			finished := cmd.Wait() == nil
			took = max(took, time.Since(began))
			if !finished {
				killed++
			}
			want := len(all)
			info, msgs := read(t, target)
			if len(msgs) == 2*want {
				finished = true
			}
			if finished {
				want *= 2
			}
			for _, w := range info.Warnings {
				if w.Damage {
					t.Errorf("%s, moment %d: %+v", to, i, w)
				}
			}
			if len(msgs) != want {
				t.Errorf("%s, moment %d: %d messages, want %d", to, i, len(msgs), want)
			}
			if !finished {
				if out, err := exec.Command(binary, "append", "-q", target, in).CombinedOutput(); err != nil {
					t.Errorf("%s, moment %d: the next run: %v: %s", to, i, err, out)
				}
				if _, msgs := read(t, target); len(msgs) != 2*want {
					t.Errorf("%s, moment %d: the next run: %d messages, want %d", to, i, len(msgs), 2*want)
				}
			}
			if err := os.RemoveAll(target); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(filepath.Join(dir, to, ".target.journal"))
		}
		if killed == 0 {
			t.Errorf("none of %d runs on %s was killed in time", moments, to)
		}
	}
}

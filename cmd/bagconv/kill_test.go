package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
)

// generator builds scripts/gen beside the binary.
var generator = sync.OnceValues(func() (path string, err error) {
	path = filepath.Join(filepath.Dir(binary), "gen")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path,
		"../../scripts/gen").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

// generated makes a bag with scripts/gen.
func generated(t *testing.T, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in.bag")
	gen, err := generator()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gen, append(args, path)...).CombinedOutput(); err != nil {
		t.Fatalf("gen: %v: %s", err, out)
	}
	return path
}

func digest(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// killedProgram makes a child process the program, which is killed at the operation on files
// of this number; 0 is none. Its last line has the number of operations. With "room N" it has a disk with
// room for N bytes instead.
const killedProgram = "BAGCONV_TEST_KILLED_PROGRAM"

func runKilledProgram(n string) int {
	disk := &faultio.FS{FS: iox.OS, Fault: faultio.Kill, NoSync: true}
	if room, full := strings.CutPrefix(n, "room "); full {
		bytes, err := strconv.ParseInt(room, 10, 64)
		if err != nil {
			panic(err)
		}
		iox.OS = faultio.NewDisk(iox.OS, bytes)
		return cli.Run(untilSignal(), os.Args, cli.System(), all.Registry())
	}
	if _, err := fmt.Sscan(n, &disk.N); err != nil {
		panic(err)
	}
	iox.OS = disk
	status := cli.Run(untilSignal(), os.Args, cli.System(), all.Registry())
	fmt.Println(disk.Count())
	return status
}

// operations runs bagconv and returns how many operations on files it needs, and its exit status.
func operations(t *testing.T, args ...string) (n int64, status int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), killedProgram+"=0")
	out, err := cmd.Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if _, err2 := fmt.Sscan(lines[len(lines)-1], &n); err2 != nil || n < 30 {
		t.Fatalf("bagconv %s: %v: %q, %d operations", strings.Join(args, " "), err, out, n)
	}
	return n, cmd.ProcessState.ExitCode()
}

// killAt runs bagconv and kills it at the n-th operation on files, from 1. It reports whether
// the run came so far.
func killAt(t *testing.T, n int64, args ...string) (killed bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", killedProgram, n))
	out, err := cmd.CombinedOutput()
	if killed = cmd.ProcessState.ExitCode() < 0; !killed && err != nil {
		t.Fatalf("bagconv %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return killed
}

// TestKilled: SIGKILL at operations from the first to the last leaves no output under its
// final name but a whole one, and the source as it was.
func TestKilled(t *testing.T) {
	bag := generated(t, "-profile", "small", "-mb", "8")
	before := digest(t, bag)
	dir := t.TempDir()
	db3 := filepath.Join(dir, "whole")
	convert(t, bag, db3+"/")
	_, all := read(t, bag)
	want := len(all)
	for _, way := range []struct{ in, out, to string }{{bag, "db3", "db3"}, {db3, "out.bag", "bag"},
		{bag, "folder", "ros2mcap"}} {
		out := filepath.Join(dir, way.out)
		line := []string{"-q", "--to", way.to, way.in, out}
		total, status := operations(t, line...)
		if status != 0 {
			t.Fatalf("exit status %d", status)
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
		moments := []int64{1, total - 8, total - 6, total - 4, total - 3, total - 2, total - 1, total}
		for i := range int64(12) {
			moments = append(moments, total*(i+1)/13)
		}
		for _, n := range moments {
			// Several goroutines read, so that some operations of a run may be fewer than those of another.
			killed := killAt(t, n, line...)
			if !killed && n < total-8 {
				t.Errorf("not killed at operation %d of %d", n, total)
			}
			if _, err := os.Stat(out); err == nil {
				// Finished, or killed between the rename and the end: then it is whole.
				if info, msgs := read(t, out); len(msgs) != want || len(info.Warnings) > 0 {
					t.Errorf("killed at operation %d of %d: an output of %d of %d messages, %v", n, total, len(msgs), want,
						info.Warnings)
				}
			} else if !killed {
				t.Errorf("finished, and there is no output")
			}
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
		}
	}
	if digest(t, bag) != before {
		t.Error("the source has changed")
	}
}

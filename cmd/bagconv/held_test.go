package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
)

// large reports whether tests of gigabytes are wanted. Without them each test stays below 600 MB of
// temporary files.
func large() bool { return os.Getenv("BAGCONV_LARGE") != "" }

// heldFile is the variable that makes the test binary run as bagconv and names the file for the most
// memory that it held.
const heldFile = "BAGCONV_TEST_HELD"

// heldMB runs bagconv with the arguments, which must succeed, and returns the most memory that it
// held, in MB: the live bytes that collections found, and stacks. Collections stop the world, so that
// what is allocated while they run does not count, and come by growth alone; thus, unlike the resident set, it is the
// same on a busy machine. Memory of SQLite is not part of it.
func heldMB(t *testing.T, env []string, args ...string) int {
	t.Helper()
	c := costOf(t, env, args...)
	if c.status != 0 {
		t.Fatalf("bagconv %s: exit status %d: %s", strings.Join(args, " "), c.status, c.stderr)
	}
	return c.heldMB
}

// A cost is what a run of bagconv took. User is for people to read: it differs from run to run.
type cost struct {
	heldMB    int   // see heldMB
	allocated int64 // bytes, whether they were returned or not
	user      time.Duration
	status    int
	stderr    string
}

// costOf runs bagconv with the arguments.
func costOf(t *testing.T, env []string, args ...string) cost {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/held"
	cmd := exec.Command(self, args...)
	cmd.Env = append(append(cmd.Environ(), heldFile+"="+path, "GODEBUG=gcstoptheworld=1", "GOMEMLIMIT=off"), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("bagconv %s: %v: %s", strings.Join(args, " "), err, stderr.String())
	}
	c := cost{user: cmd.ProcessState.UserTime(), status: cmd.ProcessState.ExitCode(), stderr: stderr.String()}
	var held int64
	if _, err := fmt.Sscan(string(text), &held, &c.allocated); err != nil {
		t.Fatal(err)
	}
	c.heldMB = int(held / 1e6)
	return c
}

// runHeld is the other process of costOf.
func runHeld(path string) int {
	debug.SetGCPercent(gcPercent)
	var most atomic.Uint64
	watchHeap(&most)
	status := cli.Run(context.Background(), os.Args, cli.System(), all.Registry())
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if err := os.WriteFile(path, fmt.Append(nil, most.Load(), m.TotalAlloc), 0o666); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// watchHeap keeps in most what the collection that held the most memory has found.
func watchHeap(most *atomic.Uint64) {
	type sentinel struct{ _ [16]byte }
	runtime.SetFinalizer(&sentinel{}, func(*sentinel) { // runs after each collection
		found := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
		metrics.Read(found)
		most.Store(max(most.Load(), found[0].Value.Uint64()+found[1].Value.Uint64()))
		watchHeap(most)
	})
}

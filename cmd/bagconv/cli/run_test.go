package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestMemoryLimit: a command sets no limit of the process, which may do other things at
// the same time, except one whose Stdio sets it.
func TestMemoryLimit(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "")
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	dir := t.TempDir()
	in := filepath.Join(dir, "in.fake")
	if err := os.WriteFile(in, []byte("fake "), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	stdio := Stdio{Out: &out, Err: &errOut}
	args := []string{"bagconv", in, filepath.Join(dir, "out.fake"), "--force", "--max-memory", "64M"}
	if status := Run(context.Background(), args, stdio, storage.NewRegistry(fake)); status != exitOK {
		t.Fatalf("exit status %d: %s", status, errOut.String())
	}
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit is %d, was %d", got, before)
	}
	stdio.LimitMemory = System().LimitMemory
	Run(context.Background(), args, stdio, storage.NewRegistry(fake))
	if got := debug.SetMemoryLimit(-1); got != 64<<20 {
		t.Errorf("the limit is %d, want %d", got, 64<<20)
	}
	t.Setenv("GOMEMLIMIT", "1GiB")
	debug.SetMemoryLimit(before)
	Run(context.Background(), args, stdio, storage.NewRegistry(fake))
	if got := debug.SetMemoryLimit(-1); got != before {
		t.Errorf("the limit is %d although the environment has one", got)
	}
}

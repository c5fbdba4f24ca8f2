//go:build unix

package batch

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestManifestPipe: a manifest that is not a file is refused before a lock is made
// beside it, where nobody may write.
func TestManifestPipe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "m.jsonl")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	held := filepath.Join(dir, "m.jsonl.running") // what the lock would take for its own, and remove
	if err := os.WriteFile(held, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(nil, path, true, false); !errors.Is(err, ErrNoManifest) {
		t.Error(err)
	}
	if _, err := os.Stat(held); err != nil {
		t.Error(err)
	}
}

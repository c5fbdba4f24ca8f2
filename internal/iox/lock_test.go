//go:build linux || darwin

package iox

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// TestLocksBesideStarts: a file is locked and closed, again and again, while other programs are started. No
// lock looks taken, though each child has a copy of it for a moment.
func TestLocksBesideStarts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	stop := make(chan struct{})
	var starts sync.WaitGroup
	for range 2 {
		starts.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = exec.Command("/bin/true").Run()
				}
			}
		})
	}
	for range 500 {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		err = TryLock(f)
		if rangeErr := LockRange(f, 10, 2); err == nil && !errors.Is(rangeErr, errors.ErrUnsupported) {
			err = rangeErr
		}
		f.Close()
		if err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	starts.Wait()
}

// TestPatiently: a lock that is let go of soon is taken, and one that somebody keeps is refused.
func TestPatiently(t *testing.T) {
	t.Parallel()
	tries := 0
	if err := patiently(func() error {
		if tries++; tries < 4 {
			return ErrLocked
		}
		return nil
	}); err != nil || tries != 4 {
		t.Errorf("%v after %d tries", err, tries)
	}
	tries = 0
	if err := patiently(func() error { tries++; return ErrLocked }); !errors.Is(err, ErrLocked) || tries != 7 {
		t.Errorf("%v after %d tries", err, tries)
	}
}

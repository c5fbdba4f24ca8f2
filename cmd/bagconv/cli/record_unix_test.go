//go:build unix

package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/live/ros1/rostest"
)

// TestSnapshot: the signal writes what was received last.
func TestSnapshot(t *testing.T) {
	m, err := rostest.NewMaster("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p, err := rostest.Count("/talker", 10)
	if err != nil {
		t.Fatal(err)
	}
	m.Publish("/chatter", "std_msgs/String", p)
	out := filepath.Join(t.TempDir(), "out"+all.Registry().Formats()[0].Extensions[0])
	stop := make(chan struct{})
	go func() { // from the time at which record surely has the signal; more than once, it does no harm
		defer close(stop)
		time.Sleep(500 * time.Millisecond)
		for range 5 {
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
			time.Sleep(100 * time.Millisecond)
		}
	}()
	var stderr bytes.Buffer
	args := []string{"bagconv", "record", m.Address, "-a", "--snapshot", "--duration", "2s", "-o", out}
	if status := Run(t.Context(), args, Stdio{Out: &stderr, Err: &stderr}, all.Registry()); status != 0 || !strings.Contains(stderr.String(), "10 messages") {
		t.Errorf("status %d: %s", status, &stderr)
	}
	<-stop
}

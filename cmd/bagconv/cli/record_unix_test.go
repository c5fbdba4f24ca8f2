//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/rostest"
)

// TestSnapshot: the signal writes what was received last; without it nothing is written.
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
	for _, signals := range []int{0, 5} {
		out := filepath.Join(t.TempDir(), "out"+all.Registry().Formats()[0].Extensions[0])
		stop := make(chan struct{})
		go func() { // from the time at which record surely has the signal; more than once, it does no harm
			defer close(stop)
			time.Sleep(500 * time.Millisecond)
			for range signals {
				_ = syscall.Kill(syscall.Getpid(), syscall.SIGUSR1)
				time.Sleep(100 * time.Millisecond)
			}
		}()
		var stdout, stderr bytes.Buffer
		args := []string{"bagconv", "record", m.Address, "-a", "--snapshot", "--duration", "2s", "-o", out, "--json"}
		status := Run(t.Context(), args, Stdio{Out: &stdout, Err: &stderr}, all.Registry())
		<-stop
		var r struct {
			Sink convert.End
			Live struct{ Topics []struct{ Messages int64 } }
		}
		if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || status != 0 {
			t.Fatalf("status %d, %v: %s", status, err, &stderr)
		}
		want := int64(10 * min(signals, 1))
		if r.Sink.Messages != want || len(r.Live.Topics) != 1 || r.Live.Topics[0].Messages != want ||
			strings.Contains(stderr.String(), "snapshot: 10 messages") != (want > 0) {
			t.Errorf("%d signals: %d messages, %+v: %s", signals, r.Sink.Messages, r.Live, &stderr)
		}
		if !strings.Contains(stderr.String(), "kill -USR1 ") {
			t.Errorf("%s", &stderr)
		}
	}
}

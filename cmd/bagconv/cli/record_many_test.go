package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/live/ros1/wire"
	"github.com/bagconv/bagconv/internal/testing/rostest"
)

// TestStopManyTopics: Ctrl-C while record subscribes to 10,000 topics ends it within 10 s, and what came is in a
// readable output, whether the master is slow or answers no more.
func TestStopManyTopics(t *testing.T) {
	const topics = 10_000
	for name, answers := range map[string]int64{"slow": topics, "silent": 50} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := rostest.Count("/talker", 5)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			var asked atomic.Int64
			end := make(chan struct{})
			master := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				method, _, err := wire.DecodeCall(r.Body)
				if err != nil {
					return
				}
				var v any = 0
				switch method {
				case "getPublishedTopics":
					list := make([]any, topics)
					for i := range list {
						list[i] = []any{fmt.Sprint("/t", i), "std_msgs/String"}
					}
					v = list
				case "registerSubscriber":
					if n := asked.Add(1); n > answers {
						select {
						case <-end:
						case <-r.Context().Done():
						}
						return
					}
					time.Sleep(20 * time.Millisecond)
					v = []any{p.API, "http://127.0.0.1:1/"}
				}
				_, _ = w.Write(wire.EncodeAnswer([]any{1, "", v}))
			}))
			defer master.Close()
			defer close(end)
			out := filepath.Join(t.TempDir(), "x.bag")
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			stopped := make(chan time.Time, 1)
			time.AfterFunc(3*time.Second, func() { stopped <- time.Now(); stop() })
			var said bytes.Buffer
			status := cli.Run(ctx, []string{"bagconv", "record", strings.Replace(master.URL, "http:", "ros1:", 1), "-a",
				"--wall-time", "-o", out}, cli.Stdio{Out: &said, Err: &said}, all.Registry())
			if took := time.Since(<-stopped); took > 10*time.Second || asked.Load() >= topics || asked.Load() < 20 {
				t.Errorf("it ended %v after it was stopped, with %d subscriptions: %s", took, asked.Load(), &said)
			}
			if text := must(t, "info", "--json", out); status != 0 && status != 3 || !strings.Contains(text, `"/t`) {
				t.Errorf("status %d: %s\n%s", status, &said, text)
			}
		})
	}
}

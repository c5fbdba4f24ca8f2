package ros1

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/live/ros1/wire"
	"github.com/bagconv/bagconv/internal/testing/rostest"
	"github.com/bagconv/bagconv/live"
)

// masterThat is the address of a master that answers as it likes.
func masterThat(t *testing.T, answer func(w http.ResponseWriter, method string, args []any)) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, args, err := wire.DecodeCall(r.Body)
		if err == nil {
			answer(w, method, args)
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return strings.Replace(s.URL, "http://", "ros1://", 1)
}

func say(w io.Writer, v any) { _, _ = w.Write(wire.EncodeAnswer([]any{1, "", v})) }

// TestHostileMasters: a recording ends when it is told to, whatever the master does.
func TestHostileMasters(t *testing.T) {
	var many []any
	for i := range 20_000 {
		many = append(many, []any{fmt.Sprint("/t", i), "std_msgs/String"})
	}
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	wait := func() {
		select {
		case <-never:
		case <-time.After(8 * time.Second):
		}
	}
	for name, answer := range map[string]func(w http.ResponseWriter, method string, args []any){
		"many topics, each after a while": func(w http.ResponseWriter, method string, _ []any) {
			switch method {
			case "getPublishedTopics":
				say(w, many)
			case "registerSubscriber":
				time.Sleep(5 * time.Millisecond)
				say(w, []any{"http://127.0.0.1:1/"})
			}
		},
		"no answer to a subscription": func(w http.ResponseWriter, method string, _ []any) {
			if method == "getPublishedTopics" {
				say(w, many)
				return
			}
			wait()
		},
		"publishers without an end": func(w http.ResponseWriter, method string, args []any) {
			switch method {
			case "getPublishedTopics":
				say(w, many)
			case "registerSubscriber":
				var list []any
				for i := range 20_000 {
					list = append(list, fmt.Sprintf("http://127.0.0.1:1/%v/%d", args[1], i))
				}
				say(w, list)
			}
		},
		"an answer without an end": func(w http.ResponseWriter, method string, _ []any) {
			if method == "getPublishedTopics" {
				say(w, many)
				return
			}
			for _, err := w.Write([]byte("<?xml?><methodResponse><params>")); err == nil; {
				_, err = w.Write([]byte(" "))
				time.Sleep(time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := RecordOptions{Options: live.Options{Round: fast.Round, Duration: 3 * time.Second}, WallTime: true,
				Takes: func(string, string) bool { return true }}
			r, err := Record(t.Context(), masterThat(t, answer), o)
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			read(t, r, -1)
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			if d := time.Since(begun); d > 10*time.Second {
				t.Errorf("it ended after %v", d)
			}
		})
	}
}

// TestHostilePublishers: what a publisher announces takes no memory before it comes.
func TestHostilePublishers(t *testing.T) {
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	m := newFakeMaster(t)
	var tries atomic.Int32
	m.Publish("/chatter", "std_msgs/String", newFakePublisher(t, func(c net.Conn) {
		_, _ = c.Write(append(rostest.StringHeader(), 0, 0, 0, 7)) // 112 MiB
		_, _ = c.Write(make([]byte, 1<<20))
		tries.Add(1)
		_, _ = c.Read(make([]byte, 1))
	}))
	r := record(t, m, RecordOptions{Options: live.Options{Round: fast.Round, Duration: time.Second}})
	read(t, r, -1)
	runtime.ReadMemStats(&now)
	if got := (now.TotalAlloc - before.TotalAlloc) >> 20; got > 20 || tries.Load() == 0 {
		t.Errorf("%d MiB were allocated, %d connections", got, tries.Load())
	}
}

// TestOutwardMasters: what a master names that is nearer than itself is not asked: not by the address of a node, and
// not by the one that the node names for a topic.
func TestOutwardMasters(t *testing.T) {
	var asked atomic.Int32
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		say(w, []any{"TCPROS", "169.254.169.254", 80})
	}))
	defer node.Close()
	master := masterThat(t, func(w http.ResponseWriter, method string, _ []any) {
		switch method {
		case "getPublishedTopics":
			say(w, []any{[]any{"/a", "std_msgs/String"}, []any{"/b", "std_msgs/String"}})
		case "registerSubscriber":
			say(w, []any{"http://169.254.169.254/latest/", node.URL + "/"})
		}
	})
	o := RecordOptions{Options: live.Options{Round: fast.Round, Duration: 2 * time.Second}, WallTime: true,
		Takes: func(string, string) bool { return true }}
	r, err := Record(t.Context(), master, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	begun := time.Now()
	read(t, r, -1)
	for _, uri := range []string{"publisher at http://169.254.169.254/latest/: the publisher is said to be at " +
		"169.254.169.254, which is an address of the link", "publisher at " + node.URL +
		"/: the publisher is said to be at 169.254.169.254"} {
		if warned(r, uri) == nil {
			t.Errorf("no warning %q: %+v", uri, r.Damage().Warnings)
		}
	}
	if asked.Load() == 0 || time.Since(begun) > 8*time.Second {
		t.Errorf("the node was asked %d times, it took %v", asked.Load(), time.Since(begun))
	}
}

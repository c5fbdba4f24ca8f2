package ros1

import (
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/live/ros1/wire"
	"github.com/bagconv/bagconv/internal/testing/rostest"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

// TestRecord: what a publisher sends comes out, with what its header has.
func TestRecord(t *testing.T) {
	m := newFakeMaster(t)
	m.Publish("/chatter", "std_msgs/String", newFakePublisher(t, func(c net.Conn) {
		_, _ = c.Write(rostest.StringHeader(wire.FieldLatching, "1"))
		for _, s := range []string{"", "a", strings.Repeat("b", 3<<20)} {
			_, _ = c.Write(rostest.Message(s))
		}
		_, _ = c.Read(make([]byte, 1)) // until the recorder goes
	}))
	r := record(t, m, RecordOptions{Options: fast})
	if got := read(t, r, 3); len(got) != 3 || got[1] != "a" || len(got[2]) != 3<<20 {
		t.Errorf("%d messages", len(got))
	}
	topics := topicsOf(t, r)
	if len(topics) != 1 {
		t.Fatalf("%d topics", len(topics))
	}
	x := topics[0]
	want := map[string]string{storage.MetaCallerID: "/talker", storage.MetaLatching: "1",
		storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1"}
	if x.Name != "/chatter" || x.Type != "std_msgs/String" || string(x.Schema.Data) != "string data\n" {
		t.Errorf("%+v", x)
	}
	for k, v := range want {
		if x.Metadata[k] != v {
			t.Errorf("%s is %q", k, x.Metadata[k])
		}
	}
	if s := r.Stats()[0]; s.Messages != 3 || s.Bytes != 3<<20+1 || s.Dropped+s.Reconnects+s.SeqGaps != 0 {
		t.Errorf("%+v", s)
	}
}

// TestNewTopic: a topic that begins during the recording is found, and announced before its first
// message.
func TestNewTopic(t *testing.T) {
	m := newFakeMaster(t)
	r := record(t, m, RecordOptions{Options: fast, Takes: func(name, _ string) bool { return name != "/other" }})
	p := newFakePublisher(t, func(c net.Conn) {
		_, _ = c.Write(append(rostest.StringHeader(), rostest.Message("x")...))
		_, _ = c.Read(make([]byte, 1))
	})
	m.Publish("/other", "std_msgs/String", p)
	time.AfterFunc(100*time.Millisecond, func() { m.Publish("/chatter", "std_msgs/String", p) })
	if got := read(t, r, 1); !slices.Equal(got, []string{"x"}) || len(topicsOf(t, r)) != 1 {
		t.Errorf("%q, %+v", got, topicsOf(t, r))
	}
}

// TestBrokenPublisher: whatever a publisher does wrong, it is reported, and others are recorded.
func TestBrokenPublisher(t *testing.T) {
	for name, c := range map[string]struct {
		sent    []byte
		word    string
		damaged bool
		before  int // messages of it
	}{
		"dies within a message": {append(append(rostest.StringHeader(), rostest.Message("whole")...), 100, 0, 0, 0, 'x'),
			"after 1 of 100 bytes of a message", true, 1},
		"dies within a length": {append(rostest.StringHeader(), 1, 0), "within the length of a message", true, 0},
		"header of 4 GB": {[]byte{255, 255, 255, 255, 0, 0}, "a header of 4294967295 bytes, more than the limit", true,
			0},
		"field of 4 GB": {[]byte{5, 0, 0, 0, 255, 255, 255, 255, 0}, "a field of 4294967295 bytes, and 1 are left", true,
			0},
		"field without =": {[]byte{5, 0, 0, 0, 1, 0, 0, 0, 'x'}, "a field without =", true, 0},
		"message of 4 GB": {append(rostest.StringHeader(), 255, 255, 255, 255), "more than the limit of 1000", true, 0},
		"error": {wire.AppendHeader(nil, map[string]string{wire.FieldError: "no such topic"}),
			"it refuses the connection: no such topic", false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newFakeMaster(t)
			var tries atomic.Int32
			m.Publish("/chatter", "std_msgs/String", newFakePublisher(t, func(conn net.Conn) {
				tries.Add(1)
				_, _ = conn.Write(c.sent)
			}))
			m.Publish("/good", "std_msgs/String", newFakePublisher(t, func(conn net.Conn) {
				_, _ = conn.Write(rostest.StringHeader(wire.FieldCaller, "/good"))
				for tries.Load() < 2 { // until the other one was tried again
					time.Sleep(10 * time.Millisecond)
				}
				time.Sleep(50 * time.Millisecond)
				_, _ = conn.Write(rostest.Message("end"))
				_, _ = conn.Read(make([]byte, 1))
			}))
			r := record(t, m, RecordOptions{Options: live.Options{Round: fast.Round}, MaxMessage: 1000})
			go func() {
				for r.Stats() == nil || !ends(r) {
					time.Sleep(10 * time.Millisecond)
				}
				r.Stop(nil)
			}()
			got := read(t, r, -1)
			if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != "whole" })); n < c.before {
				t.Errorf("%q", got)
			}
			if !slices.Contains(got, "end") {
				t.Errorf("the other topic has %q", got)
			}
			if w := warned(r, c.word); w == nil || w.Damage != c.damaged {
				t.Errorf("%+v in %+v", w, r.Damage().Warnings)
			}
		})
	}
}

// ends reports whether the topic of the sound publisher has its message.
func ends(r *Recorder) bool {
	return slices.ContainsFunc(r.Stats(), func(s live.TopicStats) bool { return s.Name == "/good" && s.Messages > 0 })
}

// TestUnknownHost: the host that a publisher names does not resolve.
func TestUnknownHost(t *testing.T) {
	m := newFakeMaster(t)
	p := newFakePublisher(t, func(net.Conn) {})
	p.Host = "robot.invalid"
	m.Publish("/chatter", "std_msgs/String", p)
	r := record(t, m, RecordOptions{Options: live.Options{Round: fast.Round, Duration: 2 * time.Second}})
	if got := read(t, r, -1); got != nil {
		t.Errorf("%q", got)
	}
	if w := warned(r, "the host name robot.invalid does not resolve here"); w == nil || w.Damage {
		t.Errorf("%+v", r.Damage().Warnings)
	}
}

// TestReconnect: a publisher that comes back continues its topic; with another type it is a topic
// of its own.
func TestReconnect(t *testing.T) {
	m := newFakeMaster(t)
	var n atomic.Int32
	m.Publish("/chatter", "std_msgs/String", newFakePublisher(t, func(c net.Conn) {
		switch n.Add(1) {
		case 1, 2:
			_, _ = c.Write(append(rostest.StringHeader(), rostest.Message("x")...))
		default:
			_, _ = c.Write(append(rostest.StringHeader(wire.FieldMD5, "0", wire.FieldType, "a/B"), rostest.Message("y")...))
			_, _ = c.Read(make([]byte, 1))
		}
	}))
	r := record(t, m, RecordOptions{Options: fast})
	if got := read(t, r, 3); !slices.Equal(got, []string{"x", "x", "y"}) {
		t.Errorf("%q", got)
	}
	s := r.Stats()
	if len(s) != 2 || s[0].Reconnects != 1 || s[0].Messages != 2 || s[1].Messages != 1 {
		t.Errorf("%+v", s)
	}
	if warned(r, "/talker has another type now, a/B") == nil {
		t.Errorf("%+v", r.Damage().Warnings)
	}
}

// TestMasterRestarts: a master that was restarted gets all subscriptions again.
func TestMasterRestarts(t *testing.T) {
	m := newFakeMaster(t)
	r := record(t, m, RecordOptions{Options: fast})
	m.Publish("/a", "std_msgs/String", newFakePublisher(t, func(c net.Conn) {
		_, _ = c.Write(append(rostest.StringHeader(), rostest.Message("1")...))
		_, _ = c.Read(make([]byte, 1))
	}))
	for len(r.Stats()) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	m.Restart()
	time.Sleep(2 * masterPoll)
	m.Publish("/a", "std_msgs/String", newFakePublisher(t, func(c net.Conn) {
		_, _ = c.Write(append(rostest.StringHeader(wire.FieldCaller, "/second"), rostest.Message("2")...))
		_, _ = c.Read(make([]byte, 1))
	}))
	if got := read(t, r, 2); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("%q", got)
	}
}

// TestSimulatedTime: messages have the time of /clock, and those from before its first message
// the first time. With WallTime they have that of this machine.
func TestSimulatedTime(t *testing.T) {
	m := newFakeMaster(t)
	m.Set("/use_sim_time", true)
	ready := make(chan bool)
	m.Publish("/chatter", "std_msgs/String", newFakePublisher(t, func(c net.Conn) {
		_, _ = c.Write(append(rostest.StringHeader(), rostest.Message("before")...))
		ready <- true
		_, _ = c.Read(make([]byte, 1))
	}))
	m.Publish("/clock", "rosgraph_msgs/Clock", newFakePublisher(t, func(c net.Conn) {
		<-ready
		time.Sleep(100 * time.Millisecond)
		_, _ = c.Write(append(rostest.StringHeader(wire.FieldTopic, "/clock"),
			rostest.Message("\x05\x00\x00\x00\x07\x00\x00\x00")...))
		_, _ = c.Read(make([]byte, 1))
	}))
	takes := func(name, _ string) bool { return name == "/chatter" }
	if at := firstTime(t, record(t, m, RecordOptions{Options: fast, Takes: takes})); at != 5_000_000_007 {
		t.Errorf("time %d", at)
	}
	began := time.Now().UnixNano()
	go func() { <-ready }()
	if at := firstTime(t, record(t, m, RecordOptions{Options: fast, Takes: takes, WallTime: true})); at < began ||
		at > time.Now().UnixNano() {
		t.Errorf("time %d with WallTime, from %d on", at, began)
	}
}

// firstTime returns the log time of the first message.
func firstTime(t *testing.T, r *Recorder) int64 {
	time.AfterFunc(20*time.Second, func() { r.Stop(nil) })
	for {
		if msg, err := r.ReadNext(); err == nil {
			return msg.LogTime
		}
		if more, err := r.Resume(); !more {
			t.Fatal(err)
		}
	}
}

// TestNoMaster: the error names the address and what to do.
func TestNoMaster(t *testing.T) {
	for address, want := range map[string]string{
		"ros1://127.0.0.1:1":     "is roscore running there?",
		"ros1://nowhere.invalid": "nowhere.invalid",
		"ros1://":                "ros1://HOST:11311",
		"x":                      "ros1://HOST:11311",
	} {
		_, err := Record(t.Context(), address, RecordOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

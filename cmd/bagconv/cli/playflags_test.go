package cli_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/rostest"
)

// subscribe subscribes to a topic as soon as it is published.
func subscribe(t *testing.T, m *rostest.Master, topic string) *rostest.Subscriber {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := m.Subscribe(ctx, topic)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Conn.Close() })
	return s
}

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// A playing is a run of play.
type playing struct {
	t        *testing.T
	stop     context.CancelFunc
	done     chan int
	out, err bytes.Buffer
}

// play runs play with --json until it ends.
func play(t *testing.T, m *rostest.Master, path string, flags ...string) *playing {
	ctx, cancel := context.WithCancel(t.Context())
	p := &playing{t: t, stop: cancel, done: make(chan int, 1)}
	args := append([]string{"bagconv", "play", path, m.Address, "--json"}, flags...)
	go func() { p.done <- cli.Run(ctx, args, cli.Stdio{Out: &p.out, Err: &p.err}, all.Registry()) }()
	return p
}

// A playReport is what a test needs of the JSON.
type playReport struct {
	Status  string `json:"status"`
	Exit    int    `json:"exit_status"`
	Error   string `json:"error"`
	Elapsed int64  `json:"elapsed_ns,string"`
	Live    struct {
		Passes   int      `json:"passes"`
		Lost     []string `json:"lost_connections"`
		Problems []string `json:"problems"`
		P99      string   `json:"late_p99_ns"`
		Topics   []struct {
			Name     string `json:"name"`
			Messages int    `json:"messages"`
		} `json:"topics"`
	} `json:"live"`
}

// end waits for the end, and returns the one document of JSON, which has the exit status.
func (p *playing) end() (r playReport) {
	p.t.Helper()
	select {
	case status := <-p.done:
		d := json.NewDecoder(&p.out)
		if err := d.Decode(&r); err != nil {
			p.t.Fatalf("status %d, %v: %s", status, err, &p.err)
		}
		if d.More() || r.Exit != status || r.Live.P99 == "" {
			p.t.Errorf("status %d: %+v, and more: %v", status, r, d.More())
		}
	case <-time.After(30 * time.Second):
		p.t.Fatal("play does not end")
	}
	return r
}

// playedBag writes /many with 300 messages, /latched with one and /large with 20, of a second.
func playedBag(t *testing.T) (path string, many []string) {
	path = filepath.Join(t.TempDir(), "in.bag")
	makePlayed(t, path)
	return path, dataByTopic(t, path)["/many"]
}

func newMaster(t *testing.T) *rostest.Master {
	m, err := rostest.NewMaster("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// TestPlayFlags: subscribers get what a conversion with the same flags has.
func TestPlayFlags(t *testing.T) {
	path, _ := playedBag(t)
	for _, c := range []struct {
		flags, topic string
		n            int
	}{
		{"-t /many", "/many", 300},
		{"-t /many -m /many:=/few", "/few", 300},
		{"-t /many -m /ma*:=/of/*", "/of/ny", 300},
		{"-t /many --prefix /robot", "/robot/many", 300},
		{"-t /many --every /many=3", "/many", 100},
		{"-t /many --throttle /many=25", "/many", 26},
		{"-t /many --start 0.5", "/many", 150},
		{"-t /many --end 0.5", "/many", 150},
		{"-t /many --start 0.25 --duration 0.5", "/many", 150},
		{"--type std_msgs/String -t /latched --start 0.5", "/latched", 1}, // repeated at the start
	} {
		t.Run(c.flags, func(t *testing.T) {
			t.Parallel()
			flags, m, converted := strings.Fields(c.flags), newMaster(t), filepath.Join(t.TempDir(), "out.bag")
			if status := cli.Run(t.Context(), append([]string{"bagconv", path, converted, "--no-sync"}, flags...),
				cli.Stdio{Out: io.Discard, Err: io.Discard}, all.Registry()); status != 0 {
				t.Fatal(status)
			}
			want := dataByTopic(t, converted)[c.topic]
			p := play(t, m, path, append(flags, "--wait-for-subscribers", "--rate", "10")...)
			if got := subscribe(t, m, c.topic).Take(1000, patience); !slices.Equal(got, want) || len(got) != c.n {
				t.Errorf("%d messages, want %d, and %d are converted: %s", len(got), c.n, len(want), firstDifference(got, want))
			}
			if r := p.end(); r.Exit != 0 || r.Live.Passes != 1 || len(r.Live.Topics) == 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestPlayRate: messages are not sent before they are due.
func TestPlayRate(t *testing.T) {
	path, _ := playedBag(t)
	// the last one of a second is due after 997 ms
	if r := play(t, newMaster(t), path, "--rate", "2").end(); r.Elapsed < 490e6 {
		t.Errorf("a second was played twice as fast in %v", time.Duration(r.Elapsed))
	}
}

// TestPlayDelay: the first message waits, and only that one.
func TestPlayDelay(t *testing.T) {
	path, _ := playedBag(t)
	if r := play(t, newMaster(t), path, "--rate", "100", "--delay", "700ms").end(); r.Elapsed < 700e6 {
		t.Errorf("it ended after %v", time.Duration(r.Elapsed))
	}
}

// TestPlayPosition: a terminal shows where the recording is played, and in the end the summary of it once, although it
// was played several times.
func TestPlayPosition(t *testing.T) {
	path, _ := playedBag(t)
	m := newMaster(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p := &playing{t: t, stop: cancel, done: make(chan int, 1)}
	go func() {
		p.done <- cli.Run(ctx, []string{"bagconv", "play", path, m.Address, "--json", "-t", "/many", "--loop", "--rate", "2",
			"--wait-for-subscribers"}, cli.Stdio{Out: &p.out, Err: &p.err, Terminal: true}, all.Registry())
	}()
	subscribe(t, m, "/many").Take(700, patience) // in the third pass
	p.stop()
	p.end()
	text := p.err.String()
	if !strings.Contains(text, "s of 1s, rate 2, pass 2") || strings.Count(text, "in.bag -> ros1://")+
		strings.Count(text, "interrupted") != 1 || !strings.Contains(text, " \r\x1b[31mbagconv:") {
		t.Errorf("%q", text)
	}
}

// TestPlayLoop: a recording begins again at its end, and the report has the messages of all passes in
// one document.
func TestPlayLoop(t *testing.T) {
	path, many := playedBag(t)
	m := newMaster(t)
	p := play(t, m, path, "-t", "/many", "--loop", "--rate", "20", "--wait-for-subscribers")
	got := subscribe(t, m, "/many").Take(2*len(many)+1, patience)
	p.stop()
	if want := slices.Concat(many, many, many[:1]); !slices.Equal(got, want) {
		t.Errorf("%d messages: %s", len(got), firstDifference(got, want))
	}
	if r := p.end(); r.Exit != 130 || r.Status != "interrupted" || r.Live.Passes < 3 ||
		r.Live.Topics[0].Messages < len(got) || len(r.Live.Lost) > 0 {
		t.Errorf("%+v", r)
	}
}

// TestPlayLost: a subscriber that leaves before the end is in the report, with the exit status.
func TestPlayLost(t *testing.T) {
	path, _ := playedBag(t)
	m := newMaster(t)
	p := play(t, m, path, "-t", "/many", "--wait-for-subscribers")
	l := subscribe(t, m, "/many")
	l.Take(10, patience)
	_ = l.Conn.Close()
	r := p.end()
	if r.Exit != 3 || r.Status != "lossy" || len(r.Live.Lost) != 1 || !strings.Contains(r.Live.Lost[0],
		"topic /many, subscriber /subscriber") {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(p.err.String(), "lost: topic /many, subscriber /subscriber") {
		t.Errorf("%s", &p.err)
	}
}

// TestPlayClock: --clock publishes the time of the recording, from its start and never back.
func TestPlayClock(t *testing.T) {
	path, _ := playedBag(t)
	for _, flag := range []string{"--clock", "--clock=50", "--clock 50"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			m := newMaster(t)
			p := play(t, m, path, append([]string{"-t", "/many", "--delay", "1s"}, strings.Fields(flag)...)...)
			var last float64
			list := subscribe(t, m, "/clock").Take(1000, patience)
			for _, c := range list {
				now := float64(binary.LittleEndian.Uint32([]byte(c))) + float64(binary.LittleEndian.Uint32([]byte(c[4:])))/1e9
				if now < last || now < 1_700_000_000 || now > 1_700_000_002 {
					t.Errorf("%f after %f", now, last)
				}
				last = now
			}
			if r := p.end(); r.Exit != 0 || last < 1_700_000_000.5 {
				t.Errorf("%d times of the clock, the last is %f: %+v", len(list), last, r)
			}
		})
	}
}

// firstDifference shows where two lists of messages part.
func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("message %d is %.80q, want %.80q", i, got[i], want[i])
		}
	}
	return "equal to the end of the shorter one"
}

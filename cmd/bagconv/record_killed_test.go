package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/rostest"
	"github.com/bagconv/bagconv/storage"
)

// paused is the number of messages after which the publisher of a recording in these tests
// waits, until flood is closed; then it goes on until its subscriber is gone.
const paused = 200

// A recordingRun is bagconv record, of a publisher of this process.
type recordingRun struct {
	t      *testing.T
	master *rostest.Master
	flood  chan struct{}
	dir    string
	out    string
	cmd    *exec.Cmd
	stderr bytes.Buffer
}

// startRecording begins to record into a format.
func startRecording(t *testing.T, to, mode string, flags ...string) *recordingRun {
	t.Helper()
	r := &recordingRun{t: t, dir: t.TempDir(), flood: make(chan struct{})}
	var err error
	if r.master, err = rostest.NewMaster("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	flood := sync.OnceFunc(func() { close(r.flood) })
	p, err := rostest.NewPublisher(func(c net.Conn) {
		_, _ = c.Write(rostest.StringHeader())
		for n := 0; ; n++ {
			if n == paused {
				<-r.flood
			}
			if _, err := c.Write(rostest.String(fmt.Sprintf("n=%d %s", n, strings.Repeat("x", n%7*500)))); err != nil {
				return
			}
			if n%20 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	r.master.Publish("/chatter", "std_msgs/String", p)
	f := all.Registry().Lookup(to)
	r.out = filepath.Join(r.dir, "out")
	if !f.Layout.Folder {
		r.out += f.Extensions[0]
	}
	args := append([]string{"record", r.master.Address, "-a", "-o", r.out, "--to", to, "--chunk-duration", "20ms",
		"--quiet", "--no-sync"}, flags...)
	r.cmd = exec.Command(binary, args...)
	if mode != "" {
		r.cmd = exec.Command(os.Args[0], args...)
		r.cmd.Env = append(os.Environ(), killedProgram+"="+mode)
	}
	r.cmd.Stderr = &r.stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		flood()
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
		_ = p.Close()
		_ = r.master.Close()
	})
	return r
}

// unfinished returns where the output is until it has its name.
func (r *recordingRun) unfinished() string {
	list, _ := filepath.Glob(filepath.Join(r.dir, ".*.part", "new", "*"))
	switch len(list) {
	case 0:
		return ""
	case 1:
		return list[0]
	}
	return filepath.Join(filepath.Dir(list[0]), filepath.Base(r.out)) // segments
}

// countUnfinished returns how many messages are in a file that is being written; 0 if it cannot be read.
func (r *recordingRun) countUnfinished() (n int) {
	path := r.unfinished()
	if path == "" {
		return 0
	}
	f, err := all.Registry().Detect(path)
	if err != nil {
		return 0
	}
	x, err := f.Open(r.t.Context(), path, storage.ReadOptions{})
	if err != nil {
		return 0
	}
	defer x.Close()
	for {
		if _, err := x.ReadNext(); err != nil {
			return n
		}
		n++
	}
}

// untilFlushed waits until the file has all that was sent before the pause, and lets the publisher
// go on.
func (r *recordingRun) untilFlushed() {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); r.countUnfinished() < paused; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("the file has %d messages, and %d were sent: %s", r.countUnfinished(), paused, &r.stderr)
		}
	}
	close(r.flood)
	r.flood = make(chan struct{}) // for the cleanup
}

var numberText = regexp.MustCompile(`n=(\d+) x*`)

// pageRows is more than how many of the messages are in one page of a database.
const pageRows = 8

// checkRecorded reads a recording, which has the first messages without a gap, with their type and
// definition, and returns how many. If it is torn, its last page may lack its end, which has the first of its rows.
func checkRecorded(t *testing.T, path string, torn bool) int {
	t.Helper()
	info, list := read(t, path)
	if len(info.Topics) != 1 || !strings.Contains(info.Topics[0].Type, "String") || len(info.Topics[0].Schema.Data) == 0 ||
		info.Topics[0].Name != "/chatter" {
		t.Errorf("%s: topics %+v", path, info.Topics)
	}
	missing := 0
	for i, m := range list {
		got := numberText.FindString(string(m.Data))
		is := func() bool {
			n := i + missing
			return got == fmt.Sprintf("n=%d %s", n, strings.Repeat("x", n%7*500))
		}
		for torn && !is() && missing < pageRows && i > len(list)-pageRows {
			missing++
		}
		if !is() {
			t.Fatalf("%s: message %d of %d is %.40q", path, i, len(list), got)
		}
	}
	if len(list) < paused {
		t.Errorf("%s: %d messages, and %d were in the file", path, len(list), paused)
	}
	return len(list)
}

// recordingReaders count the messages of recordings by programs of others.
var recordingReaders = map[string]struct{ python, program string }{
	"bag": {"", counter("import rosbag", "sum(1 for _ in rosbag.Bag(p).read_messages(raw=True))")},
	"record": {"BAGCONV_CYBER_PYTHON", counter("from cyber_record.record import Record",
		"sum(1 for _ in Record(p).read_messages())")},
	"db3":      {"BAGCONV_ROSBAGS_PYTHON", rosbagsCounter},
	"ros2mcap": {"BAGCONV_ROSBAGS_PYTHON", rosbagsCounter},
	"mcap": {"BAGCONV_MCAP_PYTHON", counter("from mcap.reader import make_reader",
		"sum(1 for _ in make_reader(open(p, 'rb')).iter_messages())")},
}

var rosbagsCounter = counter("from rosbags.rosbag2 import Reader\ndef count(p):\n    with Reader(p) as r:\n        "+
	"return sum(1 for _ in r.messages())", "count(p)")

// judgeRecorded has them count, if they are there.
func judgeRecorded(t *testing.T, to string, want map[string]int) {
	t.Helper()
	reader := recordingReaders[to]
	python := "/usr/bin/python3"
	if reader.python != "" {
		python = os.Getenv(reader.python)
	} else if exec.Command(python, "-c", "import rosbag").Run() != nil {
		python = ""
	}
	if python == "" {
		missing(t, "the referee for "+to)
	}
	counted(t, want, python, "-W", "ignore", "-c", reader.program)
}

// TestRecordKilled: SIGKILL of bagconv record leaves all that was in its file before, and what
// recover makes of it is read by programs of others. rosbag reindex mends a bag by itself.
// BAGCONV_EXHAUSTIVE=1 kills at 30 moments for each format.
func TestRecordKilled(t *testing.T) {
	moments := 2
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		moments = 30
	}
	for _, flags := range [][]string{{"bag"}, {"db3"}, {"record"}, {"mcap"}, {"ros2mcap"},
		{"db3", "--segment-size", "200k"}, {"ros2mcap", "--segment-size", "200k"}, {"record", "--segment-size", "200k"},
		{"db3", "--compression", "zstd", "--compression-mode", "message"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			saved := map[string]int{}
			for i := range moments {
				r := startRecording(t, flags[0], "", flags[1:]...)
				r.untilFlushed()
				time.Sleep(time.Duration(i) * 13 * time.Millisecond)
				_ = r.cmd.Process.Kill()
				_ = r.cmd.Wait()
				left := r.unfinished()
				n := checkRecorded(t, left, false)
				out := filepath.Join(r.dir, "saved"+filepath.Ext(r.out))
				if status, stderr := bagconv(t, "recover", "-q", "--to", flags[0], left, out); status != 0 && status != 3 {
					t.Fatalf("recover: status %d: %s", status, stderr)
				}
				if got := checkRecorded(t, out, false); got != n {
					t.Errorf("recover saved %d of %d messages", got, n)
				}
				saved[out] = n
				if flags[0] == "bag" && exec.Command("/usr/bin/python3", "-c", "import rosbag").Run() == nil {
					if b, err := exec.Command("/usr/bin/python3", "-c", "import rosbag, sys\nwith rosbag.Bag(sys.argv[1], 'a', "+
						"allow_unindexed=True) as b:\n    for _ in b.reindex(): pass", left).CombinedOutput(); err != nil {
						t.Errorf("rosbag reindex: %v: %s", err, b)
					}
					saved[left] = n
				}
			}
			judgeRecorded(t, flags[0], saved)
		})
	}
}

// TestRecordFull: on a full disk the recording stops with exit status 1, and what was written is
// there and named.
func TestRecordFull(t *testing.T) {
	for _, flags := range [][]string{{"bag"}, {"db3"}, {"record"}, {"mcap", "--compression", "none"},
		{"ros2mcap", "--compression", "none"}, {"record", "--segment-size", "200k"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			t.Parallel()
			r := startRecording(t, flags[0], "room 2000000", flags[1:]...)
			r.untilFlushed()
			err := r.cmd.Wait()
			if r.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(r.stderr.String(), "no space left on device") {
				t.Errorf("%v: %s", err, &r.stderr)
			}
			left := r.unfinished()
			if left == "" || !strings.Contains(r.stderr.String(), "bagconv recover "+left+" OUT") {
				t.Fatalf("left is %q: %s", left, &r.stderr)
			}
			if n := checkRecorded(t, left, flags[0] == "db3"); n < paused+100 {
				t.Errorf("%d messages", n)
			}
		})
	}
}

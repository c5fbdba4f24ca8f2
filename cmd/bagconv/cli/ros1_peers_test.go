package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// python is the interpreter that has Debian's rospy.
const python = "/usr/bin/python3"

// A rosSystem is a ROS 1 master of Debian, and processes beside it.
type rosSystem struct {
	t       *testing.T
	address string // of the master, for bagconv
	dir     string
	env     []string
}

// newROSSystem starts a master.
func newROSSystem(t *testing.T) *rosSystem {
	if testing.Short() {
		t.Skip("starts processes of ROS, which take seconds")
	}
	for _, path := range []string{"/usr/bin/rosmaster", "/usr/lib/rosbag/record", "/usr/bin/rostopic"} {
		if _, err := os.Stat(path); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip("needs Debian's python3-rosmaster, python3-rosbag, python3-rostopic and python3-rospy")
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(address)
	s := &rosSystem{t: t, address: "ros1://" + address, dir: t.TempDir()}
	s.env = append(os.Environ(), "PATH=/usr/bin:/bin", "ROS_MASTER_URI=http://"+address, "ROS_IP=127.0.0.1", "ROS_HOME="+s.dir, "ROS_LOG_DIR="+s.dir)
	t.Setenv("ROS_IP", "127.0.0.1")
	s.start("/usr/bin/rosmaster", "--core", "-p", port)
	s.until("the master", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return s
}

// start starts a process, which is ended with the test.
func (s *rosSystem) start(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = s.env, s.dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if s.t.Failed() {
			s.t.Logf("%s: %s", cmd, &out)
		}
	})
	return cmd
}

func (s *rosSystem) until(what string, done func() bool) {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%s does not come", what)
		}
	}
}

// bagconv runs a command line. The function that it returns waits for its end, after a signal if
// stop is set.
func (s *rosSystem) bagconv(args ...string) (end func(stop bool)) {
	ctx, cancel := context.WithCancel(context.Background())
	var stderr bytes.Buffer
	done := make(chan int)
	go func() {
		done <- cli.Run(ctx, append([]string{"bagconv"}, args...), cli.Stdio{Out: io.Discard, Err: &stderr}, all.Registry())
	}()
	return func(stop bool) {
		s.t.Helper()
		if stop {
			cancel()
		}
		select {
		case status := <-done:
			if status != 0 {
				s.t.Fatalf("bagconv %q: status %d: %s", args, status, &stderr)
			}
			s.t.Logf("%s", &stderr)
		case <-time.After(50 * time.Second):
			s.t.Fatalf("bagconv %q does not end", args)
		}
		cancel()
	}
}

// python runs a program to its end, and returns what it prints.
func (s *rosSystem) python(program string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command(python, append([]string{"-c", program}, args...)...)
	cmd.Env, cmd.Dir = s.env, s.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// publisher publishes what a recorder may meet: messages of no, one and 100 bytes, large ones, a
// latched one, and a topic that another process publishes too. It waits for its subscribers.
const publisher = `
import rospy, sys
from std_msgs.msg import String, Header, Empty, UInt8MultiArray
rospy.init_node(sys.argv[1], anonymous=True)
def pub(name, typ, latch=False):
    p = rospy.Publisher(name, typ, queue_size=100000, latch=latch)
    while p.get_num_connections() == 0: rospy.sleep(0.01)
    return p
if sys.argv[1] == 'second':
    a = pub('/both', String)
    for i in range(500): a.publish('second %d' % i)
else:
    late = rospy.Publisher('/latched', String, queue_size=1, latch=True)
    late.publish('once')
    a, b, c, d, e = pub('/both', String), pub('/empty', Empty), pub('/many', String), pub('/head', Header), pub('/large', UInt8MultiArray)
    for i in range(500): a.publish('first %d' % i); b.publish(Empty()); d.publish(Header(frame_id=str(i)))
    for i in range(10000): c.publish(('%d' % i).ljust(96))
    m = UInt8MultiArray(data=bytes(6000000))
    for i in range(5): e.publish(m)
rospy.sleep(1.0)
`

// reader prints what rosbag reads of a bag.
const reader = `
import rosbag, sys, collections
n, what = collections.Counter(), {}
with rosbag.Bag(sys.argv[1]) as bag:
    for topic, (typ, data, md5, pos, cls), t in bag.read_messages(raw=True):
        n[topic] += 1
    for c in bag._get_connections():
        head = {str(k): v.decode() if isinstance(v, bytes) else v for k, v in c.header.items()}
        what[c.topic] = (c.datatype, c.md5sum, head['latching'])
        assert head['callerid'].startswith('/'), head
for topic in sorted(n): print(topic, n[topic], *what[topic])
`

// TestRecordPeers: what rospy publishes is recorded, all of it, with types, sums and latching, as
// rosbag reads it.
func TestRecordPeers(t *testing.T) {
	s := newROSSystem(t)
	out := filepath.Join(s.dir, "out.bag")
	end := s.bagconv("record", s.address, "-a", "-x", "/rosout", "-o", out)
	done := make(chan string)
	go func() { done <- s.python(publisher, "second") }()
	s.python(publisher, "first")
	<-done
	end(true)
	const text = "std_msgs/String 992ce8a1687cec8c8bd883ec73ca41d1"
	want := "/both 1000 " + text + " 0\n/empty 500 std_msgs/Empty d41d8cd98f00b204e9800998ecf8427e 0\n/head 500 std_msgs/Header 2176decaecbce78abc3b96ef049fabed 0\n" +
		"/large 5 std_msgs/UInt8MultiArray 82373f1612381bb6ee473b5cd6f5d89c 0\n/latched 1 " + text + " 1\n/many 10000 " + text + " 0\n"
	if got := s.python(reader, out); got != want {
		t.Errorf("rosbag reads\n%s, want\n%s", got, want)
	}
}

// TestPlayPeers: the recorder of ROS has every message that we play, byte by byte, and a node with
// simulated time has that of the recording.
func TestPlayPeers(t *testing.T) {
	s := newROSSystem(t)
	in, out := filepath.Join(s.dir, "in.bag"), filepath.Join(s.dir, "out.bag")
	makePlayed(t, in)
	s.python("import rospy\nrospy.set_param('/use_sim_time', True)")
	s.start(python, "-c", "import rospy\nrospy.init_node('timed')\nwhile rospy.Time.now().secs < 1700000000: pass\nopen('seen', 'w').close()\nrospy.spin()")
	s.start("/usr/bin/rostopic", "echo", "/latched")
	recorder := s.start("/usr/lib/rosbag/record", "-O", out, "/many", "/latched", "/large")
	s.bagconv("play", in, "--to", s.address, "--clock", "100", "--wait-for-subscribers", "--delay", "1s")(false)
	s.until("a node with the time of the recording", func() bool { _, err := os.Stat(filepath.Join(s.dir, "seen")); return err == nil })
	time.Sleep(time.Second) // the recorder writes what it has
	_ = recorder.Process.Signal(syscall.SIGINT)
	s.until("the recording", func() bool { _, err := os.Stat(out); return err == nil })
	want, got := dataByTopic(t, in), dataByTopic(t, out)
	for topic, list := range want {
		if !slices.Equal(list, got[topic]) {
			t.Errorf("%s: %d messages, played %d", topic, len(got[topic]), len(list))
		}
	}
	if info := s.python(reader, out); !strings.Contains(info, "/latched 1 std_msgs/String 992ce8a1687cec8c8bd883ec73ca41d1 1\n") {
		t.Errorf("rosbag reads\n%s", info)
	}
}

// makePlayed writes a recording of a second, with large messages too. A subscription of the recorder
// of ROS has a queue of 100 messages.
func makePlayed(t *testing.T, path string) {
	w, err := all.Registry().Lookup("bag").Create(t.Context(), path, storage.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, latching string
		n, size        int
	}{{"/latched", "1", 1, 5}, {"/many", "0", 300, 100}, {"/large", "0", 20, 2 << 20}} {
		id, err := w.CreateTopic(storage.Topic{Name: c.name, Type: "std_msgs/String", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")},
			Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1", storage.MetaCallerID: "/made", storage.MetaLatching: c.latching}})
		for i := range c.n {
			data := append([]byte{byte(c.size), byte(c.size >> 8), byte(c.size >> 16), 0}, fmt.Sprintf("%-*d", c.size, i)...)
			if err == nil {
				err = w.Write(&storage.Message{Topic: id, LogTime: 1_700_000_000e9 + int64(i)*int64(time.Second)/int64(c.n), Data: data})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func dataByTopic(t *testing.T, path string) map[string][]string {
	r, err := all.Registry().Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info, err := r.Info()
	if err != nil {
		t.Fatal(err)
	}
	list := map[string][]string{}
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		name := info.Topics[m.Topic].Name
		list[name] = append(list[name], string(m.Data))
	}
}

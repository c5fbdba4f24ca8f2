package cli_test

import (
	"bytes"
	"context"
	"crypto/sha256"
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
	s.env = append(os.Environ(), "PATH=/usr/bin:/bin", "ROS_MASTER_URI=http://"+address, "ROS_IP=127.0.0.1",
		"PYTHONUNBUFFERED=1", "ROS_HOME="+s.dir, "ROS_LOG_DIR="+s.dir)
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

// runs runs a command line to its end, and returns its exit status and what it prints about itself.
func (s *rosSystem) runs(args ...string) (status int, stderr string) {
	var text bytes.Buffer
	status = cli.Run(s.t.Context(), append([]string{"bagconv"}, args...), cli.Stdio{Out: io.Discard, Err: &text},
		all.Registry())
	return status, text.String()
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

// publisher is a process that publishes what a recorder may meet, waits for its subscribers, and loses
// nothing: messages of no, one and 100 bytes, 10,000 a second, pictures of 6 MB, 30 a second, a latched
// one, and a topic that three processes publish, one of them with another type.
const publisher = `
import rospy, sys, time
from std_msgs.msg import String, Header, Empty, UInt8, Int32
from sensor_msgs.msg import Image
rospy.init_node(sys.argv[1], anonymous=True)
def pub(name, typ, latch=False):
    p = rospy.Publisher(name, typ, queue_size=1000000, latch=latch)
    while p.get_num_connections() == 0: time.sleep(0.01)
    return p
def paced(n, rate, f):
    start = time.time()
    for i in range(n):
        wait = start + i / rate - time.time()
        if wait > 0: time.sleep(wait)
        f(i)
    print('%s: %d messages in %.2f s' % (sys.argv[1], n, time.time() - start))
if sys.argv[1] == 'second':
    a = pub('/both', String)
    for i in range(500): a.publish('second %d' % i)
elif sys.argv[1] == 'other':
    a = pub('/both', Int32)
    for i in range(300): a.publish(Int32(i))
elif sys.argv[1] == 'many':
    a = pub('/many', String)
    paced(20000, 10000, lambda i: a.publish(('%d' % i).ljust(96)))
elif sys.argv[1] == 'large':
    a, m = pub('/large', Image), Image(height=2000, width=1000, encoding='rgb8', step=3000, data=bytes(6000000))
    paced(30, 30, lambda i: a.publish(m))
else:
    late = rospy.Publisher('/latched', String, queue_size=1, latch=True)
    late.publish('once')
    a, b, c, d = pub('/both', String), pub('/empty', Empty), pub('/one', UInt8), pub('/head', Header)
    for i in range(500): a.publish('first %d' % i); b.publish(Empty()); c.publish(UInt8(i % 256)); d.publish(Header(frame_id=str(i)))
time.sleep(1)
`

// reader prints what rosbag reads of a bag: of each topic and type the messages, sum and latching. It
// compares definitions with those of the packages, and the contents with what publisher sends.
const reader = `
import rosbag, sys, collections, roslib.message
n, what, last = collections.Counter(), {}, {}
with rosbag.Bag(sys.argv[1]) as bag:
    for c in bag._get_connections():
        head = {str(k): v.decode() if isinstance(v, bytes) else v for k, v in c.header.items()}
        assert head['callerid'].startswith('/'), head
        key = (c.topic, c.datatype)
        assert what.get(key, (c.md5sum, head['latching'])) == (c.md5sum, head['latching']), head
        what[key] = (c.md5sum, head['latching'])
        text = roslib.message.get_message_class(c.datatype)._full_text
        assert c.msg_def.strip() == text.strip(), c.msg_def
    for topic, m, t, head in bag.read_messages(return_connection_header=True):
        n[(topic, m._type)] += 1
        who = (topic, head['callerid'])
        value = {'/many': lambda: m.data, '/both': lambda: str(m.data).split()[-1], '/one': lambda: m.data, '/head': lambda: m.frame_id}.get(topic)
        if value and len(sys.argv) > 2:
            v = int(value())
            assert v == (last.get(who, -1) + 1) % (256 if topic == '/one' else 1 << 30), (who, v, last.get(who))
            last[who] = v
        if topic == '/large' and m._type == 'sensor_msgs/Image': assert m.data == bytes(6000000)
for topic, typ in sorted(n): print(topic, n[(topic, typ)], typ, *what[(topic, typ)])
`

// TestRecordPeers: what rospy, roscpp and @foxglove/ros1 publish is recorded, all of it, with types, sums,
// definitions and latching, as rosbag reads it.
func TestRecordPeers(t *testing.T) {
	s := newROSSystem(t)
	node := s.node()
	in, out := filepath.Join(s.dir, "in.bag"), filepath.Join(s.dir, "out.bag")
	makePlayed(t, in)
	end := s.bagconv("record", s.address, "-a", "-x", "/rosout", "-x", "/clock", "-o", out)
	var running []*exec.Cmd
	for _, name := range []string{"first", "second", "other", "many", "large"} {
		running = append(running, s.start(python, "-c", publisher, name))
	}
	s.start("node", node, "publish", "/js", "50")
	s.start("/usr/lib/rosbag/play", "--quiet", "--keep-alive", "-d", "2", "--prefix", "/cpp", in)
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%s: %v: %s", cmd, err, cmd.Stdout)
		}
		t.Logf("%s", cmd.Stdout)
	}
	for topic, n := range map[string]int{"/cpp/many": 300, "/js": 50} { // of nodes that stay
		s.until("the last message of "+topic, func() bool { return recordedOf(t, s.dir, topic) == n })
	}
	end(true)
	const text = "std_msgs/String 992ce8a1687cec8c8bd883ec73ca41d1"
	want := "/both 300 std_msgs/Int32 da5909fbe378aeaf85e547e830cc1bb7 0\n/both 1000 " + text + " 0\n" +
		"/cpp/large 20 " + text + " 0\n/cpp/latched 1 " + text + " 1\n/cpp/many 300 " + text + " 0\n" +
		"/empty 500 std_msgs/Empty d41d8cd98f00b204e9800998ecf8427e 0\n/head 500 std_msgs/Header " +
		"2176decaecbce78abc3b96ef049fabed 0\n" +
		"/js 50 " + text + " 1\n/large 30 sensor_msgs/Image 060021388200f6f0f447d0fcd9c64743 0\n/latched 1 " + text +
		" 1\n/many 20000 " + text + " 0\n" +
		"/one 500 std_msgs/UInt8 7c8164229e7d2c17eb95e9231617fdee 0\n"
	if got := s.python(reader, out, "values"); got != want {
		t.Errorf("rosbag reads\n%s, want\n%s", got, want)
	}
	info := exec.Command("/usr/bin/rosbag", "info", out)
	info.Env = s.env
	if text, err := info.CombinedOutput(); err != nil || !strings.Contains(string(text), "20000 msgs") {
		t.Errorf("rosbag info: %v: %s", err, text)
	}
}

// recordedOf returns how many messages of a topic an unfinished recording has; 0 if it cannot be read
// at this moment.
func recordedOf(t *testing.T, dir, topic string) (n int) {
	list, _ := filepath.Glob(filepath.Join(dir, ".*.part", "new", "*"))
	if len(list) != 1 {
		return 0
	}
	r, err := all.Registry().Open(t.Context(), list[0], storage.ReadOptions{})
	if err != nil {
		return 0
	}
	defer r.Close()
	info := r.Info()
	for err == nil {
		var m *storage.Message
		if m, err = r.ReadNext(); err == nil && info.Topics[m.Topic].Name == topic {
			n++
		}
	}
	return n
}

// node returns the script of a node by @foxglove/ros1.
func (s *rosSystem) node() string {
	modules := os.Getenv("BAGCONV_NODE_MODULES")
	if _, err := os.Stat(filepath.Join(modules, "@foxglove/ros1")); err != nil || modules == "" {
		if os.Getenv("CI") == "true" {
			s.t.Fatal("npm's @foxglove/ros1 is missing, and CI must have it")
		}
		s.t.Skip("npm's @foxglove/ros1 is not installed (set BAGCONV_NODE_MODULES to a node_modules that has it)")
	}
	path, err := filepath.Abs("../testdata/referee/ros1/node.cjs")
	if err != nil {
		s.t.Fatal(err)
	}
	return path
}

// TestPlayPeers: the recorder of ROS and @foxglove/ros1 have every message that we play, byte by byte,
// rostopic prints a latched one, and a node with simulated time has that of the recording.
func TestPlayPeers(t *testing.T) {
	s := newROSSystem(t)
	node := s.node()
	in, out := filepath.Join(s.dir, "in.bag"), filepath.Join(s.dir, "out.bag")
	makePlayed(t, in)
	s.python("import rospy\nrospy.set_param('/use_sim_time', True)")
	s.start(python, "-c", "import rospy\nrospy.init_node('timed')\nwhile rospy.Time.now().secs < 1700000000: "+
		"pass\nopen('seen', 'w').close()\nrospy.spin()")
	echo := s.start("/usr/bin/rostopic", "echo", "/latched")
	other := s.start("node", node, "subscribe", "/many", "std_msgs/String", "300")
	recorder := s.start("/usr/lib/rosbag/record", "-O", out, "/many", "/latched", "/large")
	s.until("two subscribers", func() bool {
		list := s.python("import rosgraph\nprint(rosgraph.Master('/test').getSystemState()[1])")
		return strings.Contains(list, "/js_subscribe") && strings.Contains(list, "/rostopic")
	})
	s.bagconv("play", in, s.address, "--clock", "100", "--wait-for-subscribers", "--delay", "1s")(false)
	s.until("a node with the time of the recording",
		func() bool { _, err := os.Stat(filepath.Join(s.dir, "seen")); return err == nil })
	time.Sleep(time.Second) // the recorder writes what it has
	_ = recorder.Process.Signal(syscall.SIGINT)
	s.until("the recording", func() bool { _, err := os.Stat(out); return err == nil })
	want, got := dataByTopic(t, in), dataByTopic(t, out)
	for topic, list := range want {
		if !slices.Equal(list, got[topic]) {
			t.Errorf("%s: %d messages, played %d", topic, len(got[topic]), len(list))
		}
	}
	if info := s.python(reader, out); !strings.Contains(info,
		"/latched 1 std_msgs/String 992ce8a1687cec8c8bd883ec73ca41d1 1\n") {
		t.Errorf("rosbag reads\n%s", info)
	}
	_ = echo.Process.Kill()
	if err := echo.Wait(); !strings.Contains(fmt.Sprint(echo.Stdout), `data: "0`) {
		t.Errorf("rostopic echo: %v: %s", err, echo.Stdout)
	}
	if err := other.Wait(); err != nil || fmt.Sprint(other.Stdout) != fmt.Sprintf("300 %x\n",
		sha256.Sum256([]byte(strings.Join(want["/many"], "")))) {
		t.Errorf("@foxglove/ros1: %v: %s", err, other.Stdout)
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
		id, err := w.CreateTopic(storage.Topic{Name: c.name, Type: "std_msgs/String", Encoding: "ros1",
			Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")},
			Metadata: map[string]string{storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1", storage.MetaCallerID: "/made",
				storage.MetaLatching: c.latching}})
		for i := range c.n {
			data := append([]byte{byte(c.size), byte(c.size >> 8), byte(c.size >> 16), 0}, fmt.Sprintf("%-*d", min(c.size, 1000),
				i)...)
			data = append(data, make([]byte, 4+c.size-len(data))...)
			if err == nil {
				err = w.Write(&storage.Message{Topic: id, LogTime: 1_700_000_000e9 + int64(i)*int64(time.Second)/int64(c.n),
					Data: data})
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
	list := map[string][]string{}
	eachMessage(t, path, func(topic string, m *storage.Message) { list[topic] = append(list[topic], string(m.Data)) })
	return list
}

// eachMessage reads a recording.
func eachMessage(t *testing.T, path string, f func(topic string, m *storage.Message)) {
	r, err := all.Registry().Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		f(info.Topics[m.Topic].Name, m)
	}
}

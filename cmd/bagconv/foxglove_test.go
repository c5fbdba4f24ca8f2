package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	le "encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// Tests with clients and servers of the Foxglove WebSocket protocol that are not ours.

// sums are the messages of topics: their number, and the SHA-256 of log time and data of each.
type sums map[string][2]any

// sumsOf returns those of a recording, in the order of the file.
func sumsOf(t *testing.T, path string) (s sums, messages int) {
	t.Helper()
	r, err := all.Registry().Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	type sum struct {
		n    float64 // as in JSON
		hash hash.Hash
	}
	found := map[string]*sum{}
	for {
		m, err := r.ReadNext()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name := info.Topics[m.Topic].Name
		if found[name] == nil {
			found[name] = &sum{hash: sha256.New()}
		}
		found[name].n++
		found[name].hash.Write(le.LittleEndian.AppendUint64(nil, uint64(m.LogTime)))
		found[name].hash.Write(m.Data)
		messages++
	}
	s = sums{}
	for name, x := range found {
		s[name] = [2]any{x.n, hex.EncodeToString(x.hash.Sum(nil))}
	}
	return s, messages
}

// A peer is a program that is not ours.
type peer struct {
	*exec.Cmd
	stdin  io.WriteCloser
	stdout *json.Decoder
	stderr notes
}

// notes are what a program prints while somebody reads it.
type notes struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// startPeer starts a program; it is killed with the test, or after a minute.
func startPeer(t *testing.T, name string, args ...string) *peer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	p := &peer{Cmd: exec.CommandContext(ctx, name, args...)}
	p.Cmd.Stderr = &p.stderr
	var err error
	if p.stdin, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = json.NewDecoder(bufio.NewReader(out))
	t.Cleanup(func() {
		cancel()
		_ = p.Wait()
		if t.Failed() {
			t.Logf("%s: %s", p, &p.stderr)
		}
	})
	return p
}

// line reads a line that the program prints.
func (p *peer) line(t *testing.T, v any) {
	t.Helper()
	if err := p.stdout.Decode(v); err != nil {
		t.Fatalf("%s: %v", p, err)
	}
}

// nodePeers returns node, if npm's peers are there.
func nodePeers(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if _, err2 := os.Stat(os.Getenv("BAGCONV_NODE_MODULES") + "/@foxglove/ws-protocol-examples"); err != nil ||
		err2 != nil {
		missing(t, "npm's @foxglove/ws-protocol, ws-protocol-examples and ws (set BAGCONV_NODE_MODULES to a node_modules "+
			"that has them; it needs node)")
	}
	return node
}

// TestRecordSDK: what a server of PyPI's foxglove-sdk sends is recorded, 10,000 messages a second with
// large ones beside them.
func TestRecordSDK(t *testing.T) {
	python := os.Getenv("BAGCONV_MCAP_PYTHON")
	if python == "" || exec.Command(python, "-c", "import foxglove").Run() != nil {
		missing(t, "PyPI's foxglove-sdk (set BAGCONV_MCAP_PYTHON to a python that has it)")
	}
	seconds := 2
	if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
		seconds = 10
	}
	messages, large := 10_000*seconds, 30*seconds
	server := startPeer(t, python, "testdata/referee/foxglove/server.py", fmt.Sprint(messages), fmt.Sprint(large))
	var port int
	server.line(t, &port)
	path := filepath.Join(t.TempDir(), "out.mcap")
	recorder := start(t, `ws://[^; ]+`, "record", fmt.Sprintf("ws://127.0.0.1:%d", port), "-a", "--encoding", "keep",
		"--limit", fmt.Sprint(messages+large), "-o", path)
	var want sums
	server.line(t, &want)
	printed := recorder.end(t, nil)
	_ = server.stdin.Close()
	if got, _ := sumsOf(t, path); !reflect.DeepEqual(got, want) {
		t.Errorf("recorded are %v, sent were %v\n%s", got, want, printed)
	}
	info, _ := read(t, path)
	for _, topic := range info.Topics {
		if place := topic.Metadata["place"]; (place == "left") != (topic.Name == "/cdr") {
			t.Errorf("%s has the metadata %v", topic.Name, topic.Metadata)
		}
	}
}

// TestRecordExample: npm's mcap-play is recorded: topics, types and every byte.
func TestRecordExample(t *testing.T) {
	node, dir := nodePeers(t), t.TempDir()
	in, out := filepath.Join(dir, "in.mcap"), filepath.Join(dir, "out.mcap")
	want, n := writeLate(t, in)
	server := startPeer(t, node, "testdata/referee/foxglove/example.cjs", "mcap-play", in)
	var port int
	server.line(t, &port)
	recorder := start(t, `ws://[^; ]+`, "record", fmt.Sprintf("ws://127.0.0.1:%d", port), "-a", "-x", "/first",
		"--encoding", "keep", "--limit", fmt.Sprint(n), "-o", out)
	printed := recorder.end(t, nil)
	if got, _ := sumsOf(t, out); !reflect.DeepEqual(got, want) {
		t.Errorf("recorded are %v, sent were %v\n%s", got, want, printed)
	}
}

// writeLate writes a recording of a topic /first with a message, and others some seconds later: when
// mcap-play has a viewer it begins, and does not wait for subscriptions. It returns what the others have.
func writeLate(t *testing.T, path string) (s sums, n int) {
	t.Helper()
	w, err := all.Registry().Named(path).Create(t.Context(), path, storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	const start = 1_700_000_000_000_000_000
	topics := []storage.Topic{
		{Name: "/first", Type: "a", Encoding: "json", Schema: storage.Schema{Encoding: "jsonschema", Data: []byte("{}")}},
		{Name: "/text", Type: "a", Encoding: "json", Schema: storage.Schema{Encoding: "jsonschema", Data: []byte("{}")}},
		{Name: "/ros1", Type: "std_msgs/String", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
			Data: []byte("string data\n")}},
		{Name: "/proto", Type: "x.B", Encoding: "protobuf", Schema: storage.Schema{Encoding: "protobuf",
			Data: []byte("\x0a\x11\x0a\x07x.proto\x12\x01x\x22\x03\x0a\x01B")}},
	}
	for _, topic := range topics {
		if _, err := w.CreateTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	write := func(topic int, at int64, data []byte) {
		if err := w.Write(&storage.Message{Topic: storage.TopicID(topic), LogTime: at, PublishTime: at,
			Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	write(0, start, []byte("{}"))
	for i := range 3000 {
		write(1+i%3, start+4e9+int64(i)*1e6, fmt.Appendf(nil, "%d %s", i, bytes.Repeat([]byte{byte(i)}, i%200)))
	}
	write(0, start+9e9, []byte("{}")) // the program ends at once, and what it has not sent is gone
	if _, err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	s, n = sumsOf(t, path)
	delete(s, "/first")
	return s, n - 2
}

// TestPlayNode: npm's client, a raw socket with the control of the playback, and npm's mcap-record get
// all that is played.
func TestPlayNode(t *testing.T) {
	node, dir := nodePeers(t), t.TempDir()
	in, out := filepath.Join(dir, "in.mcap"), filepath.Join(dir, "out.mcap")
	convert(t, "../../testdata/demo.bag", in, "--encoding", "keep", "--no-sync")
	want, n := sumsOf(t, in)
	server, address := startViewing(t, in, "--latch", "none")
	recorder := startRecorder(t, node, address, out, len(want))
	clients := startPeer(t, node, "testdata/referee/foxglove/client.mjs", address, fmt.Sprint(len(want)), fmt.Sprint(n))
	for range 2 {
		var got sums
		if clients.line(t, &got); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	time.Sleep(500 * time.Millisecond) // the recorder has begun before the clients, and has as much as they
	server.end(t, os.Interrupt)
	if err := recorder.Wait(); err != nil {
		t.Error(err)
	}
	if got, m := sumsOf(t, out); m != n || len(got) != len(want) { // its log times are its own
		t.Errorf("mcap-record has %d messages of %d: %v, want %v", m, n, got, want)
	}
}

// startRecorder starts npm's mcap-record, which has subscribed to so many channels when it returns. It
// listens only some time after its connection is open: if it has missed the list of channels, it is
// started again.
func startRecorder(t *testing.T, node, address, out string, channels int) *peer {
	t.Helper()
	for range 15 {
		p := startPeer(t, node, "testdata/referee/foxglove/example.cjs", "mcap-record", address, "-o", out)
		for range 100 {
			if strings.Count(p.stderr.String(), "subscribing to") == channels {
				return p
			}
			time.Sleep(20 * time.Millisecond)
		}
		_ = p.Process.Kill()
	}
	t.Fatal("mcap-record does not subscribe")
	return nil
}

// TestPlaySimpleClient: npm's simple-client decodes each protobuf message of a record.
func TestPlaySimpleClient(t *testing.T) {
	node := nodePeers(t)
	in := "../../testdata/demo.record"
	_, n := sumsOf(t, in)
	server, address := startViewing(t, in)
	client := exec.CommandContext(t.Context(), node, "testdata/referee/foxglove/example.cjs", "simple-client", address)
	stdout, err := client.StdoutPipe()
	if err == nil {
		err = client.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(time.Minute, func() { _ = client.Process.Kill() })
	defer timer.Stop()
	message := regexp.MustCompile(`^  subscriptionId: \d+,$`)
	got, lines := 0, bufio.NewScanner(stdout)
	for got < n && lines.Scan() {
		if message.MatchString(lines.Text()) {
			got++
		}
	}
	_ = client.Process.Kill()
	_ = client.Wait()
	if got != n {
		t.Errorf("%d messages of %d", got, n)
	}
	server.end(t, os.Interrupt)
}

// startViewing serves a recording, and returns the address at which viewers see it.
func startViewing(t *testing.T, path string, args ...string) (p *process, address string) {
	t.Helper()
	p = start(t, `http://[^; ]+`, append([]string{"serve", path, "--listen", "127.0.0.1:0"}, args...)...)
	return p, strings.Replace(p.address, "http://", "ws://", 1) + "ws/" + filepath.Base(path)
}

// A playReport is what these tests need of the JSON of play.
type playReport struct {
	Elapsed int64 `json:"elapsed_ns,string"`
	Live    struct {
		P99     string `json:"late_p99_ns"`
		Unknown bool   `json:"subscribers_unknown"`
		Topics  []struct {
			Name     string  `json:"name"`
			Messages float64 `json:"messages"`
			Early    float64 `json:"before_subscriber"`
		} `json:"topics"`
	} `json:"live"`
}

// publishTo plays testdata/demo.bag to a server that prints what it gets, five times as fast, and compares that with
// the recording as ROS 2 has it: topics, schemas, counts and bytes.
func publishTo(t *testing.T, server *peer, flags ...string) (report playReport) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "demo_ros2")
	convert(t, "../../testdata/demo.bag", path, "--no-sync")
	var port int
	server.line(t, &port)
	play := exec.Command(binary, append([]string{"play", "../../testdata/demo.bag", fmt.Sprintf("ws://127.0.0.1:%d", port),
		"--rate", "5", "--latch", "none", "--json"}, flags...)...)
	var printed bytes.Buffer
	play.Stderr = &printed
	out, err := play.Output()
	if err == nil {
		err = json.Unmarshal(out, &report)
	}
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, &printed)
	}
	var got map[string][5]any
	server.line(t, &got)
	if len(flags) > 0 {
		if ticks, _ := got["/clock"][3].(float64); ticks < 10 || got["/clock"][0] != "rosgraph_msgs/msg/Clock" {
			t.Errorf("/clock is %v", got["/clock"])
		}
		delete(got, "/clock")
	}
	want := publishedIn(t, path)
	for topic, w := range want {
		if g := got[topic]; g != w {
			t.Errorf("%s: got %v, want %v", topic, g, w)
		}
	}
	if len(got) != len(want) || len(report.Live.Topics) != len(want) {
		t.Errorf("%d topics, reported are %d, want %d: %s", len(got), len(report.Live.Topics), len(want), &printed)
	}
	for _, topic := range report.Live.Topics {
		if topic.Messages != want[topic.Name][3] {
			t.Errorf("%s: %v messages are reported, want %v", topic.Name, topic.Messages, want[topic.Name][3])
		}
	}
	info, _ := read(t, path)
	if least := (info.End - info.Start) / 5; report.Elapsed < least || report.Live.P99 == "" {
		t.Errorf("it took %d ns, the messages are of %d ns: %+v", report.Elapsed, least, report.Live)
	}
	return report
}

// TestPublishSDK: a server of PyPI's foxglove-sdk gets all that is played to it, as ROS 2 has it, and its connection
// graph says which topics nobody hears.
func TestPublishSDK(t *testing.T) {
	python := os.Getenv("BAGCONV_MCAP_PYTHON")
	if python == "" || exec.Command(python, "-c", "import foxglove").Run() != nil {
		missing(t, "PyPI's foxglove-sdk (set BAGCONV_MCAP_PYTHON to a python that has it)")
	}
	const heard = "/imu/data"
	r := publishTo(t, startPeer(t, python, "testdata/referee/foxglove/publish.py", heard), "--clock")
	for _, topic := range r.Live.Topics {
		want := topic.Messages
		if topic.Name == heard {
			want = 0
		}
		if topic.Early != want || r.Live.Unknown {
			t.Errorf("%s: %v messages were sent before it had a subscriber, want %v: %+v", topic.Name, topic.Early, want, r)
		}
	}
}

// TestPublishNode: a server of npm's @foxglove/ws-protocol gets all that is played to it. It shows no connection graph.
func TestPublishNode(t *testing.T) {
	node := nodePeers(t)
	if r := publishTo(t, startPeer(t, node, "testdata/referee/foxglove/publish.mjs")); !r.Live.Unknown {
		t.Errorf("who subscribes is known: %+v", r)
	}
}

// publishedIn returns the topics of a recording as publish.py prints them.
func publishedIn(t *testing.T, path string) map[string][5]any {
	t.Helper()
	info, messages := read(t, path)
	list := map[string][5]any{}
	for i := range info.Topics {
		topic, hash, n := &info.Topics[i].Topic, sha256.New(), 0
		for _, m := range messages {
			if int(m.Topic) == i {
				hash.Write(m.Data)
				n++
			}
		}
		list[topic.Name] = [5]any{topic.Type, topic.Schema.Encoding, float64(len(topic.Schema.Data)), float64(n),
			hex.EncodeToString(hash.Sum(nil))}
	}
	return list
}

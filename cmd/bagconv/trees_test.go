package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/storage"
)

// These tests convert random types and values (internal/testing/typetree) through every
// pair of formats and back, and let readers that share nothing with us open each
// output and compare every message with what was written first: see
// docs/testing.md.

// treesPerWorld is how many types, each with its topic, one recording has.
const treesPerWorld = 100

// trees returns how many types are tried and with which seed: 1,200 with a fixed
// one, fewer with -short, others by BAGCONV_TREES and BAGCONV_TREES_SEED.
func trees(t *testing.T) (n int, seed uint64) {
	n = samples.Pick(1200, 8*treesPerWorld, 4*treesPerWorld) // two worlds of each kind, and one with -short
	for _, v := range []struct {
		name string
		set  func(int)
	}{{"BAGCONV_TREES", func(v int) { n = v }}, {"BAGCONV_TREES_SEED", func(v int) { seed = uint64(v) }}} {
		if text := os.Getenv(v.name); text != "" {
			i, err := strconv.Atoi(text)
			if err != nil {
				t.Fatalf("%s=%s is no number", v.name, text)
			}
			v.set(i)
		}
	}
	return n, seed
}

// worldKinds are the options of the worlds, in turn.
var worldKinds = []typetree.Options{{}, {ROS2: true}, {Odd: true}, {ROS2: true, Odd: true}}

// A treeMessage is one random message.
type treeMessage struct {
	root  int
	time  int64
	value []typetree.Value
}

// A treeWorld is a world with its messages, and the folder of its recordings.
type treeWorld struct {
	*typetree.World
	kind     typetree.Options
	messages []treeMessage
	older    []*typetree.Message // the types as the recordings define them: the roots, or older ones
	dir      string
}

const messagesPerTree = 2

func newTreeWorld(t *testing.T, seed uint64, types int, kind typetree.Options) *treeWorld {
	w := &treeWorld{World: typetree.New(seed, types, kind), kind: kind, dir: t.ArtifactDir()}
	w.older = w.Roots
	w.fill()
	return w
}

// fill makes the messages.
func (w *treeWorld) fill() {
	for range messagesPerTree {
		for i, m := range w.Roots {
			time := 1_700_000_000_123_456_789 + int64(len(w.messages))*1_000_001
			w.messages = append(w.messages, treeMessage{i, time, w.Value(m)})
		}
	}
}

func treeTopic(root int) string { return fmt.Sprintf("/tree/t%d", root) }

func (w *treeWorld) path(name string) string { return filepath.Join(w.dir, name) }

// write makes a recording of the messages with the bytes of typetree's own encoder.
// text and encode are the definition and the bytes.
func (w *treeWorld) write(t *testing.T, name string, topic func(m *typetree.Message) storage.Topic,
	encode func(m *typetree.Message, v []typetree.Value) []byte) {
	t.Helper()
	f := all.Registry().Lookup("db3")
	if strings.HasSuffix(name, ".bag") {
		f = all.Registry().Lookup("bag")
	}
	out, err := f.Create(context.Background(), w.path(name), storage.WriteOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range w.older {
		tp := topic(m)
		tp.Name = treeTopic(i)
		if _, err := out.CreateTopic(tp); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range w.messages {
		data := encode(w.Roots[m.root], m.value)
		if err := out.Write(&storage.Message{Topic: storage.TopicID(m.root), LogTime: m.time, PublishTime: m.time,
			Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
}

func (w *treeWorld) writeBag(t *testing.T, name string) {
	t.Helper()
	w.write(t, name, func(m *typetree.Message) storage.Topic {
		return storage.Topic{Type: m.TypeName(typetree.ROS1), Encoding: "ros1",
			Schema:   storage.Schema{Encoding: "ros1msg", Data: typetree.AppendText(nil, m, typetree.ROS1)},
			Metadata: map[string]string{storage.MetaMD5Sum: typetree.MD5(m), storage.MetaLatching: "0"}}
	}, func(m *typetree.Message, v []typetree.Value) []byte { return typetree.AppendROS1(nil, m, v) })
}

func (w *treeWorld) writeDB3(t *testing.T, name string) {
	t.Helper()
	w.write(t, name, func(m *typetree.Message) storage.Topic {
		return storage.Topic{Type: m.TypeName(typetree.ROS2), Encoding: "cdr",
			Schema:   storage.Schema{Encoding: "ros2msg", Data: typetree.AppendText(nil, m, typetree.ROS2)},
			Metadata: map[string]string{storage.MetaTypeHash: typetree.RIHS01(m)}}
	}, func(m *typetree.Message, v []typetree.Value) []byte { return typetree.AppendCDR(nil, m, v) })
}

// writeTruth writes what the referees read: a line that describes each topic,
// and a line for each message.
func (w *treeWorld) writeTruth(t *testing.T) string {
	t.Helper()
	topics := map[string]map[string]string{}
	for i, m := range w.older {
		topics[treeTopic(i)] = map[string]string{"ROS1": m.TypeName(typetree.ROS1), "ROS2": m.TypeName(typetree.ROS2),
			"MD5": typetree.MD5(m)}
	}
	b, err := json.Marshal(topics)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range w.messages {
		b = fmt.Appendf(b, "\n{\"topic\":%q,\"time\":\"%d\",\"value\":", treeTopic(m.root), m.time)
		b = append(typetree.AppendTruth(b, w.older[m.root], m.value), '}')
	}
	if err := os.WriteFile(w.path("truth"), append(b, '\n'), 0o666); err != nil {
		t.Fatal(err)
	}
	return w.path("truth")
}

// treeRoutes are the conversions: from, to. The first name of each chain is
// written by the generator, b is from the bag and d from the rosbag2 folder.
var treeRoutes = []struct {
	from, to string
	seq      bool
}{
	{"b.bag", "b-d", false}, {"b.bag", "b-r.record", true}, {"b.bag", "b-b.bag", true},
	{"b-d", "b-d-b.bag", false}, {"b-d", "b-d-r.record", false}, {"b-r.record", "b-r-b.bag", true}, {"b-r.record", "b-r-d",
		false},
	{"d", "d-d", false}, {"d", "d-b.bag", false}, {"d", "d-r.record", false},
	{"d-b.bag", "d-b-d", false}, {"d-b.bag", "d-b-r.record", false}, {"d-r.record", "d-r-d", false}, {"d-r.record",
		"d-r-b.bag", false},
}

func formatOf(name string) string {
	switch filepath.Ext(name) {
	case ".bag":
		return "bag"
	case ".record":
		return "record"
	}
	return "db3"
}

// TestTrees: every value of every random type is in every output, as others read
// it, and a conversion that exits 0 has lost nothing.
func TestTrees(t *testing.T) {
	r := findReferees(t)
	n, seed := trees(t)
	turn := make(chan struct{}, runtime.NumCPU()) // the referees take a core and much memory
	for i := range (n + treesPerWorld - 1) / treesPerWorld {
		kind := worldKinds[i%len(worldKinds)]
		t.Run(fmt.Sprintf("world %d", i), func(t *testing.T) {
			t.Parallel()
			turn <- struct{}{}
			defer func() { <-turn }()
			w := newTreeWorld(t, seed<<32+uint64(i), min(treesPerWorld, n-i*treesPerWorld), kind)
			r.judge(t, w.dir, len(w.messages), w.convert(t))
		})
	}
}

// convert writes the sources, goes all routes, and returns the outputs.
func (w *treeWorld) convert(t *testing.T) (jobs []treeJob) {
	t.Helper()
	truth := w.writeTruth(t)
	add := func(name string, seq bool) {
		jobs = append(jobs, treeJob{Path: w.path(name), Format: formatOf(name), Truth: truth, Seq: seq, Odd: w.kind.Odd})
	}
	w.writeDB3(t, "d")
	add("d", false)
	if !w.kind.ROS2 {
		w.writeBag(t, "b.bag")
		add("b.bag", true)
	}
	for _, route := range treeRoutes {
		if w.kind.ROS2 && route.from[0] == 'b' {
			continue
		}
		if lost := goRoute(t, w.dir, route.from, route.to); len(lost) > 0 {
			t.Errorf("%s -> %s: there is nothing that the target cannot carry, and lost is: %v", route.from, route.to, lost)
		}
		add(route.to, route.seq)
	}
	return jobs
}

// goRoute converts, and returns how many messages of each topic have lost
// something, by the code of the loss. The exit status has to report whether there
// are any.
func goRoute(t *testing.T, dir, from, to string) map[string]int64 {
	t.Helper()
	out, report := filepath.Join(dir, to), filepath.Join(dir, to+".report.json")
	if formatOf(to) == "db3" {
		out += "/"
	}
	status, stderr := bagconv(t, "-q", "convert", filepath.Join(dir, from), out, "--no-sync", "--report", report)
	lost := losses(t, report)
	if (status == 3) != (len(lost) > 0) || status != 0 && status != 3 {
		t.Errorf("%s -> %s: exit status %d, and lost is %v: %s", from, to, status, lost, stderr)
	}
	return lost
}

// losses returns the losses of a report that are not by design: "topic: code" and
// the messages concerned.
func losses(t *testing.T, path string) map[string]int64 {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Losses []struct {
			Code, Topic string
			Count       int64
			ByDesign    bool `json:"by_design"`
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, l := range report.Losses {
		if !l.ByDesign {
			out[l.Topic+": "+l.Code] += l.Count
		}
	}
	return out
}

// TestTreesBefore1970: times before 1970 are in a record, and in the rosbag2
// folder that is made of it. A bag cannot hold them: the report has the messages.
func TestTreesBefore1970(t *testing.T) {
	r := findReferees(t)
	_, seed := trees(t)
	w := newTreeWorld(t, seed<<32+1<<30, treesPerWorld, typetree.Options{ROS2: true, Before1970: true})
	truth := w.writeTruth(t)
	w.writeDB3(t, "d")
	want := map[string]int64{}
	for _, m := range w.messages {
		if typetree.Before1970(w.Roots[m.root], m.value) {
			want[treeTopic(m.root)+": time-wrapped"]++
		}
	}
	if lost := goRoute(t, w.dir, "d", "d-b.bag"); !maps.Equal(lost, want) || len(want) < treesPerWorld/20 {
		t.Errorf("d -> d-b.bag: lost is %v, it should be %v", lost, want)
	}
	var jobs []treeJob
	for _, route := range [][2]string{{"d", "d-r.record"}, {"d-r.record", "d-r-d"}, {"d-r.record", "d-r-r.record"}} {
		if lost := goRoute(t, w.dir, route[0], route[1]); len(lost) > 0 {
			t.Errorf("%s -> %s: there is nothing that the target cannot carry, and lost is: %v", route[0], route[1], lost)
		}
		jobs = append(jobs, treeJob{Path: w.path(route[1]), Format: formatOf(route[1]), Truth: truth})
	}
	r.judge(t, w.dir, len(w.messages), jobs)
}

// TestTreesOlderDefinition: a rosbag2 folder whose definitions are older than its
// publishers has bytes after the last field that they know. All fields before
// are carried, and what follows is reported, message by message, where it is
// more than padding.
func TestTreesOlderDefinition(t *testing.T) {
	r := findReferees(t)
	_, seed := trees(t)
	w := newTreeWorld(t, seed<<32+1<<31, treesPerWorld, typetree.Options{})
	w.older = w.World.Older()
	want := map[string]int64{}
	for _, m := range w.messages {
		rest := typetree.AppendCDR(nil, w.Roots[m.root], m.value)[len(typetree.AppendCDR(nil, w.older[m.root], m.value)):]
		if len(rest) > 7 || len(bytes.Trim(rest, "\x00")) > 0 {
			want[treeTopic(m.root)+": trailing-bytes"]++
		}
	}
	if len(want) < treesPerWorld/20 {
		t.Fatalf("only %d topics have bytes after their last field", len(want))
	}
	truth := w.writeTruth(t)
	w.writeDB3(t, "d")
	var jobs []treeJob
	for _, to := range []string{"d-b.bag", "d-r.record"} {
		if lost := goRoute(t, w.dir, "d", to); !maps.Equal(lost, want) {
			t.Errorf("d -> %s: lost is %v, it should be %v", to, lost, want)
		}
		jobs = append(jobs, treeJob{Path: w.path(to), Format: formatOf(to), Truth: truth})
	}
	if lost := goRoute(t, w.dir, "d", "d-d"); len(lost) > 0 {
		t.Errorf("d -> d-d copies the bytes, and lost is %v", lost)
	}
	r.judge(t, w.dir, len(w.messages), jobs)
}

// protoRoutes are the conversions of a record with types that Python's protobuf made.
var protoRoutes = []struct{ from, to string }{
	{"p.record", "p-d"}, {"p.record", "p-b.bag"}, {"p-d", "p-d-r.record"}, {"p-b.bag", "p-b-r.record"},
	{"p-d", "p-d-b.bag"}, {"p-b.bag", "p-b-d"}, {"p-d-b.bag", "p-d-b-r.record"},
}

// TestTreesProtobuf: a record with random protobuf types, written by Python's
// protobuf, has every value in each output, and back in a record.
func TestTreesProtobuf(t *testing.T) {
	t.Parallel()
	r := findReferees(t)
	n, seed := trees(t)
	const script = "testdata/referee/trees/protogen.py"
	for i := range max(1, n/treesPerWorld/4) {
		t.Run(fmt.Sprintf("world %d", i), func(t *testing.T) {
			dir := t.ArtifactDir()
			number := strconv.FormatUint(seed<<32+uint64(i), 10)
			if out, err := exec.Command(r.cyber, script, number, strconv.Itoa(treesPerWorld), dir).CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", script, err, out)
			}
			var jobs []treeJob
			for _, route := range protoRoutes {
				if lost := goRoute(t, dir, route.from, route.to); len(lost) > 0 {
					t.Errorf("%s -> %s: there is nothing that the target cannot carry, and lost is: %v", route.from, route.to, lost)
				}
				job := treeJob{Path: filepath.Join(dir, route.to), Format: formatOf(route.to), Truth: filepath.Join(dir, "truth")}
				if job.Format == "record" {
					job.Truth += ".proto"
				}
				jobs = append(jobs, job)
			}
			r.judge(t, dir, 2*treesPerWorld, jobs)
		})
	}
}

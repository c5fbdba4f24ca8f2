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
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/typetree"
	"github.com/bagconv/bagconv/storage"
)

// These tests convert random types and values (internal/typetree) through every
// pair of formats and back, and let readers that share nothing with us open each
// output and compare every message with what was written first: see
// docs/testing.md.

// treesPerWorld is how many types, each with its topic, one recording has.
const treesPerWorld = 100

// trees returns how many types are tried and with which seed: 2,000 with a fixed
// one, fewer with -short, others by BAGCONV_TREES and BAGCONV_TREES_SEED.
func trees(t *testing.T) (n int, seed uint64) {
	n = 2000
	if testing.Short() {
		n = 4 * treesPerWorld // one world of each kind
	}
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
	w := &treeWorld{World: typetree.New(seed, types, kind), kind: kind, dir: t.TempDir()}
	w.older = w.Roots
	for range messagesPerTree {
		for i, m := range w.Roots {
			time := 1_700_000_000_123_456_789 + int64(len(w.messages))*1_000_001
			w.messages = append(w.messages, treeMessage{i, time, w.Value(m)})
		}
	}
	return w
}

func treeTopic(root int) string { return fmt.Sprintf("/tree/t%d", root) }

func (w *treeWorld) path(name string) string { return filepath.Join(w.dir, name) }

// write makes a recording of the messages with the bytes of typetree's own encoder.
// text and encode are the definition and the bytes.
func (w *treeWorld) write(t *testing.T, name string, topic func(m *typetree.Message) storage.Topic, encode func(m *typetree.Message, v []typetree.Value) []byte) {
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
		if err := out.Write(&storage.Message{Topic: storage.TopicID(m.root), LogTime: m.time, PublishTime: m.time, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
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

// writeTruth writes what the referees read: a line that says what each topic is,
// and a line for each message.
func (w *treeWorld) writeTruth(t *testing.T) string {
	t.Helper()
	topics := map[string]map[string]string{}
	for i, m := range w.older {
		topics[treeTopic(i)] = map[string]string{"ROS1": m.TypeName(typetree.ROS1), "ROS2": m.TypeName(typetree.ROS2), "MD5": typetree.MD5(m)}
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

// A treeJob is one output for the referees.
type treeJob struct {
	Path, Format, Truth string
	Without             []string // topics that a named loss has left out
	Seq                 bool     // Header.seq is that of the truth
	Odd                 bool     // PyPI's rosbags does not know all of its shapes
}

// A verdict is what a referee says of an output.
type verdict struct {
	Path, Reader string
	Messages     int // that were decoded and compared
	Problems     []string
}

// treeRoutes are the conversions: from, to. The first name of each chain is
// written by the generator, b is from the bag and d from the rosbag2 folder.
var treeRoutes = []struct {
	from, to string
	seq      bool
}{
	{"b.bag", "b-d", false}, {"b.bag", "b-r.record", true}, {"b.bag", "b-b.bag", true},
	{"b-d", "b-d-b.bag", false}, {"b-d", "b-d-r.record", false}, {"b-r.record", "b-r-b.bag", true}, {"b-r.record", "b-r-d", false},
	{"d", "d-d", false}, {"d", "d-b.bag", false}, {"d", "d-r.record", false},
	{"d-b.bag", "d-b-d", false}, {"d-b.bag", "d-b-r.record", false}, {"d-r.record", "d-r-d", false}, {"d-r.record", "d-r-b.bag", false},
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
			w.judge(t, r, w.convert(t))
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
		if lost := w.goRoute(t, route.from, route.to); len(lost) > 0 {
			t.Errorf("%s -> %s: there is nothing that the target cannot carry, and lost is: %v", route.from, route.to, lost)
		}
		add(route.to, route.seq)
	}
	return jobs
}

// goRoute converts, and returns how many messages of each topic have lost
// something, by the code of the loss. The exit status has to tell whether there
// are any.
func (w *treeWorld) goRoute(t *testing.T, from, to string) map[string]int64 {
	t.Helper()
	out, report := w.path(to), w.path(to+".report.json")
	if formatOf(to) == "db3" {
		out += "/"
	}
	status, stderr := bagconv(t, "-q", "convert", w.path(from), out, "--no-sync", "--report", report)
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

// TestTreesOlderDefinition: a rosbag2 folder whose definitions are older than its
// publishers has bytes behind the last field that they know. All fields before
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
	if len(want) < treesPerWorld/4 {
		t.Fatalf("only %d topics have bytes behind their last field", len(want))
	}
	truth := w.writeTruth(t)
	w.writeDB3(t, "d")
	var jobs []treeJob
	for _, to := range []string{"d-b.bag", "d-r.record"} {
		if lost := w.goRoute(t, "d", to); !maps.Equal(lost, want) {
			t.Errorf("d -> %s: lost is %v, it should be %v", to, lost, want)
		}
		jobs = append(jobs, treeJob{Path: w.path(to), Format: formatOf(to), Truth: truth})
	}
	if lost := w.goRoute(t, "d", "d-d"); len(lost) > 0 {
		t.Errorf("d -> d-d copies the bytes, and lost is %v", lost)
	}
	w.judge(t, r, jobs)
}

// readerLimits are the shapes that a reader does not know although they are right:
// what it prints of them, and why that is no fault of the output.
var readerLimits = []struct{ reader, problem, reason string }{
	{"@foxglove/rosmsg2-serialization", "wstring is implementation-defined", "it refuses every wstring"},
	{"@foxglove/rosmsg2-serialization", "Invalid field name", "it refuses names that rosidl refuses, as fields of ROS 1 may have them"},
	{"@foxglove/rosmsg2-serialization", "Cannot unambiguously determine", "it looks for a bare type name in all packages"},
	{"@foxglove/rosbag", "Cannot unambiguously determine", "it looks for a bare type name in all packages"},
	{"@foxglove/rosmsg2-serialization", "no root MessageDefinition", "it takes a type of constants alone for a module of constants"},
}

// limitOf returns which limit of a reader a problem is, -1 for none.
func limitOf(reader, problem string) int {
	for i, l := range readerLimits {
		if l.reader == reader && strings.Contains(problem, l.problem) {
			return i
		}
	}
	return -1
}

// referees are the interpreters that have other people's readers.
type referees struct{ rosbags, cyber, node, modules string }

func findReferees(t *testing.T) (r referees) {
	t.Helper()
	if r.rosbags = os.Getenv("BAGCONV_ROSBAGS_PYTHON"); r.rosbags == "" {
		missing(t, "PyPI's rosbags (set BAGCONV_ROSBAGS_PYTHON to a python that has it)")
	}
	if r.cyber = os.Getenv("BAGCONV_CYBER_PYTHON"); r.cyber == "" {
		missing(t, "PyPI's protobuf (set BAGCONV_CYBER_PYTHON to a python that has it)")
	}
	if r.modules = os.Getenv("BAGCONV_NODE_MODULES"); r.modules == "" {
		missing(t, "npm's @foxglove/rosbag (set BAGCONV_NODE_MODULES to a node_modules that has it)")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "node")
	}
	r.node = node
	return r
}

// judge lets every referee read the outputs that it knows.
func (w *treeWorld) judge(t *testing.T, r referees, jobs []treeJob) {
	t.Helper()
	const folder = "testdata/referee/trees/"
	for _, referee := range []struct {
		program, script, formats string
		readers                  int // of each output
	}{
		{r.rosbags, "ros.py", "bag db3", 2}, {r.cyber, "proto.py", "record", 1}, {r.node, "foxglove.mjs", "bag db3", 1},
	} {
		var mine []treeJob
		want := 0
		for _, job := range jobs {
			if strings.Contains(referee.formats, job.Format) {
				mine = append(mine, job)
				if want += referee.readers; job.Odd && referee.readers == 2 {
					want-- // rosbags is not asked
				}
			}
		}
		text, err := json.Marshal(mine)
		if err != nil {
			t.Fatal(err)
		}
		list := w.path(referee.script + ".jobs")
		if err := os.WriteFile(list, text, 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(referee.program, folder+referee.script, list)
		cmd.Env = append(os.Environ(), "BAGCONV_NODE_MODULES="+r.modules)
		verdicts := jsonLines[verdict](t, cmd)
		for _, v := range verdicts {
			problems := slices.DeleteFunc(v.Problems, func(p string) bool { return limitOf(v.Reader, p) >= 0 })
			if n := len(problems); n > 0 {
				t.Errorf("%s reads %s: %d problems\n%s", v.Reader, filepath.Base(v.Path), n, strings.Join(problems[:min(n, 8)], "\n"))
			} else if v.Messages < len(w.messages)/8 { // of odd names some reader knows few
				t.Errorf("%s reads %s: only %d messages were compared", v.Reader, filepath.Base(v.Path), v.Messages)
			}
		}
		if len(verdicts) != want {
			t.Errorf("%s: %d of %d verdicts", referee.script, len(verdicts), want)
		}
	}
}

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/internal/testing/typetree"
	"github.com/bagconv/bagconv/storage"
)

// derivedRoutes are the conversions of a folder with types that ROS 2 alone has.
var derivedRoutes = [][2]string{{"d", "d-b.bag"}, {"d", "d-r.record"}, {"d-b.bag", "d-b-d"}, {"d-r.record", "d-r-d"},
	{"d-r.record", "d-r-b.bag"}}

// convertDerived writes a folder of the world's messages, each type with its own definition, goes
// all routes, and returns the outputs.
func (w *treeWorld) convertDerived(t *testing.T, schema func(i int) storage.Schema, odd bool) (jobs []treeJob) {
	t.Helper()
	truth := w.writeTruth(t)
	i := -1
	w.write(t, "d", func(m *typetree.Message) storage.Topic {
		i++
		return storage.Topic{Type: m.TypeName(typetree.ROS2), Encoding: "cdr", Schema: schema(i),
			Metadata: map[string]string{storage.MetaTypeHash: typetree.RIHS01(m)}}
	}, func(m *typetree.Message, v []typetree.Value) []byte { return typetree.AppendCDR(nil, m, v) })
	for _, route := range derivedRoutes {
		if lost := goRoute(t, w.dir, route[0], route[1]); len(lost) > 0 {
			t.Errorf("%s -> %s: lost is %v", route[0], route[1], lost)
		}
		jobs = append(jobs, treeJob{Path: w.path(route[1]), Format: formatOf(route[1]), Truth: truth,
			Odd: odd && formatOf(route[1]) == "db3"})
	}
	return jobs
}

// TestServicesAndActions: events of services, and feedback and events of actions, of random types:
// every value is in the bag, in the record, and in the folder that comes back of them, with the md5sum
// and the type hash that each type has.
func TestServicesAndActions(t *testing.T) {
	t.Parallel()
	r := findReferees(t)
	_, seed := trees(t)
	w := newTreeWorld(t, seed<<32+1<<29, treesPerWorld, typetree.Options{ROS2: true})
	derived := w.Derive()
	w.Roots, w.messages = nil, nil
	for _, d := range derived {
		w.Roots = append(w.Roots, d.Message)
	}
	w.older = w.Roots
	w.fill()
	// rosbags has another number for a char than ROS 2, so it refuses every event in a folder.
	r.judge(t, w.dir, len(w.messages),
		w.convertDerived(t, func(i int) storage.Schema { return storage.Schema{Encoding: "ros2msg", Data: derived[i].Text} },
			true))
}

// TestIDLTypes: the same for types that are defined in IDL alone.
func TestIDLTypes(t *testing.T) {
	t.Parallel()
	r := findReferees(t)
	_, seed := trees(t)
	w := newTreeWorld(t, seed<<32+1<<28, treesPerWorld, typetree.Options{ROS2: true})
	for i, m := range w.Roots {
		w.Roots[i] = typetree.Plain(m)
	}
	w.older, w.messages = w.Roots, nil
	w.fill()
	r.judge(t, w.dir, len(w.messages), w.convertDerived(t, func(i int) storage.Schema {
		return storage.Schema{Encoding: "ros2idl", Data: typetree.AppendIDL(nil, w.Roots[i])}
	}, false))
}

// ros2Only returns the topics of a recording that have messages of a type which ROS 2 or DDS alone
// has, how many messages these are, and whether IDL stays IDL in other recordings of ROS 2. Log is
// another type in ROS 1.
func ros2Only(t *testing.T, path string) (topics []string, messages int, idl bool) {
	t.Helper()
	info, list := read(t, path)
	chosen := map[storage.TopicID]bool{}
	for i := range info.Topics {
		tp := &info.Topics[i].Topic
		chosen[info.Topics[i].ID] = tp.Encoding == "cdr" && !strings.Contains(tp.Type, "Log") &&
			(strings.Contains(tp.Type, "/srv/") || strings.Contains(tp.Type, "/action/") ||
				strings.HasPrefix(tp.Type, "action_msgs/") || strings.HasSuffix(tp.Schema.Encoding, "idl"))
		idl = idl || tp.Schema.Encoding == "ros2idl"
	}
	used := map[string]bool{}
	for _, m := range list {
		if chosen[m.Topic] {
			used[info.Topics[m.Topic].Name] = true
			messages++
		}
	}
	return slices.Sorted(maps.Keys(used)), messages, idl
}

// TestSharedServices: PyPI's mcap-ros2-support and mcap-ros1-support decode every service event,
// message of an action and message of an IDL type of the shared recordings as they are in the
// recording: after a conversion, and after one to a bag or a record and back.
func TestSharedServices(t *testing.T) {
	t.Parallel()
	python := os.Getenv("BAGCONV_MCAP_PYTHON")
	if python == "" {
		missing(t, "PyPI's mcap (set BAGCONV_MCAP_PYTHON to a python that has it)")
	}
	least := 0 // our own recordings have none
	if _, shared := samples.Shared(t); shared {
		least = 10
	}
	dir, n, recordings := t.TempDir(), 0, 0
	type output struct {
		of       string // the recording and its topics
		messages int
	}
	var made []output
	referee := []string{"testdata/referee/mcap/values.py"} // one run for all: it takes longer to start than to read
	for _, path := range slices.Concat(samples.Glob(t, "rosbag2/*/*"), samples.Glob(t, "rosbag2/*/*/*.mcap"),
		samples.Glob(t, "mcap/*/*.mcap")) {
		if status, _ := bagconv(t, "topics", path); status != 0 {
			continue // other tests read damaged ones
		}
		if status, _ := bagconv(t, "list", "parts", path); status != 0 {
			continue // a folder with several recordings
		}
		topics, messages, idl := ros2Only(t, path)
		if messages == 0 {
			continue
		}
		recordings, n = recordings+1, n+messages
		at := func(name string) string { return filepath.Join(dir, fmt.Sprintf("%d-%s", recordings, name)) }
		var chosen []string
		for _, topic := range topics {
			chosen = append(chosen, "-t", topic)
		}
		for name, format := range map[string]string{"cdr": "db3", "ros1.bag": "bag", "proto.record": "record"} {
			convert(t, append([]string{"filter", path, at(name), "--no-sync", "--to", format}, chosen...)...)
		}
		convert(t, at("cdr"), at("cdr.mcap"), "--no-sync")
		convert(t, at("ros1.bag"), at("ros1-back.mcap"), "--no-sync")
		convert(t, at("ros1.bag"), at("ros1-kept.mcap"), "--no-sync", "--encoding", "keep")
		convert(t, at("proto.record"), at("proto-back.mcap"), "--no-sync")
		want, err := exec.Command(binary, append([]string{"cat", path, "--bytes"}, topics...)...).Output()
		if err == nil {
			err = os.WriteFile(at("want.jsonl"), want, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		outputs := []string{"ros1-back.mcap", "ros1-kept.mcap", "proto-back.mcap"}
		if !idl {
			outputs = append(outputs, "cdr.mcap")
		}
		for _, name := range outputs {
			made = append(made, output{fmt.Sprintf("%s, %s, %v", path, name, topics), messages})
			referee = append(referee, at(name), at("want.jsonl"))
		}
	}
	var readings []struct {
		Messages int
		Problems []string
	}
	if len(made) > 0 {
		readings = jsonLines[struct {
			Messages int
			Problems []string
		}](t, exec.Command(python, referee...))
	}
	if len(readings) != len(made) {
		t.Fatalf("%d of %d outputs are read", len(readings), len(made))
	}
	for i, want := range made {
		if got := readings[i]; got.Messages != want.messages || len(got.Problems) > 0 {
			t.Errorf("%s: %d messages: %+v", want.of, want.messages, got)
		}
	}
	if recordings < least {
		t.Errorf("only %d recordings have such topics", recordings)
	}
	t.Logf("%d messages of %d recordings", n, recordings)
}

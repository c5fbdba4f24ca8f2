package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/bagconv/bagconv/formats/cyber"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// records lists the sound and odd records.
func records(t *testing.T) []string {
	t.Helper()
	out := []string{"../../testdata/demo.record", "../../testdata/tiny.record"}
	return append(out, sorted(samples.Expected[any](t, "cyber/expected.json"))...)
}

// TestRecordToRecord: the container alone changes; Apollo's classes would return
// every message.
func TestRecordToRecord(t *testing.T) {
	dir := t.TempDir()
	for i, path := range records(t) {
		out := filepath.Join(dir, fmt.Sprintf("r%d.record", i))
		convert(t, path, out)
		same(t, path, out)
		if info, _ := read(t, out); len(info.Warnings) > 0 && !strings.Contains(path, "no-desc") {
			t.Errorf("%s: %v", path, info.Warnings)
		}
	}
}

// TestRecordFields: PyPI's rosbags decodes every message of what becomes of a
// record, and each value is what PyPI's cyber_record returns.
func TestRecordFields(t *testing.T) {
	python, cyberPython := os.Getenv("BAGCONV_ROSBAGS_PYTHON"), os.Getenv("BAGCONV_CYBER_PYTHON")
	if python == "" {
		missing(t, "PyPI's rosbags (set BAGCONV_ROSBAGS_PYTHON to a python that has it)")
	}
	if cyberPython == "" {
		missing(t, "PyPI's cyber_record (set BAGCONV_CYBER_PYTHON to a python that has it)")
	}
	dir := t.TempDir()
	for i, path := range records(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel() // the referee takes long
			// cyber_record reads neither files without an index nor those whose index is shifted; we do.
			clean := filepath.Join(dir, fmt.Sprintf("clean%d.record", i))
			convert(t, path, clean)
			info, msgs := read(t, clean)
			if len(msgs) == 0 || strings.Contains(path, "no-desc") {
				return
			}
			args := []string{"testdata/referee/fields.py", cyberPython, clean}
			for _, types := range []string{"mapped", "generated"} {
				for _, end := range []string{"/", ".bag"} {
					out := filepath.Join(dir, fmt.Sprintf("%s%d", types, i)) + end
					convert(t, path, out, "--proto-types", types)
					args = append(args, filepath.Clean(out))
				}
			}
			type result struct {
				Out              string
				Messages, Fields int
				Problems         []string
			}
			results := jsonLines[result](t, exec.Command(python, args...))
			for _, r := range results {
				if len(r.Problems) > 0 || r.Messages != len(msgs) || r.Fields < 3*len(msgs) {
					t.Errorf("%s -> %s: %d of %d messages, %d fields compared: %s", path, r.Out, r.Messages, len(msgs), r.Fields,
						strings.Join(r.Problems, "; "))
				}
			}
			if len(results) != 4 || info.Messages != int64(len(msgs)) {
				t.Errorf("%s: %d of 4 outputs compared", path, len(results))
			}
		})
	}
}

// TestRecordThereAndBack: a record that went through generated types is the
// same again: names, types, times, and each payload as its descriptors read it.
// Which fields were not set, but had their default, is not kept, which the report has as a loss.
func TestRecordThereAndBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i, path := range records(t) {
		for _, end := range []string{"/", ".bag"} {
			mid := filepath.Join(dir, fmt.Sprintf("m%d", i)) + end
			back := filepath.Join(dir, fmt.Sprintf("b%d%s.record", i, strings.Trim(end, "/.")))
			convert(t, path, mid, "--proto-types", "generated")
			convert(t, mid, back)
			sameRecord(t, path, back)
		}
	}
}

// byDescriptor returns the messages of topics with descriptors, and the others.
func byDescriptor(info *storage.Info, messages []storage.Message) (described, bare []storage.Message) {
	for _, m := range messages {
		if len(info.Topics[m.Topic].Schema.Data) > 0 {
			described = append(described, m)
		} else {
			bare = append(bare, m)
		}
	}
	return described, bare
}

// samePayloads compares the times and bytes of messages, in order of both.
func samePayloads(t *testing.T, path string, a, b []storage.Message) {
	t.Helper()
	order := func(x, y storage.Message) int {
		return cmp.Or(cmp.Compare(x.LogTime, y.LogTime), bytes.Compare(x.Data, y.Data))
	}
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	if !slices.EqualFunc(a, b, func(x, y storage.Message) bool { return order(x, y) == 0 }) {
		t.Errorf("%s: the %d messages without descriptors came back as %d", path, len(a), len(b))
	}
}

// sameRecord compares payloads by value. Topics without descriptors do not
// become ROS types, and are left out of b, or have come there as they are.
func sameRecord(t *testing.T, a, b string) {
	t.Helper()
	infoA, msgsA := read(t, a)
	infoB, msgsB := read(t, b)
	msgsA, bareA := byDescriptor(infoA, msgsA)
	msgsB, bareB := byDescriptor(infoB, msgsB)
	if len(bareB) > 0 {
		samePayloads(t, a, bareA, bareB)
	}
	stableByTime(msgsA)
	stableByTime(msgsB)
	if len(msgsA) != len(msgsB) {
		t.Errorf("%s: %d messages came back, %d were there", a, len(msgsB), len(msgsA))
		return
	}
	byName := map[string]*storage.TopicInfo{}
	for i := range infoB.Topics {
		byName[infoB.Topics[i].Name] = &infoB.Topics[i]
	}
	types := map[storage.TopicID]protoreflect.MessageDescriptor{}
	for i := range infoA.Topics {
		x := &infoA.Topics[i]
		if len(x.Schema.Data) == 0 {
			continue
		}
		y := byName[x.Name]
		if y == nil || x.Type != y.Type || x.Messages != y.Messages {
			t.Errorf("%s: topic %s %s with %d messages came back as %+v", a, x.Name, x.Type, x.Messages, y)
			return
		}
		set, err := protoschema.Parse(x.Schema.Data)
		if err == nil {
			types[x.ID], err = set.Message(x.Type)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	// Messages of one time may be in any order: compare by topic.
	queue := map[string][]storage.Message{}
	for _, m := range msgsB {
		name := infoB.Topics[m.Topic].Name
		queue[name] = append(queue[name], m)
	}
	for i, m := range msgsA {
		name := infoA.Topics[m.Topic].Name
		o := queue[name][0]
		queue[name] = queue[name][1:]
		x, y := dynamicpb.NewMessage(types[m.Topic]), dynamicpb.NewMessage(types[m.Topic])
		if err := proto.Unmarshal(m.Data, x); err != nil {
			t.Fatal(err)
		}
		if err := proto.Unmarshal(o.Data, y); err != nil {
			t.Fatal(err)
		}
		plain(x)
		plain(y)
		if m.LogTime != o.LogTime || !proto.Equal(x, y) {
			t.Errorf("%s: %s message %d at %d came back as another:\n%v\n%v", a, name, i, m.LogTime, x, y)
			return
		}
	}
}

// plain clears fields that are set to their default, and messages in which
// nothing is set.
func plain(m protoreflect.Message) bool {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
		case f.IsList():
			for i := range v.List().Len() {
				if f.Message() != nil {
					plain(v.List().Get(i).Message())
				}
			}
		case f.ContainingOneof() != nil:
			if f.Message() != nil {
				plain(v.Message())
			}
		case f.Message() != nil:
			if plain(v.Message()) {
				m.Clear(f)
			}
		case v.Equal(f.Default()), f.Kind() == protoreflect.DoubleKind && math.IsNaN(v.Float()) &&
			math.IsNaN(f.Default().Float()):
			m.Clear(f)
		}
		return true
	})
	empty := len(m.GetUnknown()) == 0
	m.Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool { empty = false; return false })
	return empty
}

// TestBagThroughRecord: a bag that went through a record with generated types
// has the same bytes again.
func TestBagThroughRecord(t *testing.T) {
	paths := map[string]int64{"../../testdata/demo.bag": 636}
	maps.Copy(paths, bags(t))
	dir := t.TempDir()
	for i, path := range sorted(paths) {
		mid, back := filepath.Join(dir, fmt.Sprintf("b%d.record", i)), filepath.Join(dir, fmt.Sprintf("b%d.bag", i))
		convert(t, path, mid, "--proto-types", "generated")
		convert(t, mid, back)
		infoA, msgsA := read(t, path)
		infoB, msgsB := read(t, back)
		split := func(info *storage.Info, msgs []storage.Message) map[string][]storage.Message {
			out := map[string][]storage.Message{}
			stableByTime(msgs)
			for _, m := range msgs {
				ti := &info.Topics[m.Topic]
				name := ti.Name
				if at := strings.LastIndexByte(name, '_'); at > 0 && ti.Name[at+1:] == "2" { // a second type of one name
					name = name[:at]
				}
				k := name + " " + ti.Type + " " + ti.Metadata[storage.MetaMD5Sum]
				m.Topic = 0
				out[k] = append(out[k], m)
			}
			return out
		}
		a, b := split(infoA, msgsA), split(infoB, msgsB)
		if len(msgsA) != len(msgsB) {
			t.Errorf("%s: %d messages came back, %d were there", path, len(msgsB), len(msgsA))
		}
		for k, list := range a {
			if d := storagetest.Diff(b[k], list); d != "" {
				t.Errorf("%s: %s: %s", path, k, d)
			}
		}
	}
}

// TestTwoHeaders: a record with two definitions of apollo.common.Header converts
// whole, and each channel keeps its own.
func TestTwoHeaders(t *testing.T) {
	demo, msgs := read(t, "../../testdata/demo.record")
	path := filepath.Join(t.TempDir(), "two.record")
	w, err := cyber.Format.Create(context.Background(), path, storage.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The same messages again, with descriptors whose files have the names of before Apollo 8.
	old := bytes.ReplaceAll
	n := len(demo.Topics)
	for _, ti := range demo.Topics {
		if _, err := w.CreateTopic(ti.Topic); err != nil {
			t.Fatal(err)
		}
	}
	for _, ti := range demo.Topics {
		topic := ti.Topic
		topic.Name = "/old" + topic.Name
		topic.Schema.Data = old(topic.Schema.Data, []byte("modules/common_msgs/basic_msgs/header.proto"),
			[]byte("modules/common/proto/files/the/header.proto"))
		if _, err := w.CreateTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range msgs {
		for _, topic := range []storage.TopicID{m.Topic, m.Topic + storage.TopicID(n)} {
			m.Topic = topic
			if err := w.Write(&m); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	for _, types := range []string{"mapped", "generated"} {
		for _, end := range []string{"/", ".bag", ".record"} {
			out := path + types + end
			if status := convert(t, path, out, "--proto-types", types); status != 0 {
				t.Errorf("%s: status %d", out, status)
			}
			if _, got := read(t, filepath.Clean(out)); len(got) != 2*len(msgs) {
				t.Errorf("%s: %d of %d messages", out, len(got), 2*len(msgs))
			}
			if end != ".record" && types == "generated" {
				back := filepath.Clean(out) + "back.record"
				convert(t, out, back)
				sameRecord(t, path, back)
			}
		}
	}
}

// TestRecover writes a clean recording of each format from a damaged one.
func TestRecover(t *testing.T) {
	dir := t.TempDir()
	for _, source := range []string{"../../testdata/demo.record", "../../testdata/demo.bag"} {
		whole, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		cut := filepath.Join(dir, "cut"+filepath.Ext(source))
		if err := os.WriteFile(cut, whole[:len(whole)*2/3], 0o666); err != nil {
			t.Fatal(err)
		}
		_, want := read(t, cut)
		for _, end := range []string{"/", ".bag", ".record"} {
			out := filepath.Join(dir, "out"+filepath.Ext(source)[1:]) + end
			status, stderr := bagconv(t, "recover", cut, out)
			if status != 3 || !strings.Contains(stderr, "saved: ") || !strings.Contains(stderr, "lost: ") {
				t.Errorf("%s -> %s: status %d: %s", cut, out, status, stderr)
			}
			info, got := read(t, filepath.Clean(out))
			if len(got) != len(want) || len(got) == 0 || len(info.Warnings) > 0 {
				t.Errorf("%s -> %s: %d of %d messages, %v", cut, out, len(got), len(want), info.Warnings)
			}
		}
	}
}

// TestDB3ThroughRecord: what rosbags decodes from a rosbag2 recording it decodes
// from what came back of a record, too.
func TestDB3ThroughRecord(t *testing.T) {
	dir := t.TempDir()
	var pairs []string
	for i, path := range folders(t) {
		mid, back := filepath.Join(dir, fmt.Sprintf("d%d.record", i)), filepath.Join(dir, fmt.Sprintf("d%d", i))
		status := convert(t, path, mid, "--proto-types", "generated")
		convert(t, mid, back+"/")
		info, msgs := read(t, path)
		_, got := read(t, back)
		if len(got) != len(msgs) {
			if status != 3 {
				t.Errorf("%s: %d of %d messages and exit status %d", path, len(got), len(msgs), status)
			}
			t.Logf("%s: %d of %d messages", path, len(got), len(msgs))
		} else if len(info.Topics) > 0 {
			pairs = append(pairs, path, back)
		}
	}
	checkPairs(t, 5, pairs)
}

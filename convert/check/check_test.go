package check_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/proto/apollo"
	"github.com/bagconv/bagconv/storage"
)

// summary writes findings as "severity code topic xcount @offset".
func summary(res *check.Result) []string {
	var out []string
	for i, f := range res.Findings {
		if f.Number != i+1 {
			out = append(out, fmt.Sprintf("number %d at %d", f.Number, i))
		}
		out = append(out, fmt.Sprintf("%s %s %s x%d @%d", f.Severity, f.Code, f.Topic, f.Count, f.Offset))
	}
	return out
}

// TestFindings makes each thing wrong once. The recordings are otherwise sound:
// exactly that is found, with the block of the first message concerned.
func TestFindings(t *testing.T) {
	proto := func(text string) storage.Topic {
		return storage.Topic{Name: "/p", Type: "a.B", Encoding: "protobuf", Schema: storage.Schema{Encoding: "protobuf",
			Data: []byte(text)}}
	}
	for name, c := range map[string]struct {
		change func(f *fake, id storage.TopicID)
		want   []string
		text   string // in the message of the first finding
	}{
		"sound": {func(*fake, storage.TopicID) {}, nil, ""},
		"gap": {func(f *fake, _ storage.TopicID) {
			f.messages = slices.Delete(f.messages, 100, 120)
		}, []string{"warning time-gap /imu x1 @1100"}, "the longest lasts 210ms"},
		"nine periods": {func(f *fake, _ storage.TopicID) {
			f.messages = slices.Delete(f.messages, 100, 109)
		}, nil, ""},
		"two gaps": {func(f *fake, _ storage.TopicID) {
			f.messages = slices.Delete(f.messages, 200, 230)
			f.messages = slices.Delete(f.messages, 100, 120)
		}, []string{"warning time-gap /imu x2 @1180"},
			"2 gaps are longer than 10 times the period of 10ms; the longest lasts 310ms"},
		"jump": {func(f *fake, _ storage.TopicID) {
			f.messages[42].LogTime, f.messages[43].LogTime = f.messages[43].LogTime, f.messages[42].LogTime
		}, []string{"warning time-jump /imu x1 @1040", "note recording-unordered  x1 @1040"},
			"goes back once, at most by 10ms"},
		"halves swapped": {func(f *fake, _ storage.TopicID) {
			f.messages = append(slices.Clone(f.messages[150:]), f.messages[:150]...)
			for i := range f.messages {
				f.messages[i].Data = value(f.messages[i].LogTime, byte(i))
			}
		}, []string{"warning time-jump /imu x1 @1148", "note recording-unordered  x1 @1148"}, "at most by 2.99s"},
		"profiles differ": {func(f *fake, _ storage.TopicID) {
			usual := storage.QoS{History: storage.HistoryKeepLast, Depth: 10, Reliability: storage.ReliabilityReliable,
				Durability: storage.DurabilityVolatile}
			best := usual
			best.Reliability = storage.ReliabilityBestEffort
			f.info.Topics[0].QoS = []storage.QoS{usual, best, usual}
		}, []string{"warning topic-qos /imu x3 @-1"},
			"its 3 QoS profiles differ, so that players offer their default: reliability: reliable, best_effort"},
		"odd time": {func(f *fake, id storage.TopicID) {
			f.info.Topics[0].Metadata[storage.MetaLatching] = "1"
			f.add(id, -5, value(start+3e9, 0))
		}, []string{"warning time-odd  x1 @1300", "warning time-jump /imu x1 @1300", "warning time-gap /imu x1 @1000",
			"note recording-unordered  x1 @1300"}, "1 message has an implausible log time, the first -5 ns"},
		"same time": {func(f *fake, _ storage.TopicID) {
			f.messages[8].LogTime = f.messages[7].LogTime
		}, []string{"note time-same /imu x1 @1008"}, ""},
		"duplicate": {func(f *fake, _ storage.TopicID) {
			f.messages = slices.Insert(f.messages, 8, f.messages[7])
		}, []string{"warning duplicate /imu x1 @1008"}, ""},
		"stamp same": {func(f *fake, _ storage.TopicID) {
			f.messages[8].Data = value(f.messages[7].LogTime, 99)
		}, []string{"warning stamp-same /imu x1 @1008"}, ""},
		"stamp back": {func(f *fake, _ storage.TopicID) {
			f.messages[8].Data = value(f.messages[7].LogTime-1, 99)
		}, []string{"warning stamp-back /imu x1 @1008"}, "goes back once, at most by 1ns"},
		"stamp far": {func(f *fake, _ storage.TopicID) {
			f.messages[299].Data = value(f.messages[299].LogTime+2e9, 99)
		}, []string{"warning stamp-far /imu x1 @1296"}, "2s after"},
		"stamp zero": {func(f *fake, _ storage.TopicID) {
			f.messages[0].Data, f.messages[9].Data = value(0, 1), value(0, 2)
		}, []string{"note stamp-zero /imu x2 @1000"}, ""},
		"undecodable": {func(f *fake, _ storage.TopicID) {
			f.messages[20].Data = f.messages[20].Data[:20]
			f.messages[30].Data = append(f.messages[30].Data, 0)
		}, []string{"error message-undecodable /imu x2 @1020"},
			"2 of 300 messages do not fit the definition of acme_msgs/Value; the first: "},
		"empty topic": {func(f *fake, _ storage.TopicID) { f.topic(sensor("/gone")) },
			[]string{"note topic-empty /gone x1 @-1"}, ""},
		"empty recording": {func(f *fake, _ storage.TopicID) { f.messages = nil }, []string{"note recording-empty  x1 @-1",
			"note topic-empty /imu x1 @-1"}, ""},
		"late and early": {func(f *fake, _ storage.TopicID) {
			id := f.topic(sensor("/lidar"))
			for i := range int64(30) {
				at := start + 1100*ms + i*20*ms
				f.add(id, at, value(at, byte(i)))
			}
			slices.SortStableFunc(f.messages, func(a, b storage.Message) int { return int(a.LogTime - b.LogTime) })
		}, []string{"warning topic-ends-early /lidar x1 @-1", "note topic-starts-late /lidar x1 @-1"},
			"1.31s before the end"},
		"two types": {func(f *fake, _ storage.TopicID) {
			f.topic(storage.Topic{Name: "/imu", Type: "acme_msgs/Other", Encoding: "ros1",
				Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("int8 x\n")}})
		}, []string{"warning topic-two-types /imu x1 @-1", "note topic-empty /imu x1 @-1"},
			"acme_msgs/Value and acme_msgs/Other"},
		"two definitions": {func(f *fake, id storage.TopicID) {
			other := sensor("/imu")
			other.Schema.Data = []byte("int8 x\n")
			f.add(f.topic(other), start+2990*ms, []byte{1})
		}, []string{"warning definition-two  x1 @-1"}, "acme_msgs/Value has two definitions"},
		"comments differ": {func(f *fake, id storage.TopicID) {
			other := sensor("/imu")
			other.Schema.Data = []byte("# the same\n" + imuText)
			f.add(f.topic(other), start+2990*ms, value(start+2990*ms, 1))
		}, nil, ""},
		"no definition": {func(f *fake, _ storage.TopicID) { f.info.Topics[0].Schema = storage.Schema{} },
			[]string{"warning definition-missing /imu x1 @-1"}, "acme_msgs/Value"},
		"standard definition": {func(f *fake, _ storage.TopicID) {
			t := storage.Topic{Name: "/s", Type: "std_msgs/Int8", Encoding: "ros1"}
			f.add(f.topic(t), start+2990*ms, []byte{1})
			t.Name = "/t"
			f.add(f.topic(t), start+2990*ms, []byte{1})
		}, []string{"note definition-missing /s x2 @-1"}, "(also of /t)"},
		"bad definition": {func(f *fake, _ storage.TopicID) { f.info.Topics[0].Schema.Data = []byte("no such thing here") },
			[]string{"warning definition-unreadable /imu x1 @-1"}, ""},
		"md5sum": {func(f *fake, _ storage.TopicID) {
			f.info.Topics[0].Metadata[storage.MetaMD5Sum] = "0123456789abcdef0123456789abcdef"
		}, []string{"warning definition-md5sum /imu x1 @-1"}, "but its connection has 0123456789abcdef"},
		"type hash": {func(f *fake, _ storage.TopicID) {
			f.add(f.topic(storage.Topic{Name: "/c", Type: "acme_msgs/msg/N", Encoding: "cdr",
				Schema:   storage.Schema{Encoding: "ros2msg", Data: []byte("int8 n\n")},
				Metadata: map[string]string{storage.MetaTypeHash: "RIHS01_" + strings.Repeat("0", 64)}}), start+2990*ms,
				[]byte{0, 1, 0, 0, 5})
		}, []string{"warning definition-hash /c x1 @-1"}, ""},
		"trailing": {func(f *fake, _ storage.TopicID) {
			id := f.topic(storage.Topic{Name: "/c", Type: "acme_msgs/msg/N", Encoding: "cdr",
				Schema: storage.Schema{Encoding: "ros2msg", Data: []byte("int8 n\n")}})
			f.add(id, start+2990*ms, []byte{0, 1, 0, 0, 5, 0, 0, 0})
			f.add(id, start+2991*ms, []byte{0, 1, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
		}, []string{"warning message-trailing /c x1 @1300"},
			"1 message has bytes after the last field of acme_msgs/msg/N, up to 10"},
		"unknown encoding": {func(f *fake, _ storage.TopicID) {
			f.add(f.topic(storage.Topic{Name: "/j", Type: "x", Encoding: "json"}), start+2990*ms, []byte("{}"))
		}, []string{"note message-unchecked /j x1 @-1"}, `"json"`},
		"bad descriptor": {func(f *fake, _ storage.TopicID) { f.add(f.topic(proto("\xff")), start+2990*ms, []byte{1}) },
			[]string{"warning definition-unreadable /p x1 @-1"}, ""},
		"unknown fields": {func(f *fake, _ storage.TopicID) {
			id := f.topic(apolloImu(t))
			f.add(id, start+2990*ms, append(imuMessage(float64(start)/1e9+3), 0xf8, 0x7f, 1))
			f.add(id, start+2991*ms, imuMessage(0))
		}, []string{"note message-unknown-fields /apollo/imu x1 @-1"},
			"1 message has fields that the descriptor of apollo.drivers.gnss.Imu"},
		"Apollo's stamp": {func(f *fake, _ storage.TopicID) {
			id := f.topic(apolloImu(t))
			f.add(id, start+2990*ms, imuMessage(float64(start)/1e9))
			f.add(id, start+2991*ms, imuMessage(float64(start) / 1e9)[:5])
		}, []string{"error message-undecodable /apollo/imu x1 @1300", "warning stamp-far /apollo/imu x1 @1300"},
			"1 of 2 messages do not fit"},
		"reader": {func(f *fake, _ storage.TopicID) {
			f.info.Warnings = []storage.Warning{{Code: "unindexed", Message: "no index", Hint: "make one", Offset: -1},
				{Code: "truncated", Message: "cut", Offset: 77, Damage: true}}
		}, []string{"error truncated  x1 @77", "warning unindexed  x1 @-1"}, "cut"},
	} {
		f, id := regular()
		c.change(f, id)
		res := f.run(t, check.Options{})
		if got := summary(res); !slices.Equal(got, c.want) {
			t.Errorf("%s: found\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		} else if len(got) > 0 && !strings.Contains(res.Findings[0].Message, c.text) {
			t.Errorf("%s: %q does not say %q", name, res.Findings[0].Message, c.text)
		}
		if name == "reader" && (len(res.Findings) < 2 || res.Findings[1].Hint != "make one") {
			t.Errorf("%s: the hint of the reader is not in %+v", name, res.Findings)
		}
	}
}

// apolloImu is a topic of Apollo's Imu, and imuMessage one of its messages.
func apolloImu(t testing.TB) storage.Topic {
	set, err := protoschema.FileSet(apollo.Message("apollo.drivers.gnss.Imu"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return storage.Topic{Name: "/apollo/imu", Type: "apollo.drivers.gnss.Imu", Encoding: "protobuf",
		Schema: storage.Schema{Encoding: "protobuf", Data: set}}
}

func imuMessage(stamp float64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{10, 9, 9}, math.Float64bits(stamp))
}

// TestPublishers: what is odd about one publisher is reported for that publisher, and messages of two
// at one time are nothing.
func TestPublishers(t *testing.T) {
	f := &fake{}
	topic := sensor("/tf")
	topic.Metadata = map[string]string{storage.MetaCallerID: "/a"}
	a := f.topic(topic)
	topic.Metadata = map[string]string{storage.MetaCallerID: "/b"}
	b := f.topic(topic)
	for i := range int64(100) {
		at := start + i*10*ms
		f.add(a, at, value(at, 1))
		f.add(b, at, value(at, 1))
	}
	f.messages[51].Data = f.messages[51].Data[:3]
	res := f.run(t, check.Options{})
	if got := summary(res); !slices.Equal(got, []string{"error message-undecodable /tf x1 @1048"}) ||
		!strings.HasPrefix(res.Findings[0].Message, "of /b: ") {
		t.Errorf("%v, %+v", got, res.Findings)
	}
	if len(res.Topics) != 1 || res.Topics[0].Messages != 200 || res.Topics[0].Decoded != 199 ||
		res.Topics[0].Undecodable != 1 {
		t.Errorf("%+v", res.Topics)
	}
}

func TestTopics(t *testing.T) {
	f, _ := regular()
	res := f.run(t, check.Options{})
	period, rate := 10*ms, 100.0
	want := check.Topic{Name: "/imu", Type: "acme_msgs/Value", Encoding: "ros1", Messages: 300, Bytes: 300 * 27,
		First: start, Last: start + 2990*ms, Decoded: 300, Hz: &rate, Period: &period, Regular: true, MaxGap: &period}
	got := res.Topics[0]
	if d := *got.Period - period; d > period/32 || d < -period/32 {
		t.Errorf("period %d", *got.Period)
	}
	got.Period = want.Period
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if res.Messages != 300 || res.Decoded != 300 || *res.Start != start || *res.End != start+2990*ms || res.Bytes != 8100 {
		t.Errorf("%+v", res)
	}
}

// TestDocs: docs/check.md has each code, and no others.
func TestDocs(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(
			`"((?:time|stamp|message|definition|type|recording|topic|spec)-[a-z0-9-]+|duplicate)"`).FindAllStringSubmatch(
			string(text), -1) {
			codes[m[1]] = true
		}
	}
	text, err := os.ReadFile("../../docs/check.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*`) \\| (?:error|warning|note)").FindAllStringSubmatch(
		string(text), -1) {
		for _, code := range strings.Split(row[1], ", ") {
			code = strings.Trim(code, "`")
			told[code] = true
			if !codes[code] {
				t.Errorf("docs/check.md has %s, which nothing finds", code)
			}
		}
	}
	for code := range codes {
		if !told[code] {
			t.Errorf("docs/check.md does not have %s", code)
		}
	}
	if len(codes) < 30 {
		t.Errorf("only %d codes were looked at", len(codes))
	}
}

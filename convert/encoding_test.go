package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// text is a message of std_msgs/String, "a", in each encoding.
var text = map[string][]byte{
	"ros1": {1, 0, 0, 0, 'a'}, "cdr": {0, 1, 0, 0, 2, 0, 0, 0, 'a', 0}, "protobuf": {0x0a, 1, 'a'},
}

func textTopic(encoding string) storage.Topic {
	t := storage.Topic{Name: "/" + encoding, Type: "std_msgs/String", Encoding: encoding}
	if encoding == "cdr" {
		t.Type = "std_msgs/msg/String"
	}
	t.Schema = storage.Schema{Encoding: map[string]string{"ros1": "ros1msg", "cdr": "ros2msg"}[encoding],
		Data: []byte("string data\n")}
	return t
}

// textBag has five messages of a topic. Three have a time of sending of their own, two
// a sequence number.
func textBag(encoding string) *fake.Bag {
	f := &fake.Bag{Topics: []storage.Topic{textTopic(encoding)}}
	for i := range int64(5) {
		m := storage.Message{LogTime: 1e18 + i, PublishTime: 1e18 + i - min(max(i-1, 0), 1), Data: text[encoding]}
		if i < 2 {
			m.Sequence = uint32(i) + 7
		}
		f.Blocks = append(f.Blocks, []storage.Message{m})
	}
	return f
}

// lostFields returns the counts of the losses of publish times and sequence numbers.
func lostFields(t *testing.T, r *Report) (publish, sequence int64) {
	t.Helper()
	for _, l := range r.Losses {
		switch l.Code {
		case "publish-time":
			publish += l.Count
		case "sequence":
			sequence += l.Count
		default:
			continue
		}
		if !l.ByDesign || l.Topic == "" {
			t.Errorf("%+v", l)
		}
	}
	if r.Lossy() {
		t.Errorf("what a format does not keep changes the exit status: %+v", r.Losses)
	}
	return publish, sequence
}

// ending is how the name of an output may end.
func ending(f *storage.Format) string {
	if len(f.Extensions) == 0 {
		return ""
	}
	return f.Extensions[0]
}

// TestFieldsKept converts from each format to each other: what a format does not keep
// of a message is counted, and nothing else is.
func TestFieldsKept(t *testing.T) {
	formats := slices.Clone(all.Registry().Formats())
	formats = slices.DeleteFunc(formats, func(f *storage.Format) bool { return f.Create == nil })
	fake := *(&fake.Sink{}).Target()
	formats = append(formats, &fake)
	for _, from := range formats {
		path, source := textBag("cdr").Source(t)
		if from != &fake {
			out := filepath.Join(t.TempDir(), "in"+ending(from))
			if _, err := Run(context.Background(), Job{Source: path, SourceFormat: source, Sink: out,
				SinkFormat: from}); err != nil {
				t.Fatal(err)
			}
			path, source = out, from
		}
		for _, to := range formats {
			out := filepath.Join(t.TempDir(), "out.x")
			if to != &fake {
				out = filepath.Join(t.TempDir(), "out"+ending(to))
			}
			r, err := Run(context.Background(), Job{Source: path, SourceFormat: source, Sink: out, SinkFormat: to})
			if err != nil {
				t.Fatalf("%s to %s: %v", from.Name, to.Name, err)
			}
			var wantPublish, wantSequence int64
			if source.Holds.PublishTime && !to.Holds.PublishTime {
				wantPublish = 3
			}
			if source.Holds.Sequence && !to.Holds.Sequence {
				wantSequence = 2
			}
			if publish, sequence := lostFields(t, r); publish != wantPublish || sequence != wantSequence {
				t.Errorf("%s to %s: %d publish times and %d sequence numbers are reported as lost, want %d and %d",
					from.Name, to.Name, publish, sequence, wantPublish, wantSequence)
			}
		}
	}
}

// TestEncoding: the encoding is chosen per topic.
func TestEncoding(t *testing.T) {
	bag := &fake.Bag{Topics: []storage.Topic{textTopic("ros1"), textTopic("cdr")}}
	bag.Blocks = [][]storage.Message{{{Topic: 0, LogTime: 1, Data: text["ros1"]},
		{Topic: 1, LogTime: 2, Data: text["cdr"]}}}
	for _, test := range []struct {
		asked string
		same  bool // source and sink are of one format
		want  []string
	}{
		{"", false, []string{"cdr", "cdr"}},
		{"", true, []string{"ros1", "cdr"}},
		{EncodingKeep, false, []string{"ros1", "cdr"}},
		{"ros1", false, []string{"ros1", "ros1"}},
		{"ros1", true, []string{"ros1", "ros1"}},
		{"cdr", true, []string{"cdr", "cdr"}},
		{"protobuf", false, nil},
		{"odd", false, nil},
	} {
		path, source := bag.Source(t)
		sink := &fake.Sink{}
		target := sink.Target()
		target.Holds.Carries = func(encoding, schema string) bool {
			return encoding == "ros1" && (schema == "ros1msg" ||
				schema == "")
		}
		if !test.same {
			target.Name = "other"
		}
		_, err := Run(context.Background(), Job{Source: path, SourceFormat: source, Sink: filepath.Join(t.TempDir(), "x"),
			SinkFormat: target, Encoding: test.asked})
		if test.want == nil {
			if !errors.Is(err, storage.ErrUnsupported) || !strings.Contains(err.Error(), "other carries cdr, ros1") ||
				sink.Attempts > 0 {
				t.Errorf("%q: %v, after %d attempts", test.asked, err, sink.Attempts)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%q: %v", test.asked, err)
		}
		for i, want := range test.want {
			topic, data := sink.Topics[i], sink.Messages[i].Data
			if topic.Encoding != want || topic.Type != textTopic(want).Type || string(data) != string(text[want]) {
				t.Errorf("%q, same format %t: topic %d is %s of %s, % x", test.asked, test.same, i, topic.Encoding, topic.Type,
					data)
			}
		}
	}
}

// TestTopicMetadata: keys that the sink has no place for are reported, but for those
// that mapping accounts for.
func TestTopicMetadata(t *testing.T) {
	bag := textBag("cdr")
	bag.Topics[0].Metadata = map[string]string{"colour": "red", "shape": "round", storage.MetaTypeHash: "RIHS01_x"}
	bag.Topics[0].QoS = []storage.QoS{{Depth: 1}}
	path, source := bag.Source(t)
	sink := &fake.Sink{}
	target := sink.Target()
	target.Holds.TopicMetadata = func(key string) bool { return key == "shape" }
	r, err := Run(context.Background(), Job{Source: path, SourceFormat: source, Sink: filepath.Join(t.TempDir(), "x"),
		SinkFormat: target})
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]string{}
	for _, l := range r.Losses {
		codes[l.Code] = l.Message
	}
	if len(codes) != 2 || codes["qos"] == "" || !strings.Contains(codes["topic-metadata"], `["colour"]`) || r.Lossy() {
		t.Errorf("%+v", r.Losses)
	}
	if topic := sink.Topics[0]; len(topic.Metadata) != 1 || topic.Metadata["shape"] != "round" || topic.QoS != nil {
		t.Errorf("%+v", topic)
	}
}

// TestVerify: the output is whole when Verify is called, and has its name only if it
// agrees.
func TestVerify(t *testing.T) {
	format := all.Registry().Lookup("bag")
	refused := errors.New("refused")
	for _, answer := range []error{nil, refused} {
		path, source := textBag("cdr").Source(t)
		out := filepath.Join(t.TempDir(), "out.bag")
		_, err := Run(context.Background(), Job{Source: path, SourceFormat: source, Sink: out, SinkFormat: format,
			Verify: func(made string, _ []Extra) error {
				r, err := format.Open(context.Background(), made, storage.ReadOptions{Strict: true})
				if err != nil {
					return err
				}
				defer r.Close()
				if info := r.Info(); info.Messages != 5 || made == out {
					t.Errorf("%s: %+v, %v", made, info, err)
				}
				return answer
			}})
		left, _ := os.ReadDir(filepath.Dir(out))
		if !errors.Is(err, answer) || (answer == nil) != (len(left) == 1) {
			t.Errorf("%v: %v, and there is %v", answer, err, left)
		}
	}
}

// TestCarried: what cannot be converted is written as it is where the format holds it,
// whatever becomes of the other topics, and is a loss of its topic elsewhere.
func TestCarried(t *testing.T) {
	odd := storage.Topic{Name: "/odd", Type: "Odd", Encoding: "flatbuffer", Schema: storage.Schema{Encoding: "flatbuffer",
		Data: []byte{1, 2}}}
	bare := storage.Topic{Name: "/bare", Type: "x/Unknown", Encoding: "ros1"}
	torn := textTopic("ros1")
	torn.Name, torn.Schema.Data = "/torn", []byte("string string string\n")
	bag := &fake.Bag{Topics: []storage.Topic{odd, bare, torn, textTopic("ros1")}}
	bag.Blocks = [][]storage.Message{{
		{Topic: 0, LogTime: 1, Data: []byte("odd")}, {Topic: 1, LogTime: 2, Data: []byte("bare")},
		{Topic: 2, LogTime: 3, Data: []byte("torn")}, {Topic: 3, LogTime: 4, Data: text["ros1"]},
	}}
	for _, holds := range []bool{true, false} {
		path, source := bag.Source(t)
		sink := &fake.Sink{}
		target := sink.Target()
		target.Name = "other"
		if holds {
			target.Holds.Carries = func(string, string) bool { return true }
		}
		r, err := Run(context.Background(), Job{Source: path, SourceFormat: source, Sink: filepath.Join(t.TempDir(), "x"),
			SinkFormat: target})
		if err != nil {
			t.Fatal(err)
		}
		if !holds {
			var lost []string
			for _, l := range r.Losses {
				if l.Code == "topic-dropped" && l.Count == 1 && !l.ByDesign {
					lost = append(lost, l.Topic)
				}
			}
			if want := []string{"/odd", "/bare", "/torn"}; !slices.Equal(lost, want) || len(sink.Messages) != 1 {
				t.Errorf("lost are %q, want %q; %d messages written", lost, want, len(sink.Messages))
			}
			continue
		}
		notes := 0
		for _, n := range r.Notes {
			if n.Code == "carried" {
				notes++
			}
		}
		if notes != 3 || r.Lossy() || len(sink.Messages) != 4 {
			t.Fatalf("%d notes, losses %+v, %d messages", notes, r.Losses, len(sink.Messages))
		}
		for i, want := range bag.Topics[:3] {
			if got := sink.Topics[i]; got.Type != want.Type || got.Encoding != want.Encoding ||
				got.Schema.Encoding != want.Schema.Encoding ||
				string(got.Schema.Data) != string(want.Schema.Data) || string(sink.Messages[i].Data) != want.Name[1:] {
				t.Errorf("topic %d is %+v, want %+v", i, got, want)
			}
		}
		if sink.Topics[3].Encoding != "cdr" || string(sink.Messages[3].Data) != string(text["cdr"]) {
			t.Errorf("the topic that can be converted is %+v", sink.Topics[3])
		}
	}
}

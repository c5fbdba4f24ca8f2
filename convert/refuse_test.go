package convert

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// A pickySink refuses topics and definitions.
type pickySink struct {
	fake.Sink
	topic, definition string // what it refuses
}

func (s *pickySink) target() *storage.Format { return s.Sink.TargetOf(s) }

func (s *pickySink) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if t.Name == s.topic || s.definition != "" && string(t.Schema.Data) == s.definition {
		return 0, fmt.Errorf("topic %s: %w", t.Name, storage.ErrUnsupported)
	}
	return s.Sink.CreateTopic(t)
}

// TestRefusedTopics: a topic, a definition or a message that the sink cannot hold
// costs that one, and is reported; a strict run refuses.
func TestRefusedTopics(t *testing.T) {
	for name, c := range map[string]struct {
		sink    pickySink
		format  func(*storage.Format)
		code    string
		count   int64
		written int // messages of /a; all of the others are
	}{
		"topic":      {sink: pickySink{topic: "/a"}, code: "topic-dropped", count: 3},
		"definition": {sink: pickySink{definition: "uint32 a"}, code: "definition-dropped", count: 1, written: 3},
		"message": {format: func(f *storage.Format) { f.Holds.MaxMessage = 10 }, code: "message-too-large", count: 1,
			written: 2},
	} {
		t.Run(name, func(t *testing.T) {
			bag := &fake.Bag{Topics: []storage.Topic{
				{Name: "/a", Type: "p/msg/A", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
					Data: []byte("uint32 a")}},
				{Name: "/b", Type: "p/msg/B", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
					Data: []byte("uint32 b")}},
			}}
			var msgs []storage.Message
			for i, size := range []int{4, 4, 10, 10, 11, 8} {
				msgs = append(msgs, storage.Message{Topic: storage.TopicID(i % 2), LogTime: int64(i), Data: make([]byte, size)})
			}
			bag.Blocks = [][]storage.Message{msgs}
			job := fakeJob(t, bag, &c.sink.Sink)
			job.SinkFormat = c.sink.target()
			if c.format != nil {
				c.format(job.SinkFormat)
			}
			job.Write.Overwrite = true
			r, err := Run(context.Background(), job)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Losses) != 1 || r.Losses[0].Code != c.code || r.Losses[0].Topic != "/a" || r.Losses[0].Count != c.count ||
				!r.Lossy() {
				t.Errorf("%+v", r.Losses)
			}
			if len(c.sink.Messages) != 3+c.written || r.Topics[0].Written != int64(c.written) ||
				(r.Topics[0].SinkType == "") != (name == "topic") {
				t.Errorf("%d messages are written; %+v", len(c.sink.Messages), r.Topics)
			}
			job.Read.Strict = true
			var refused *LossError
			if _, err := Run(context.Background(), job); !errors.Is(err, ErrLossy) || !errors.As(err, &refused) ||
				len(refused.Losses) != 1 || refused.Losses[0] != r.Losses[0] {
				t.Errorf("strict: %v, %+v", err, refused)
			}
		})
	}
}

// TestRefusedWithoutMessages: a topic that the sink cannot hold, and that has no
// messages, is not a loss.
func TestRefusedWithoutMessages(t *testing.T) {
	bag := &fake.Bag{Topics: []storage.Topic{{Name: "/a", Type: "p/msg/A", Encoding: "cdr"},
		{Name: "/b", Type: "p/msg/A", Encoding: "cdr"}}}
	bag.Blocks = [][]storage.Message{{{Topic: 1, LogTime: 1, Data: []byte{0, 1, 0, 0}}}}
	sink := pickySink{topic: "/a"}
	job := fakeJob(t, bag, &sink.Sink)
	job.SinkFormat = sink.target()
	job.Read.Strict = true
	r, err := Run(context.Background(), job)
	if err != nil || r.Lossy() || len(r.Notes) != 1 || r.Notes[0].Code != "topic-dropped" || r.Notes[0].Topic != "/a" {
		t.Errorf("%v, losses %+v, notes %+v", err, r.Losses, r.Notes)
	}
}

// TestTopicNames: a name that the sink cannot have becomes another, which is free,
// and is reported.
func TestTopicNames(t *testing.T) {
	bag := &fake.Bag{}
	for i, name := range []string{"/bad\xff", "", "/fine", "/bad%FF", "unnamed"} {
		bag.Topics = append(bag.Topics, storage.Topic{Name: name, Type: "p/msg/" + string(rune('A'+i)), Encoding: "cdr"})
	}
	var msgs []storage.Message
	for i := range 10 {
		msgs = append(msgs, storage.Message{Topic: storage.TopicID(i % 5), LogTime: int64(i)})
	}
	bag.Blocks = [][]storage.Message{msgs}
	sink := &fake.Sink{}
	job := fakeJob(t, bag, sink)
	sink.TellsApart = storage.IdentityName
	job.SinkFormat.Holds.TopicName = func(name string) bool { return name != "" && !strings.Contains(name, "\xff") }
	r, err := Run(context.Background(), job)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, topic := range sink.Topics {
		names = append(names, topic.Name)
	}
	if got, want := strings.Join(names, " "), "/bad%FF unnamed /fine /bad%FF_2 unnamed_2"; got != want {
		t.Errorf("topics %q, want %q", got, want)
	}
	if len(sink.Messages) != 10 || len(r.Losses) != 4 || r.Lossy() {
		t.Errorf("%d messages; %+v", len(sink.Messages), r.Losses)
	}
	for _, l := range r.Losses {
		if l.Code != "renamed" {
			t.Errorf("%+v", l)
		}
	}
}

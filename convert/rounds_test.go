package convert_test

import (
	"context"
	"io"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A goingOn reader has a round for each topic: the first message of each is in it, and one of
// each topic before.
type goingOn struct {
	topics []storage.Topic
	round  int // topics that it has
	next   int
	atEnd  func(round int)
}

func (g *goingOn) Info() *storage.Info {
	info := &storage.Info{Format: "fake"}
	for i, t := range g.topics[:g.round] {
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: t, ID: storage.TopicID(i)})
	}
	return info.Clone()
}

func (g *goingOn) Damage() storage.Damage { return storage.Damage{} }
func (g *goingOn) Close() error           { return nil }

func (g *goingOn) ReadNext() (*storage.Message, error) {
	if g.next == g.round {
		return nil, io.EOF
	}
	at := int64(g.round*1000+g.next) * 1e6
	g.next++
	return &storage.Message{Topic: storage.TopicID(g.next - 1), LogTime: at, PublishTime: at,
		Data: []byte("\x02\x00\x00\x00ab")}, nil
}

func (g *goingOn) Resume() (bool, error) {
	g.atEnd(g.round)
	if g.round == len(g.topics) {
		g.next = g.round
		return false, nil
	}
	g.round++
	g.next = 0
	return true, nil
}

// liveTopics are four publishers: two of one topic and type, one of the same topic with another
// definition, and one of another topic.
func liveTopics() (list []storage.Topic) {
	for i, name := range []string{"/a", "/a", "/a", "/b"} {
		definition, sum := "string data\n", "992ce8a1687cec8c8bd883ec73ca41d1"
		if i == 2 {
			definition, sum = "string text\n", "74697ed3d931f6eede8bf3a8dfeca160"
		}
		list = append(list, storage.Topic{Name: name, Type: "std_msgs/String", Encoding: "ros1",
			Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte(definition)},
			Metadata: map[string]string{storage.MetaCallerID: "/node" + strconv.Itoa(i), storage.MetaMD5Sum: sum}})
	}
	return list
}

// TestRounds: topics that come while a recording is written get into outputs of all formats, and
// all messages of a round can be read in the unfinished file at its end, if the format allows that.
func TestRounds(t *testing.T) {
	for _, f := range all.Registry().Formats() {
		if f.Create == nil {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			if !f.Layout.Folder {
				out += f.Extensions[0]
			}
			g := &goingOn{topics: liveTopics(), atEnd: func(round int) { checkUnfinished(t, f, out, round) }}
			source := &storage.Format{Name: "fake", Holds: storage.Capacity{Native: "ros1"},
				Layout: storage.Layout{Files: func(storage.FS, string) (storage.Files, error) { return storage.Files{}, nil }},
				Open:   func(context.Context, string, storage.ReadOptions) (storage.Reader, error) { return g, nil }}
			job := convert.Job{Source: "live", SourceFormat: source, Sink: out, SinkFormat: f, Order: convert.OrderFile}
			job.Edit.Rates = []selection.Rate{mustRate(t, "/b=2")}
			report, err := convert.Run(t.Context(), job)
			if err != nil {
				t.Fatal(err)
			}
			if report.Source.Messages != 10 || len(report.Topics) != 4 || report.Topics[0].Written != 4 ||
				report.Topics[3].Written != 1 {
				t.Errorf("%+v", report)
			}
			if n := countMessages(t, f, out); n != 10 {
				t.Errorf("%d messages in the output", n)
			}
		})
	}
}

func mustRate(t *testing.T, text string) selection.Rate {
	r, err := selection.ParseEvery(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// checkUnfinished reads what stands under the temporary name at the end of a round.
func checkUnfinished(t *testing.T, f *storage.Format, out string, round int) {
	want := round * (round + 1) / 2
	if round == 0 {
		return
	}
	temp, err := filepath.Glob(filepath.Join(filepath.Dir(out), ".*.part", "new", "*"))
	if err != nil || len(temp) != 1 {
		t.Fatalf("%q, %v", temp, err)
	}
	if n := countMessages(t, f, temp[0]); n != want {
		t.Errorf("after round %d: %d messages, want %d", round, n, want)
	}
}

func countMessages(t *testing.T, f *storage.Format, path string) (n int) {
	r, err := f.Open(t.Context(), path, storage.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		switch _, err := r.ReadNext(); err {
		case nil:
			n++
		case io.EOF:
			return n
		default:
			t.Fatal(err)
		}
	}
}

package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// A Definition is a type with its definition.
type Definition struct {
	Type   string
	Schema storage.Schema
}

// kept returns r as it is read back: without what the format does not keep.
func (c *Config) kept(r Recording) Recording {
	if c.sample != "" {
		return r
	}
	r.Topics, r.Messages = slices.Clone(r.Topics), slices.Clone(r.Messages)
	for i := range r.Topics {
		r.Topics[i] = c.Format.Holds.StripTopic(r.Topics[i])
	}
	for i := range r.Messages {
		if m := &r.Messages[i]; !c.Format.Holds.PublishTime {
			m.PublishTime = m.LogTime
		}
		if !c.Format.Holds.Sequence {
			r.Messages[i].Sequence = 0
		}
	}
	r.Metadata = maps.Clone(r.Metadata)
	maps.DeleteFunc(r.Metadata, func(key, _ string) bool { return !c.Format.Holds.KeepsMetadata(key) })
	return r
}

// match returns which topic of want each topic of a recording is. Topics are distinguished
// by everything that the format keeps of them, and equal ones by their order:
// a format may number them anew.
func match(t *testing.T, info *storage.Info, want Recording) []storage.TopicID {
	t.Helper()
	byName := map[string][]storage.TopicID{} // topics that are not matched yet
	for i := range want.Topics {
		name := want.Topics[i].Name
		byName[name] = append(byName[name], storage.TopicID(i))
	}
	ids := make([]storage.TopicID, len(info.Topics))
	for i := range info.Topics {
		got := &info.Topics[i].Topic
		left := byName[got.Name]
		if len(left) == 0 {
			t.Fatalf("topic %d, %q of type %q, is not one of those that were written", i, got.Name, got.Type)
		}
		k := slices.IndexFunc(left, func(id storage.TopicID) bool { return sameTopic(got, &want.Topics[id]) })
		if k < 0 {
			t.Errorf("topic %d is %+v; want %+v", i, *got, want.Topics[left[0]])
			k = 0
		}
		ids[i] = left[k]
		byName[got.Name] = slices.Delete(slices.Clone(left), k, k+1)
	}
	return ids
}

func sameTopic(a, b *storage.Topic) bool {
	return a.Name == b.Name && a.Type == b.Type && a.Encoding == b.Encoding &&
		a.Schema.Encoding == b.Schema.Encoding && bytes.Equal(a.Schema.Data, b.Schema.Data) &&
		slices.Equal(a.QoS, b.QoS) && maps.Equal(a.Metadata, b.Metadata)
}

// renumber sets in messages the topics of the recording that was written.
func renumber(t *testing.T, got []storage.Message, ids []storage.TopicID) {
	t.Helper()
	for i := range got {
		if int(got[i].Topic) >= len(ids) {
			t.Fatalf("message %d has topic %d of %d", i, got[i].Topic, len(ids))
		}
		got[i].Topic = ids[got[i].Topic]
	}
}

// wholeTopics have all that a topic can have.
func (c *Config) wholeTopics() []storage.Topic {
	profiles := []storage.QoS{
		{},
		{
			History: storage.HistoryKeepLast, Depth: 10, Reliability: storage.ReliabilityReliable,
			Durability: storage.DurabilityTransientLocal,
			Deadline:   storage.QoSDuration{Sec: 1, NSec: 500}, Lifespan: storage.QoSInfinite,
			Liveliness: storage.LivelinessManualByTopic,
			Lease:      storage.QoSDuration{Sec: 3, NSec: 999_999_999}, AvoidROSNamespaceConventions: true,
		},
		{History: storage.HistoryKeepAll, Reliability: storage.ReliabilityBestEffort, Durability: storage.DurabilityVolatile,
			Liveliness: storage.LivelinessAutomatic},
	}
	plain, rich, bare := c.topic("/plain"), c.topic("/described"), c.topic("/bare")
	rich.QoS = profiles
	for key, value := range map[string]string{
		storage.MetaCallerID: "/talker", storage.MetaLatching: "1", "some key": "a=b\nand more: \"ü\"", "a=b": "c",
		"":      "no key",
		"bytes": "\xff\xfe", "\xff": "no text",
	} {
		rich.Metadata[key] = value
	}
	bare.Type += "Bare" // a format may keep definitions by type
	bare.Schema = storage.Schema{}
	topics := []storage.Topic{plain, rich, bare}
	for i, d := range c.Others {
		topic := c.topic("/other_" + string(rune('a'+i)))
		topic.Type, topic.Schema, topic.QoS = d.Type, d.Schema, profiles[1:2]
		topics = append(topics, topic)
	}
	return topics
}

// carried are topics of other encodings than the native one, as far as the format keeps
// them as they are.
func (c *Config) carried() (topics []storage.Topic) {
	for _, e := range [][2]string{{"ros1", "ros1msg"}, {"cdr", "ros2msg"}, {"cdr", "ros2idl"}, {"protobuf", "protobuf"},
		{"json", "jsonschema"}, {"json", ""}} {
		topic := c.topic(fmt.Sprintf("/carried_%s_%s", e[0], e[1]))
		topic.Type, topic.Encoding, topic.Schema = "carried_msgs/"+e[0]+e[1], e[0], storage.Schema{Encoding: e[1]}
		if e[1] != "" {
			topic.Schema.Data = []byte("definition in " + e[1])
		}
		if e[0] != c.Format.Holds.Native && c.Format.Holds.CarriesTopic(&topic) {
			topics = append(topics, topic)
		}
	}
	return topics
}

// whole returns a recording with all that a recording can have.
func (c *Config) whole() Recording {
	r := Recording{Topics: append(c.wholeTopics(), c.carried()...), Metadata: map[string]string{}}
	for i := range 300 {
		at := start + int64(i)*1000
		m := storage.Message{Topic: storage.TopicID(i % len(r.Topics)), LogTime: at, PublishTime: at - int64(i),
			Sequence: uint32(i), Data: []byte{byte(i), 1}}
		switch i {
		case 100:
			m.PublishTime, m.Sequence = at+5_000_000_000, math.MaxUint32
		case 101:
			m.PublishTime = 0
		}
		r.Messages = append(r.Messages, m)
	}
	for _, key := range c.Format.Holds.Metadata {
		if key == "*" {
			key = "some key: #"
		}
		r.Metadata[key] = "value of " + key + ":\n\"ü\" # 1"
	}
	return r
}

// oneName: topics of one name are kept apart, or the second is refused and costs
// nothing but itself.
func (c *Config) oneName(t *testing.T) {
	first := c.topic("/a")
	again := first // another publisher of all the same
	again.Metadata = maps.Clone(first.Metadata)
	again.Metadata[storage.MetaCallerID] = "/second"
	doubles := map[string]storage.Topic{"equal": c.topic("/a"), "another publisher": again}
	for _, d := range c.Others {
		double := c.topic("/a")
		double.Type, double.Schema = d.Type, d.Schema
		name := "another type"
		if d.Type == first.Type {
			name = "another definition"
		}
		doubles[name] = double
	}
	if len(doubles) != 4 {
		t.Fatal("storagetest: Others needs a definition of another type, and another one of Type")
	}
	for name, double := range doubles {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.Name)
			w, err := c.Format.Create(context.Background(), path, storage.WriteOptions{NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			kept := w.Identity() == storage.IdentityTopic || w.Identity() == storage.IdentityType && double.Type != first.Type
			want := Recording{Topics: []storage.Topic{first}}
			ids := make([]storage.TopicID, 1, 3)
			if ids[0], err = w.CreateTopic(first); err != nil {
				t.Fatal(err)
			}
			second, err := w.CreateTopic(double)
			switch {
			case kept && (err != nil || second == ids[0]):
				t.Fatalf("the second topic has number %d, the first %d: %v", second, ids[0], err)
			case !kept && !errors.Is(err, storage.ErrUnsupported):
				t.Fatalf("the second topic has number %d: %v", second, err)
			case kept:
				want.Topics, ids = append(want.Topics, double), append(ids, second)
			}
			last := c.topic("/b")
			third, err := w.CreateTopic(last)
			if err != nil {
				t.Fatalf("a topic after the second: %v", err)
			}
			want.Topics, ids = append(want.Topics, last), append(ids, third)
			for i := range 30 {
				m := storage.Message{Topic: storage.TopicID(i % len(ids)), LogTime: start + int64(i), PublishTime: start + int64(i),
					Data: []byte{byte(i)}}
				want.Messages = append(want.Messages, m)
				m.Topic = ids[m.Topic]
				if err := w.Write(&m); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
			c.check(t, path, want)
		})
	}
}

package convert

import (
	"fmt"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/bagconv/bagconv/internal/schema/protoschema"
	"github.com/bagconv/bagconv/internal/testing/costtest"
	"github.com/bagconv/bagconv/storage"
)

// joinAll returns what a joiner makes of topics, and where each went.
func joinAll(identity storage.Identity, topics ...storage.Topic) (sinks []sinkTopic, at []int) {
	j := newJoiner(identity)
	for i := range topics {
		at = append(at, j.add(&topics[i], i, -1, false))
	}
	return j.finish(), at
}

// TestJoin: publishers of one topic, type and definition become one topic with the
// names and profiles of all, each once; other definitions are topics of their own.
func TestJoin(t *testing.T) {
	topic := func(def, caller string, qos ...storage.QoS) storage.Topic {
		return storage.Topic{Name: "/t", Type: "p/T", Encoding: "cdr", QoS: qos,
			Schema:   storage.Schema{Data: []byte(def)},
			Metadata: map[string]string{storage.MetaCallerID: caller, storage.MetaLatching: "0"}}
	}
	one, two := storage.QoS{Depth: 1}, storage.QoS{Depth: 2}
	last := topic("int8 a", "/c", two, one)
	last.Metadata = map[string]string{storage.MetaCallerIDs: "/d,/a", storage.MetaLatching: "1"}
	topics := []storage.Topic{topic("int8 a", "/a", one), topic("int8 b", "/b"), topic("int8 a", "/c", one),
		topic("", "/a"), topic("int8 b", "/b"), last}
	sinks, at := joinAll(storage.IdentityName, topics...)
	if !slices.Equal(at, []int{0, 1, 0, 0, 1, 0}) || len(sinks) != 2 {
		t.Fatalf("%d topics, %v", len(sinks), at)
	}
	a, b := sinks[0], sinks[1]
	if got := a.topic.Metadata; len(got) != 2 || got[storage.MetaCallerIDs] != "/a,/c,/d" ||
		got[storage.MetaLatching] != "1" {
		t.Errorf("metadata %v", got)
	}
	if !slices.Equal(a.topic.QoS, []storage.QoS{one, two}) || !slices.Equal(a.sources, []int{0, 2, 3, 5}) {
		t.Errorf("profiles %v of %v", a.topic.QoS, a.sources)
	}
	if b.topic.Name != "/t_2" || b.renamed != "/t" || b.topic.Metadata[storage.MetaCallerIDs] != "/b" {
		t.Errorf("the other definition: %+v", b)
	}
	if len(topics[0].Metadata) != 2 || topics[0].Metadata[storage.MetaCallerID] != "/a" {
		t.Errorf("the topic that was added has changed: %v", topics[0])
	}
	if sinks, _ := joinAll(storage.IdentityTopic, topics...); len(sinks) != len(topics) {
		t.Errorf("%d topics where publishers are kept apart, want %d", len(sinks), len(topics))
	}
	// Of two inputs, equal topics flow together, each into another one.
	j := newJoiner(storage.IdentityTopic)
	same, other, to := topic("int8 a", "/a", one), topic("int8 a", "/b", one), []int{}
	for i, t := range []storage.Topic{same, same, other, same, same, same, topic("int8 a", "/a", two)} {
		to = append(to, j.add(&t, i, i/3*3, false))
	}
	if !slices.Equal(to, []int{0, 1, 2, 0, 1, 3, 4}) {
		t.Errorf("topics of two inputs went to %v", to)
	}
	// If they are kept apart, topics of one definition can flow together all the same.
	j = newJoiner(storage.IdentityTopic)
	at = nil
	for i := range topics {
		at = append(at, j.add(&topics[i], i, -1, i != 2))
	}
	if !slices.Equal(at, []int{0, 1, 2, 0, 1, 0}) || j.sinks[1].renamed != "" {
		t.Errorf("topics that flow together went to %v", at)
	}
}

// TestJoinDescriptors: descriptors that differ in their options are the same.
func TestJoinDescriptors(t *testing.T) {
	set := func(message, field string, deprecated bool) []byte {
		data, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
			Name: proto.String("f.proto"), MessageType: []*descriptorpb.DescriptorProto{{
				Name: proto.String(message), Options: &descriptorpb.MessageOptions{Deprecated: &deprecated},
				Field: []*descriptorpb.FieldDescriptorProto{{Name: proto.String(field), Number: proto.Int32(1)}},
			}}}}})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	topic := func(def []byte) storage.Topic {
		return storage.Topic{Name: "/t", Type: "p.T", Encoding: "protobuf", Schema: storage.Schema{Encoding: "protobuf",
			Data: def}}
	}
	_, at := joinAll(storage.IdentityName, topic(set("T", "a", false)), topic(set("T", "b", false)),
		topic(set("T", "a", true)), topic(set("T", "b", true)))
	if !slices.Equal(at, []int{0, 1, 0, 1}) {
		t.Errorf("topics go to %v", at)
	}
	if bad := []byte("\xff"); protoschema.Shape(bad) != "\xff" {
		t.Error("what is no descriptor has another shape than its bytes")
	}
}

// TestJoinCost: the cost is in proportion to the topics, however many of them have
// one name.
func TestJoinCost(t *testing.T) {
	for name, vary := range map[string]func(topic *storage.Topic, i int){
		"publishers": func(topic *storage.Topic, i int) {
			topic.Metadata = map[string]string{storage.MetaCallerID: fmt.Sprint("/node", i)}
		},
		"profiles":    func(topic *storage.Topic, i int) { topic.QoS = []storage.QoS{{Depth: int64(i)}} },
		"definitions": func(topic *storage.Topic, i int) { topic.Schema.Data = fmt.Appendf(nil, "int8[%d] a", i) },
		"descriptors": func(topic *storage.Topic, i int) {
			topic.Encoding, topic.Schema.Data = "protobuf", append(make([]byte, 0, 8), 0xff, byte(i), byte(i>>8))
		},
		"types": func(topic *storage.Topic, i int) { topic.Type = fmt.Sprint("p/T", i) },
	} {
		t.Run(name, func(t *testing.T) {
			costtest.Linear(t, 1000, func(n int) {
				topics := make([]storage.Topic, n)
				for i := range topics {
					topics[i] = storage.Topic{Name: "/t", Type: "p/T", Encoding: "cdr", Schema: storage.Schema{Data: []byte("int8 a")}}
					vary(&topics[i], i)
				}
				joinAll(storage.IdentityName, topics...)
			})
		})
	}
}

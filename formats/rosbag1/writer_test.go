package rosbag1

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// topics that between them have all that a connection can have.
var testTopics = []storage.Topic{
	{Name: "/chatter", Type: "std_msgs/String", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")},
		Metadata: map[string]string{"callerid": "/talker", "latching": "1", "md5sum": "992ce8a1687cec8c8bd883ec73ca41d1"}},
	{Name: "/chatter", Type: "std_msgs/String", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("string data\n")},
		Metadata: map[string]string{"callerid": "/other", "md5sum": "992ce8a1687cec8c8bd883ec73ca41d1", "topic": "chatter"}},
	{Name: "/empty", Type: "std_msgs/Empty", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg"}, Metadata: map[string]string{"md5sum": emptyMD5}},
	{Name: "/silent", Type: "std_msgs/UInt32", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("uint32 data\n")},
		Metadata: map[string]string{"md5sum": "304a39449588c7f8ce2df6e8001c5fce"}},
}

// testMessages are n messages on the topics but the last, some out of order.
func testMessages(n int) []storage.Message {
	out := make([]storage.Message, n)
	for i := range out {
		m := storage.Message{Topic: storage.TopicID(i % 3), LogTime: 1_700_000_000_000_000_000 + int64(i^1)*1e8}
		if m.Topic != 2 {
			text := fmt.Sprintf("hello %d", i)
			m.Data = append([]byte{byte(len(text)), 0, 0, 0}, text...)
		}
		m.PublishTime = m.LogTime
		out[i] = m
	}
	return out
}

func write(t testing.TB, path string, o storage.WriteOptions, messages []storage.Message) {
	t.Helper()
	w, err := Create(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, topic := range testTopics {
		if id, err := w.CreateTopic(topic); err != nil || int(id) != i {
			t.Fatal(id, err)
		}
	}
	for i := range messages {
		if err := w.Write(&messages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func equalMessages(t testing.TB, got, want []storage.Message) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Topic != w.Topic || g.LogTime != w.LogTime || g.PublishTime != w.PublishTime || string(g.Data) != string(w.Data) {
			t.Fatalf("message %d is %+v, want %+v", i, g, w)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for _, codec := range Format.Compressions {
		t.Run(codec, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.bag")
			messages := testMessages(100)
			write(t, path, storage.WriteOptions{Compression: codec, ChunkSize: 1000, NoSync: true}, messages)
			r := open(t, path, storage.ReadOptions{Strict: true})
			equalMessages(t, readAll(t, r), messages)
			i := info(t, r)
			if len(i.Warnings) > 0 || i.Messages != 100 || i.Compression[codec] != int64(len(r.blocks)) || len(r.blocks) < 3 {
				t.Errorf("info %+v", i)
			}
			if len(i.Topics) != len(testTopics) {
				t.Fatalf("%d topics", len(i.Topics))
			}
			for k, topic := range i.Topics {
				if !reflect.DeepEqual(topic.Topic, testTopics[k]) {
					t.Errorf("topic %+v, want %+v", topic.Topic, testTopics[k])
				}
			}
		})
	}
}

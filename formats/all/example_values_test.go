package all_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert/values"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// Messages as values of a struct that has the fields of interest.
func Example_values() {
	type fix struct {
		Header struct {
			Stamp   time.Time
			FrameID string
		}
		Latitude float64
		Height   float64 `bag:"altitude"`
	}
	r, err := all.Open(context.Background(), "../../testdata/demo.bag", storage.ReadOptions{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	n := 0
	for m, err := range values.Read[fix](context.Background(), r, "/gps/fix", values.Query{}) {
		if err != nil {
			panic(err)
		}
		if n++; n == 1 {
			fmt.Println(m.Value.Header.FrameID, m.Value.Header.Stamp.Year(), m.Value.Latitude)
		}
	}
	fmt.Println(n, "messages")
	// Output:
	// gps 2023 52
	// 10 messages
}

// A message of a type that the program does not know is a map. It is changed, and written again.
func Example_maps() {
	topic := &storage.Topic{Name: "/status", Type: "acme_msgs/Status", Encoding: "ros1",
		Schema: storage.Schema{Encoding: "ros1msg", Data: []byte("string name\nuint8[] codes\nduration wait\n")}}
	codec, err := values.For[map[string]any](topic)
	if err != nil {
		panic(err)
	}
	message, err := codec.Append(nil, &map[string]any{"name": "arm", "codes": []int{1, 2}})
	if err != nil {
		panic(err)
	}
	var v map[string]any
	if err := codec.Decode(message, &v); err != nil {
		panic(err)
	}
	v["wait"] = v["wait"].(time.Duration) + time.Second
	if message, err = codec.Append(message[:0], &v); err != nil {
		panic(err)
	}
	fmt.Printf("%v\n%q\n", v, message)
	// Output:
	// map[codes:[1 2] name:arm wait:1s]
	// "\x03\x00\x00\x00arm\x02\x00\x00\x00\x01\x02\x01\x00\x00\x00\x00\x00\x00\x00"
}

// A damagedReader has a message that does not fit its type, and ends with an error.
type damagedReader struct {
	storage.Reader
	messages [][]byte
}

var errBroken = errors.New("broken")

func (r *damagedReader) Info() *storage.Info {
	return &storage.Info{Topics: []storage.TopicInfo{
		{Topic: storage.Topic{Name: "/other", Type: "std_msgs/String", Encoding: "ros1"}},
		{Topic: storage.Topic{Name: "/fix", Type: "sensor_msgs/msg/NavSatStatus", Encoding: "cdr"}},
		{Topic: storage.Topic{Name: "/json", Type: "sensor_msgs/NavSatStatus", Encoding: "json"}},
	}}
}

func (r *damagedReader) ReadNext() (*storage.Message, error) {
	if len(r.messages) == 0 {
		return nil, errBroken
	}
	m := &storage.Message{Topic: 1, Data: r.messages[0]}
	r.messages = r.messages[1:]
	return m, nil
}

// TestReadValues: a message that does not fit is an error, and the loop goes on; other errors end it.
func TestReadValues(t *testing.T) {
	type status struct{ Status int }
	r := &damagedReader{messages: [][]byte{{0, 1, 0, 0, 2, 0, 1, 0}, {0, 1, 0, 0, 2}, {0, 1, 0, 0, 255, 0, 1, 0}}}
	var got []int
	var errs []error
	for m, err := range values.Read[status](t.Context(), r, "/fix", values.Query{}) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		got = append(got, m.Value.Status)
	}
	if fmt.Sprint(got) != "[2 -1]" || len(errs) != 2 || !errors.Is(errs[0], values.ErrMalformed) ||
		!errors.Is(errs[1], errBroken) {
		t.Error(got, errs)
	}
	for topic, want := range map[string]string{"/none": "there is no topic /none",
		"/other": "topic /other: the Go type does not fit: "} {
		for _, err := range values.Read[struct {
			Data int `bag:"data"`
		}](t.Context(), r, topic, values.Query{}) {
			if err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
				t.Errorf("%s: %v", topic, err)
			}
		}
	}
}

// TestJSONValues: messages in JSON are read, and not written.
func TestJSONValues(t *testing.T) {
	codec, err := values.For[struct{ A []int }](&storage.Topic{Name: "/json", Type: "x", Encoding: "json",
		Schema: storage.Schema{Encoding: "jsonschema",
			Data: []byte(`{"type":"object","properties":{"a":{"type":"array","items":{"type":"integer"}}}}`)}})
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ A []int }
	if err := codec.Decode([]byte(`{"a":[1,-2]}`), &v); err != nil || fmt.Sprint(v.A) != "[1 -2]" {
		t.Error(v, err)
	}
	if _, err := codec.Append(nil, &v); !errors.Is(err, storage.ErrUnsupported) {
		t.Error(err)
	}
}

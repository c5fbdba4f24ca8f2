package all_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/gen"
	"github.com/bagconv/bagconv/gen/gentest"
	"github.com/bagconv/bagconv/storage"
)

// Messages as values of a type that bagconv gen go has written.
func Example_typedFields() {
	r, err := all.Open(context.Background(), "../../testdata/demo.bag", storage.ReadOptions{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	n := 0
	for m, err := range gen.Read[gentest.SensorMsgsNavSatFix](r, "/gps/fix") {
		if err != nil {
			panic(err)
		}
		if n++; n == 1 {
			fmt.Println(m.Header.FrameId, m.Latitude, m.Status.Status == gentest.SensorMsgsNavSatStatus_STATUS_FIX)
		}
	}
	fmt.Println(n, "messages")
	// Output:
	// gps 52 true
	// 10 messages
}

// A damagedReader has a message that does not fit its type, and ends with an error.
type damagedReader struct {
	storage.Reader
	messages [][]byte
}

var errBroken = errors.New("broken")

func (r *damagedReader) Info() (*storage.Info, error) {
	return &storage.Info{Topics: []storage.TopicInfo{
		{Topic: storage.Topic{Name: "/other", Type: "std_msgs/String", Encoding: "ros1"}},
		{Topic: storage.Topic{Name: "/fix", Type: "sensor_msgs/msg/NavSatStatus", Encoding: "cdr"}},
		{Topic: storage.Topic{Name: "/json", Type: "sensor_msgs/NavSatStatus", Encoding: "json"}},
	}}, nil
}

func (r *damagedReader) ReadNext() (*storage.Message, error) {
	if len(r.messages) == 0 {
		return nil, errBroken
	}
	m := &storage.Message{Topic: 1, Data: r.messages[0]}
	r.messages = r.messages[1:]
	return m, nil
}

// TestReadTyped: a message that does not fit is an error, and the loop goes on; other errors end it.
func TestReadTyped(t *testing.T) {
	read := func(topic string) (values []int8, errs []error) {
		r := &damagedReader{messages: [][]byte{{0, 1, 0, 0, 2, 0, 1, 0}, {0, 1, 0, 0, 2}, {0, 1, 0, 0, 255, 0, 1, 0}}}
		for m, err := range gen.Read[gentest.SensorMsgsNavSatStatus](r, topic) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			values = append(values, m.Status)
		}
		return values, errs
	}
	values, errs := read("/fix")
	if len(values) != 2 || values[0] != 2 || values[1] != -1 || len(errs) != 2 || !errors.Is(errs[0], gentest.ErrMalformed) || !errors.Is(errs[1], errBroken) {
		t.Error(values, errs)
	}
	for topic, want := range map[string]string{
		"/other": "topic /other has type std_msgs/String, not sensor_msgs/NavSatStatus",
		"/none":  "there is no topic /none",
		"/json":  `topic /json has messages in "json": no code is generated for it`,
	} {
		if values, errs := read(topic); len(values) != 0 || len(errs) != 1 || errs[0].Error() != want {
			t.Error(topic, values, errs)
		}
	}
}

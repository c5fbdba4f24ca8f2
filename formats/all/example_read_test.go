package all_test

import (
	"context"
	"fmt"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// Any recording opens with one call, and describes itself.
func ExampleOpen() {
	for _, path := range []string{"../../testdata/tiny.bag", "../../testdata/tiny.record"} {
		r, err := all.Open(context.Background(), path, storage.ReadOptions{})
		if err != nil {
			panic(err)
		}
		info := r.Info()
		fmt.Println(info.Format, info.Version, info.Messages, "messages")
		for _, t := range info.Topics[:2] {
			fmt.Println(" ", t.Name, t.Type, t.Encoding, t.Messages)
		}
		if err := r.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// bag 2.0 21 messages
	//   /tf_static tf2_msgs/TFMessage ros1 1
	//   /imu/data sensor_msgs/Imu ros1 12
	// record 1.0 21 messages
	//   /tf_static apollo.transform.TransformStampeds protobuf 1
	//   /apollo/sensor/gnss/imu apollo.drivers.gnss.Imu protobuf 6
}

// Raw messages, in the order of the file. A message and its Data are valid until
// the loop's next step: copy what is to be kept.
func ExampleOpen_raw() {
	r, err := all.Open(context.Background(), "../../testdata/tiny.bag", storage.ReadOptions{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	messages, bytes := 0, 0
	for m, err := range r.Messages(context.Background()) {
		if err != nil {
			panic(err)
		}
		messages++
		bytes += len(m.Data)
	}
	fmt.Println(messages, "messages,", bytes, "bytes")

	fmt.Println(len(r.Damage().Warnings), "warnings") // with what was damaged on the way
	// Output:
	// 21 messages, 6662 bytes
	// 0 warnings
}

// topicID is the number of the first topic of a name.
func topicID(info *storage.Info, name string) storage.TopicID {
	for _, t := range info.Topics {
		if t.Name == name {
			return t.ID
		}
	}
	panic("no topic " + name)
}

// The first message of a topic, and the last ones before a moment, without reading
// the rest of the file.
func ExampleOpen_query() {
	ctx := context.Background()
	r, err := all.Open(ctx, "../../testdata/demo.bag", storage.ReadOptions{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	info := r.Info()
	imu := []storage.TopicID{topicID(info, "/imu/data")}

	for m, err := range r.Query(ctx, storage.Query{Topics: imu, Limit: 1}) {
		if err != nil {
			panic(err)
		}
		fmt.Println("the first:", m.LogTime)
	}
	at := info.Start + 500_000_000
	for m, err := range r.Query(ctx, storage.Query{Topics: imu, Start: info.Start, End: at, Reverse: true, Limit: 2}) {
		if err != nil {
			panic(err)
		}
		fmt.Println("before half a second:", m.LogTime)
	}
	// Output:
	// the first: 1700000000000281056
	// before half a second: 1700000000497763249
	// before half a second: 1700000000495315075
}

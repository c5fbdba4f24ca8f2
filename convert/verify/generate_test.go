package verify_test

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// generated are the types of the recordings that the tests make: of all shapes,
// with and without a counterpart in Apollo.
var generated = []string{"std_msgs/String", "sensor_msgs/Imu", "nav_msgs/Odometry", "sensor_msgs/LaserScan",
	"diagnostic_msgs/DiagnosticArray", "tf2_msgs/TFMessage", "sensor_msgs/CameraInfo", "std_msgs/Float64MultiArray",
	"std_msgs/Empty"}

const start = 1_700_000_000_000_000_000

// topicOf makes a ROS 1 topic of a standard type.
func topicOf(t testing.TB, name, typ string) (storage.Topic, *schema.Message) {
	t.Helper()
	msg, err := rosmsg.Parse(typ, nil, rosmsg.ROS1,
		func(name string) (string, bool) { return builtin.Lookup(mapping.ROS1Distro, name) })
	if err != nil {
		t.Fatal(err)
	}
	return storage.Topic{
		Name: name, Type: typ, Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
			Data: rosmsg.Format(msg, rosmsg.ROS1)},
		Metadata: map[string]string{storage.MetaMD5Sum: schema.MD5(msg), storage.MetaCallerID: "/test",
			storage.MetaLatching: "0"},
	}, msg
}

// generate makes a recording of n messages on each topic. Some have equal times.
func generate(t testing.TB, rng *rand.Rand, n int) storagetest.Recording {
	t.Helper()
	var r storagetest.Recording
	var types []*schema.Message
	for i, typ := range generated {
		topic, msg := topicOf(t, "/"+string(rune('a'+i)), typ)
		r.Topics = append(r.Topics, topic)
		types = append(types, msg)
	}
	at := int64(start)
	for range n * len(types) {
		at += rng.Int64N(3) * 1_000_003
		id := rng.IntN(len(types))
		r.Messages = append(r.Messages, storage.Message{Topic: storage.TopicID(id), LogTime: at, PublishTime: at,
			Data: randomMessage(rng, nil, types[id])})
	}
	return r
}

// randomMessage appends a message in ROS 1 serialization.
func randomMessage(rng *rand.Rand, b []byte, m *schema.Message) []byte {
	for _, f := range m.Fields {
		n := 1
		switch f.Type.Array {
		case schema.Fixed:
			n = f.Type.Len
		case schema.Unbounded, schema.Bounded:
			n = rng.IntN(4)
			b = binary.LittleEndian.AppendUint32(b, uint32(n))
		}
		for range n {
			b = randomValue(rng, b, f.Type)
		}
	}
	return b
}

func randomValue(rng *rand.Rand, b []byte, t schema.Type) []byte {
	switch t.Kind {
	case schema.Struct:
		return randomMessage(rng, b, t.Message)
	case schema.String:
		n := rng.IntN(9)
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
		for range n {
			b = append(b, 'a'+byte(rng.IntN(26)))
		}
		return b
	case schema.Float32:
		return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(rng.NormFloat64())))
	case schema.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(rng.NormFloat64()))
	case schema.Bool:
		return append(b, byte(rng.IntN(2)))
	case schema.Time, schema.Duration:
		b = binary.LittleEndian.AppendUint32(b, 1_700_000_000+uint32(rng.IntN(1000)))
		return binary.LittleEndian.AppendUint32(b, uint32(rng.IntN(1_000_000_000)))
	}
	for range t.Kind.Size() {
		b = append(b, byte(rng.Uint32()))
	}
	return b
}

func formatOf(t testing.TB, path string) *storage.Format {
	t.Helper()
	f, err := registry.Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// load reads a recording whole.
func load(t testing.TB, path string) storagetest.Recording {
	t.Helper()
	r, err := formatOf(t, path).Open(context.Background(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	var rec storagetest.Recording
	for _, topic := range info.Topics {
		rec.Topics = append(rec.Topics, topic.Topic)
	}
	if rec.Messages, err = storagetest.ReadAll(r); err != nil {
		t.Fatal(err)
	}
	return rec
}

// ending is how the name of an output ends; that of a folder has no ending.
func ending(f *storage.Format) string {
	if len(f.Extensions) == 0 {
		return ""
	}
	return f.Extensions[0]
}

// save writes a recording in a format under a name without an ending.
func save(t testing.TB, f *storage.Format, stem string, rec storagetest.Recording) string {
	t.Helper()
	path := stem + ending(f)
	if err := storagetest.WriteAll(f, path, storage.WriteOptions{NoSync: true}, rec); err != nil {
		t.Fatal(err)
	}
	return path
}

// converted converts a recording, and returns the output's path.
func converted(t testing.TB, job convert.Job, path, to, stem string) string {
	t.Helper()
	job.Source, job.SourceFormat = path, formatOf(t, path)
	job.SinkFormat = registry.Lookup(to)
	job.Sink = stem + ending(job.SinkFormat)
	job.Write.NoSync = true
	if _, err := convert.Run(context.Background(), job); err != nil {
		t.Fatal(err)
	}
	return job.Sink
}

// inputs writes a generated recording and converts it to each format.
func inputs(t testing.TB, seed uint64, n int) (bag string, others map[string]string) {
	t.Helper()
	dir := t.TempDir()
	bag = save(t, registry.Lookup("bag"), filepath.Join(dir, "a"), generate(t, rand.New(rand.NewPCG(seed, 1)), n))
	others = map[string]string{}
	for _, to := range []string{"bag", "db3", "record"} {
		others[to] = converted(t, convert.Job{}, bag, to, filepath.Join(dir, "to_"+to))
	}
	return bag, others
}

package main

import (
	"bytes"
	"context"
	enc "encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/bagconv/bagconv/formats/cyber"
	"github.com/bagconv/bagconv/formats/rosbag1"
	"github.com/bagconv/bagconv/formats/rosbag2"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// A costCase is an input that can be made of any size, and commands on it. IN stands for
// the input, OUT for an output.
type costCase struct {
	name     string
	n        int
	in       string                                 // name of the input
	make     func(t *testing.T, path string, n int) // writes it
	commands []string
	limit    int // MB that are held at most with 2n
}

// TestCost: what costs more than its bytes, as far as that is known, costs in proportion to them: twice
// the input takes no more than 2.3 times the memory that is allocated on the way, and
// what is held stays far below 1 GB. -v also shows the processor time.
func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	for _, c := range []costCase{
		{"keys of metadata.yaml", 40_000, "in", makeKeys, []string{"info IN"}, 100},
		{"publishers of a topic", 4_000, "in.bag", makePublishers, []string{"IN OUT.db3", "IN OUT.record", "verify IN IN"},
			100},
		{"definitions of a topic", 500, "in.bag", makeDefinitions, []string{"IN OUT.db3", "IN OUT.record", "verify IN IN"},
			100},
		{"topics", samples.Pick(4_000, 2_000, 0), "in.bag", makeTopics, []string{"IN OUT.db3", "IN OUT.record",
			"verify IN IN", "check IN"}, 150},
		{"MB in a chunk that states 1 kB", 64, "in.bag", makeUnderstated, []string{"info IN", "IN OUT.db3"}, 100},
		{"compressed messages of 16 MB", 16, "in", makeZstd, []string{"info --scan always IN", "check IN", "verify IN IN"},
			150},
		{"thousand empty messages in a list", samples.Pick(500, 200, 0), "in.record", makeEmpties,
			[]string{"check IN", "IN OUT.bag", "verify IN IN", "cat IN"}, 300},
		{"messages that become 1 MB", 100, "in.record", makeDefaults, []string{"check IN", "IN OUT.bag", "verify IN IN"},
			250},
		{"levels of a type", 15, "in.bag", makeLevels, []string{"IN OUT.db3", "IN OUT.record", "verify IN IN", "check IN"},
			100},
		{"MB in one message", 40, "in.bag", makeLarge, []string{"IN OUT.db3", "IN OUT.record", "verify IN IN", "check IN"},
			2*80 + programMB},
	} {
		t.Run(c.name, func(t *testing.T) {
			if os.Getenv("BAGCONV_EXHAUSTIVE") != "" {
				c.n, c.limit = 4*c.n, min(4*c.limit, 1000)
			}
			var costs [2][]cost
			for i, n := range []int{c.n, 2 * c.n} {
				dir := t.TempDir()
				in := filepath.Join(dir, c.in)
				c.make(t, in, n)
				for k, command := range c.commands {
					out := filepath.Join(dir, fmt.Sprint("out", k))
					args := strings.Fields(strings.NewReplacer("IN", in, "OUT", out).Replace(command))
					if strings.Contains(command, "OUT") {
						args = append(args, "-q", "--no-sync", "--max-memory", "64M")
					}
					got := costOf(t, nil, args...)
					if got.status != 0 && got.status != 3 && got.status != 4 {
						t.Errorf("%s: exit status %d: %s", command, got.status, got.stderr)
					}
					if costs[i] = append(costs[i], got); i == 0 {
						continue
					}
					half := costs[0][k]
					t.Logf("%s: %d: %.2f s, %d MB held; %d: %.2f s, %d MB held", command, c.n, half.user.Seconds(), half.heldMB, n,
						got.user.Seconds(), got.heldMB)
					if growth := float64(got.allocated) / float64(half.allocated); growth > 2.3 {
						t.Errorf("%s: twice the input allocates %.1f times the memory", command, growth)
					}
					if got.heldMB > c.limit {
						t.Errorf("%s: %d MB are held, want at most %d", command, got.heldMB, c.limit)
					}
				}
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// writeRecording writes topics, and messages as next returns them until it has none.
func writeRecording(t *testing.T, f *storage.Format, path string, o storage.WriteOptions, topics []storage.Topic,
	messages []storage.Message) {
	t.Helper()
	o.NoSync = true
	w, err := f.Create(context.Background(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics {
		if _, err := w.CreateTopic(topic); err != nil {
			t.Fatal(err)
		}
	}
	for i := range messages {
		m := messages[i]
		m.LogTime += 1_700_000_000_000_000_000 + int64(i)*1000
		m.PublishTime = m.LogTime
		if err := w.Write(&m); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// int32Topic is a topic of a ROS 1 bag.
func int32Topic(name, caller, typ, definition string) storage.Topic {
	return storage.Topic{Name: name, Type: typ, Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
		Data: []byte(definition)},
		Metadata: map[string]string{storage.MetaCallerID: caller}}
}

// makeBag writes a bag of n topics with a message of 4 bytes each.
func makeBag(t *testing.T, path string, n int, topic func(i int) storage.Topic) {
	topics, messages := make([]storage.Topic, n), make([]storage.Message, n)
	for i := range n {
		topics[i], messages[i] = topic(i), storage.Message{Topic: storage.TopicID(i), Data: []byte{byte(i), 0, 0, 0}}
	}
	writeRecording(t, rosbag1.Format, path, storage.WriteOptions{}, topics, messages)
}

func makePublishers(t *testing.T, path string, n int) {
	makeBag(t, path, n, func(i int) storage.Topic {
		return int32Topic("/t", fmt.Sprint("/n", i), "std_msgs/Int32", "int32 data\n")
	})
}

func makeTopics(t *testing.T, path string, n int) {
	makeBag(t, path, n, func(i int) storage.Topic {
		return int32Topic(fmt.Sprint("/t", i), "/n", "std_msgs/Int32", "int32 data\n")
	})
}

func makeDefinitions(t *testing.T, path string, n int) {
	makeBag(t, path, n, func(i int) storage.Topic {
		return int32Topic("/t", "/n", "p/T", fmt.Sprintf("uint8[4] data%d\n",
			i))
	})
}

func makeKeys(t *testing.T, path string, n int) {
	writeRecording(t, rosbag2.Format, path, storage.WriteOptions{Metadata: map[string]string{"key": "value"}}, nil, nil)
	meta := filepath.Join(path, "metadata.yaml")
	text, err := os.ReadFile(meta)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), "  custom_data:\n")
	if !ok {
		t.Fatalf("no custom_data:\n%s", text)
	}
	_, after, _ = strings.Cut(after, "\n") // its one key
	var keys strings.Builder
	for i := range n {
		fmt.Fprintf(&keys, "k%d: v, ", i)
	}
	text = fmt.Appendf(nil, "%s  custom_data: {%s}\n  more_data: {%[2]s}\n%s", before, keys.String(), after)
	if err := os.WriteFile(meta, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// makeLevels writes a message of a type with n levels of 10 fields each.
func makeLevels(t *testing.T, path string, n int) {
	var def strings.Builder
	for level := range n {
		if level > 0 {
			fmt.Fprintf(&def, "%s\nMSG: p/T%d\n", strings.Repeat("=", 80), level)
		}
		for i := range 10 {
			fmt.Fprintf(&def, "T%d f%d\n", level+1, i)
		}
	}
	fmt.Fprintf(&def, "%s\nMSG: p/T%d\nuint8 x\n", strings.Repeat("=", 80), n)
	makeBag(t, path, 1, func(int) storage.Topic { return int32Topic("/t", "/n", "p/A", def.String()) })
}

func makeUnderstated(t *testing.T, path string, n int) {
	topic := storage.Topic{Name: "/t", Type: "std_msgs/UInt8MultiArray", Encoding: "ros1"}
	writeRecording(t, rosbag1.Format, path, storage.WriteOptions{Compression: "lz4", ChunkSize: 1 << 30},
		[]storage.Topic{topic},
		slices.Repeat([]storage.Message{{Data: make([]byte, 1<<20)}}, n))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("\x09\x00\x00\x00size="))
	enc.LittleEndian.PutUint32(data[at+9:], 1000)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func makeZstd(t *testing.T, path string, n int) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 16<<20)
	copy(data, "\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00") // a MultiArrayLayout of nothing
	enc.LittleEndian.PutUint32(data[12:], uint32(len(data)-16))
	topic := storage.Topic{Name: "/t", Type: "std_msgs/msg/UInt8MultiArray", Encoding: "cdr"}
	writeRecording(t, rosbag2.Format, path, storage.WriteOptions{}, []storage.Topic{topic},
		slices.Repeat([]storage.Message{{Data: e.EncodeAll(data, nil)}}, n))
}

// protoTopic is a topic with messages A{repeated B b = 1}, where B has 200 numbers.
func protoTopic(t *testing.T) storage.Topic {
	number := func(name string, n int32) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{Name: &name, Number: &n,
			Type:  descriptorpb.FieldDescriptorProto_TYPE_DOUBLE.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()}
	}
	list := number("b", 1)
	list.Type, list.Label, list.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(),
		descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum(), proto.String(".p.B")
	b := &descriptorpb.DescriptorProto{Name: proto.String("B")}
	for i := range int32(200) {
		b.Field = append(b.Field, number(fmt.Sprint("d", i), i+1))
	}
	data, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
		Name: proto.String("f.proto"), Package: proto.String("p"), MessageType: []*descriptorpb.DescriptorProto{
			{Name: proto.String("A"), Field: []*descriptorpb.FieldDescriptorProto{list}}, b},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return storage.Topic{Name: "/t", Type: "p.A", Encoding: "protobuf", Schema: storage.Schema{Encoding: "protobuf",
		Data: data}}
}

// empties is a list of n empty messages.
func empties(n int) []byte {
	return bytes.Repeat(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), nil), n)
}

func makeEmpties(t *testing.T, path string, n int) {
	writeRecording(t, cyber.Format, path, storage.WriteOptions{}, []storage.Topic{protoTopic(t)},
		[]storage.Message{{Data: empties(1000 * n)}})
}

func makeDefaults(t *testing.T, path string, n int) {
	writeRecording(t, cyber.Format, path, storage.WriteOptions{}, []storage.Topic{protoTopic(t)},
		slices.Repeat([]storage.Message{{Data: empties(650)}}, n))
}

func makeLarge(t *testing.T, path string, n int) {
	data := make([]byte, n<<20)
	enc.LittleEndian.PutUint32(data[8:], uint32(len(data)-12))
	writeRecording(t, rosbag1.Format, path, storage.WriteOptions{},
		[]storage.Topic{{Name: "/t", Type: "std_msgs/UInt8MultiArray", Encoding: "ros1"}}, []storage.Message{{Data: data}})
}

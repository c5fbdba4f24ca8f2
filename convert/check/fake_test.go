package check_test

import (
	"context"
	"encoding/binary"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/convert/check"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// A fake is a recording in memory, of blocks of a few messages.
type fake struct {
	info     storage.Info
	messages []storage.Message
	perBlock int
	pos      int
}

func (f *fake) topic(t storage.Topic) storage.TopicID {
	id := storage.TopicID(len(f.info.Topics))
	f.info.Topics = append(f.info.Topics, storage.TopicInfo{Topic: t, ID: id})
	return id
}

func (f *fake) add(id storage.TopicID, at int64, data []byte) {
	f.messages = append(f.messages, storage.Message{Topic: id, LogTime: at, PublishTime: at, Data: data})
}

func (f *fake) Info() *storage.Info    { in := f.info; return &in }
func (f *fake) Damage() storage.Damage { return f.info.Damage }
func (f *fake) Close() error           { return nil }

func (f *fake) ReadNext() (*storage.Message, error) {
	if f.pos == len(f.messages) {
		return nil, io.EOF
	}
	f.pos++
	return &f.messages[f.pos-1], nil
}

func (f *fake) Blocks(context.Context, *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	var out []storage.Block
	for i := 0; i < len(f.messages); i += f.perBlock {
		out = append(out, storage.Block{Offset: 1000 + int64(i), Size: 1})
	}
	return out, storage.OrderNone, nil
}

func (f *fake) ReadBlock(_ context.Context, i int, b *storage.Batch) error {
	b.Messages, b.Buf = b.Messages[:0], b.Buf[:0]
	part := f.messages[i*f.perBlock : min(len(f.messages), (i+1)*f.perBlock)]
	n := 0
	for _, m := range part {
		n += len(m.Data)
	}
	for i := range b.Buf[:cap(b.Buf)] {
		b.Buf[:cap(b.Buf)][i] = 0xee // what somebody keeps of an old block is gone
	}
	b.Buf = storage.Grow(b.Buf, n)[:0]
	for _, m := range part {
		at := len(b.Buf)
		b.Buf = append(b.Buf, m.Data...)
		m.Data = b.Buf[at:]
		b.Messages = append(b.Messages, m)
	}
	return nil
}

// run checks the recording in blocks of several sizes, on several cores and
// without blocks. The findings must be the same; those of blocks of 4 are
// returned.
func (f *fake) run(t testing.TB, o check.Options) *check.Result {
	t.Helper()
	var first *check.Result
	f.perBlock = 4
	tried, err := mapping.Look(context.Background(), f, &f.info, o.Definitions, o.Distro)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		perBlock, threads int
		plain             bool
	}{{4, 1, false}, {4, 3, false}, {1, 2, false}, {1000, 2, false}, {1, 1, true}} {
		f.perBlock, f.pos, o.Threads = c.perBlock, 0, c.threads
		var r storage.Reader = f
		if c.plain {
			r = struct{ storage.Reader }{f}
		}
		res, err := check.Run(context.Background(), r, o)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = res
			continue
		}
		if tried.Evidence != nil && c.perBlock != 4 {
			continue // which messages show the definition of their topic depends on the blocks
		}
		same := slices.EqualFunc(first.Findings, res.Findings, func(a, b check.Finding) bool {
			if c.perBlock != 4 {
				a.Offset, b.Offset = 0, 0
			}
			return reflect.DeepEqual(a, b)
		})
		if !same || !reflect.DeepEqual(first.Topics, res.Topics) || first.Decoded != res.Decoded {
			t.Fatalf("%+v: found\n%+v\nbefore\n%+v", c, res, first)
		}
	}
	return first
}

const (
	imuText = "std_msgs/Header header\nfloat64 value\n" +
		"================================================================================\n" +
		"MSG: std_msgs/Header\nuint32 seq\ntime stamp\nstring frame_id\n"
	start = int64(1_700_000_000_000_000_000)
	ms    = int64(1e6)
)

// sensor is a ROS 1 topic with a header.
func sensor(name string) storage.Topic {
	return storage.Topic{Name: name, Type: "acme_msgs/Value", Encoding: "ros1",
		Schema:   storage.Schema{Encoding: "ros1msg", Data: []byte(imuText)},
		Metadata: map[string]string{storage.MetaMD5Sum: "*"}}
}

// value is a message of it.
func value(stamp int64, v byte) []byte {
	b := make([]byte, 4)
	b = binary.LittleEndian.AppendUint32(b, uint32(stamp/1e9))
	b = binary.LittleEndian.AppendUint32(b, uint32(stamp%1e9))
	b = binary.LittleEndian.AppendUint32(b, 3)
	b = append(b, "imu"...)
	return append(b, v, 0, 0, 0, 0, 0, 0, 0)
}

// regular is a recording of 3 s of a topic at 100 Hz.
func regular() (*fake, storage.TopicID) {
	f := &fake{info: storage.Info{Format: "fake", Path: "fake"}}
	id := f.topic(sensor("/imu"))
	for i := range int64(300) {
		f.add(id, start+i*10*ms, value(start+i*10*ms, byte(i)))
	}
	return f, id
}

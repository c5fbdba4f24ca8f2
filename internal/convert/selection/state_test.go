package selection

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/storage"
)

// tfMessage makes a TFMessage that sets the child frames.
func tfMessage(cdr bool, stamp uint32, frames ...string) []byte {
	var w ros.Writer
	if cdr {
		w = ros.NewWriter(nil, true)
	} else {
		w = ros.NewWriter(nil, false)
	}
	w.U32(uint32(len(frames)))
	for _, f := range frames {
		if !cdr {
			w.U32(7)
		}
		w.U32(stamp)
		w.U32(0)
		w.String([]byte("base"))
		w.String([]byte(f))
		for range 7 {
			w.F64(1)
		}
	}
	return w.Buf
}

// tfOther makes a TFMessage in a form of XCDR2, or in CDR big endian. Delimited, a
// transform has a field more than it should.
func tfOther(id byte, frames ...string) []byte {
	out := []byte{0, id, 0, 0}
	var order binary.AppendByteOrder = binary.LittleEndian
	if id&1 == 0 {
		order = binary.BigEndian
	}
	u32 := func(v int) {
		for len(out)%4 != 0 {
			out = append(out, 0)
		}
		out = order.AppendUint32(out, uint32(v))
	}
	text := func(s string) {
		u32(len(s) + 1)
		out = append(append(out, s...), 0)
	}
	sized := func(on bool, write func()) {
		if !on {
			write()
			return
		}
		u32(0)
		head := len(out)
		write()
		copy(out[head-4:], order.AppendUint32(nil, uint32(len(out)-head)))
	}
	delimited := id == 8 || id == 9
	sized(delimited, func() {
		sized(id > 1, func() {
			u32(len(frames))
			for _, f := range frames {
				sized(delimited, func() {
					sized(delimited, func() {
						sized(delimited, func() { u32(1); u32(2) })
						text("base")
					})
					text(f)
					for len(out)%4 != 0 || id <= 1 && len(out)%8 != 4 { // which counts from after the first 4 bytes
						out = append(out, 0)
					}
					sized(delimited, func() {
						sized(delimited, func() { out = append(out, make([]byte, 3*8)...) })
						sized(delimited, func() { out = append(out, make([]byte, 4*8)...) })
					})
					if delimited {
						out = append(out, "more"...)
					}
				})
			}
		})
	})
	return out
}

// apolloMessage makes an apollo.transform.TransformStampeds.
func apolloMessage(stamp uint32, frames ...string) (out []byte) {
	for _, f := range frames {
		var t []byte
		// a header
		t = protowire.AppendBytes(protowire.AppendTag(t, 1, protowire.BytesType), binary.BigEndian.AppendUint32(nil, stamp))
		t = protowire.AppendString(protowire.AppendTag(t, 2, protowire.BytesType), f)
		out = protowire.AppendBytes(protowire.AppendTag(out, 2, protowire.BytesType), t)
	}
	return out
}

func TestChildFrames(t *testing.T) {
	frames := []string{"lidar", "", "camera"}
	for _, c := range []struct {
		typ, encoding string
		data          []byte
	}{
		{"tf2_msgs/TFMessage", "ros1", tfMessage(false, 1, frames...)},
		{"tf/tfMessage", "ros1", tfMessage(false, 1, frames...)},
		{"tf2_msgs/msg/TFMessage", "cdr", tfMessage(true, 1, frames...)},
		{"tf2_msgs/msg/TFMessage", "cdr", tfOther(0x00, frames...)},
		{"tf2_msgs/msg/TFMessage", "cdr", tfOther(0x06, frames...)},
		{"tf2_msgs/msg/TFMessage", "cdr", tfOther(0x07, frames...)},
		{"tf2_msgs/msg/TFMessage", "cdr", tfOther(0x08, frames...)},
		{"tf2_msgs/msg/TFMessage", "cdr", tfOther(0x09, frames...)},
		{"apollo.transform.TransformStampeds", "protobuf", apolloMessage(1, frames...)},
	} {
		f := childFrames(&storage.Topic{Type: c.typ, Encoding: c.encoding})
		if got, ok := f(nil, c.data); !ok || !slices.Equal(got, frames) {
			t.Errorf("%s: %q, %v", c.typ, got, ok)
		}
		if _, ok := f(nil, c.data[:len(c.data)-1]); ok {
			t.Errorf("%s: a cut message is read", c.typ)
		}
	}
	for _, topic := range []storage.Topic{{Type: "std_msgs/String", Encoding: "ros1"},
		{Type: "tf2_msgs/TFMessage", Encoding: "json"}} {
		if childFrames(&topic) != nil {
			t.Errorf("%+v has child frames", topic)
		}
	}
}

func FuzzChildFrames(f *testing.F) {
	f.Add(tfMessage(false, 1, "a", "b"), 0)
	f.Add(tfMessage(true, 1, "a", "b"), 1)
	f.Add(apolloMessage(1, "a", "b"), 2)
	topics := []storage.Topic{
		{Type: "tf2_msgs/TFMessage", Encoding: "ros1"}, {Type: "tf2_msgs/msg/TFMessage", Encoding: "cdr"},
		{Type: "apollo.transform.TransformStampeds", Encoding: "protobuf"},
	}
	f.Fuzz(func(t *testing.T, data []byte, which int) {
		names, _ := childFrames(&topics[uint(which)%3])(nil, data)
		if len(names) > len(data) {
			t.Errorf("%d frames in %d bytes", len(names), len(data))
		}
	})
}

// staticTopic is /tf_static with that many messages.
func staticTopic(n int64) *storage.Info {
	return &storage.Info{Messages: n, Topics: []storage.TopicInfo{
		{Topic: storage.Topic{Name: "/tf_static", Type: "tf2_msgs/TFMessage", Encoding: "ros1"}, Messages: n},
	}}
}

// TestStatic: whatever the order of blocks, each frame's last transform before
// the cut is there, and no message that sets none of them.
func TestStatic(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		type message struct {
			block, index int
			m            storage.Message
			frames       []string
		}
		var all []message
		for block := range 10 {
			for i := range rng.IntN(6) {
				var frames []string
				for range 1 + rng.IntN(3) {
					frames = append(frames, fmt.Sprint("f", rng.IntN(8)))
				}
				at := int64(block*10) + rng.Int64N(15)
				all = append(all, message{block, i, storage.Message{LogTime: at, Data: tfMessage(false, uint32(len(all)),
					frames...)}, frames})
			}
		}
		const cut = 70
		c := Everything(1)
		c.First = cut
		s := NewState(staticTopic(1000), c, &Latch{})
		last := map[string]message{}
		after := func(a, b message) bool {
			return (orderPlace{a.m.LogTime, a.block, a.index}).compare(orderPlace{b.m.LogTime, b.block, b.index}) >= 0
		}
		for _, m := range all {
			for _, f := range m.frames {
				if old, ok := last[f]; m.m.LogTime < cut && (!ok || after(m, old)) {
					last[f] = m
				}
			}
		}
		rng.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
		for i := range all {
			s.Add(&all[i].m, all[i].block, all[i].index)
		}
		if s.Complete(0) {
			t.Error("complete before all messages of the topic were seen")
		}
		want := map[string]bool{}
		for _, m := range last {
			want[string(m.m.Data)] = true
		}
		got := s.Messages()
		for _, m := range got {
			if !want[string(m.Data)] || m.LogTime != cut || m.PublishTime != cut {
				t.Fatalf("seed %d: %+v is not needed", seed, m)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: %d messages, want %d", seed, len(got), len(want))
		}
		order := map[string]orderPlace{}
		for _, m := range all {
			order[string(m.m.Data)] = orderPlace{m.m.LogTime, m.block, m.index}
		}
		if !slices.IsSortedFunc(got,
			func(a, b storage.Message) int { return order[string(a.Data)].compare(order[string(b.Data)]) }) {
			t.Fatalf("seed %d: not in the order of the recording", seed)
		}
	}
}

// TestUnreadable: transforms that cannot be read are all kept, each once.
func TestUnreadable(t *testing.T) {
	c := Everything(1)
	c.First = 100
	s := NewState(staticTopic(3), c, &Latch{})
	for i, data := range []string{"x", "yy", "x"} {
		s.Add(&storage.Message{LogTime: int64(i), Data: []byte(data)}, 0, i)
	}
	// One without transforms is kept, so that the topic has what it had.
	empty := NewState(staticTopic(2), c, &Latch{})
	for i := range 2 {
		empty.Add(&storage.Message{LogTime: int64(i), Sequence: uint32(i), Data: tfMessage(false, 0)}, 0, i)
	}
	if got := empty.Messages(); len(got) != 1 || got[0].Sequence != 1 {
		t.Errorf("%+v", got)
	}
	if got := s.Messages(); len(got) != 2 || string(got[0].Data) != "yy" || string(got[1].Data) != "x" ||
		!s.Complete(math.MaxInt64) {
		t.Errorf("%+v", got)
	}
}

func TestNewState(t *testing.T) {
	info := staticTopic(3)
	cut := Everything(1)
	cut.First = 1
	none, err := ParseLatch([]string{"none"})
	if err != nil {
		t.Fatal(err)
	}
	left := &Choice{Topics: []bool{false}, First: 1, Last: 2}
	if NewState(info, cut, &Latch{}) == nil {
		t.Error("no state at a cut")
	}
	if NewState(info, Everything(1), &Latch{}) != nil || NewState(info, cut, &none) != nil ||
		NewState(info, left, &Latch{}) != nil || NewState(staticTopic(0), cut, &Latch{}) != nil {
		t.Error("a state where none is asked for")
	}
	// The data of a message belongs to the reader.
	s := NewState(info, cut, &Latch{})
	data := tfMessage(false, 1, "a")
	s.Add(&storage.Message{LogTime: 0, Data: data}, 0, 0)
	for i := range data {
		data[i] = 0xff
	}
	if got := s.Messages(); len(got) != 1 || got[0].Data[0] != 1 {
		t.Errorf("%+v", got)
	}
}

package cyber

import (
	"encoding/binary"

	pb "github.com/bagconv/bagconv/proto/cyber"
	"google.golang.org/protobuf/proto"
)

// A record is a file in the making, section by section, as no writer would.
type record struct{ b []byte }

func newRecord(h *pb.Header) *record {
	r := &record{}
	if h == nil {
		h = &pb.Header{MajorVersion: proto.Uint32(1), MinorVersion: proto.Uint32(0)}
	}
	r.section(0, marshal(h))
	r.b = append(r.b, make([]byte, headerEnd-len(r.b))...)
	return r
}

// section adds a section, with something where Apollo leaves garbage.
func (r *record) section(typ uint32, content []byte) *record {
	return r.claim(typ, int64(len(content)), content)
}

// claim adds a section whose header states another size.
func (r *record) claim(typ uint32, size int64, content []byte) *record {
	r.b = binary.LittleEndian.AppendUint32(r.b, typ)
	r.b = append(r.b, 0x61, 0x55, 0, 0)
	r.b = binary.LittleEndian.AppendUint64(r.b, uint64(size))
	r.b = append(r.b, content...)
	return r
}

func (r *record) channel(name, typ string, desc []byte) *record {
	return r.section(4, marshal(&pb.Channel{Name: &name, MessageType: &typ, ProtoDesc: desc}))
}

// msg is a message of a chunk: its content is its number.
type msg struct {
	channel string
	time    uint64
	content string
}

func body(msgs ...msg) []byte {
	b := &pb.ChunkBody{}
	for i := range msgs {
		b.Messages = append(b.Messages, &pb.SingleMessage{ChannelName: &msgs[i].channel, Time: &msgs[i].time,
			Content: []byte(msgs[i].content)})
	}
	return marshal(b)
}

func chunkHeader(msgs ...msg) []byte {
	h := &pb.ChunkHeader{BeginTime: proto.Uint64(0), EndTime: proto.Uint64(0),
		MessageNumber: proto.Uint64(uint64(len(msgs)))}
	var raw uint64
	for i, m := range msgs {
		if i == 0 {
			*h.BeginTime, *h.EndTime = m.time, m.time
		}
		*h.BeginTime, *h.EndTime = min(*h.BeginTime, m.time), max(*h.EndTime, m.time)
		raw += uint64(len(m.content))
	}
	h.RawSize = &raw
	return marshal(h)
}

func (r *record) chunk(msgs ...msg) *record {
	return r.section(1, chunkHeader(msgs...)).section(2, body(msgs...))
}

func (r *record) bytes(b ...byte) *record {
	r.b = append(r.b, b...)
	return r
}

// tree is a ProtoDesc.
func tree(file []byte, deps ...*pb.ProtoDesc) *pb.ProtoDesc {
	return &pb.ProtoDesc{Desc: file, Dependencies: deps}
}

func testDesc() []byte { return marshal(tree(marshal(testFile("test.proto", "test")))) }

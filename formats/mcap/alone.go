package mcap

import (
	"encoding/binary"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
)

// aloneHead is how much of its first messages is looked at to find out how a file is compressed.
const aloneHead = 64 << 10

// packsMessages reports whether the file is a part of a rosbag2 folder whose messages are compressed
// one by one: its first message in CDR is a zstd frame, and no message in CDR begins like that. Chunks
// that are compressed themselves are not looked into.
func (r *reader) packsMessages() bool {
	if len(r.blocks) == 0 || len(r.defs.changes) > 0 {
		return false
	}
	bl := &r.blocks[0]
	at := bl.Offset
	if !bl.run {
		c, err := r.chunkHeader(bl)
		if codec, _ := c.codec(); err != nil || codec != compress.None {
			return false
		}
		at += recordHead + int64(c.head)
	}
	b := make([]byte, min(aloneHead, bl.Offset+bl.Size-at))
	if iox.ReadFull(r.src.File, b, at) != nil {
		return false
	}
	for len(b) >= recordHead+messageFixed+len(ros2bag.ZstdMagic) {
		h, err := parseHead(b)
		if err != nil {
			return false
		}
		if h.op == opMessage {
			topic, ok := r.defs.lookup(binary.LittleEndian.Uint16(b[recordHead:]))
			if ok && r.defs.list[topic].Encoding == "cdr" {
				return ros2bag.IsFrame(b[recordHead+messageFixed:])
			}
		}
		if h.length > uint64(len(b)-recordHead) {
			return false
		}
		b = b[recordHead+int(h.length):]
	}
	return false
}

package cyber

import (
	"fmt"

	"github.com/bagconv/bagconv/internal/inplace"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/encoding/protowire"
)

// Apollo's RecordReader ends at the first INDEX. So when sections stand behind it, and behind them
// another INDEX, the old INDEX becomes a section that every reader skips: a CHANNEL of a channel
// that was declared before. The bytes that are left of the index are the field disusedField of the
// message, which no version of Apollo knows. protobuf keeps such a field, so the message has the
// size of the section, as Apollo's reader demands.
//
//	INDEX    16 bytes, Index
//	CHANNEL  16 bytes, Channel{name, message_type, proto_desc}, disusedField: the rest of Index
//
// Commit overwrites the HEADER first: then readers that go by index_position have all, and
// Apollo's RecordReader, which does not, has all that was there before. The 16 bytes of
// the section come last. In between it is an INDEX that nobody reads.

// disusedField is the field of a Channel that is no channel, but an index that was replaced.
const disusedField protowire.Number = 1000

// commit makes the new sections count.
func (a *addition) commit(header []byte) error {
	old, err := a.disuse(a.start)
	if err != nil {
		return err
	}
	return a.file.Commit(
		inplace.Patch{Off: 0, Data: header},
		inplace.Patch{Off: a.indexAt + sectionHead, Data: old[sectionHead:]},
		inplace.Patch{Off: a.indexAt, Data: old[:sectionHead]},
	)
}

// disuse returns what overwrites the beginning of the old INDEX, so that it is a CHANNEL up to
// an offset. It has the shortest channel, which stands in the index too, and so has room.
func (a *addition) disuse(end int64) ([]byte, error) {
	var channel []byte
	for _, c := range a.channels {
		if b := c.section(); channel == nil || len(b) < len(channel) {
			channel = b
		}
	}
	size := end - a.indexAt - sectionHead
	room := size - int64(len(channel)-sectionHead)
	switch {
	case channel == nil:
		return nil, fmt.Errorf("it has no channels: %w", storage.ErrUnsupported)
	case size > maxSection:
		return nil, fmt.Errorf("%d bytes between its last chunk and what is added: %w", size, storage.ErrUnsupported)
	}
	head, ok := appendFill(channel, room)
	if !ok || int64(len(head)) > a.indexEnd-a.indexAt {
		return nil, fmt.Errorf("its index has no room for a channel: %w", storage.ErrUnsupported)
	}
	appendSection(head[:0], pb.SectionType_SECTION_CHANNEL, size)
	return head, nil
}

// appendFill appends the head of a field disusedField that takes room bytes. If one field cannot
// take exactly so many, an empty field stands before it.
func appendFill(b []byte, room int64) (_ []byte, ok bool) {
	tag := int64(protowire.SizeTag(disusedField))
	for n := room - tag - 1; n >= 0 && n > room-tag-8; n-- {
		if tag+int64(protowire.SizeVarint(uint64(n)))+n == room {
			return appendBytesHead(b, disusedField, int(n)), true
		}
	}
	if room < 2*(tag+1) {
		return b, false
	}
	return appendFill(appendBytesHead(b, disusedField, 0), room-tag-1)
}

// section returns the CHANNEL section of a channel.
func (c *outChannel) section() []byte {
	b := appendSection(nil, pb.SectionType_SECTION_CHANNEL, 0)
	b = appendStringField(b, 1, c.name)
	b = appendStringField(b, 2, c.typ)
	b = appendBytesHead(b, 3, len(c.desc))
	b = append(b, c.desc...)
	appendSection(b[:0], pb.SectionType_SECTION_CHANNEL, int64(len(b)-sectionHead))
	return b
}

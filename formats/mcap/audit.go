package mcap

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// audit compares what reading does without: the checksum of the data section, and the
// indexes of attachments and metadata. What is wrong with them is a warning; nothing
// is lost by it.
func (r *reader) audit(s *summary) error {
	if err := r.auditData(s); err != nil {
		return err
	}
	for _, x := range s.attachments {
		i := slices.IndexFunc(r.attachments, func(a placedAttachment) bool { return uint64(a.at) == x.offset })
		if i < 0 || uint64(r.attachments[i].length) != x.length || r.attachments[i].attachment != x.attachment {
			if err := r.src.Warn("attachment-index", int64(min(x.offset, uint64(r.src.Size))), false,
				"the index has another attachment here, %.80q", x.name); err != nil {
				return err
			}
		}
	}
	for _, x := range s.metadata {
		if !slices.Contains(r.metadata, placed{int64(x.offset), int64(x.length)}) {
			if err := r.src.Warn("metadata-index", int64(min(x.offset, uint64(r.src.Size))), false,
				"the index has another metadata record here, %.80q", x.name); err != nil {
				return err
			}
		}
	}
	return nil
}

// auditData compares the checksum of the data section.
func (r *reader) auditData(s *summary) error {
	sum, want, err := r.dataSum(s)
	if err == nil && want != 0 && sum != want {
		err = r.src.Warn("data-crc", s.dataEnd, false,
			"the checksum of the data section differs: something before this byte was changed")
	}
	return err
}

// dataSum returns the checksum of the data section, and what it should be; 0: not known.
func (r *reader) dataSum(s *summary) (sum, want uint32, err error) {
	w := r.window()
	b, err := w.Data(s.dataEnd, recordHead+4)
	if err != nil {
		return 0, 0, r.src.Fail(s.dataEnd, "data end", err)
	}
	if len(b) == recordHead+4 {
		want = binary.LittleEndian.Uint32(b[recordHead:])
	}
	for at := int64(0); want != 0 && at < s.dataEnd; {
		if err := r.src.Ctx.Err(); err != nil {
			return 0, 0, err
		}
		b, err := w.Data(at, min(chunked.WindowStep, s.dataEnd-at))
		if err != nil {
			return 0, 0, r.src.Fail(at, "data section", err)
		}
		sum = crc32.Update(sum, crc32.IEEETable, b)
		at += int64(len(b))
	}
	return sum, want, nil
}

// entry is what a Message Index has about a message.
type entry struct {
	channel     uint16
	log, offset uint64
}

// auditIndex compares the Message Index records after a chunk with its records, which
// b has.
func (r *reader) auditIndex(bl *block, b []byte) error {
	err := r.compareIndex(bl, messagesOf(b))
	switch {
	case chunked.IsIO(err):
		return r.src.Fail(bl.index.at, "message index", err)
	case err != nil:
		return r.src.Warn("message-index", bl.Offset, false, "the message index of a chunk does not match it: %v", err)
	}
	return nil
}

// messagesOf lists the messages of a chunk, as often as they are there.
func messagesOf(b []byte) map[entry]int {
	found := map[entry]int{}
	c := cursor{b: b}
	for c.step() {
		var m message
		if c.op == opMessage && m.parse(c.body) == nil {
			found[entry{m.channel, m.log, uint64(c.at)}]++
		}
	}
	return found
}

// codeNoChannel is the code of warnings about messages of channels that nothing defines.
const codeNoChannel = "no-channel"

// auditChannels reports messages of channels that nothing defines. The chunk has other damage,
// which its warning names. b has its records.
func (r *reader) auditChannels(bl *block, b []byte) error {
	for e := range messagesOf(b) {
		if _, ok := r.defs.lookup(e.channel); !ok {
			return r.src.Warn(codeNoChannel, bl.Offset, true,
				"messages of channel %d, which the file does not define, are not read", e.channel)
		}
	}
	return nil
}

// compareIndex reads the Message Index records of a chunk and takes what they have out
// of found, which must be empty then.
func (r *reader) compareIndex(bl *block, found map[entry]int) error {
	w := r.window()
	for at := bl.index.at; at < bl.index.at+bl.index.size; {
		h, err := w.head(at)
		if err != nil || h.op != opMessageIndex {
			return errors.Join(fmt.Errorf("there is no message index at byte %d", at), err)
		}
		body, err := w.body(at, h, bl.index.size)
		if err != nil {
			return err
		}
		var m messageIndex
		if err := m.parse(body); err != nil {
			return fmt.Errorf("record at byte %d: %w", at, err)
		}
		for i := range len(m.entries) / indexEntry {
			log, offset := m.entry(i)
			e := entry{m.channel, log, offset}
			if found[e] == 0 {
				return fmt.Errorf("the record at byte %d has a message of channel %d, %d bytes into the chunk, that is not "+
					"there: %w", at, m.channel, offset, storage.ErrCorrupt)
			}
			if found[e]--; found[e] == 0 {
				delete(found, e)
			}
		}
		at += recordHead + int64(h.length)
	}
	if len(found) > 0 {
		return fmt.Errorf("not all of its messages are in it: %w", storage.ErrCorrupt)
	}
	return nil
}

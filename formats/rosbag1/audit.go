package rosbag1

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// entry is what an INDEX_DATA record has about a message.
type entry struct {
	conn, at uint32 // at: where its record begins in the chunk
	time     int64
}

// chunkMessage is a message of a chunk, and whether an INDEX_DATA record has it.
type chunkMessage struct {
	entry
	seen bool
}

// chunkMessageLists are lists of the messages of chunks, to use again: chunks of small messages have thousands.
var chunkMessageLists = sync.Pool{New: func() any { return new([]chunkMessage) }}

// audit compares the INDEX_DATA records after a chunk with its records, which b has. Reading does
// without them, so this is done only if it is asked for. The first error of each chunk is a
// warning: no message is lost by it.
func (r *reader) audit(bl *block, b []byte) error {
	list := chunkMessageLists.Get().(*[]chunkMessage)
	*list = appendMessages((*list)[:0], b)
	err := r.compareIndex(bl, *list)
	chunkMessageLists.Put(list)
	switch {
	case chunked.IsIO(err):
		return r.src.Fail(bl.Offset, "index", err)
	case err != nil:
		return r.src.Warn("index-data", bl.Offset, false, "the index records of a chunk do not match it: %v", err)
	}
	return nil
}

// appendMessages appends the messages of a chunk, in the order of their places.
func appendMessages(list []chunkMessage, b []byte) []chunkMessage {
	var h header
	for p := 0; p < len(b) && p <= math.MaxUint32; {
		if h.parseRecord(b[p:]) != nil || h.dataSize() > int64(len(b)-p-h.headLen) {
			break // what follows is damaged, and reading reports it
		}
		if h.op == opMessage {
			list = append(list, chunkMessage{entry: entry{conn: h.conn, at: uint32(p), time: h.time}})
		}
		p += h.headLen + int(h.dataSize())
	}
	return list
}

// compareIndex reads the INDEX_DATA records of a chunk and marks what they have in messages: all of them, each once.
func (r *reader) compareIndex(bl *block, messages []chunkMessage) error {
	c, err := r.chunkHeader(bl) // Size may be estimated
	if err != nil {
		return err
	}
	w := r.window()
	var h header
	for at := c.data + c.stored; at < r.src.Size; at += int64(h.headLen) + h.dataSize() {
		err := w.header(&h, at)
		if err == nil && at+int64(h.headLen)+h.dataSize() > r.src.Size {
			err = storage.ErrTruncated
		}
		switch {
		case chunked.IsIO(err):
			return err
		case err != nil && r.enc != nil:
			return leftOver(messages) // a connection of the trailer, which is encrypted
		case err != nil:
			return fmt.Errorf("record at byte %d: %w", at, err)
		case h.op != opIndex:
			return leftOver(messages)
		case h.guessed:
			return fmt.Errorf("record at byte %d: %w", at, errOp)
		case h.version != 1:
			return fmt.Errorf("record at byte %d has version %d; 1 is the only one", at, h.version)
		case h.dataSize() != int64(h.dataLen) && uint64(h.dataLen) != 20*uint64(h.count) &&
			uint64(h.dataLen) != 24*uint64(h.count):
			return fmt.Errorf("record at byte %d has %d bytes for %d messages", at, h.dataLen, h.count)
		}
		data, err := w.record(&h, at)
		if err != nil {
			return err
		}
		conn, next := h.conn, 0 // a record has its messages in the order of their places, as writers have them
		for ; len(data) >= indexEntry; data = data[indexEntry:] {
			e := entry{conn: conn, at: binary.LittleEndian.Uint32(data[8:]), time: parseTime(data)}
			if next >= len(messages) || messages[next].at > e.at {
				next = 0
			}
			more, ok := slices.BinarySearchFunc(messages[next:], e.at,
				func(m chunkMessage, at uint32) int { return cmp.Compare(m.at, at) })
			next += more
			if !ok || messages[next].seen || messages[next].entry != e {
				return fmt.Errorf("the record at byte %d has a message of connection %d, %d bytes into the chunk, "+
					"that is not there", at, conn, e.at)
			}
			messages[next].seen = true
		}
	}
	return leftOver(messages)
}

// codeNoConnection is the code of warnings about messages of connections that the bag does not
// define.
const codeNoConnection = "no-connection"

var errNotIndexed = errors.New("not all of its messages are in them")

func leftOver(messages []chunkMessage) error {
	if slices.ContainsFunc(messages, func(m chunkMessage) bool { return !m.seen }) {
		return errNotIndexed
	}
	return nil
}

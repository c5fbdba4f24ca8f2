package rosbag1

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// entry is what an INDEX_DATA record has about a message.
type entry struct {
	conn uint32
	time int64
	at   uint32 // in the chunk
}

// audit compares the INDEX_DATA records after a chunk with its records, which b
// has. Reading does without them, so this is done only if it is asked for. What is wrong with them is a warning, the first thing of each chunk: no
// message is lost by it.
func (r *Reader) audit(bl *block, b []byte) error {
	err := r.compareIndex(bl, messagesOf(b))
	switch {
	case chunked.IsIO(err):
		return r.src.Fail(bl.Offset, "index", err)
	case err != nil:
		return r.src.Warn("index-data", bl.Offset, false, "the index records of a chunk do not match it: %v", err)
	}
	return nil
}

// messagesOf lists the messages of a chunk, as often as they are there.
func messagesOf(b []byte) map[entry]int {
	found := map[entry]int{}
	var h header
	for p := 0; p < len(b) && p <= math.MaxUint32; {
		if h.parseRecord(b[p:]) != nil || h.dataSize() > int64(len(b)-p-h.headLen) {
			break // what follows is damaged, and reading reports it
		}
		if h.op == opMessage {
			found[entry{h.conn, h.time, uint32(p)}]++
		}
		p += h.headLen + int(h.dataSize())
	}
	return found
}

// compareIndex reads the INDEX_DATA records of a chunk and takes what they have out
// of found, which must be empty then.
func (r *Reader) compareIndex(bl *block, found map[entry]int) error {
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
			return leftOver(found) // a connection of the trailer, which is encrypted
		case err != nil:
			return fmt.Errorf("record at byte %d: %w", at, err)
		case h.op != opIndex:
			return leftOver(found)
		case h.guessed:
			return fmt.Errorf("record at byte %d: %w", at, errOp)
		case h.version != 1:
			return fmt.Errorf("record at byte %d has version %d; 1 is the only one", at, h.version)
		case h.dataSize() != int64(h.dataLen) && uint64(h.dataLen) != 20*uint64(h.count) && uint64(h.dataLen) != 24*uint64(h.count):
			return fmt.Errorf("record at byte %d has %d bytes for %d messages", at, h.dataLen, h.count)
		}
		data, err := w.record(&h, at)
		if err != nil {
			return err
		}
		conn := h.conn
		for ; len(data) >= indexEntry; data = data[indexEntry:] {
			e := entry{conn, parseTime(data), binary.LittleEndian.Uint32(data[8:])}
			if found[e] == 0 {
				return fmt.Errorf("the record at byte %d has a message of connection %d, %d bytes into the chunk, that is not there", at, conn, e.at)
			}
			if found[e]--; found[e] == 0 {
				delete(found, e)
			}
		}
	}
	return leftOver(found)
}

// codeNoConnection is of warnings about messages of connections that the bag does not define.
const codeNoConnection = "no-connection"

var errNotIndexed = errors.New("not all of its messages are in them")

func leftOver(found map[entry]int) error {
	if len(found) > 0 {
		return errNotIndexed
	}
	return nil
}

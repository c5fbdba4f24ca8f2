package chunked

import (
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Parse reads the head of a message's record, as Index.Parse does.
type Parse func(b []byte) (rec Record, need int, ok bool)

// ReadWanted fills b with the messages of a chunk of plain records that b.Wanted asks for. Of all other messages it
// reads the heads only:
//
//	| head | data | head | data ...... | head | data |
//	  read          read   not wanted    read   read
//
// count is how many messages there are in all. A record that parse calls no message, with its size, is for define, with
// its head and data; it is false if the record is not what the index has. ReadWanted is not ok then, nor if something
// else is there, or if all of it is to be read anyway: b has no message, and the chunk is to be read as a whole.
func (s *Source) ReadWanted(plain Extent, b *storage.Batch, parse Parse,
	define func(head, data []byte) bool) (count int64, ok bool, err error) {
	if b.Wanted == nil || s.Strict || iox.Distant(s.File) {
		return 0, false, nil
	}
	defer func() {
		if !ok {
			b.Messages = b.Messages[:0]
		}
	}()
	w := s.Window()
	w.Step = 4 * windowJump
	b.Buf, b.Stored = b.Buf[:0], nil
	for at, end := plain.At, plain.At+plain.Size; at < end; count++ {
		rec, ok, err := s.head(&w, at, end-at, parse)
		if err == nil && !ok && rec.Head > 0 && rec.Size <= min(maxDefinition, end-at-int64(rec.Head)) {
			var record []byte
			if record, err = w.Data(at, int64(rec.Head)+rec.Size); err == nil && define(record[:rec.Head], record[rec.Head:]) {
				at += int64(len(record))
				count--
				continue
			}
		}
		if err != nil || !ok || int(rec.Message.Topic) >= len(b.Wanted) {
			return 0, false, err
		}
		from := at + int64(rec.Head)
		if at = from + rec.Size; !b.Wanted[rec.Message.Topic] {
			continue
		}
		n := len(b.Buf)
		b.Buf = append(b.Buf, make([]byte, rec.Size)...)
		if data, cached := w.cached(from, rec.Size); cached {
			copy(b.Buf[n:], data)
		} else if err := iox.ReadFull(s.File, b.Buf[n:], from); err != nil {
			return 0, false, s.Fail(from, "message", err)
		}
		rec.Message.Data = b.Buf[n:] // Buf may move: only its length counts
		b.Messages = append(b.Messages, rec.Message)
	}
	b.Place()
	return count, true, nil
}

// maxDefinition is how large a definition may be that is looked at, in bytes.
const maxDefinition = 1 << 20

// head reads the head of the record at an offset with a number of bytes left. It is not ok if the record is no message
// or does not end there.
func (s *Source) head(w *Window, at, left int64, parse Parse) (rec Record, ok bool, err error) {
	for need, got := recordHead, 0; !ok; {
		b, err := w.Data(at, min(int64(need), left))
		if err != nil {
			return rec, false, s.Fail(at, "message", err)
		}
		if rec, need, ok = parse(b); !ok && (need <= len(b) || len(b) <= got) {
			return rec, false, nil
		}
		got = len(b)
	}
	return rec, rec.Size >= 0 && rec.Size <= left-int64(rec.Head), nil
}

package ulog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// blockSize is from how many bytes on a block ends.
const blockSize = 256 << 10

// A block is a row of messages that follow each other. See storage.BlockReader.
type block struct {
	storage.Block
	before state // at its beginning
}

// A state is what a message without a time depends on.
type state struct {
	last int64 // greatest log time so far; at first the time at which logging began
	data bool  // the definitions have ended
}

// A scanner goes over the file once, when it is opened.
type scanner struct {
	r       *reader
	w       chunked.Window
	ahead   chunked.Window // for what follows a message that is not right
	from    int64          // where a part of the file begins: its first, or appended data
	end     int64          // and where it ends
	state   state
	pending block

	// visit is called for each message and each gap: see reader.Sections. An error ends the scan.
	visit func(m *message, next int64, broken string) error

	unread map[uint16]*unread // messages that cannot be read, by their ids
}

// An unread is the messages of an id that nothing describes.
type unread struct {
	at, messages, bytes int64
}

// run goes over all parts of the file.
func (s *scanner) run() error {
	s.unread = map[uint16]*unread{}
	s.state = state{last: s.r.start}
	at := int64(headSize)
	for _, end := range append(s.r.offsets, s.r.src.Size) {
		if end < at {
			continue
		}
		s.from, s.end = at, end
		if err := s.part(); err != nil {
			return err
		}
		at = end
	}
	return s.account()
}

// part goes over the file from s.from to s.end.
func (s *scanner) part() error {
	s.begin(s.from)
	var m message
	for at := s.from; at < s.end; {
		if at-s.pending.Offset >= blockSize {
			s.close(at)
			s.begin(at)
			if err := s.r.src.Ctx.Err(); err != nil {
				return err
			}
		}
		whole, err := s.r.message(&s.w, &m, at, s.end)
		if err != nil {
			return s.r.src.Fail(at, "message", err)
		}
		next := m.end()
		if !whole {
			next = s.end
		}
		why := "the file ends before the end of this message"
		if whole {
			why = s.r.wrong(&m, at)
		}
		if why == "" && (s.r.likely(&m) || s.follows(next)) {
			err = s.take(&m)
		} else {
			why = cmp.Or(why, "a message "+names[m.op]+" that is not likely, and after which no message follows")
			next, err = s.salvage(&m, whole, why)
		}
		if err != nil {
			return err
		}
		at = next
	}
	s.close(s.end)
	return nil
}

// begin begins a block.
func (s *scanner) begin(at int64) {
	s.pending = block{storage.Block{Offset: at, Start: math.MaxInt64, End: math.MinInt64, Timed: true}, s.state}
}

// close ends the block.
func (s *scanner) close(end int64) {
	p := &s.pending
	p.Size = end - p.Offset
	if p.RawSize += p.Size; p.Messages > 0 {
		s.r.blocks = append(s.r.blocks, *p)
	}
}

// message reads the message at an offset; whole is false if the part of the file that ends at end has not all of it.
func (r *reader) message(w *chunked.Window, m *message, at, end int64) (whole bool, err error) {
	*m = message{at: at}
	b, err := w.Ahead(at, min(headLen, end-at))
	if err != nil || len(b) < headLen || end-at < headLen {
		return false, err
	}
	size := int64(binary.LittleEndian.Uint16(b))
	m.op = b[2]
	if size > end-at-headLen {
		return false, nil
	}
	if int64(len(b)) < headLen+size {
		if b, err = w.Data(at, headLen+size); err != nil {
			return false, err
		}
	}
	m.body = b[headLen:][:size]
	return true, nil
}

// wrong returns why a message cannot be right, "" if it can. before is from where on subscriptions are not known yet.
func (r *reader) wrong(m *message, before int64) string {
	b := m.body
	ok := true
	switch m.op {
	case opFlags:
		ok = m.at == headSize && len(b) >= flagsSize
	case opFormat:
		ok = legal(b, "_-/:;[] ")
	case opInfo, opMulti:
		_, ok = parseKeyValue(m.op, b)
	case opParameter, opDefault:
		kv, fine := parseKeyValue(m.op, b)
		_, _, _, is := kv.parameter()
		ok = fine && is
	case opSubscription:
		ok = len(b) > 3 && legal(b[3:], "_-/")
	case opData:
		if len(b) < dataHead {
			return "a message of data without an id"
		}
		id := binary.LittleEndian.Uint16(b)
		if m.topic = r.topicOf(id, before); m.topic == nil {
			return wrongID
		} else if s := m.topic.structure; s == nil {
			return wrongID
		} else if n := len(b) - dataHead; n < s.least || n > s.size {
			return "a message of data with another size than its format has"
		}
	case opText:
		ok = len(b) >= textHead
	case opTagged:
		ok = len(b) >= taggedHead
	case opEnd, opDropout:
		ok = len(b) == 2
	case opSync:
		ok = bytes.Equal(b, syncMagic)
	default:
		return unknownType
	}
	if !ok {
		return "a message " + names[m.op] + " that cannot be read"
	}
	return ""
}

const (
	wrongID     = "a message of data that no readable subscription describes"
	unknownType = "a message of a type that is not known here"
)

// take counts a message that can be right.
func (s *scanner) take(m *message) error {
	r := s.r
	var err error
	switch m.op {
	case opFormat:
		err = r.addFormat(m)
	case opInfo, opMulti:
		err = r.addInfo(m)
	case opSubscription:
		err = r.subscribe(m)
	case opDropout:
		r.addDropout(m)
	case opParameter, opDefault, opText, opTagged:
		r.builtin(m.op)
	}
	if err != nil {
		return err
	}
	if t, ns, ok := r.place(m, &s.state); ok {
		switch t.messages++; ns {
		case noTime:
			ns = s.state.last
			err = r.src.Warn("time", m.at, true,
				"a message of %s has a time that no clock has; it gets the time of the one before it", t.name)
		case 0:
			r.unstamped.add(m.at)
		}
		p := &s.pending
		if t.block != p.Offset {
			t.block, p.Topics = p.Offset, append(p.Topics, t.id)
		}
		p.Messages++
		p.RawSize += 2*int64(len(m.body)) + 160
		p.Start, p.End = min(p.Start, ns), max(p.End, ns)
	}
	if err == nil && s.visit != nil {
		err = s.visit(m, m.end(), "")
	}
	return err
}

// noTime is a time that does not fit into an int64.
const noTime = math.MinInt64

// place returns the topic and the log time of a message, and moves st on. ok is false if it is not a message of a
// topic.
func (r *reader) place(m *message, st *state) (t *topic, ns int64, ok bool) {
	at := -1
	switch m.op {
	case opSubscription:
		st.data = true
		return nil, 0, false
	case opData:
		if t = m.topic; t.structure.stamp >= 0 {
			at = dataHead + t.structure.stamp
		}
	case opText:
		st.data, t, at = true, r.builtins[opText], textHead-8
	case opTagged:
		st.data, t, at = true, r.builtins[opText], taggedHead-8
	case opParameter, opDefault:
		t = r.builtins[m.op]
	default:
		return nil, 0, false
	}
	if ns = st.last; at >= 0 {
		ns = nanoseconds(m.body[at:])
		st.last = max(st.last, ns)
	}
	return t, ns, true
}

// nanoseconds reads a time in microseconds; noTime if it does not fit.
func nanoseconds(b []byte) int64 {
	us := binary.LittleEndian.Uint64(b)
	if us > math.MaxInt64/1000 {
		return noTime
	}
	return int64(us) * 1000
}

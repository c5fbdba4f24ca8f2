package recording

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A spill file holds runs of messages in order, for recordings whose blocks
// overlap so far that they do not fit into memory. It lies beside the output,
// that has room, and has no name as soon as it is open (on systems that
// allow it), so that nothing is left behind whatever happens.
//
// One message in a run:
//
//	block i32 | topic u32 | sequence u32 | log time i64 | publish time i64 | length u64 | data
//
// all little endian; a run is a range of the file.
type spillFile struct {
	dir  string
	file storage.File
	size int64
	head [runHeader]byte
}

// maxRuns is how many runs of one level are read side by side before they are
// merged into one run of the next.
const maxRuns = 32

const (
	runHeader    = 4 + 4 + 4 + 8 + 8 + 8
	runReadAhead = 256 << 10
)

func newSpill(dir string) *spillFile { return &spillFile{dir: dir} }

func (s *spillFile) open() error {
	if s.file != nil {
		return nil
	}
	f, err := iox.TempFile(nil, s.dir)
	if err != nil {
		return fmt.Errorf("messages are too far out of order for memory, and the temporary file for sorting cannot be "+
			"created: %w", err)
	}
	s.file = f
	return nil
}

// close takes the file away. What could go wrong with that loses nothing.
func (s *spillFile) close() {
	if s.file == nil {
		return
	}
	_ = s.file.Close()
	s.file = nil
}

// write merges what is left of the cursors into a new run and returns to each cursor
// back as soon as it is empty. The run is nil when nothing is left.
func (s *spillFile) write(from []*mergeCursor, finish func(b *batch, i int) (bool, error), release func(*mergeCursor)) (
	*mergeCursor, error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	start := s.size
	w := bufio.NewWriterSize(&appendAt{s.file, start}, 1<<20)
	m := merger{}
	for _, c := range from {
		m.push(c)
	}
	for len(m.heap) > 0 {
		c := m.heap[0]
		ready, err := c.ready(finish)
		if err == nil && ready {
			err = s.put(w, &c.msgs[c.pos], c.key.block)
		}
		if err != nil {
			return nil, err
		}
		more, err := c.next()
		if err != nil {
			return nil, err
		}
		if !more {
			n := len(m.heap) - 1
			m.heap[0] = m.heap[n]
			m.heap = m.heap[:n]
			release(c)
		}
		m.down()
	}
	if err := w.Flush(); err != nil {
		return nil, err
	}
	if s.size == start {
		return nil, nil
	}
	c := &mergeCursor{
		msgs: make([]storage.Message, 1),
		run:  &spillRun{r: bufio.NewReaderSize(io.NewSectionReader(s.file, start, s.size-start), runReadAhead)},
	}
	more, err := c.next()
	if err == nil && !more {
		err = fmt.Errorf("internal error: empty run")
	}
	return c, err
}

// put adds a message to a run.
func (s *spillFile) put(w *bufio.Writer, m *storage.Message, block int) error {
	putRunHeader(&s.head, block, m, uint64(len(m.Data)))
	if _, err := w.Write(s.head[:]); err != nil {
		return err
	}
	s.size += runHeader + int64(len(m.Data))
	_, err := w.Write(m.Data)
	return err
}

func putRunHeader(head *[runHeader]byte, block int, m *storage.Message, length uint64) {
	binary.LittleEndian.PutUint32(head[0:], uint32(block))
	binary.LittleEndian.PutUint32(head[4:], uint32(m.Topic))
	binary.LittleEndian.PutUint32(head[8:], m.Sequence)
	binary.LittleEndian.PutUint64(head[12:], uint64(m.LogTime))
	binary.LittleEndian.PutUint64(head[20:], uint64(m.PublishTime))
	binary.LittleEndian.PutUint64(head[28:], length)
}

func parseRunHeader(head *[runHeader]byte) (block int, m storage.Message, length uint64) {
	return int(int32(binary.LittleEndian.Uint32(head[0:]))), storage.Message{
		Topic:       storage.TopicID(binary.LittleEndian.Uint32(head[4:])),
		Sequence:    binary.LittleEndian.Uint32(head[8:]),
		LogTime:     int64(binary.LittleEndian.Uint64(head[12:])),
		PublishTime: int64(binary.LittleEndian.Uint64(head[20:])),
	}, binary.LittleEndian.Uint64(head[28:])
}

type appendAt struct {
	f  io.WriterAt
	at int64
}

func (a *appendAt) Write(p []byte) (int, error) {
	n, err := a.f.WriteAt(p, a.at)
	a.at += int64(n)
	return n, err
}

// A spillRun is a sorted part of the spill file, read from its start.
type spillRun struct {
	r     *bufio.Reader
	data  []byte
	level int
}

func (r *spillRun) next(c *mergeCursor) (bool, error) {
	var head [runHeader]byte
	if _, err := io.ReadFull(r.r, head[:]); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	block, msg, n := parseRunHeader(&head)
	r.data = storage.Grow(r.data, int(n))
	if _, err := io.ReadFull(r.r, r.data); err != nil {
		return false, err
	}
	msg.Data = r.data
	c.msgs[0] = msg
	c.pos = 0
	c.key = orderKey{msg.LogTime, block}
	return true, nil
}

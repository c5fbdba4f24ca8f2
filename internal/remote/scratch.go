package remote

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A part has bytes that were written. Writes come in any order; have are the ranges that came,
// in order and apart. The bytes are in data, or, if the part is aside, in a temporary file.
type part struct {
	data   []byte
	have   [][2]int64
	aside  bool
	at     int64 // where it is in the file
	size   int64 // of its place there
	memory int64 // bytes of scratch.used
}

// add notes a range.
func (p *part) add(from, to int64) {
	var list [][2]int64
	for _, h := range p.have {
		switch {
		case h[1] < from:
			list = append(list, h)
		case h[0] > to:
			list = append(append(list, [2]int64{from, to}), h)
			from, to = h[1], h[1]
		default:
			from, to = min(from, h[0]), max(to, h[1])
		}
	}
	if n := len(list); n == 0 || list[n-1][1] < to {
		list = append(list, [2]int64{from, to})
	}
	p.have = list
}

// A scratch keeps the parts of all drafts until they are sent: in memory up to a limit, and beyond that in a
// temporary file without a name. Where no such file can be made, or its disk is full, they stay in memory. It may be
// used from several goroutines, each part from one at a time.
type scratch struct {
	link *link             // has the limit, see Settings.Memory
	note func(text string) // is told once that there is no file, or no room

	mu   sync.Mutex
	used int64
	file storage.File
	end  int64
	free map[int64][]int64 // places of parts that are no more, by size
	none bool              // there is no file
}

// write puts bytes into a part that has size bytes when it is full.
func (s *scratch) write(p *part, b []byte, at, size int64) error {
	need := at + int64(len(b))
	if !p.aside && need > int64(cap(p.data)) {
		room := min(max(2*need, 64<<10), size)
		if !s.take(p, room, false) && s.put(p, size) != nil {
			s.take(p, room, true)
		}
		if !p.aside {
			p.data = append(make([]byte, 0, room), p.data...)
		}
	}
	if p.aside {
		_, err := s.file.WriteAt(b, p.at+at)
		if err == nil {
			p.add(at, need)
			return nil
		}
		s.fail(err)
		if err := s.fetch(p, size); err != nil {
			return err
		}
	}
	p.data = p.data[:max(int64(len(p.data)), need)]
	copy(p.data[at:], b)
	p.add(at, need)
	return nil
}

// take counts the memory of a part, if there is room for it, or with force in any case.
func (s *scratch) take(p *part, bytes int64, force bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if more := bytes - p.memory; force || s.used+more <= s.link.settings.Memory {
		s.used, p.memory = s.used+more, bytes
		return true
	}
	return false
}

// put moves a part to the file.
func (s *scratch) put(p *part, size int64) error {
	if err := s.place(p, size); err != nil {
		return err
	}
	if _, err := s.file.WriteAt(p.data, p.at); err != nil {
		s.fail(err)
		s.drop(p)
		return err
	}
	p.data, p.aside = nil, true
	s.take(p, 0, true)
	return nil
}

var errNoScratch = errors.New("there is no temporary file")

// place finds a place in the file.
func (s *scratch) place(p *part, size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil && !s.none {
		var err error
		if s.file, err = iox.TempFile(nil, os.TempDir()); err != nil {
			s.none = true
			s.say(err)
		}
	}
	if s.none {
		return errNoScratch
	}
	p.size = size
	if list := s.free[size]; len(list) > 0 {
		p.at, s.free[size] = list[len(list)-1], list[:len(list)-1]
	} else {
		p.at, s.end = s.end, s.end+size
	}
	return nil
}

// drop gives the place of a part back.
func (s *scratch) drop(p *part) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.free == nil {
		s.free = map[int64][]int64{}
	}
	s.free[p.size], p.aside = append(s.free[p.size], p.at), false
}

// fail makes all parts to come stay in memory.
func (s *scratch) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.none {
		s.none = true
		s.say(err)
	}
}

func (s *scratch) say(err error) {
	s.note(fmt.Sprintf("no temporary file can be written in %s (%v): parts of outputs stay in memory, up to %d MiB for "+
		"each output; TMPDIR names another folder", os.TempDir(), err, 2*partSize>>20))
}

// fetch moves a part back to memory. What was never written is zero: the place may have had another part.
func (s *scratch) fetch(p *part, size int64) error {
	data, err := s.read(p, size)
	if err != nil {
		return err
	}
	s.drop(p)
	s.take(p, size, true)
	p.data = data
	return nil
}

func (s *scratch) read(p *part, n int64) ([]byte, error) {
	data := make([]byte, n)
	for _, h := range p.have {
		if from, to := h[0], min(h[1], n); from < to {
			if err := iox.ReadFull(s.file, data[from:to], p.at+from); err != nil {
				return nil, fmt.Errorf("a temporary file in %s: %w", os.TempDir(), err)
			}
		}
	}
	return data, nil
}

// bytes returns the first n bytes of a part; bytes that were never written are zero.
func (s *scratch) bytes(p *part, n int64) ([]byte, error) {
	if p.aside {
		return s.read(p, n)
	}
	if have := int64(len(p.data)); have < n {
		p.data = append(p.data, make([]byte, n-have)...)
	}
	return p.data[:n], nil
}

// release forgets a part.
func (s *scratch) release(p *part) {
	if p.aside {
		s.drop(p)
	}
	s.take(p, 0, true)
	p.data = nil
}

// close removes the file.
func (s *scratch) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		_ = s.file.Close() // it has no name
		s.file, s.none = nil, true
	}
}

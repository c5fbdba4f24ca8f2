package oldbag

import (
	"maps"
	"slices"

	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// A part of the file is scanned beside others. It begins where a record that was searched for
// ends. Whether that is between two records of the file is known only when the part before it is
// taken in: that one has to end there. If it does not, or if a part has bytes that are no record,
// the part is scanned again, by the scanner of the whole file.
//
//	whole file   |lead|          |         |      part begins where the one before it ends: taken in
//	parts             |----------|---------|---   all at the same time
type part struct {
	begin, end, next int64 // next: where the first record is that is not in it
	s                *scanner
	err              error
}

const (
	partSize    = 32 << 20 // bytes of a part, about
	partSearch  = 1 << 20  // bytes that are searched for a record
	smallRecord = 64 << 10 // bytes: only the heads of larger ones are read, and parts save nothing
	scanMemory  = 160 << 20
)

// whole goes over all records, those of a file of many small ones on all cores.
func (s *scanner) whole() error {
	size := s.r.src.Size
	p, err := s.walk(s.r.first, s.r.first+s.part/4)
	workers := ordered.Workers(0, scanMemory)
	if err == nil && s.part > 0 && workers > 1 && size-p > 2*s.part && s.messages() > (p-s.r.first)/smallRecord && s.r.version.Name != "0" {
		p, err = s.parallel(p, workers)
	}
	if err == nil {
		_, err = s.walk(p, size)
	}
	return err
}

func (s *scanner) messages() (n int64) {
	for i := range s.r.topics {
		n += s.r.topics[i].messages
	}
	return n
}

// parallel goes over the records from p on, and returns where it has stopped.
func (s *scanner) parallel(p int64, workers int) (int64, error) {
	known := s.fork()
	search, begin := known.fork(), p
	err := ordered.Line[*part]{
		Workers: workers, Limit: 2 * int64(workers),
		Next: func() (*part, int64, bool) {
			x := &part{begin: begin}
			x.end, x.err = search.seam(begin + s.part)
			begin = x.end
			return x, 1, x.begin < s.r.src.Size
		},
		Work: func(_ int, x *part) error {
			if x.err == nil {
				x.s = known.fork()
				x.s.strict = true
				x.next, x.err = x.s.walk(x.begin, x.end)
			}
			return nil
		},
		Finish: func(_ int, x *part) (err error) {
			if x.err == nil && x.begin == p {
				s.join(x.s)
				p = x.next
				return nil
			}
			p, err = s.walk(p, x.end)
			return err
		},
	}.Run(s.r.src.Ctx)
	return p, err
}

// seam returns where, soon after from, a record seems to end; the end of the file if there is none.
func (s *scanner) seam(from int64) (int64, error) {
	for size := s.r.src.Size; size-from > s.part/2; from += s.part {
		to := min(from+partSearch, size)
		p, err := s.find(from, to)
		if err == nil && p < to {
			err = s.head(&s.rec, p)
			p += int64(s.rec.head) + s.rec.size
		}
		if err != nil {
			return size, err
		}
		if p < size && p != to {
			return p, nil
		}
	}
	return s.r.src.Size, nil
}

// fork returns a scanner that knows the topics and heads that s does, and has found nothing.
func (s *scanner) fork() *scanner {
	r := &Reader{
		src: s.r.src, version: s.r.version, form: s.r.form, first: s.r.first, blockSize: s.r.blockSize,
		topics: slices.Clone(s.r.topics), heads: slices.Clone(s.r.heads), byKey: maps.Clone(s.r.byKey),
	}
	if _, ok := r.form.(v11); ok {
		r.form = v11{r.byKey}
	}
	for i := range r.topics {
		r.topics[i].messages = 0
	}
	return &scanner{r: r, w: s.r.src.Window(), part: s.part, defs: map[definition]string{}}
}

// join takes in what o has found behind the last record of s.
func (s *scanner) join(o *scanner) {
	s.endRun()
	ids := s.joinTopics(o.r)
	for _, h := range o.r.heads {
		if whole := h.first[:h.size]; len(s.r.heads) < maxHeads && s.r.heads.search(whole) < 0 {
			h.topic = ids[h.topic]
			s.r.heads = append(s.r.heads, h)
		}
	}
	open := o.run
	o.endRun()
	for _, b := range o.r.blocks {
		s.endRun()
		clear(s.counts)
		for k, id := range b.Topics {
			s.count(ids[id], b.counts[k])
		}
		b.Topics, b.counts = nil, nil
		s.r.blocks = append(s.r.blocks, b)
		s.run = true
	}
	if !open {
		s.endRun()
	}
	if s.last = o.last; s.last.here {
		s.last.topic = ids[o.last.topic]
	}
	for _, d := range o.defined {
		s.defineAs(d, o.defs[d])
	}
	if s.header == nil {
		s.header = o.header
	}
	s.indexes = append(s.indexes, o.indexes...)
	s.guessed = s.guessed || o.guessed
}

// joinTopics adds the topics of o that are new, and returns the ids of all, by their ids there.
func (s *scanner) joinTopics(o *Reader) []storage.TopicID {
	keys := make([]string, len(o.topics))
	for key, id := range o.byKey {
		keys[id] = key
	}
	ids := make([]storage.TopicID, len(o.topics))
	for i, t := range o.topics {
		id, ok := s.r.byKey[keys[i]]
		if !ok {
			id = storage.TopicID(len(s.r.topics))
			s.r.byKey[keys[i]] = id
			s.r.topics = append(s.r.topics, topic{Topic: t.Topic})
		}
		s.r.topics[id].messages += t.messages
		ids[i] = id
	}
	return ids
}

package mcap

import (
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
)

// The data section is the recording, and the summary a hint. Where they contradict each other, a
// checksum decides: a summary with a checksum outvotes data without one, or with one that differs.
// In all other cases the summary is not sound, and the file is scanned without it.

// An unsoundError is why a summary that could be read cannot be used.
type unsoundError struct{ what string }

func (e *unsoundError) Error() string { return e.what }

func unsound(format string, args ...any) error { return &unsoundError{fmt.Sprintf(format, args...)} }

// unproven reports whether a summary is used that has no checksum.
func (s *scanner) unproven() bool { return s.sum != nil && s.sum.footer.crc == 0 }

// contradicts reports whether the summary has another definition than this one of the data, or
// lacks the definition.
func (s *scanner) contradicts(op byte, b []byte) bool {
	if s.sum == nil {
		return false
	}
	defs := s.r.defs
	if op == opSchema {
		var k schema
		if k.parse(b) != nil || k.id == 0 {
			return false
		}
		old := defs.schemas[k.id]
		if old == nil {
			return s.unproven() && len(s.sum.schemas) > 0 // else it lists only some
		}
		return !old.same(&k)
	}
	var c channel
	if c.parse(b) != nil {
		return false
	}
	i, ok := defs.current[c.id]
	if !ok {
		return s.unproven() && len(s.sum.channels) > 0
	}
	old := defs.list[i]
	if old.schema == nil && old.channel.schema == c.schema {
		return key(&c, nil) != key(&old.channel, nil) // the summary has no schemas, or not this one
	}
	return key(&c, defs.schemas[c.schema]) != key(&old.channel, old.schema)
}

// outvoted reports whether a definition outside of chunks contradicts the summary and is damaged
// itself. An *unsoundError means that the summary is damaged.
func (s *scanner) outvoted(op byte, b []byte) (bool, error) {
	if !s.contradicts(op, b) {
		return false, nil
	}
	damaged, err := s.dataDamaged()
	if err == nil && (!damaged || s.unproven()) {
		err = unsound("a %s in the data differs from the summary", opName(op))
	}
	return damaged, err
}

// outvoted reports whether a definition in a chunk, which contradicts the summary, is damaged
// itself.
func (w *walk) outvoted(op byte, at int, body []byte) bool {
	if !w.r.summed || w.summed {
		return false
	}
	w.stored = nil
	w.damage.Add("definition", w.offset(at), int64(len(body)),
		"a %s in a chunk without a checksum differs from the summary, which has one and is used", opName(op))
	return true
}

// dataDamaged reports whether the checksum of the data section differs.
func (s *scanner) dataDamaged() (bool, error) {
	if s.sum == nil {
		return false, nil
	}
	if s.damagedData == nil {
		sum, want, err := s.r.dataSum(s.sum)
		if err != nil {
			return false, err
		}
		damaged := want != 0 && sum != want
		s.damagedData = &damaged
	}
	return *s.damagedData, nil
}

// prove compares a summary without a checksum with the first chunk in which a channel has messages:
// its definition stands there or before.
func (s *scanner) prove(bl *block) error {
	if !s.unproven() {
		return nil
	}
	news := false
	for _, c := range bl.counts {
		news = news || c.n > 0 && !s.proved[c.channel]
	}
	if !news {
		return nil
	}
	var d chunked.Damage
	if _, err := s.r.load(bl, &s.batch, &d); err != nil {
		return err
	}
	found := map[uint16]int64{}
	c := cursor{b: s.batch.Buf}
	for c.step() {
		switch c.op {
		case opSchema, opChannel:
			if s.contradicts(c.op, c.body) {
				return unsound("a %s in the chunk at byte %d differs from the summary", opName(c.op), bl.Offset)
			}
		case opMessage:
			var m message
			if m.parse(c.body) == nil {
				found[m.channel]++
			}
		}
	}
	if d.Places > 0 || len(c.gaps) > 0 {
		return nil // it is reported when the chunk is read
	}
	for _, k := range bl.counts {
		if found[k.channel] != k.n {
			return unsound("the index counts %d messages of channel %d in the chunk at byte %d, which has %d", k.n, k.channel,
				bl.Offset, found[k.channel])
		}
		if s.proved == nil {
			s.proved = map[uint16]bool{}
		}
		s.proved[k.channel] = true
	}
	return nil
}

// defines reports whether the data before this place define a channel, or a later summary does.
func (s *scanner) defines(id uint16) bool {
	if _, ok := s.r.defs.current[id]; ok || s.spare == nil {
		return ok
	}
	return slices.ContainsFunc(s.spare.channels, func(c channel) bool { return c.id == id })
}

// rescued adds the chunk at p, whose header cannot be read, as a summary has it that cannot be used
// otherwise. It returns where the chunk ends, 0 if the summary does not have it.
func (s *scanner) rescued(p int64) (int64, error) {
	for len(s.rescue) > 0 && s.rescue[0].offset < uint64(p) {
		s.rescue = s.rescue[1:]
	}
	if len(s.rescue) == 0 || s.rescue[0].offset != uint64(p) || s.visit != nil {
		return 0, nil
	}
	return s.bySummary(&s.rescue[0])
}

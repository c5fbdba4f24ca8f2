package mcap

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// finish ends the scan: it reports what is wrong, and what is missing by all that the
// file knows of itself.
func (s *scanner) finish(sum *summary, why string) error {
	r := s.r
	if s.end < r.src.Size { // by the summary
		r.access = accessSummary
	} else {
		r.access = "scan: " + why
	}
	found := r.defs.ownerless()
	for _, t := range r.defs.list {
		found += t.messages
	}
	r.defs.freeze()
	r.listTopics()
	missing := int64(0)
	counts := s.stats != nil && s.stats.sound()
	if counts {
		missing = max(0, int64(s.stats.messages)-found)
	}
	r.accounted = counts
	if err := s.headline(sum, why, found, missing, counts); err != nil {
		return err
	}
	for _, n := range s.notes {
		lost := storage.Lost{Bytes: n.bytes, Uncounted: !n.repaired && !counts}
		if n.repaired {
			lost = storage.Lost{}
		}
		if err := r.src.WarnLost(lost, n.code, n.at, !n.repaired, "%s", n.what); err != nil {
			return err
		}
	}
	if err := s.definitionWarnings(); err != nil {
		return err
	}
	for _, i := range s.damaged {
		if err := r.ReadBlock(r.src.Ctx, i, &s.batch); err != nil {
			return err
		}
	}
	return nil
}

// listTopics lists the topics of each block. Blocks with the same topics share a list.
func (r *reader) listTopics() {
	if len(r.defs.changes) > 0 {
		return
	}
	lists := map[string][]storage.TopicID{}
	var ids []storage.TopicID
	var key []byte
	for i := range r.blocks {
		b := &r.blocks[i]
		if b.many {
			continue
		}
		ids, key = ids[:0], key[:0]
		add := func(channel uint16) {
			if t, ok := r.defs.lookup(channel); ok {
				ids = append(ids, t)
			}
		}
		for _, c := range b.counts {
			if c.n > 0 {
				add(c.channel)
			}
		}
		for _, c := range b.channels {
			add(c)
		}
		b.channels = nil
		slices.Sort(ids)
		for _, t := range ids {
			key = binary.LittleEndian.AppendUint32(key, uint32(t))
		}
		list, ok := lists[string(key)]
		if !ok {
			list = slices.Clone(ids)
			lists[string(key)] = list
		}
		b.Topics = list
	}
}

// sound reports whether the counts add up.
func (s *statistics) sound() bool {
	if s.messages > 1<<62 {
		return false
	}
	if len(s.counts) == 0 {
		return true // not there
	}
	var sum uint64
	eachCount(s.counts, func(_ uint16, n uint64) { sum += n })
	return sum == s.messages
}

// headline reports how the file as a whole is: not closed, with a summary that is wrong,
// with messages missing.
func (s *scanner) headline(sum *summary, why string, found, missing int64, counts bool) error {
	r := s.r
	lost := storage.Lost{Messages: missing}
	switch {
	case why != "" && sum != nil:
		if err := r.src.WarnLost(lost, "summary", sum.end, missing > 0, "%s; all of the file is scanned%s", why,
			missingText(missing, found)); err != nil {
			return err
		}
	case why != "" && (sum == nil && why != "the file has no summary"):
		if err := r.src.WarnLost(lost, "unclosed", -1, missing > 0, "%s; all of it is scanned%s%s", why,
			missingText(missing, found), s.unclosedText(counts)); err != nil {
			return err
		}
	case missing > 0 && len(s.notes) == 0 && len(s.damaged) == 0, s.stats != nil &&
		(!counts || int64(s.stats.messages) < found):
		damaged, err := s.dataDamaged()
		if err != nil {
			return err
		}
		if !damaged {
			lost = storage.Lost{} // the statistics are wrong
		}
		if err := r.src.WarnLost(lost, "statistics", -1, damaged, "the statistics count %d messages; the file has %d",
			s.stats.messages, found); err != nil {
			return err
		}
	case missing > 0:
		if err := r.src.WarnLost(lost, "missing", -1, true, "%d of the %d messages that the statistics count cannot be read",
			missing, found+missing); err != nil {
			return err
		}
	}
	if s.private > 0 {
		if err := r.src.Warn("private", -1, false, "%d records with private or newer opcodes are skipped",
			s.private); err != nil {
			return err
		}
	}
	if n := r.defs.ownerless(); n > 0 {
		return r.src.WarnLost(storage.Lost{Messages: n}, codeNoChannel, -1, true,
			"%d messages belong to channels that the file does not define, and are not read", n)
	}
	return nil
}

// unclosedText continues the sentence about a file without an end, unless its counts show how much there
// should be.
func (s *scanner) unclosedText(counts bool) string {
	if s.closed || s.summary || counts {
		return ""
	}
	return "; " + warnings.Unclosed
}

func missingText(missing, found int64) string {
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of the %d messages that it counts cannot be read", missing, found+missing)
}

// definitionWarnings reports what is odd in the definitions.
func (s *scanner) definitionWarnings() error {
	for _, t := range s.r.defs.list {
		c := &t.channel
		var err error
		if c.schema != 0 && t.schema == nil {
			err = s.r.src.Warn("schema-missing", -1, false,
				"channel %d, topic %.200q, has schema %d, which the file does not define: its type is not known", c.id, t.Name,
				c.schema)
		}
		if err == nil && t.Name != c.topic {
			err = s.r.src.Warn("utf8", -1, false, "the topic name %q of channel %d is not UTF-8; it is read as %q", c.topic,
				c.id, t.Name)
		}
		seen := map[string]bool{}
		for _, p := range c.metadata {
			if seen[p.key] && err == nil {
				err = s.r.src.Warn("repeated-key", -1, false,
					"the metadata of channel %d, topic %.200q, has the key %.80q twice; the first is used", c.id, t.Name, p.key)
			}
			seen[p.key] = true
		}
		if err != nil {
			return err
		}
	}
	return nil
}

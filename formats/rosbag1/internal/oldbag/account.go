package oldbag

import (
	"encoding/binary"
	"fmt"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// account reports what is missing, by what the index counts, if that is sound.
func (s *scanner) account() error {
	indexPos := int64(-1)
	if s.header != nil {
		indexPos = int64(min(s.header.indexPos, 1<<62))
	}
	sound := s.sound(indexPos)
	if err := s.headline(indexPos, sound, s.cutEnd(indexPos)); err != nil {
		return err
	}
	missing, fewer := int64(0), ""
	if sound {
		missing, fewer = s.missing()
	}
	damage := !sound || missing > 0
	for _, g := range s.gaps {
		code, what := "gap", fmt.Sprintf("%d bytes cannot be read as records: %s", g.bytes, g.why)
		if g.at+g.bytes == s.r.src.Size {
			code, what = "truncated", fmt.Sprintf("the last %d bytes of the file cannot be read as records: %s", g.bytes, g.why)
		}
		lost := storage.Lost{Bytes: g.bytes}
		damage := damage || g.cuts
		if indexPos > 0 && g.at >= indexPos && s.end() <= indexPos {
			damage = false // of the index
		}
		if damage {
			what += fewer
			lost.Messages, lost.Uncounted = missing, !sound
			missing = 0
		}
		if err := s.r.src.WarnLost(lost, code, g.at, damage, "%s", what); err != nil {
			return err
		}
	}
	if missing > 0 {
		return s.r.src.WarnLost(storage.Lost{Messages: missing}, "count", indexPos, true, "messages are missing%s", fewer)
	}
	return nil
}

// cutEnd takes out the gap at the end of a file that is too short for its index: the gap comes from
// the same cut. It is nil if the file does not end with a gap.
func (s *scanner) cutEnd(indexPos int64) *gap {
	if n := len(s.gaps) - 1; n >= 0 && indexPos > s.r.src.Size && s.gaps[n].at+s.gaps[n].bytes == s.r.src.Size {
		g := s.gaps[n]
		s.gaps = s.gaps[:n]
		return &g
	}
	return nil
}

// headline reports what is wrong with the file as a whole. cut is the record that it ends in.
func (s *scanner) headline(indexPos int64, sound bool, cut *gap) error {
	size := s.r.src.Size
	var err error
	switch {
	case indexPos == 0:
		err = s.r.src.Warn("unindexed", -1, false, "the bag was not closed and has no index; the whole file is scanned; %s",
			warnings.Unclosed)
	case cut != nil:
		err = s.r.src.WarnLost(storage.Lost{Bytes: indexPos - cut.at, Uncounted: true}, "truncated", cut.at, true,
			"the file is cut off: it has %d of at least %d bytes; the last %d cannot be read as records: %s", size, indexPos,
			cut.bytes, cut.why)
	case indexPos > size:
		err = s.r.src.WarnLost(storage.Lost{Bytes: indexPos - size, Uncounted: true}, "truncated", size, true,
			"the file is cut off: it has %d of at least %d bytes", size, indexPos)
	case indexPos > 0 && !sound:
		err = s.r.src.Warn("index", indexPos, false,
			"the index is damaged, or not where the file header has it; all records are read without it")
	}
	if err == nil && s.guessed {
		err = s.r.src.Warn("op", -1, false, "the op of some records is damaged; their other fields identify them")
	}
	return err
}

// end returns where the last message ends.
func (s *scanner) end() int64 {
	if n := len(s.r.blocks); n > 0 {
		return s.r.blocks[n-1].Offset + s.r.blocks[n-1].Size
	}
	return s.r.first
}

// sound reports whether the index is where the file header has it, and whole.
func (s *scanner) sound(indexPos int64) bool {
	if indexPos <= 0 || len(s.indexes) == 0 || s.indexes[0].at != indexPos {
		return false
	}
	for i := range s.indexes {
		x := &s.indexes[i]
		end := x.data + indexEntry*x.count
		if i+1 < len(s.indexes) && s.indexes[i+1].at != end || i+1 == len(s.indexes) && end != s.r.src.Size {
			return false
		}
	}
	return true
}

// missing returns how many messages that the index counts were not found, as a number and as text.
func (s *scanner) missing() (n int64, what string) {
	found := map[string]int64{}
	for i := range s.r.topics {
		found[s.r.topics[i].Name] += s.r.topics[i].messages
	}
	counted := int64(0)
	for _, x := range s.indexes {
		n += max(0, x.count-found[x.topic])
		counted += x.count
		found[x.topic] = max(0, found[x.topic]-x.count)
	}
	return n, fmt.Sprintf("; %d of the %d messages that the index counts were read", counted-n, counted)
}

// audit compares each entry of the index with the record that it points at. What is wrong
// is a warning, one for each INDEX_DATA: no message is lost by it.
func (s *scanner) audit() error {
	for _, x := range s.indexes {
		if x.data+indexEntry*x.count > s.r.src.Size {
			break
		}
		err := s.auditTopic(x)
		if chunked.IsIO(err) {
			return s.r.src.Fail(x.at, "index", err)
		}
		if err != nil {
			if err := s.r.src.Warn("index-data", x.at, false, "the index of topic %.200q does not fit the messages: %v", x.topic,
				err); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *scanner) auditTopic(x indexed) error {
	w := s.r.src.Window()
	for i := range x.count {
		b, err := w.Data(x.data+i*indexEntry, indexEntry)
		if err != nil {
			return err
		}
		if len(b) < indexEntry {
			return storage.ErrTruncated
		}
		t := carryTime(binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]))
		at := int64(min(binary.LittleEndian.Uint64(b[8:]), 1<<62))
		rec := &s.rec
		for range 2 { // the first entry points at the definition before the message
			if at < s.r.first || at >= s.r.src.Size {
				return fmt.Errorf("entry %d points at byte %d", i, at)
			}
			if err := s.head(rec, at); chunked.IsIO(err) {
				return err
			} else if err != nil {
				return fmt.Errorf("entry %d points at byte %d, where no record begins", i, at)
			}
			if rec.kind != kindDefinition {
				break
			}
			at += int64(rec.head) + rec.size
		}
		if rec.kind != kindMessage || string(rec.topic) != x.topic || rec.time != t {
			return fmt.Errorf("entry %d points at byte %d, where another record is", i, at)
		}
	}
	return nil
}

package rosbag1

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// A reason is why a bag is scanned: what keeps its index from being used. It is a
// warning, once the scan has shown what it costs.
type reason struct {
	code string
	at   int64
	what string
	head header // of the file; op is 0 if it cannot be read
	none error  // of a file in which the scan finds nothing of a bag
}

// A chunkInfo is what a CHUNK_INFO record counts in a chunk.
type chunkInfo struct{ at, messages int64 }

// chunkInfo adds a CHUNK_INFO record that the scan has met.
func (s *scanner) chunkInfo(h *header, data []byte) {
	x := chunkInfo{at: int64(h.chunkPos)}
	for ; len(data) >= 8; data = data[8:] {
		x.messages += int64(binary.LittleEndian.Uint32(data[4:]))
	}
	s.infos = append(s.infos, x)
}

// account reports what is missing in a bag that was scanned, by all that the bag itself
// counts. The CHUNK_INFO records count the messages of each chunk, when all of
// them are there. Without them the file header counts the chunks, and each chunk
// has its own INDEX_DATA. What nothing counts is uncounted.
func (s *scanner) account(why reason) error {
	s.foldEnd()
	var missing int64 // chunks
	complete := s.complete(&why.head)
	known := why.head.op == opFileHeader && why.head.indexPos != 0
	if known && !complete {
		missing = max(0, int64(why.head.chunkCount)-s.chunks)
	}
	if err := s.headline(&why, complete, missing); err != nil {
		return err
	}
	if complete {
		if err := s.byInfos(); err != nil {
			return err
		}
	}
	for _, n := range s.notes {
		if complete || known && missing == 0 {
			if n.at >= int64(why.head.indexPos) && known {
				continue // of the index: the headline has it
			}
			n.repaired = n.repaired || complete || !n.inside
		}
		lost := storage.Lost{Bytes: n.bytes, Uncounted: !n.repaired}
		if err := s.r.src.WarnLost(lost, n.code, n.at, !n.repaired, "%s", n.what); err != nil {
			return err
		}
	}
	for _, i := range s.damaged {
		if err := s.r.ReadBlock(s.r.src.Ctx, i, &s.batch); err != nil {
			return err
		}
	}
	return nil
}

// foldEnd joins the notes about the end of the file into one: a chunk that is cut,
// or was never closed, and the last bytes that are not records.
func (s *scanner) foldEnd() {
	last := len(s.notes) - 1
	if last < 1 || s.notes[last].code != "truncated" {
		return
	}
	if n := &s.notes[last-1]; n.code == "truncated" || n.code == "unclosed" {
		n.bytes += s.notes[last].bytes
		n.what += fmt.Sprintf(", and its last %d bytes are not a complete record", s.notes[last].bytes)
		s.notes = s.notes[:last]
	}
}

// complete reports whether the CHUNK_INFO records that were found are all that the bag had, and
// each has a place of its own in it. They are put in the order of the file.
func (s *scanner) complete(h *header) bool {
	slices.SortFunc(s.infos, func(a, b chunkInfo) int { return int(min(max(a.at-b.at, -1), 1)) })
	for i, x := range s.infos {
		if x.at < s.r.first || x.at >= s.r.src.Size || i > 0 && x.at == s.infos[i-1].at {
			return false
		}
	}
	k := 0
	for i := range s.r.blocks {
		b := &s.r.blocks[i]
		for k < len(s.infos) && s.infos[k].at < b.Offset {
			k++
		}
		if !b.run && (k == len(s.infos) || s.infos[k].at != b.Offset) {
			return false
		}
	}
	if h.op == opFileHeader {
		return h.indexPos != 0 && int64(len(s.infos)) == int64(h.chunkCount)
	}
	return len(s.infos) > 0 && s.settled == len(s.notes)
}

// headline reports why the bag was scanned, and what is missing of it as a whole.
func (s *scanner) headline(why *reason, complete bool, missing int64) error {
	lost := storage.Lost{Blocks: missing, Messages: s.ownerless, Uncounted: missing > 0}
	what := why.what
	count, whole := int64(why.head.chunkCount), s.chunks
	switch {
	case why.code == "truncated":
		lost.Bytes = int64(why.head.indexPos) - s.r.src.Size
		if n := len(s.notes) - 1; n >= 0 && (s.notes[n].code == "truncated" || s.notes[n].code == "unclosed") {
			lost.Bytes += s.notes[n].bytes
			if s.notes[n].inside {
				lost.Uncounted = true
				whole--
			}
			s.notes = s.notes[:n]
		}
		if !lost.Uncounted {
			if s.ownerless == 0 {
				lost.Bytes = 0
			}
			what += "; no chunk is missing, only the index"
			break
		}
		what += fmt.Sprintf(", and %d of %d chunks are complete", whole, count)
		if end, ok := s.end(); ok {
			what += fmt.Sprintf("; messages after %s are missing", timeText(end))
		}
	case why.code == "index" && missing > 0:
		what += fmt.Sprintf("; %d of %d chunks are found without it", s.chunks, count)
	case why.code == "index":
		what += "; all chunks are found without it"
	case why.code == "header":
		lost.Uncounted = !complete && len(s.notes) > 0
	}
	if s.ownerless > 0 {
		what += fmt.Sprintf("; %d messages belong to connections that the file does not define, and are not read",
			s.ownerless)
		if why.code == "unindexed" {
			why.code = codeNoConnection
		}
	}
	return s.r.src.WarnLost(lost, why.code, why.at, lost.Uncounted || s.ownerless > 0, "%s", what)
}

// end is the greatest log time that the scan has met.
func (s *scanner) end() (end int64, ok bool) {
	for i := range s.r.blocks {
		if b := &s.r.blocks[i]; b.Timed && b.Messages != 0 && (!ok || b.End > end) {
			end, ok = b.End, true
		}
	}
	return end, ok
}

// byInfos compares the blocks with the CHUNK_INFO records. A chunk that was found takes over the
// count. A chunk whose header is lost may have left runs of records.
func (s *scanner) byInfos() error {
	blocks, k := s.r.blocks, 0
	for i, x := range s.infos {
		next := s.r.src.Size
		if i+1 < len(s.infos) {
			next = s.infos[i+1].at
		}
		for k < len(blocks) && blocks[k].Offset < x.at {
			k++
		}
		from, got := k, int64(0)
		for ; k < len(blocks) && blocks[k].Offset < next; k++ {
			got += max(blocks[k].counted, blocks[k].Messages, 0)
		}
		if k == from+1 && !blocks[from].run && blocks[from].Offset == x.at {
			blocks[from].counted = x.messages
			continue
		}
		if got >= x.messages {
			continue
		}
		lost := storage.Lost{Messages: x.messages - got}
		what := "a chunk is lost"
		s.notes = slices.DeleteFunc(s.notes, func(n note) bool {
			if n.at < x.at || n.at >= next {
				return false
			}
			if lost.Bytes == 0 {
				what = n.what
			}
			lost.Bytes += n.bytes
			return true
		})
		s.r.src.Lose(x.at)
		if err := s.r.src.WarnLost(lost, "chunk-data", x.at, true, "%s%s", what,
			chunked.LeftOf(x.messages, got)); err != nil {
			return err
		}
	}
	return nil
}

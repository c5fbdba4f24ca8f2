package mcap

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// verifyChunks is how many chunk headers are read when a file is opened, to compare
// the index with them. Of a file with more chunks as many are read, evenly spread,
// so that opening a file of any size is quick. Tests lower it.
const verifyChunks = 16384

// A summary is what the summary section has.
type summary struct {
	start, end  int64 // from its first record to the Footer
	dataEnd     int64 // of the Data End record
	footer      footer
	schemas     []schema
	channels    []channel
	statistics  *statistics
	chunks      []chunkIndex // by offset
	attachments []attachmentIndex
	metadata    []metadataIndex
}

// tailSize is how much of the end of a file is read at once.
const tailSize = 64 << 10

// readSummary reads the summary. If there is no summary that can be used, why is the reason, and s
// is what could be read, or nil.
func (r *reader) readSummary() (s *summary, why string, err error) {
	const end = recordHead + footerSize + int64(len(magic))
	if r.src.Size < int64(len(magic))+end {
		return nil, "the file was not closed", nil
	}
	tail := make([]byte, min(tailSize, r.src.Size))
	if err := iox.ReadFull(r.src.File, tail, r.src.Size-int64(len(tail))); err != nil {
		return nil, "", r.src.Fail(r.src.Size-int64(len(tail)), "summary", err)
	}
	foot := tail[int64(len(tail))-end:]
	h, _ := parseHead(foot)
	if string(foot[len(foot)-len(magic):]) != magic || h != (recordHeader{opFooter, footerSize}) {
		return nil, "the file does not end with a footer", nil
	}
	s = &summary{end: r.src.Size - end}
	if err := s.footer.parse(foot[recordHead:]); err != nil {
		return nil, err.Error(), nil
	}
	const dataEnd = recordHead + 4
	start := s.footer.summaryStart
	if start == 0 {
		return nil, "the file has no summary", nil
	}
	if start > uint64(s.end) || start < uint64(len(magic))+dataEnd {
		return s, fmt.Sprintf("the summary should be at byte %d", start), nil
	}
	s.start = int64(start)
	s.dataEnd = s.start - dataEnd
	// The record before it shows that it is a position, and not any number, before so much is read.
	before := make([]byte, dataEnd)
	if err := iox.ReadFull(r.src.File, before, s.dataEnd); err != nil {
		return nil, "", r.src.Fail(s.dataEnd, "data end", err)
	}
	if h, err := parseHead(before); err != nil || h != (recordHeader{opDataEnd, 4}) {
		return s, fmt.Sprintf("there is no DataEnd record before byte %d, where the summary should begin", start), nil
	}
	b := make([]byte, s.end-s.start)
	if from := r.src.Size - int64(len(tail)); s.start >= from {
		copy(b, tail[s.start-from:])
	} else if err := iox.ReadFull(r.src.File, b, s.start); err != nil {
		return nil, "", r.src.Fail(s.start, "summary", err)
	}
	if sum := s.footer.crc; sum != 0 && sum != crc32.Update(crc32.ChecksumIEEE(b), crc32.IEEETable,
		foot[:recordHead+footerSize-4]) {
		return s, "the checksum of the summary differs", nil
	}
	if err := s.parse(b); err != nil {
		return s, fmt.Sprintf("the summary cannot be read: %v", err), nil
	}
	return s, "", nil
}

// grow appends a zero value to a list and returns it.
func grow[T any](list *[]T) *T {
	*list = append(*list, *new(T))
	return &(*list)[len(*list)-1]
}

// parse reads the records of the summary. Records that do not belong there are skipped.
func (s *summary) parse(b []byte) error {
	c := cursor{b: b}
	for c.step() {
		var err error
		switch c.op {
		case opSchema:
			err = grow(&s.schemas).parse(c.body)
		case opChannel:
			err = grow(&s.channels).parse(c.body)
		case opStatistics:
			s.statistics = &statistics{}
			err = s.statistics.parse(c.body)
		case opChunkIndex:
			err = grow(&s.chunks).parse(c.body)
		case opAttachmentIndex:
			err = grow(&s.attachments).parse(c.body)
		case opMetadataIndex:
			err = grow(&s.metadata).parse(c.body)
		case opMessage, opChunk:
			err = errors.New("it belongs before the end of the data")
		case opSummaryOffset:
			err = new(summaryOffset).parse(c.body)
		}
		if max(len(s.schemas), len(s.channels)) > maxTopics {
			err = fmt.Errorf("there are more than %d of them", maxTopics)
		}
		if err != nil {
			return fmt.Errorf("%s at byte %d: %w", opName(c.op), s.start+int64(c.at), err)
		}
	}
	if len(c.gaps) > 0 {
		g := c.gaps[0]
		return fmt.Errorf("%d bytes at byte %d are not a record: %w", g.to-g.from, s.start+int64(g.from), g.err)
	}
	slices.SortStableFunc(s.chunks, func(a, b chunkIndex) int { return cmp.Compare(a.offset, b.offset) })
	s.chunks = slices.CompactFunc(s.chunks, func(a, b chunkIndex) bool { return a.offset == b.offset })
	return nil
}

// counts takes the number of messages of each channel from where their Message Index records are:
// an entry has 16 bytes. If the records do not lie one after the other, as when a newer writer made
// them longer, they are looked at. The result is nil if there are no such records, or others than
// the index has.
func (s *scanner) counts(x *chunkIndex) ([]indexed, error) {
	var out []indexed
	eachCount(x.indexes, func(channel uint16, at uint64) {
		out = append(out, indexed{channel: channel, at: int64(at)})
	})
	slices.SortFunc(out, func(a, b indexed) int { return cmp.Compare(a.at, b.at) })
	from, end := int64(x.offset+x.length), int64(x.offset+x.length+x.indexLength)
	for i := range out {
		next := end
		if i+1 < len(out) {
			next = out[i+1].at
		}
		if out[i].at != from || next < from {
			return nil, nil
		}
		size := next - from - recordHead - indexFixed
		if size < 0 || size%indexEntry != 0 {
			h, _, n, err := s.indexHead(from)
			if err != nil || h.length != uint64(next-from-recordHead) {
				return nil, chunked.OnlyIO(err)
			}
			size = n * indexEntry
		}
		out[i].n = size / indexEntry
		from = next
	}
	return out, nil
}

// indexHead reads the start of the Message Index record at off: its channel, and how many messages
// it has.
func (s *scanner) indexHead(off int64) (h recordHeader, channel uint16, n int64, err error) {
	b, err := s.w.Data(off, recordHead+indexFixed)
	if err != nil {
		return h, 0, 0, err
	}
	h, err = parseHead(b)
	if err != nil || h.op != opMessageIndex || len(b) < recordHead+indexFixed {
		return h, 0, 0, errShort
	}
	size := binary.LittleEndian.Uint32(b[recordHead+2:])
	if size%indexEntry != 0 || uint64(size)+indexFixed > h.length {
		return h, 0, 0, errShort
	}
	return h, binary.LittleEndian.Uint16(b[recordHead:]), int64(size / indexEntry), nil
}

// verify compares the index of a chunk with the chunk, when that is asked for, and
// returns the block; nil if they do not fit, and wrong if the index is to blame.
func (s *scanner) verify(x *chunkIndex, look bool) (bl *block, wrong bool, err error) {
	const most = 1 << 62
	codec := codecOf(x.compression)
	if x.length < chunkFixed || x.length > most || x.indexLength > most || x.offset+x.length+
		x.indexLength > uint64(s.end) {
		x.length, x.indexLength = 0, 0
		return nil, true, nil
	}
	crosses := x.start <= x.end && int64(x.start) > int64(x.end) // least and greatest are others as int64
	if x.start > x.end || crosses || codec == nil || x.stored > x.length {
		return nil, !crosses && len(x.indexes) > 0, nil
	}
	counts, err := s.counts(x)
	if err != nil {
		return nil, false, err
	}
	bl = &block{index: extent{int64(x.offset + x.length), int64(x.indexLength)}, counts: counts}
	for _, c := range counts {
		if c.n > 0 && !s.r.defs.complete(c.channel) {
			return nil, false, nil // the definition may be in the chunk
		}
		bl.counted += c.n
	}
	if bl.counted == 0 {
		return nil, len(counts) == 0 && len(x.indexes) > 0, nil
	}
	bl.Block = storage.Block{
		Offset: int64(x.offset), Size: int64(x.length), Messages: bl.counted, Start: int64(x.start), End: int64(x.end),
		Timed: true,
	}
	c := &chunk{size: x.original, n: x.stored, compression: x.compression}
	if look {
		if c, err = s.r.chunkHeader(bl); err != nil || c.compression != x.compression || c.n != x.stored ||
			c.size != x.original ||
			c.start != x.start || c.end != x.end {
			return nil, true, chunked.OnlyIO(err)
		}
		heads := counts
		if !s.unproven() {
			heads = []indexed{counts[0], counts[len(counts)-1]}
		}
		for _, k := range heads {
			h, channel, n, err := s.indexHead(k.at)
			if err != nil || n != k.n || channel != k.channel || k.at+recordHead+int64(h.length) > bl.index.at+bl.index.size {
				return nil, true, chunked.OnlyIO(err)
			}
		}
	}
	bl.RawSize = c.rawSize(codec, int64(x.stored))
	return bl, false, nil
}

package mcap

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// verifyChunks is how many chunk headers are read when a file is opened, to compare
// the index with them. Of a file with more chunks as many are read, evenly spread,
// so that opening a file of any size is quick. Tests lower it.
var verifyChunks = 16384

// A summary is what the summary section says.
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

// readSummary reads the summary. Where there is none that can be used it returns why.
func (r *Reader) readSummary() (s *summary, why string, err error) {
	const end = recordHead + footerSize + int64(len(magic))
	if r.size < int64(len(magic))+end {
		return nil, "the file was not closed", nil
	}
	tail := make([]byte, min(tailSize, r.size))
	if err := iox.ReadFull(r.file, tail, r.size-int64(len(tail))); err != nil {
		return nil, "", r.fail(r.size-int64(len(tail)), "summary", err)
	}
	foot := tail[int64(len(tail))-end:]
	h, _ := parseHead(foot)
	if string(foot[len(foot)-len(magic):]) != magic || h != (recordHeader{opFooter, footerSize}) {
		return nil, "the file does not end with a footer", nil
	}
	s = &summary{end: r.size - end}
	if err := s.footer.parse(foot[recordHead:]); err != nil {
		return nil, err.Error(), nil
	}
	const dataEnd = recordHead + 4
	start := s.footer.summaryStart
	if start == 0 {
		return nil, "the file has no summary", nil
	}
	if start > uint64(s.end) || start < uint64(len(magic))+dataEnd {
		return nil, fmt.Sprintf("the summary should be at byte %d", start), nil
	}
	s.start = int64(start)
	s.dataEnd = s.start - dataEnd
	// What stands before it tells that it is no number from anywhere, before so much is read.
	before := make([]byte, dataEnd)
	if err := iox.ReadFull(r.file, before, s.dataEnd); err != nil {
		return nil, "", r.fail(s.dataEnd, "data end", err)
	}
	if h, err := parseHead(before); err != nil || h != (recordHeader{opDataEnd, 4}) {
		return nil, fmt.Sprintf("there is no end of the data before byte %d, at which the summary should begin", start), nil
	}
	b := make([]byte, s.end-s.start)
	if from := r.size - int64(len(tail)); s.start >= from {
		copy(b, tail[s.start-from:])
	} else if err := iox.ReadFull(r.file, b, s.start); err != nil {
		return nil, "", r.fail(s.start, "summary", err)
	}
	if sum := s.footer.crc; sum != 0 && sum != crc32.Update(crc32.ChecksumIEEE(b), crc32.IEEETable, foot[:recordHead+footerSize-4]) {
		return nil, "the checksum of the summary differs", nil
	}
	if err := s.parse(b); err != nil {
		return nil, fmt.Sprintf("the summary cannot be read: %v", err), nil
	}
	return s, "", nil
}

// parse reads the records of the summary. Others than those that belong there are
// passed over.
func (s *summary) parse(b []byte) error {
	c := cursor{b: b}
	for c.step() {
		var err error
		switch c.op {
		case opSchema:
			s.schemas = append(s.schemas, schema{})
			err = s.schemas[len(s.schemas)-1].parse(c.body)
		case opChannel:
			s.channels = append(s.channels, channel{})
			err = s.channels[len(s.channels)-1].parse(c.body)
		case opStatistics:
			s.statistics = &statistics{}
			err = s.statistics.parse(c.body)
		case opChunkIndex:
			s.chunks = append(s.chunks, chunkIndex{})
			err = s.chunks[len(s.chunks)-1].parse(c.body)
		case opAttachmentIndex:
			s.attachments = append(s.attachments, attachmentIndex{})
			err = s.attachments[len(s.attachments)-1].parse(c.body)
		case opMetadataIndex:
			s.metadata = append(s.metadata, metadataIndex{})
			err = s.metadata[len(s.metadata)-1].parse(c.body)
		case opSummaryOffset:
			err = new(summaryOffset).parse(c.body)
		}
		if err != nil {
			return fmt.Errorf("%s at byte %d: %w", opName(c.op), s.start+int64(c.at), err)
		}
	}
	if len(c.gaps) > 0 {
		g := c.gaps[0]
		return fmt.Errorf("%d bytes at byte %d are no record: %w", g.to-g.from, s.start+int64(g.from), g.err)
	}
	slices.SortStableFunc(s.chunks, func(a, b chunkIndex) int { return cmp.Compare(a.offset, b.offset) })
	s.chunks = slices.CompactFunc(s.chunks, func(a, b chunkIndex) bool { return a.offset == b.offset })
	return nil
}

// counts takes the number of messages of each channel from where their Message Index
// records are: an entry has 16 bytes. It is nil where these do not lie one behind the
// other, as where a newer writer made them longer.
func (x *chunkIndex) counts() []indexed {
	var out []indexed
	eachCount(x.indexes, func(channel uint16, at uint64) {
		out = append(out, indexed{channel: channel, at: int64(at)})
	})
	if len(out) == 0 || x.indexLength > 1<<62 {
		return nil
	}
	slices.SortFunc(out, func(a, b indexed) int { return cmp.Compare(a.at, b.at) })
	end := int64(x.offset + x.length + x.indexLength)
	if out[0].at != int64(x.offset+x.length) {
		return nil
	}
	for i := range out {
		next := end
		if i+1 < len(out) {
			next = out[i+1].at
		}
		size := next - out[i].at - recordHead - indexFixed
		if size < 0 || size%indexEntry != 0 {
			return nil
		}
		out[i].n = size / indexEntry
	}
	return out
}

// verify compares the index of a chunk with the chunk, when that is asked for, and
// returns the block; nil where they do not fit and the chunk has to be read.
func (s *scanner) verify(x *chunkIndex, look bool) (*block, error) {
	const most = 1 << 62
	at := int64(x.offset)
	if x.length < chunkFixed || x.length > most || x.indexLength > most || x.offset+x.length+x.indexLength > uint64(s.end) || x.start > x.end {
		return nil, nil
	}
	counts := x.counts()
	bl := &block{index: extent{at + int64(x.length), int64(x.indexLength)}, counts: counts}
	for _, c := range counts {
		if _, ok := s.r.defs.current[c.channel]; !ok && c.n > 0 {
			return nil, nil
		}
		bl.counted += c.n
	}
	if bl.counted == 0 || x.end > 1<<63-1 {
		return nil, nil
	}
	bl.Block = storage.Block{Offset: at, Size: int64(x.length), Messages: bl.counted, Start: int64(x.start), End: int64(x.end), Timed: true}
	codec := codecOf(x.compression)
	if codec == nil || x.stored > x.length {
		return nil, nil
	}
	c := &chunk{size: x.original, n: x.stored, compression: x.compression}
	if look {
		var err error
		if c, err = s.r.chunkHeader(bl); err != nil || c.compression != x.compression || c.n != x.stored || c.size != x.original || c.start != x.start || c.end != x.end {
			return nil, ioError(err)
		}
		for _, k := range []indexed{counts[0], counts[len(counts)-1]} {
			h, err := s.w.head(k.at)
			if err != nil || h != (recordHeader{opMessageIndex, uint64(indexFixed + k.n*indexEntry)}) {
				return nil, ioError(err)
			}
		}
	}
	bl.RawSize = c.rawSize(codec, int64(x.stored))
	return bl, nil
}

// ioError keeps errors of the disk, and drops those that say what is damaged.
func ioError(err error) error {
	if isIO(err) {
		return err
	}
	return nil
}

package cyber

import (
	"bufio"
	"fmt"

	"github.com/bagconv/bagconv/internal/iox"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// An outSegment is one file of the recording:
//
//	0     HEADER   16 bytes, Header, '0', NULs up to 2064; written again at the end
//	2064  CHANNEL  16 bytes, Channel; before the first chunk that may need it
//	      CHUNK_HEADER and CHUNK_BODY: see outChunk
//	      INDEX    16 bytes, Index: an entry for each section between, in their order
//
// Write fills the first group of fields and leaves them alone once the segment
// is sealed; the second is Append's.
type outSegment struct {
	number   int
	messages int64
	raw      int64         // bytes of content
	first    int64         // time of the first message, ns
	least    int64         // time of the earliest, ns
	channels []*outChannel // all that it has, once it is sealed
	counts   []int64       // the messages of each

	file       storage.File
	out        *bufio.Writer
	pos        int64 // bytes written
	index      int64 // position of the INDEX, once it is written
	entries    []outEntry
	written    int // channels in the file
	chunks     int64
	total      int64 // messages in the file
	begin, end int64 // least and greatest time in the file, by earlier and later, ns
}

// An outEntry is what the index has about a channel, or about the two sections of a chunk.
type outEntry struct {
	pos     int64 // of the section header
	channel int   // number of the channel, -1 for a chunk

	body                   int64 // position of the CHUNK_BODY
	count, begin, end, raw int64
}

const (
	headerEnd   = 2064                        // where the sections after HEADER start
	maxHeader   = headerEnd - sectionHead - 1 // bytes of a Header
	maxCounters = 7*(1+10) + 2                // bytes of the fields that end adds to it
	maxSegments = 100_000                     // five digits
	stampFormat = "20060102150405"            // of the new names
)

// ends reports whether a message must not go into the segment any more.
func (s *outSegment) ends(w *writer, t, content int64) bool {
	return s.messages > 0 &&
		(w.segmentSize > 0 && s.raw+content > w.segmentSize || w.segmentDuration > 0 && t-s.least > w.segmentDuration)
}

// add counts a message.
func (s *outSegment) add(t, content int64) {
	if s.messages == 0 {
		s.first, s.least = t, t
	}
	s.messages++
	s.raw += content
	s.least = min(s.least, t)
}

// nextSegment seals the segment being filled and starts another.
func (w *writer) nextSegment() error {
	if err := w.Flush(true); err != nil {
		return err
	}
	if w.seg.number+1 == maxSegments {
		return w.Stop(w.refuse("choose larger segments", "more than %d segments", maxSegments))
	}
	w.seal()
	w.seg = &outSegment{number: w.seg.number + 1}
	return nil
}

// seal fixes the channels of the segment being filled, and their counts.
func (w *writer) seal() {
	w.seg.channels = w.channels[:len(w.channels):len(w.channels)]
	w.seg.counts = make([]int64, len(w.channels))
	for i, c := range w.channels {
		w.seg.counts[i], c.count = c.count, 0
	}
}

// enter makes s the segment whose file is written: the segment before it is finished. w.Mu is held.
func (w *writer) enter(s *outSegment) error {
	if w.open == s {
		return nil
	}
	if w.open != nil {
		if err := w.leave(); err != nil {
			return err
		}
	}
	f, err := w.place.create(s)
	if err != nil {
		return outError(w.place.path, "output", err, "")
	}
	w.open, s.file, s.out = s, f, bufio.NewWriterSize(f, 64<<10)
	b, err := s.header(w.header, 0)
	if err == nil {
		err = s.put(b)
	}
	if err != nil {
		return outError(w.place.path, "header", err, "")
	}
	return nil
}

// leave finishes the file of the open segment, which is sealed. w.Mu is held.
func (w *writer) leave() error {
	s := w.open
	fail := func(what string, err error) error { return outError(w.place.path, what, err, "") }
	if err := s.putChannels(s.channels); err != nil {
		return fail("channel", err)
	}
	s.index = s.pos
	if err := s.putIndex(); err != nil {
		return fail("index", err)
	}
	if err := s.out.Flush(); err != nil {
		return fail("index", err)
	}
	if a := w.place.add; a != nil && a.file != nil { // its header is the last to be written
		s.file, s.out, s.entries = nil, nil, nil
		return nil
	}
	b, err := s.header(w.header, s.index)
	if err == nil {
		_, err = s.file.WriteAt(b, 0)
	}
	if err == nil && w.place.sync {
		err = iox.Sync(s.file)
	}
	if err != nil {
		return fail("header", err)
	}
	f := s.file
	s.file, s.out, s.entries = nil, nil, nil
	if err := f.Close(); err != nil {
		return fail("output", err)
	}
	return nil
}

// put writes at the end of the file.
func (s *outSegment) put(b []byte) error {
	n, err := s.out.Write(b)
	s.pos += int64(n)
	return err
}

// header is the section HEADER, padded, with the counters as they stand. index is the position of
// the INDEX, 0 until it is known.
func (s *outSegment) header(fixed *pb.Header, index int64) ([]byte, error) {
	h := proto.CloneOf(fixed)
	h.IndexPosition = proto.Uint64(uint64(index))
	h.IsComplete = proto.Bool(index != 0)
	h.ChunkNumber = proto.Uint64(uint64(s.chunks))
	h.ChannelNumber = proto.Uint64(uint64(s.written))
	h.MessageNumber = proto.Uint64(uint64(s.total))
	h.BeginTime = proto.Uint64(uint64(s.begin))
	h.EndTime = proto.Uint64(uint64(s.end))
	h.Size = proto.Uint64(0)
	if index != 0 {
		h.Size = proto.Uint64(uint64(s.pos))
	}
	b := appendSection(make([]byte, 0, headerEnd), pb.SectionType_SECTION_HEADER, int64(proto.Size(h)))
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, h)
	if err != nil {
		return nil, err
	}
	end := len(b)
	b = b[:headerEnd]
	clear(b[end:])
	b[end] = '0' // as Apollo pads, with a string that holds nothing but its first character
	return b, nil
}

// putChannels writes the sections of the channels that the file does not have yet.
func (s *outSegment) putChannels(channels []*outChannel) error {
	for i, c := range channels[s.written:] {
		b := appendSection(nil, pb.SectionType_SECTION_CHANNEL, 0)
		b = appendStringField(b, 1, c.name)
		b = appendStringField(b, 2, c.typ)
		b = appendBytesHead(b, 3, len(c.desc))
		appendSection(b[:0], pb.SectionType_SECTION_CHANNEL, int64(len(b)-sectionHead+len(c.desc)))
		s.entries = append(s.entries, outEntry{pos: s.pos, channel: s.written + i})
		if err := s.put(b); err != nil {
			return err
		}
		if err := s.put(c.desc); err != nil {
			return err
		}
	}
	s.written = max(s.written, len(channels))
	return nil
}

// putChunk writes a chunk.
func (s *outSegment) putChunk(k *outChunk) error {
	if err := s.putChannels(k.channels); err != nil {
		return err
	}
	skip, head := k.close()
	s.entries = append(s.entries, outEntry{pos: s.pos, channel: -1, body: s.pos + head, count: k.count, begin: k.begin,
		end: k.end, raw: k.raw})
	for _, b := range k.blocks {
		if err := s.put(b[skip:]); err != nil {
			return err
		}
		skip = 0
	}
	if err := s.put(k.lent); err != nil {
		return err
	}
	if s.chunks == 0 {
		s.begin, s.end = k.begin, k.end
	}
	s.begin, s.end = earlier(s.begin, k.begin), later(s.end, k.end)
	s.chunks++
	s.total += k.count
	return nil
}

// putIndex writes the INDEX. Descriptors stand in it again; they are not copied.
func (s *outSegment) putIndex() error {
	var buf []byte
	size := int64(0)
	for i := range s.entries {
		b, desc := s.appendEntry(buf[:0], i)
		size += int64(len(b) + len(desc))
		buf = b
	}
	if size > maxSection {
		return fmt.Errorf("index of %d bytes: %w", size, storage.ErrUnsupported)
	}
	if err := s.put(appendSection(buf[:0], pb.SectionType_SECTION_INDEX, size)); err != nil {
		return err
	}
	for i := range s.entries {
		b, desc := s.appendEntry(buf[:0], i)
		if err := s.put(b); err != nil {
			return err
		}
		if err := s.put(desc); err != nil {
			return err
		}
		buf = b
	}
	return nil
}

// appendEntry appends what the Index has of entry i, but for descriptors, which
// come after it.
func (s *outSegment) appendEntry(dst []byte, i int) (b, desc []byte) {
	e := &s.entries[i]
	if e.channel < 0 {
		var cache [4 * 11]byte
		c := appendVarintField(cache[:0], 1, e.count)
		body := len(c)
		c = appendVarintField(c, 2, e.begin)
		c = appendVarintField(c, 3, e.end)
		c = appendVarintField(c, 4, e.raw)
		dst = appendSingle(dst, pb.SectionType_SECTION_CHUNK_HEADER, e.pos, 102, c, 0)
		return appendSingle(dst, pb.SectionType_SECTION_CHUNK_BODY, e.body, 103, c[:body], 0), nil
	}
	ch := s.channels[e.channel]
	c := appendVarintField(nil, 1, s.counts[e.channel])
	c = appendStringField(c, 2, ch.name)
	c = appendStringField(c, 3, ch.typ)
	c = appendBytesHead(c, 4, len(ch.desc))
	return appendSingle(dst, pb.SectionType_SECTION_CHANNEL, e.pos, 101, c, len(ch.desc)), ch.desc
}

// appendSingle appends a SingleIndex with its tag: section type, position, and
// the cache, field n. more bytes of the cache follow.
func appendSingle(dst []byte, t pb.SectionType, pos int64, n protowire.Number, cache []byte, more int) []byte {
	var buf [40]byte
	head := appendVarintField(buf[:0], 1, int64(t))
	head = appendVarintField(head, 2, pos)
	head = appendBytesHead(head, n, len(cache)+more)
	dst = appendBytesHead(dst, 1, len(head)+len(cache)+more)
	dst = append(dst, head...)
	return append(dst, cache...)
}

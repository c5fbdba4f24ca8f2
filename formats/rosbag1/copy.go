package rosbag1

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// A chunk is copied with its compressed bytes, and with new index records, when
//
//   - it is compressed as the output is to be, and nothing is asked for that it might
//     not have: no level, no chunk size. Plain chunks are packed anew, which costs no
//     more;
//   - it is at least half as large as a chunk that the Writer makes, so that bags
//     with many small chunks are packed anew;
//   - it reads without a complaint, and has nothing but messages and connections;
//   - its connections have the same ids in the output, and the connections that it
//     defines are the same to the byte, but for the order of fields;
//   - each of its connections is defined before its first message there, in the
//     chunk or in an earlier chunk. The chunk that is being filled gets the missing
//     definitions if it defines another connection already: who scans a bag by its
//     index records does not look for definitions in chunks of known connections.
//
// The Reader checks what can be known of the chunk alone, in any goroutine, and
// the Writer the rest.

// A copying is what a Writer and a Reader whose chunks it copies agree on. It
// does not change.
type copying struct {
	codec *compress.Codec
	least int       // bytes before compression of a chunk to be copied
	conns []outConn // by TopicID of the reader; without a record: not to be copied
	index []int     // of Writer.conns
	topic func(id uint32) (storage.TopicID, bool)
}

// CopyFrom prepares for the chunks of other bags. Connections keep their ids as far as that leaves
// no gap: ROS's own tools number what they append to a bag by the count of its connections. If two
// bags have one id for two connections, the larger bag keeps it. See storage.BlockCopier.
func (w *writer) CopyFrom(readers []storage.Reader, topics []storage.TopicID) (some bool) {
	w.copying = nil
	bags := bagsOf(readers, topics)
	if !w.copies || w.codec == compress.None || !w.Ready() || w.Handed > 0 || w.Cur != nil || w.enc != nil {
		for _, b := range bags {
			b.reader.copying = nil
		}
		return false
	}
	if w.old == nil {
		w.keepIDs(bags)
	}
	for _, b := range bags {
		c := w.agree(b)
		switch {
		case c == nil:
			b.reader.copying = nil
			continue
		case !c.same(b.reader.copying): // else it is of another part of the bag
			b.reader.copying = c
		}
		w.copying, some = append(w.copying, b.reader.copying), true
	}
	return some
}

// A sourceBag is a bag whose chunks may be copied, and what its connections are in the output.
type sourceBag struct {
	*reader
	topics []storage.TopicID
}

// bagsOf lists readers that are bags; no reader if one is something else: readers of bags return messages of one time
// in
// the order of connection ids, and these follow the order of the inputs then.
func bagsOf(readers []storage.Reader, topics []storage.TopicID) (list []sourceBag) {
	for _, r := range readers {
		n := len(r.Info().Topics)
		if n > len(topics) {
			return list
		}
		bag, ok := r.(*reader)
		if !ok {
			return nil
		}
		if n == len(bag.conns.list) {
			list = append(list, sourceBag{bag, topics[:n]})
		}
		topics = topics[n:]
	}
	return list
}

// agree returns what the Writer and the Reader of a bag agree on, nil if no chunk can be copied.
func (w *writer) agree(b sourceBag) *copying {
	n := len(b.topics)
	if b.enc != nil || b.codecs[w.codec.Name()] == 0 {
		return nil
	}
	c := &copying{codec: w.codec, least: w.threshold / 2, conns: make([]outConn, n), index: make([]int, n),
		topic: b.conns.lookup}
	some := false
	for i, t := range b.topics {
		if int64(t) < int64(len(w.conns)) && w.conns[t].id == b.conns.list[i].id {
			c.conns[i], c.index[i], some = w.conns[t], int(t), true
		}
	}
	if !some {
		return nil
	}
	return c
}

// same reports whether two Writers take the same chunks in the same way.
func (c *copying) same(o *copying) bool {
	return o != nil && c.codec == o.codec && c.least == o.least && slices.Equal(c.index, o.index) &&
		slices.EqualFunc(c.conns, o.conns, func(a, b outConn) bool { return a.id == b.id && bytes.Equal(a.record, b.record) })
}

// keepIDs assigns to connections the ids that they have in other bags. The other connections get
// what is left of 0, 1, 2 ...
func (w *writer) keepIDs(bags []sourceBag) {
	owner := make([]int, len(w.conns)) // by id: index of w.conns + 1
	kept := make([]bool, len(w.conns))
	for _, b := range slices.SortedStableFunc(slices.Values(bags), func(a, b sourceBag) int {
		return cmp.Compare(b.src.Size, a.src.Size)
	}) {
		for i, t := range b.topics {
			id := b.conns.list[i].id
			if int64(t) < int64(len(kept)) && int64(id) < int64(len(owner)) && !kept[t] && owner[id] == 0 {
				kept[t], owner[id] = true, int(t)+1
			}
		}
	}
	id := 0
	for i := range w.conns {
		if kept[i] {
			continue
		}
		for owner[id] != 0 {
			id++
		}
		owner[id] = i + 1
	}
	for id, i := range owner {
		w.conns[i-1].setID(uint32(id))
	}
}

// setID changes the id, also in the record, whose first field it is.
func (c *outConn) setID(id uint32) {
	c.id = id
	binary.LittleEndian.PutUint32(c.record[4+4+len("conn="):], id)
}

// storedChunk is what Batch.Stored holds: what the index of a chunk will have.
type storedChunk struct {
	from    *copying
	raw     int
	used    []usedConn
	first   []uint32 // offset of the first message of each of used
	index   []indexRef
	slots   []uint32 // by TopicID of the reader: index of used + 1
	defines []connectionKey
	start   int64
	end     int64
}

// A connectionKey is a CONNECTION record in a chunk.
type connectionKey struct {
	topic storage.TopicID // of the reader
	at    uint32
}

// begin returns what collects the chunk that is about to be read into b, nil if no chunks are
// copied.
func (c *copying) begin(b *storage.Batch) *storedChunk {
	s, _ := b.Stored.(*storedChunk)
	b.Stored = nil
	if c == nil {
		return nil
	}
	if s == nil {
		s = &storedChunk{}
	}
	s.from = c
	s.used, s.first, s.index, s.defines = s.used[:0], s.first[:0], s.index[:0], s.defines[:0]
	s.start, s.end = math.MaxInt64, math.MinInt64
	return s
}

// suits reports, by its header, whether a chunk may be copied.
func (s *storedChunk) suits(c *chunk) bool {
	s.raw = int(c.size)
	if c.codec != s.from.codec || c.renamed || c.open || s.raw < s.from.least {
		return false
	}
	s.slots = append(s.slots[:0], make([]uint32, len(s.from.conns))...)
	return true
}

// message checks the message record at an offset of the chunk. It is false when
// the chunk cannot be copied.
func (s *storedChunk) message(at int, h *header) bool {
	topic, ok := s.from.topic(h.conn)
	if !ok || s.from.conns[topic].record == nil || h.carry || h.time > maxTime {
		return false
	}
	slot := s.slots[topic]
	if slot == 0 {
		s.used = append(s.used, usedConn{conn: s.from.index[topic], id: h.conn, sorted: true})
		s.first = append(s.first, uint32(at))
		slot = uint32(len(s.used))
		s.slots[topic] = slot
	}
	sec := uint64(h.time) / 1e9
	when := sec<<32 | (uint64(h.time) - sec*1e9)
	s.used[slot-1].add(when)
	s.index = append(s.index, indexRef{when, slot - 1, uint32(at)})
	s.start, s.end = min(s.start, h.time), max(s.end, h.time)
	return true
}

// define checks the connection record at an offset of the chunk. It is false
// when it is not what the Writer would write.
func (s *storedChunk) define(at int, h *header, data []byte) bool {
	topic, ok := s.from.topic(h.conn)
	if !ok {
		return false
	}
	c := &s.from.conns[topic]
	s.defines = append(s.defines, connectionKey{topic, uint32(at)})
	return c.record != nil && string(h.topic) == c.name && (bytes.Equal(data, c.data) ||
		bytes.Equal(inOrder(data), c.data))
}

// finish ends the chunk: what can be known of it alone is known.
func (s *storedChunk) finish() *storedChunk {
	for _, d := range s.defines {
		if slot := s.slots[d.topic]; slot != 0 && d.at < s.first[slot-1] {
			s.used[slot-1].defined = true
		}
	}
	return s
}

// inOrder returns the fields of a connection header in the order in which the
// writer has them; nil when they are malformed.
func inOrder(data []byte) []byte {
	var fields [][]byte
	for b := data; len(b) > 0; {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil
		}
		n := 4 + binary.LittleEndian.Uint32(b)
		fields = append(fields, b[:n])
		b = b[n:]
	}
	slices.SortFunc(fields, func(a, b []byte) int { return bytes.Compare(fieldName(a), fieldName(b)) })
	return bytes.Join(fields, nil)
}

func fieldName(field []byte) []byte {
	name, _, _ := bytes.Cut(field[4:], []byte("="))
	return name
}

// defineBefore writes the records of connections that no chunk has yet and that the chunk to come
// does not define. They go into the chunk that is being filled. It is false if that cannot be.
func (w *writer) defineBefore(used []usedConn) bool {
	var missing []*outConn
	size := 0
	for _, u := range used {
		if c := &w.conns[u.conn]; !u.defined && !c.written {
			missing, size = append(missing, c), size+len(c.record)
		}
	}
	if size > 0 && (w.Cur == nil || !w.Cur.defines || w.Cur.Size()+size > maxChunk) {
		return false
	}
	for _, c := range missing {
		w.Cur.Buf, c.written = append(w.Cur.Buf, c.record...), true
	}
	return true
}

// CopyBlock writes a chunk as it is stored. See storage.BlockCopier.
func (w *writer) CopyBlock(b *storage.Batch) (bool, error) {
	if !w.Ready() {
		return false, w.Usable()
	}
	s, ok := b.Stored.(*storedChunk)
	if !ok || !slices.Contains(w.copying, s.from) || len(b.Messages) == 0 || len(b.Messages) != len(s.index) {
		return false, nil
	}
	if !w.defineBefore(s.used) {
		return false, nil
	}
	if err := w.Flush(true); err != nil {
		return false, err
	}
	for _, u := range s.used {
		w.conns[u.conn].written = true // others that it defines are defined again with their first message
	}
	k := w.freeChunk()
	k.start, k.end = s.start, s.end
	k.used, s.used = s.used, k.used[:0]
	k.index, s.index = s.index, k.index[:0]
	k.Copy(b.Scratch, s.raw)
	w.copied++
	return true, w.Hand(k)
}

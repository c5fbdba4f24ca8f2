package mcap

import (
	"hash/crc32"
	"math"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/storage"
)

// A chunk is copied with its compressed bytes, and with a new header and Message
// Index, when
//
//   - it is compressed as the output is to be, and nothing is asked for that it might
//     not have: no level, no chunk size. Plain chunks are packed anew, which costs no
//     more;
//   - it is at least half as large as a chunk that the Writer makes, so that files
//     with many small chunks are packed anew;
//   - it reads without a complaint, and has nothing but messages and definitions;
//   - its channels have the same ids in the output, and the definitions in it are the
//     same to the byte, but for what a newer writer adds at their end.
//
// What it uses and neither it nor a chunk before it defines is defined before it.
//
// The Reader checks what can be known of the chunk alone, in any goroutine, and the
// Writer the rest.

// A copying is what a Writer and the Reader whose chunks it copies agree on. It does
// not change.
type copying struct {
	codec    *compress.Codec
	least    int         // bytes before compression of a chunk to be copied
	channels []copyTopic // by TopicID of the reader
	byID     map[uint16]int
	schemas  map[uint16]copySchema
}

// A copyTopic is what a topic of the reader is in the output.
type copyTopic struct {
	ok      bool
	channel int // index of Writer.channels
	record  []byte
}

// A copySchema is what a schema id of the reader is in the output.
type copySchema struct {
	schema int // index of Writer.schemas
	record []byte
}

// CopyFrom prepares for the chunks of another file. Channels and schemas take the ids
// that they have there. See storage.BlockCopier.
func (w *Writer) CopyFrom(r storage.Reader, topics []storage.TopicID) bool {
	from, ok := r.(*Reader)
	if f, is := r.(*FolderReader); is {
		from, ok = f.alone()
	}
	if !ok {
		return false
	}
	from.copying, w.copying = nil, nil
	if !w.copies || w.codec == compress.None || !w.state.Ready() || w.begun || from.codecs[w.codec.Name()] == 0 ||
		len(from.defs.changes) > 0 || len(topics) != len(from.defs.list) {
		return false
	}
	c := &copying{
		codec: w.codec, least: w.threshold / 2, channels: make([]copyTopic, len(topics)),
		byID: map[uint16]int{}, schemas: map[uint16]copySchema{},
	}
	if !w.keepIDs(from, topics, c) {
		return false
	}
	from.copying, w.copying = c, c
	return true
}

// keepIDs sets the ids of channels and schemas to those that they have in another file, and the
// others those that are free. It is false when no channel can have its own.
func (w *Writer) keepIDs(from *Reader, topics []storage.TopicID, c *copying) bool {
	old := w.schemas
	w.schemas = nil
	kept := make([]bool, len(w.channels))
	for i, t := range topics {
		src := from.defs.list[i]
		if int64(t) >= int64(len(w.channels)) || kept[t] {
			continue
		}
		o := &w.channels[t]
		mine := o.channel
		mine.id = src.channel.id
		var s *schema
		if o.schema >= 0 {
			s = &old[o.schema].schema
		}
		if _, used := c.byID[mine.id]; used || key(&mine, s) != key(&src.channel, src.schema) {
			continue
		}
		schemaIndex := -1
		if s != nil {
			known, ok := c.schemas[src.channel.schema]
			if !ok {
				k := *s
				k.id = src.channel.schema
				known = copySchema{len(w.schemas), k.append(nil)}
				w.schemas = append(w.schemas, outSchema{schema: k})
				c.schemas[k.id] = known
			} else if !w.schemas[known.schema].same(s) {
				continue
			}
			schemaIndex = known.schema
		}
		kept[t] = true
		o.channel, o.schema = src.channel, schemaIndex
		c.byID[o.id] = i
		c.channels[i] = copyTopic{true, int(t), o.append(nil)}
	}
	w.numberOthers(kept, old, c)
	return len(c.byID) > 0
}

// numberOthers sets the ids of the channels that were not kept to free ones, and their
// schemas too.
func (w *Writer) numberOthers(kept []bool, old []outSchema, c *copying) {
	w.byID = map[string]int{}
	usedSchema := map[uint16]bool{}
	for i := range w.schemas {
		k := w.schemas[i].schema
		usedSchema[k.id] = true
		k.id = 0
		w.byID[string(k.append(nil))] = i
	}
	channelID, schemaID := uint16(0), uint16(0)
	for i := range w.channels {
		o := &w.channels[i]
		if kept[i] {
			continue
		}
		for channelID++; ; channelID++ {
			if _, used := c.byID[channelID]; !used {
				break
			}
		}
		o.id = channelID
		if o.schema < 0 {
			continue
		}
		s := old[o.schema].schema
		s.id = 0
		k := string(s.append(nil))
		j, ok := w.byID[k]
		if !ok {
			for schemaID++; usedSchema[schemaID]; schemaID++ {
			}
			s.id, j = schemaID, len(w.schemas)
			w.schemas = append(w.schemas, outSchema{schema: s})
			w.byID[k] = j
		}
		o.schema, o.channel.schema = j, w.schemas[j].id
	}
}

// stored is what Batch.Stored holds: what the index of a chunk will have.
type stored struct {
	from    *copying
	raw     int
	sum     uint32
	used    []usedChannel
	first   []int64 // offset of the first message of each of used
	index   []indexRef
	slots   []int // by TopicID of the reader: index of used + 1
	defines []defined
	start   uint64 // as those of outChunk
	end     uint64
}

// A defined is a definition in a chunk.
type defined struct {
	op byte
	id uint16
	at int64
}

// begin returns what collects the chunk that is about to be read into b, nil when none
// are copied.
func (c *copying) begin(b *storage.Batch) *stored {
	s, _ := b.Stored.(*stored)
	b.Stored = nil
	if c == nil {
		return nil
	}
	if s == nil {
		s = &stored{}
	}
	s.from = c
	s.used, s.first, s.index, s.defines = s.used[:0], s.first[:0], s.index[:0], s.defines[:0]
	s.start, s.end = math.MaxUint64, 0
	return s
}

// suits tells by its header whether a chunk with these records may be copied.
func (s *stored) suits(c *chunk, records []byte) bool {
	codec, sure := c.codec()
	if !sure || codec != s.from.codec || len(records) < s.from.least || uint64(len(records)) != c.size {
		return false
	}
	s.raw = len(records)
	if s.sum = c.crc; s.sum == 0 {
		s.sum = crc32.ChecksumIEEE(records)
	}
	s.slots = append(s.slots[:0], make([]int, len(s.from.channels))...)
	return true
}

// message adds the message record at an offset of the chunk. It is false when the
// chunk cannot be copied.
func (s *stored) message(at int64, id uint16, topic storage.TopicID, log int64) bool {
	if !s.from.channels[topic].ok {
		return false
	}
	slot := s.slots[topic]
	if slot == 0 {
		s.used = append(s.used, usedChannel{channel: s.from.channels[topic].channel, id: id})
		s.first = append(s.first, at)
		slot = len(s.used)
		s.slots[topic] = slot
	}
	s.used[slot-1].count++
	s.index = append(s.index, indexRef{uint64(log), uint64(at), slot - 1})
	s.start, s.end = min(s.start, uint64(log)), max(s.end, uint64(log))
	return true
}

// define adds a definition at an offset of the chunk. It is false when it is not
// what the Writer would write.
func (s *stored) define(op byte, at int, body []byte) bool {
	f := fields{b: body}
	id := f.u16()
	s.defines = append(s.defines, defined{op, id, int64(at)})
	if op == opSchema {
		k, ok := s.from.schemas[id]
		return ok && sameBytes(body, k.record)
	}
	i, ok := s.from.byID[id]
	return ok && sameBytes(body, s.from.channels[i].record)
}

// definedBefore reports whether the chunk has a definition before an offset.
func (s *stored) definedBefore(op byte, id uint16, at int64) bool {
	for _, d := range s.defines {
		if d.op == op && d.id == id && d.at < at {
			return true
		}
	}
	return false
}

// defineBefore appends the definitions that a chunk needs, and neither has before they
// are used nor finds in the file. What it defines itself is in the file then.
func (w *Writer) defineBefore(dst []byte, s *stored) []byte {
	if !w.begun {
		for i := range w.channels {
			if !slicesHas(s.used, i) {
				dst = w.define(dst, i)
			}
		}
	}
	for i, u := range s.used {
		c := &w.channels[u.channel]
		if !s.definedBefore(opChannel, u.id, s.first[i]) {
			dst = w.define(dst, u.channel)
		}
		if k := c.schema; k >= 0 && !w.schemas[k].written && !s.definedBefore(opSchema, w.schemas[k].id, s.first[i]) {
			w.schemas[k].written = true
			dst = w.schemas[k].append(dst)
		}
	}
	for _, d := range s.defines {
		if d.op == opSchema {
			w.schemas[s.from.schemas[d.id].schema].written = true
		} else {
			w.channels[s.from.channels[s.from.byID[d.id]].channel].written = true
		}
	}
	return dst
}

func slicesHas(used []usedChannel, channel int) bool {
	for i := range used {
		if used[i].channel == channel {
			return true
		}
	}
	return false
}

// CopyBlock writes a chunk as it is stored. See storage.BlockCopier.
func (w *Writer) CopyBlock(b *storage.Batch) (bool, error) {
	if !w.state.Ready() {
		return false, w.state.Usable()
	}
	s, ok := b.Stored.(*stored)
	if !ok || s.from != w.copying || len(b.Messages) == 0 || len(b.Messages) != len(s.index) {
		return false, nil
	}
	if err := w.Flush(); err != nil {
		return false, err
	}
	k := w.freeChunk()
	k.before = w.defineBefore(k.before, s)
	w.begun = true
	k.ready, k.raw, k.sum, k.start, k.end = true, s.raw, s.sum, s.start, s.end
	k.used, s.used = s.used, k.used[:0]
	k.index, s.index = s.index, k.index[:0]
	k.packed = append(storage.Grow(k.packed[:0], k.front), b.Scratch...)
	w.copied++
	return true, w.state.Hand(k)
}

package mcap

import (
	"bytes"
	"cmp"
	"hash/crc32"
	"maps"
	"math"
	"slices"

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
// What a chunk uses is defined before it, unless the chunk or an earlier one defines it.
//
// The Reader checks what can be known of the chunk alone, in any goroutine, and the
// Writer the rest. What is added to a file is never copied: its ids are given.

// A copying is what a Writer and the Readers whose chunks it copies agree on: the ids of
// channels and schemas in the output. It does not change once a chunk is read.
type copying struct {
	codec    *compress.Codec
	least    int // bytes before compression of a chunk to be copied
	channels map[uint16]copyChannel
	schemas  map[uint16]copySchema
}

// A copyChannel is a channel of the output that has the id of its source.
type copyChannel struct {
	channel int // index of Writer.channels
	record  []byte
}

// A copySchema is a schema of the output that has the id of its source.
type copySchema struct {
	schema int // index of Writer.schemas
	record []byte
}

// A copySource is what the Reader of one file knows of a copying.
type copySource struct {
	*copying
	reader *reader
	topics []int // index of Writer.channels + 1, by TopicID of the reader; 0: not copied
}

// CopyFrom prepares for the chunks of other files, or of the parts of folders. Channels and schemas take the ids that
// they have in the largest recording that has them, if these are free, so that most bytes can be copied. Chunks of
// another one are copied if they have the same ids, such as chunks of the next drive: ids are within the compressed
// bytes. See storage.BlockCopier.
func (w *writer) CopyFrom(readers []storage.Reader, topics []storage.TopicID) bool {
	w.copying = nil
	if !w.copies || w.codec == compress.None || !w.Ready() || w.begun || w.old != nil {
		return false
	}
	c := &copying{codec: w.codec, least: w.threshold / 2, channels: map[uint16]copyChannel{},
		schemas: map[uint16]copySchema{}}
	old := w.schemas
	w.schemas = nil
	kept := make([]bool, len(w.channels))
	var sources []*copySource
	for _, f := range filesOf(readers, topics) {
		if f.codecs[c.codec.Name()] == 0 || len(f.defs.changes) > 0 || len(f.topics) != len(f.defs.list) {
			continue
		}
		if s := w.keepIDs(f, c, kept, old); s != nil {
			sources = append(sources, s)
		}
	}
	w.numberOthers(kept, old, c)
	if len(sources) == 0 {
		return false
	}
	w.copying = share(sources)
	return true
}

// share has the Readers collect chunks for a copying, and returns it. Writers that agree share one
// copying, so that each may copy.
func share(sources []*copySource) *copying {
	before := sources[0].reader.copying
	if before != nil && !slices.ContainsFunc(sources, func(s *copySource) bool {
		b := s.reader.copying
		return b == nil || b.copying != before.copying || !b.same(s)
	}) {
		return before.copying
	}
	for _, s := range sources {
		s.reader.copying = s
	}
	return sources[0].copying
}

// same reports whether two Writers may copy the same chunks in the same way.
func (c *copySource) same(o *copySource) bool {
	return c.codec == o.codec && c.least == o.least && slices.Equal(c.topics, o.topics) &&
		maps.EqualFunc(c.channels, o.channels, func(a, b copyChannel) bool {
			return a.channel == b.channel && bytes.Equal(a.record, b.record)
		}) &&
		maps.EqualFunc(c.schemas, o.schemas, func(a, b copySchema) bool {
			return a.schema == b.schema && bytes.Equal(a.record, b.record)
		})
}

// A copyFile is a file whose chunks may be copied, and what its topics are in the output.
type copyFile struct {
	*reader
	topics []storage.TopicID
}

// filesOf lists the files of readers, beginning with the largest recording.
func filesOf(readers []storage.Reader, topics []storage.TopicID) (list []copyFile) {
	type recording struct {
		size  int64
		files []copyFile
	}
	var all []recording
	for _, r := range readers {
		info := r.Info()
		own := topics[:min(len(info.Topics), len(topics))]
		topics = topics[len(own):]
		switch r := r.(type) {
		case *reader:
			all = append(all, recording{info.Size, []copyFile{{r, own}}})
		case *folderReader:
			all = append(all, recording{info.Size, r.files(own)})
		}
	}
	slices.SortStableFunc(all, func(a, b recording) int { return cmp.Compare(b.size, a.size) })
	for _, r := range all {
		list = append(list, r.files...)
	}
	return list
}

// keepIDs gives channels and schemas the ids that they have in a file, if these are free. kept has
// the channels of the Writer with the id of a source, and old is its list of schemas before. It
// returns nil if no chunk of the file can be copied.
func (w *writer) keepIDs(f copyFile, c *copying, kept []bool, old []outSchema) *copySource {
	src := &copySource{c, f.reader, make([]int, len(f.topics))}
	some := false
	for i, t := range f.topics {
		if int64(t) >= int64(len(w.channels)) {
			continue
		}
		in, out := f.defs.list[i], &w.channels[t]
		if in.schema == nil && in.channel.schema != 0 {
			continue // that schema is not there: in the output the channel has no schema
		}
		mine := out.channel
		mine.id = in.channel.id
		var s *schema
		switch {
		case out.schema >= 0 && kept[t]:
			s = &w.schemas[out.schema].schema
		case out.schema >= 0:
			s = &old[out.schema].schema
		}
		if _, used := c.channels[mine.id]; used != kept[t] || kept[t] && out.id != mine.id ||
			key(&mine, s) != key(&in.channel, in.schema) {
			continue
		}
		schemaIndex := -1
		if s != nil {
			known, ok := c.schemas[in.channel.schema]
			if !ok && !kept[t] {
				k := *s
				k.id = in.channel.schema
				known = copySchema{len(w.schemas), k.append(nil)}
				w.schemas = append(w.schemas, outSchema{schema: k})
				c.schemas[k.id] = known
			} else if !ok || !w.schemas[known.schema].same(s) || kept[t] && known.schema != out.schema {
				continue
			}
			schemaIndex = known.schema
		}
		if !kept[t] {
			kept[t] = true
			out.channel, out.schema = in.channel, schemaIndex
			c.channels[out.id] = copyChannel{int(t), out.append(nil)}
		}
		src.topics[i], some = int(t)+1, true
	}
	if !some {
		return nil
	}
	return src
}

// numberOthers sets the ids of the channels that were not kept, and of their schemas, to free ids.
func (w *writer) numberOthers(kept []bool, old []outSchema, c *copying) {
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
			if _, used := c.channels[channelID]; !used {
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
	from    *copySource
	raw     int
	sum     uint32
	used    []usedChannel
	first   []int64 // offset of the first message of each of used
	index   []indexRef
	slots   []int // by TopicID of the reader: index of used + 1
	defines []defined
	start   uint64 // as in outChunk
	end     uint64
}

// A definition is of a channel or a schema.
type definition struct {
	op byte
	id uint16
}

// A defined is a definition in a chunk.
type defined struct {
	definition
	at int64
}

// begin returns what collects the chunk that is about to be read into b, nil if no chunks are
// copied.
func (c *copySource) begin(b *storage.Batch) *stored {
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

// suits reports, by its header, whether a chunk with these records may be copied.
func (s *stored) suits(c *chunk, records []byte) bool {
	codec, sure := c.codec()
	if !sure || codec != s.from.codec || len(records) < s.from.least || uint64(len(records)) != c.size {
		return false
	}
	s.raw = len(records)
	if s.sum = c.crc; s.sum == 0 {
		s.sum = crc32.ChecksumIEEE(records)
	}
	s.slots = append(s.slots[:0], make([]int, len(s.from.topics))...)
	return true
}

// message adds the message record at an offset of the chunk. It is false when the
// chunk cannot be copied.
func (s *stored) message(at int64, id uint16, topic storage.TopicID, log int64) bool {
	channel := s.from.topics[topic] - 1
	if channel < 0 {
		return false
	}
	slot := s.slots[topic]
	if slot == 0 {
		s.used = append(s.used, usedChannel{channel: channel, id: id})
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
	s.defines = append(s.defines, defined{definition{op, id}, int64(at)})
	if op == opSchema {
		k, ok := s.from.schemas[id]
		return ok && sameBytes(body, k.record)
	}
	c, ok := s.from.channels[id]
	return ok && sameBytes(body, c.record)
}

// firstDefinitions returns where the chunk defines each channel and schema first.
func (s *stored) firstDefinitions() map[definition]int64 {
	first := make(map[definition]int64, len(s.defines))
	for _, d := range slices.Backward(s.defines) { // which are in order
		first[d.definition] = d.at
	}
	return first
}

// defineBefore appends the definitions that a chunk needs, if neither the file has them nor the
// chunk before their use. What the chunk defines itself counts as written then.
func (w *writer) defineBefore(dst []byte, s *stored) []byte {
	if !w.begun { // it defines the other channels that are known, unless the chunk does so
		within, schemas := make([]bool, len(w.channels)), map[uint16]bool{}
		for _, u := range s.used {
			within[u.channel] = true
		}
		for _, d := range s.defines {
			if d.op == opSchema {
				schemas[d.id] = true
				continue
			}
			c := s.from.channels[d.id].channel
			if k := w.channels[c].schema; k < 0 || schemas[w.schemas[k].id] {
				within[c] = true
			}
		}
		for i := range w.channels {
			if !within[i] {
				dst = w.define(dst, i)
			}
		}
	}
	first := s.firstDefinitions()
	before := func(op byte, id uint16, message int64) bool {
		at, ok := first[definition{op, id}]
		return ok && at < message
	}
	for i, u := range s.used {
		c := &w.channels[u.channel]
		if !before(opChannel, u.id, s.first[i]) {
			dst = w.define(dst, u.channel)
		}
		if k := c.schema; k >= 0 && !w.schemas[k].written && !before(opSchema, w.schemas[k].id, s.first[i]) {
			w.schemas[k].written = true
			dst = w.schemas[k].append(dst)
		}
	}
	for _, d := range s.defines {
		if d.op == opSchema {
			w.schemas[s.from.schemas[d.id].schema].written = true
		} else {
			w.channels[s.from.channels[d.id].channel].written = true
		}
	}
	return dst
}

// CopyBlock writes a chunk as it is stored. See storage.BlockCopier.
func (w *writer) CopyBlock(b *storage.Batch) (bool, error) {
	if !w.Ready() {
		return false, w.Usable()
	}
	s, ok := b.Stored.(*stored)
	if !ok || s.from.copying != w.copying || len(b.Messages) == 0 || len(b.Messages) != len(s.index) {
		return false, nil
	}
	if err := w.Flush(true); err != nil {
		return false, err
	}
	k := w.freeChunk()
	k.before = w.defineBefore(k.before, s)
	w.begun = true
	k.sum, k.start, k.end = s.sum, s.start, s.end
	k.used, s.used = s.used, k.used[:0]
	k.index, s.index = s.index, k.index[:0]
	k.Copy(b.Scratch, s.raw)
	w.copied++
	return true, w.Hand(k)
}

package mcap

import (
	"cmp"
	"maps"
	"slices"
)

// span fills in the least and greatest time of all messages.
func (x *reindexer) span() {
	times := map[int64]chunkIndex{}
	for _, c := range x.chunks {
		times[int64(c.offset)] = c
	}
	s, first := &x.out.stats, true
	for i := range x.r.blocks {
		b := &x.r.blocks[i]
		if b.Messages <= 0 {
			continue
		}
		start, end := uint64(b.Start), uint64(b.End)
		if c, ok := times[b.Offset]; ok && !b.run {
			start, end = c.start, c.end
		}
		if first || start < s.start {
			s.start = start
		}
		first, s.end = false, max(s.end, end)
	}
}

// summarize fills in what the summary tells.
func (x *reindexer) summarize() error {
	r, w := x.r, &x.out
	w.layout = fullLayout
	r.defs.freeze()
	for i, t := range r.defs.list {
		if t.schema == nil && t.channel.schema != 0 {
			return x.refuse(-1, "channel %d has schema %d, which nothing defines", t.channel.id, t.channel.schema)
		}
		w.channels = append(w.channels, outChannel{channel: t.channel})
		w.counts = append(w.counts, uint64(t.messages))
		w.stats.messages += uint64(t.messages)
		if now := r.defs.schemas[t.channel.schema]; t.schema != nil && (now == nil || !now.same(t.schema)) {
			return x.refuse(-1, "schema %d is defined twice, differently, and channel %d has the first", t.channel.schema,
				r.defs.list[i].channel.id)
		}
	}
	for _, s := range r.defs.schemas {
		w.schemas = append(w.schemas, outSchema{schema: *s})
	}
	x.span()
	if x.index != nil {
		c := &x.chunks[len(x.chunks)-1]
		c.indexes, c.indexLength = x.places, uint64(len(x.index))
	}
	for i := range x.chunks {
		w.chunkIndexes = x.chunks[i].append(w.chunkIndexes)
	}
	for _, a := range r.attachments {
		e := attachmentIndex{offset: uint64(a.at), length: uint64(a.length), attachment: a.attachment}
		w.attachmentIndexes = e.append(w.attachmentIndexes)
	}
	for _, p := range r.metadata {
		m, err := r.metadataAt(p)
		if err != nil {
			return err
		}
		if !validName(m.name) {
			return x.refuse(p.at, "the name of a metadata record is not UTF-8")
		}
		e := metadataIndex{offset: uint64(p.at), length: uint64(p.length), name: m.name}
		w.metadataIndexes = e.append(w.metadataIndexes)
	}
	w.stats.chunks, w.stats.attachments, w.stats.metadata = uint32(len(x.chunks)), uint32(len(r.attachments)),
		uint32(len(r.metadata))
	return x.texts()
}

// texts refuses a text that is not UTF-8: readers that take a summary as a whole, such as Python's, would refuse the
// file.
func (x *reindexer) texts() error {
	for i := range x.out.channels {
		c := &x.out.channels[i].channel
		valid := validName(c.topic) && validName(c.encoding)
		for _, p := range c.metadata {
			valid = valid && validName(p.key) && validName(p.value)
		}
		if !valid {
			return x.refuse(-1, "a text of channel %d is not UTF-8", c.id)
		}
	}
	for i := range x.out.schemas {
		if s := &x.out.schemas[i].schema; !validName(s.name) || !validName(s.encoding) {
			return x.refuse(-1, "a text of schema %d is not UTF-8", s.id)
		}
	}
	for i := range x.r.attachments {
		if a := &x.r.attachments[i]; !validName(a.name) || !validName(a.mediaType) {
			return x.refuse(a.at, "the name or media type of an attachment is not UTF-8")
		}
	}
	return nil
}

// entry returns the entry of a chunk in a summary, nil if it has no entry.
func (s *summary) entry(c *chunkIndex) *chunkIndex {
	i, found := slices.BinarySearchFunc(s.chunks, c.offset,
		func(x chunkIndex, at uint64) int { return cmp.Compare(x.offset, at) })
	if !found {
		return nil
	}
	return &s.chunks[i]
}

// right reports whether a summary has all that was found.
func (x *reindexer) right(s *summary) bool {
	w, st := &x.out, s.statistics
	if st == nil || st.messages != w.stats.messages || st.chunks != w.stats.chunks ||
		st.attachments != w.stats.attachments ||
		st.metadata != w.stats.metadata || st.messages > 0 && (st.start != w.stats.start || st.end != w.stats.end) ||
		len(s.chunks) != len(x.chunks) || len(s.attachments) != len(x.r.attachments) || len(s.metadata) != len(x.r.metadata) {
		return false
	}
	counts := map[uint16]uint64{}
	eachCount(st.counts, func(id uint16, n uint64) { counts[id] += n })
	have := map[uint16]bool{}
	for i := range s.channels {
		have[s.channels[i].id] = true
	}
	for i := range w.channels {
		if id := w.channels[i].id; !have[id] || counts[id] != w.counts[i] {
			return false
		}
	}
	for i := range x.chunks {
		if !x.chunks[i].same(&s.chunks[i]) {
			return false
		}
	}
	for i, a := range x.r.attachments {
		if s.attachments[i].offset != uint64(a.at) || s.attachments[i].length != uint64(a.length) {
			return false
		}
	}
	for i, m := range x.r.metadata {
		if s.metadata[i].offset != uint64(m.at) || s.metadata[i].length != uint64(m.length) {
			return false
		}
	}
	return true
}

// same reports whether two entries are about the same chunk, and have the same about it.
func (x *chunkIndex) same(o *chunkIndex) bool {
	indexes := func(c *chunkIndex) map[uint16]uint64 {
		m := map[uint16]uint64{}
		eachCount(c.indexes, func(id uint16, at uint64) { m[id] = at })
		return m
	}
	return x.start == o.start && x.end == o.end && x.offset == o.offset && x.length == o.length &&
		x.indexLength == o.indexLength &&
		x.compression == o.compression && x.stored == o.stored && x.original == o.original && maps.Equal(indexes(x),
		indexes(o))
}

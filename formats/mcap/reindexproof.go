package mcap

import "cmp"

// prove reads the messages of the chunks whose header has impossible times, or of which a summary that is sound
// otherwise says something else. What the messages show is written; a chunk that is damaged, or whose Message Index is,
// is refused: readers that believe the old summary read it now.
func (x *reindexer) prove(old *summary) error {
	for i := range x.chunks {
		c := &x.chunks[i]
		var entry *chunkIndex
		if old != nil {
			entry = old.entry(c)
		}
		if c.start <= c.end && (entry == nil || c.same(entry)) {
			continue
		}
		if entry != nil && entry.length != c.length {
			return x.refuse(int64(c.offset), "a chunk has %d bytes, and %d by the summary", c.length, entry.length)
		}
		out, err := x.messages(c)
		if err != nil {
			return err
		}
		c.start, c.end = 0, 0
		for k, m := range out.index {
			if k == 0 {
				c.start = m.log
			}
			c.start, c.end = min(c.start, m.log), max(c.end, m.log)
		}
		if entry == nil || len(entry.indexes) == 0 {
			continue
		}
		if ok, err := x.indexed(c, out); err != nil || !ok {
			return cmp.Or(err, x.refuse(int64(c.offset), "the message index of a chunk is damaged"))
		}
	}
	return nil
}

// indexed reports whether the Message Index of a chunk counts the messages that it has.
func (x *reindexer) indexed(c *chunkIndex, out *outChunk) (same bool, err error) {
	if x.index != nil && c == &x.chunks[len(x.chunks)-1] {
		return true, nil // it is written anew
	}
	counts := map[uint16]uint64{}
	eachCount(c.indexes, func(id uint16, at uint64) {
		h, failed := x.w.head(int64(at))
		if failed != nil {
			err = x.r.src.Fail(int64(at), "message index", failed)
			return
		}
		counts[id] = (h.length - indexFixed) / indexEntry
	})
	same = len(counts) == len(out.used)
	for _, u := range out.used {
		same = same && counts[u.id] == uint64(u.count)
	}
	return same, err
}

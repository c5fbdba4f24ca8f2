package rosbag1

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// verifyChunks is how many chunk headers are read when an indexed bag is opened, to compare the
// index with them. Of a bag with more chunks as many are read, evenly spread, so that opening a bag
// of any size is quick.
const verifyChunks = 16384

var errIndex = errors.New("the index is inconsistent")

func indexError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errIndex}, args...)...)
}

// readIndex takes connections and blocks from the trailer, when it is there and
// agrees with the file. Otherwise it returns why not, and the file has to be
// scanned.
func (r *reader) readIndex(h header) (*reason, error) {
	pos := h.indexPos
	switch {
	case pos == 0:
		return &reason{code: "unindexed", at: -1,
			what: "the bag was not closed and has no index; the whole file is scanned; " + warnings.Unclosed, head: h}, nil
	case pos > uint64(r.src.Size):
		return &reason{code: "truncated", at: r.src.Size,
			what: fmt.Sprintf("the file is cut off: it has %d of at least %d bytes", r.src.Size, pos), head: h}, nil
	case pos < uint64(r.first):
		return &reason{code: "index", at: 13, what: fmt.Sprintf("the position of the index, %d, lies within the file header",
			pos), head: h}, nil
	}
	err := r.readTrailer(int64(pos), h.connCount, h.chunkCount)
	if err == nil {
		err = r.verify(int64(pos))
	}
	if errors.Is(err, errIndex) {
		return &reason{code: "index", at: int64(pos), what: err.Error(), head: h}, nil
	}
	return nil, err
}

// readTrailer reads the CONNECTION and CHUNK_INFO records at the end of the file.
func (r *reader) readTrailer(pos int64, connCount, chunkCount uint32) error {
	w := r.window()
	var h header
	var conns, chunks uint32
	for pos < r.src.Size && (conns < connCount || chunks < chunkCount) {
		if (r.enc != nil || r.locked) && conns < connCount {
			c, end, err := r.sealedConnection(&w, pos)
			if err != nil {
				return r.indexFailure(err, "connection at byte %d: %v", pos, err)
			}
			if c != nil {
				r.conns.add(c)
			}
			conns++
			r.hidden.number++
			pos = end
			continue
		}
		if err := w.header(&h, pos); err != nil {
			return r.indexFailure(err, "record at byte %d: %v", pos, err)
		}
		end := pos + int64(h.headLen) + h.dataSize()
		if end > r.src.Size {
			return indexError("%s at byte %d is cut", opName(h.op), pos)
		}
		if err := r.checkTrailer(&h, pos, chunks > 0); err != nil {
			return err
		}
		switch h.op {
		case opConnection, opChunkInfo:
			data, err := w.record(&h, pos)
			if err != nil {
				return r.indexFailure(err, "record at byte %d: %v", pos, err)
			}
			if h.op == opConnection {
				conns++
				c, err := parseConnection(&h, data)
				if err != nil {
					return indexError("connection at byte %d: %v", pos, err)
				}
				c.at = pos
				if err := r.checkFields(c, pos); err != nil {
					return err
				}
				if old := r.conns.add(c); old != c && !old.same(c) {
					return indexError("connection %d is defined twice", c.id)
				}
			} else {
				chunks++
				if err := r.addChunkInfo(&h, data); err != nil {
					return err
				}
				r.blocks[len(r.blocks)-1].info = pos
			}
		}
		pos = end
	}
	if conns != connCount || chunks != chunkCount {
		return indexError("it has %d connections and %d chunks, but the file header counts %d and %d", conns, chunks,
			connCount, chunkCount)
	}
	r.trailerEnd = pos
	if pos < r.src.Size {
		return r.src.Warn("trailing", pos, false, "%d bytes after the end of the index are not read", r.src.Size-pos)
	}
	return nil
}

// checkTrailer looks at what kind of record stands in the trailer.
func (r *reader) checkTrailer(h *header, pos int64, infos bool) error {
	switch {
	case h.op == opChunk || h.op == opMessage:
		return indexError("there is a %s at byte %d of the index", opName(h.op), pos)
	case h.guessed:
		return r.src.Warn("op", pos, false, "%v", errOp)
	case h.op == opChunkInfo && h.version != 1:
		return r.src.Warn("record", pos, false, "a chunk info has version %d; 1 is the only one", h.version)
	case h.op == opConnection && infos:
		return r.src.Warn("record", pos, false, "a connection comes after a chunk info; other programs expect it before")
	case h.op != opConnection && h.op != opChunkInfo:
		return r.src.Warn("record", pos, false, "there is a %s in the index", opName(h.op))
	}
	return nil
}

// indexFailure keeps errors of the disk apart from a bad index.
func (r *reader) indexFailure(err error, format string, args ...any) error {
	if chunked.IsIO(err) {
		return r.src.Fail(-1, "index", err)
	}
	return indexError(format, args...)
}

// addChunkInfo adds the block that a CHUNK_INFO record describes.
func (r *reader) addChunkInfo(h *header, data []byte) error {
	if uint64(len(data)) != 8*uint64(h.count) {
		return indexError("a chunk info has %d bytes for %d connections", len(data), h.count)
	}
	b := block{counted: -1, Block: storage.Block{Offset: int64(h.chunkPos), Start: h.start, End: h.end}}
	var ids []byte // as in the record, of connections that have messages
	for ; len(data) > 0; data = data[8:] {
		id, n := binary.LittleEndian.Uint32(data), binary.LittleEndian.Uint32(data[4:])
		c := r.conns.byID[id]
		if r.locked {
			c = r.hidden.connection(id)
		}
		if c == nil {
			return indexError("a chunk has messages of connection %d, which is not defined", id)
		}
		if n > 0 && !r.locked {
			ids = append(ids, data[:4]...)
		}
		c.count += int64(n)
		b.Messages += int64(n)
		b.index += indexHead + indexEntry*int64(n)
	}
	b.counted = b.Messages
	if b.Timed = b.Messages > 0; b.Timed && b.Start > b.End {
		return indexError("a chunk ends before it starts")
	}
	if h.chunkPos < uint64(r.first) || h.chunkPos >= uint64(r.src.Size) {
		return indexError("a chunk should be at byte %d", h.chunkPos)
	}
	b.Topics = r.topicSet(ids)
	r.blocks = append(r.blocks, b)
	return nil
}

// topicSet returns the connections with these ids, 4 bytes each, for Block.Topics.
func (r *reader) topicSet(ids []byte) []storage.TopicID {
	set, known := r.topicSets[string(ids)]
	if !known {
		set = make([]storage.TopicID, len(ids)/4)
		for i := range set {
			set[i] = storage.TopicID(binary.LittleEndian.Uint32(ids[4*i:]))
		}
		r.topicSets[string(ids)] = set
	}
	return set
}

// numberTopics makes topics of the connections in Block.Topics, when these have their
// numbers.
func (r *reader) numberTopics() {
	for _, set := range r.topicSets {
		for i, id := range set {
			set[i], _ = r.conns.lookup(uint32(id)) // addChunkInfo has found it
		}
	}
	r.topicSets = nil
}

// verify puts the blocks in the order of the file and compares them with the chunk headers: each
// chunk must begin where the index records of the chunk before end. pos is where the trailer
// begins.
func (r *reader) verify(pos int64) error {
	slices.SortFunc(r.blocks, func(a, b block) int {
		if a.Offset < b.Offset {
			return -1
		}
		return 1
	})
	if len(r.blocks) == 0 {
		return r.verifyRest(r.first, pos)
	}
	if r.blocks[0].Offset != r.first {
		if err := r.verifyRest(r.first, r.blocks[0].Offset); err != nil {
			return err
		}
	}
	sample := chunked.SampleOf(len(r.blocks), r.verifies)
	sample.Prefetch(r.src.File, func(i int) []iox.Span { return []iox.Span{{Off: r.blocks[i].Offset, Len: headBytes}} })
	var stored, raw, seen int64
	for i := range r.blocks {
		b := &r.blocks[i]
		end := pos
		if i+1 < len(r.blocks) {
			end = r.blocks[i+1].Offset
		}
		if end <= b.Offset {
			return indexError("two chunks at byte %d", b.Offset)
		}
		b.Size = end - b.Offset
		if !sample.Has(i) {
			continue
		}
		c, err := r.chunkHeader(b)
		switch {
		case err != nil:
			return r.indexFailure(err, "no chunk at byte %d: %v", b.Offset, err)
		case c.codec == nil || c.renamed:
			return indexError("chunk at byte %d has compression %.20q", b.Offset, c.compression)
		case c.open && b.Messages > 0, c.data+c.stored > end:
			return indexError("chunk at byte %d overlaps what follows it", b.Offset)
		case c.codec == compress.None && !r.lengthsFit(&c):
			return indexError("plain chunk at byte %d has two lengths", b.Offset)
		}
		if c.guessed {
			if err := r.src.Warn("op", b.Offset, false, "%v", errOp); err != nil {
				return err
			}
		}
		if rest := c.data + c.stored; end-rest != b.index {
			if err := r.verifyRest(rest, end); err != nil {
				return err
			}
		}
		b.Size = c.data + c.stored - b.Offset
		b.RawSize = c.rawSize()
		stored, raw, seen = stored+b.Size, raw+b.RawSize, seen+1
		r.codecs[c.codec.Name()]++
	}
	if sample.Step > 1 {
		r.estimate(stored, raw, seen)
	}
	return nil
}

// estimate fills in what only the headers of a sample of chunks have shown.
func (r *reader) estimate(stored, raw, seen int64) {
	for i := range r.blocks {
		if b := &r.blocks[i]; b.RawSize == 0 && stored > 0 {
			b.Size -= b.index
			b.RawSize = int64(float64(b.Size) * float64(raw) / float64(stored))
		}
	}
	for name, n := range r.codecs {
		r.codecs[name] = int64(float64(n)*float64(len(r.blocks))/float64(seen) + 0.5)
	}
}

// indexHead is the size of an INDEX_DATA record without its data.
const indexHead = 55

// verifyRest looks at the bytes between the end of a chunk and the next chunk that the index knows.
// Index records are skipped. A record that may hold messages means that the index is not complete.
func (r *reader) verifyRest(from, to int64) error {
	w := r.window()
	var h header
	for from < to {
		err := w.header(&h, from)
		if chunked.IsIO(err) {
			return err
		}
		end := from + int64(h.headLen) + h.dataSize()
		if err != nil || end > to {
			break
		}
		switch {
		case h.op == opChunk || h.op == opMessage:
			return indexError("there is a %s at byte %d that is not in the index", opName(h.op), from)
		case h.guessed:
			err = r.src.Warn("op", from, false, "%v", errOp)
		case h.op == opConnection || h.op == opChunkInfo: // the index that a bag had before something was added to it
		case h.op != opIndex:
			err = r.src.Warn("record", from, false, "there is a %s between the chunks", opName(h.op))
		}
		if err != nil {
			return err
		}
		from = end
	}
	if from >= to {
		return nil
	}
	at, err := r.find(from, to, 1<<opChunk|1<<opMessage)
	if err != nil {
		return err
	}
	if at < to {
		return indexError("there is a record at byte %d that is not in the index", at)
	}
	return r.src.Warn("junk", from, false,
		"%d bytes that are not a record are skipped; all chunks in the index were found", to-from)
}

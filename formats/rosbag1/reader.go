package rosbag1

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/formats/rosbag1/internal/oldbag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A reader reads a bag. ReadBlock and Info are safe for concurrent use.
type reader struct {
	src    *chunked.Source
	audits bool // INDEX_DATA is compared with the chunks
	tested bool // a connection that the index and a chunk define differently is an error

	version string
	first   int64 // offset of the first record after the file header
	conns   connections
	blocks  []block
	codecs  map[string]int64 // chunks by compression

	// Block.Topics, until freeze ids of connections, by their CHUNK_INFO; equal ones share memory
	topicSets map[string][]storage.TopicID

	seq storage.Sequence // of ReadNext

	trailerEnd int64 // where the last record of the index ends; 0: the index is not used

	verifies int // chunk headers that are compared with the index

	copying *copying // of the Writer that copies chunks; nil: no Writer does

	enc    encryptor // of an encrypted bag; else nil
	locked bool      // it is encrypted and there is no key: only Info can be read
	hidden hidden    // connections of a bag that is locked

	ownerless bool // the scan has reported the messages that belong to no connection

	info *storage.Info // as Open has found it

	// For Reindex.
	records  bool    // CONNECTION records are kept
	why      *reason // why the index is not used; nil: it is used
	unclosed int64   // offset of the last chunk, if the file ends within it and its records lie plain; 0: it does not
}

// A block is a chunk, or a run of records that lie in the file as they are: the
// content of a chunk that was never closed or whose length cannot be believed.
type block struct {
	storage.Block
	run   bool
	index int64 // bytes of its INDEX_DATA records, by the trailer
	info  int64 // offset of its CHUNK_INFO record; 0: no record
	dirty bool  // the scan found this chunk damaged: Size is where its bytes end, not what its header has
	cut   bool  // the file ends within this chunk, or its recorder stopped there: a warning of the whole bag has it

	counted int64 // messages, by CHUNK_INFO or else by INDEX_DATA; -1 if nothing counts them
}

// openReader opens the bag at path. See storage.Format.
func openReader(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	f, err := iox.FS(o.FS).Open(path)
	if err != nil {
		return nil, err
	}
	src := chunked.NewSource(ctx, formatName, path, f, o.Strict, hints)
	r, err := openFile(src, &o)
	if err != nil {
		return nil, errors.Join(err, src.File.Close())
	}
	return r, nil
}

// openFile opens the bag of any version in src.File.
func openFile(src *chunked.Source, o *storage.ReadOptions) (storage.Reader, error) {
	st, err := src.File.Stat()
	if err != nil {
		return nil, err
	}
	src.Size = st.Size()
	head, err := readStart(src)
	if p := packingOf(head); p != nil && err == nil {
		if err := unpack(src, p, o.FS); err != nil {
			return nil, err
		}
		head, err = readStart(src)
	}
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(head), magicV2) && !looksLikeBag(head) {
		v, err := oldbag.Detect(head)
		if err != nil {
			return nil, src.Fail(0, "version line", err)
		}
		if v.Name != "" {
			return oldbag.Open(src, v, o.CheckIndexes)
		}
	}
	return openV2(src, o, chunked.Verifies(src.File, verifyChunks))
}

// readStart returns the first bytes of the file.
func readStart(src *chunked.Source) ([]byte, error) {
	head := make([]byte, min(src.Size, storage.SniffLen))
	if err := iox.ReadFull(src.File, head, 0); err != nil {
		return nil, src.Fail(0, "version line", err)
	}
	return head, nil
}

// openV2 opens a bag of version 2; no more chunk headers than verify are compared with the
// index.
func openV2(src *chunked.Source, o *storage.ReadOptions, verify int) (*reader, error) {
	r := &reader{
		src: src, audits: o.CheckIndexes, tested: o.Index == storage.IndexTested, verifies: verify,
		conns: newConnections(), codecs: map[string]int64{}, topicSets: map[string][]storage.TopicID{},
	}
	if err := r.open(o); err != nil {
		return nil, err
	}
	r.info = r.newInfo()
	return r, nil
}

func (r *reader) open(o *storage.ReadOptions) error {
	h, why, err := r.readHead(o)
	if err == nil && r.enc != nil {
		err = r.proveKey(&h)
	}
	if err != nil {
		return err
	}
	if why == nil && o.Index == storage.IndexIgnored {
		why = &reason{code: "index", at: int64(h.indexPos),
			what: "its definitions differ from the definitions in the chunks; the index is not used", head: h}
	}
	if why == nil {
		if why, err = r.readIndex(h); err != nil {
			return err
		}
	}
	if r.why = why; why != nil {
		if r.locked {
			return r.noKey("the bag is encrypted, and without a key not even its index can be read", storage.ErrKey)
		}
		if err = r.scan(*why); err == nil && len(r.conns.list) == 0 && why.none != nil {
			err = why.none
		}
	} else {
		r.conns.freeze()
		r.numberTopics()
	}
	return err
}

// readHead reads the version line and the file header. If the header cannot be
// read it returns why.
func (r *reader) readHead(o *storage.ReadOptions) (h header, why *reason, err error) {
	head := make([]byte, min(r.src.Size, storage.SniffLen))
	if err := iox.ReadFull(r.src.File, head, 0); err != nil {
		return h, nil, r.src.Fail(0, "version line", err)
	}
	line, _, whole := bytes.Cut(head[:min(len(head), 64)], []byte("\n"))
	at := int64(len(line) + 1)
	if err := r.checkVersion(string(line), whole); err != nil {
		switch {
		case errors.Is(err, storage.ErrTruncated) && !looksLikeBag(head) || r.src.Strict:
			return h, nil, err
		case !looksLikeBag(head) && errors.Is(err, storage.ErrUnsupported):
			return h, nil, err
		case !looksLikeBag(head):
			r.version = "2.0"
			return h, &reason{code: "header", what: "the version line and the file header cannot be read", none: err}, nil
		}
		at, r.version = int64(len(versionLine)), "2.0"
		if err := r.src.Warn("version-line", 0, false,
			"the version line is damaged; what follows is a bag of version 2.0"); err != nil {
			return h, nil, err
		}
	}
	r.first = at
	no := func(format string, args ...any) (header, *reason, error) {
		return header{}, &reason{code: "header", at: at, what: fmt.Sprintf(format, args...) + "; the index is not used"}, nil
	}
	raw := head[at:]
	err = h.parseRecord(raw)
	if err == storage.ErrTruncated && len(head) == storage.SniffLen && r.src.Size > storage.SniffLen {
		// A header with a long encrypted key.
		raw = make([]byte, min(r.src.Size-at, maxHeader+8))
		if err := iox.ReadFull(r.src.File, raw, at); err != nil {
			return h, nil, r.src.Fail(at, "file header", err)
		}
		err = h.parseRecord(raw)
	}
	switch {
	case err == storage.ErrTruncated && r.src.Size <= storage.SniffLen:
		return h, nil, r.src.Fail(at, "file header", err)
	case err != nil:
		return no("the file header cannot be read (%v)", err)
	case h.op != opFileHeader:
		return no("the first record is a %s, not a file header", opName(h.op))
	case h.have&hasEncryptor != 0 && len(h.encryptor) > 0:
		if err := r.unlock(headerFields(raw[4:h.headLen-4]), o); err != nil {
			return h, nil, err
		}
	}
	end := at + int64(h.headLen) + h.dataSize()
	found, err := r.firstRecord(at+int64(h.headLen), min(end, r.src.Size))
	switch {
	case err != nil:
		return h, nil, r.src.Fail(at, "file header", err)
	case found < min(end, r.src.Size):
		if err := r.src.Warn("header", at, false,
			"the file header states a length of %d bytes, and records begin before its end, at byte %d", h.dataSize(),
			found); err != nil {
			return h, nil, err
		}
		end = found
	case end > r.src.Size:
		return h, nil, r.src.Fail(at, "file header", storage.ErrTruncated)
	}
	if h.guessed {
		if err := r.src.Warn("op", at, false, "%v", errOp); err != nil {
			return h, nil, err
		}
	}
	r.first = end
	h.topic, h.compression, h.encryptor = nil, nil, nil
	return h, nil, nil
}

// firstRecord looks for records among the blanks that fill up a file header, between from and to.
// It returns where they begin; to if there are only blanks.
func (r *reader) firstRecord(from, to int64) (int64, error) {
	buf := make([]byte, storage.SniffLen)
	for from < to {
		b := buf[:min(int64(len(buf)), to-from)]
		if err := iox.ReadFull(r.src.File, b, from); err != nil {
			return to, err
		}
		if blanks := len(b) - len(bytes.TrimLeft(b, " ")); blanks < len(b) {
			return r.find(from+int64(blanks), to, 1<<opMessage|1<<opChunk|1<<opConnection|1<<opChunkInfo)
		}
		from += int64(len(b))
	}
	return to, nil
}

// looksLikeBag reports whether a file header stands where it stands in version 2.0.
func looksLikeBag(head []byte) bool {
	var h header
	return len(head) > len(versionLine) && h.parseRecord(head[len(versionLine):]) == nil && h.op == opFileHeader
}

// checkVersion takes 2.x. line is the first line, as far as the file has it.
func (r *reader) checkVersion(line string, whole bool) error {
	switch {
	case !whole && (strings.HasPrefix(line, magicV2) || strings.HasPrefix(magicV2, line)):
		return r.src.Fail(0, "version line", storage.ErrTruncated)
	case !strings.HasPrefix(line, magicV2):
		return r.src.Fail(0, "not a ROS 1 bag: the version line is missing", storage.ErrCorrupt)
	}
	r.version = strings.TrimSpace(strings.TrimPrefix(line, magicV2))
	if !strings.HasPrefix(r.version, "2.") {
		return r.src.Fail(0, fmt.Sprintf("version line %.40q", line), storage.ErrUnsupported)
	}
	return nil
}

// Info describes the bag. See storage.Reader.
func (r *reader) Info() *storage.Info { return r.info.Clone() }

// newInfo returns what Info does.
func (r *reader) newInfo() *storage.Info {
	info := &storage.Info{
		Format: formatName, Version: r.version, Path: r.src.Path, Size: r.src.OnDisk(), Facts: r.src.Facts,
		Files:       []string{r.src.Path},
		Compression: maps.Clone(r.codecs), Metadata: map[string]string{},
	}
	for i, c := range r.conns.list {
		t := c.topic
		t.Metadata = maps.Clone(t.Metadata)
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: t, ID: storage.TopicID(i), Messages: c.count})
		info.Messages += c.count
	}
	first := true
	info.Encrypted = r.enc != nil || r.locked
	if info.Locked = r.locked; r.locked && r.hidden.number > 0 {
		info.Facts = append(slices.Clone(info.Facts), r.hidden.fact())
	}
	for _, b := range r.blocks {
		if r.locked {
			info.Messages += b.Messages
		}
		if !b.Timed || b.Messages == 0 {
			continue
		}
		if first {
			info.Start, info.End, first = b.Start, b.End, false
		}
		info.Start, info.End = min(info.Start, b.Start), max(info.End, b.End)
	}
	info.Damage = r.Damage()
	return info
}

// Damage returns what was found so far. See storage.Reader.
func (r *reader) Damage() storage.Damage { return r.src.Damage() }

// Blocks lists the chunks; each has times of its own. See storage.BlockReader.
func (r *reader) Blocks(context.Context, *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	out := make([]storage.Block, len(r.blocks))
	for i := range r.blocks {
		out[i] = r.blocks[i].Block
	}
	return out, storage.OrderBlocks, nil
}

// ReadBlock reads a chunk. See storage.BlockReader.
func (r *reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	b.Messages = b.Messages[:0]
	if err := errors.Join(ctx.Err(), r.src.Ctx.Err()); err != nil {
		return err
	}
	if r.locked {
		return r.noKey("the bag is encrypted", storage.ErrKey)
	}
	if i < 0 || i >= len(r.blocks) {
		return r.src.Fail(-1, fmt.Sprintf("there is no block %d", i), nil)
	}
	bl := &r.blocks[i]
	if ok, err := r.readWanted(bl, b); ok || err != nil {
		return err
	}
	var redefined error
	w := walk{messages: b.Messages, stored: r.copying.begin(b)}
	w.connection = func(at int, h *header, data []byte) {
		if w.stored != nil && !w.stored.define(at, h, data) {
			w.stored = nil
		}
		if old := r.conns.byID[h.conn]; old != nil && redefined == nil {
			redefined = r.checkSame(old, h, data, bl.Offset)
		}
	}
	if err := r.load(bl, b, &w); err != nil {
		return err
	}
	if redefined != nil {
		return redefined
	}
	read := len(w.messages)
	kept := w.messages[:0]
	var unknown uint32
	for _, m := range w.messages {
		topic, ok := r.conns.lookup(uint32(m.Topic))
		if !ok {
			unknown = uint32(m.Topic)
			continue
		}
		m.Topic = topic
		kept = append(kept, m)
	}
	b.Messages = kept
	if w.stored != nil && w.damage.Places == 0 && (bl.Messages < 0 || int64(read) == bl.Messages) {
		b.Stored = w.stored.finish()
	}
	if n := read - len(kept); n > 0 && !r.ownerless {
		read = len(kept)
		w.damage.Left = int64(n)
		const what = "%d messages belong to a connection that the file does not define (such as id %d) and are not read"
		w.damage.Repair(codeNoConnection, bl.Offset, what, n, unknown)
		if r.audits && w.damage.Code != codeNoConnection { // which is what the warning of the chunk names
			if err := r.src.Warn(codeNoConnection, bl.Offset, true, what, n, unknown); err != nil {
				return err
			}
		}
	}
	if r.audits && !bl.run && !bl.cut && w.damage.Places == 0 && (bl.info > 0 || bl.counted > 0) {
		if err := r.audit(bl, b.Buf); err != nil {
			return err
		}
	}
	return r.judge(bl, &w.damage, int64(read))
}

// checkSame warns when a connection record disagrees with the known record.
func (r *reader) checkSame(old *connection, h *header, data []byte, at int64) error {
	// The usual repetition is equal to the byte in what is checked here.
	if string(h.topic) == old.topic.Name && bytes.Contains(data, appendField(nil, "type", old.topic.Type)) &&
		bytes.Contains(data, appendField(nil, storage.MetaMD5Sum, old.topic.Metadata[storage.MetaMD5Sum])) {
		return nil
	}
	c, err := parseConnection(h, data)
	if err != nil {
		return r.src.Warn("connection", at, false, "connection %d cannot be read: %v", h.conn, err)
	}
	switch {
	case c.same(old):
		return nil
	case r.tested && r.why == nil && old.at >= at:
		return r.src.Fail(at, fmt.Sprintf("connection %d is %s (%s) in the index, and %s (%s) in a chunk",
			h.conn, old.topic.Name, old.topic.Type, c.topic.Name, c.topic.Type), storage.ErrIndex)
	}
	return r.src.Warn("redefined", at, true,
		"connection %d is defined twice, as %s (%s) and as %s (%s); the first is used",
		h.conn, old.topic.Name, old.topic.Type, c.topic.Name, c.topic.Type)
}

// ReadNext returns the next message of the blocks in order. See storage.Reader.
func (r *reader) ReadNext() (*storage.Message, error) { return r.seq.Next(r.src.Ctx, r, len(r.blocks)) }

// Close closes the file.
func (r *reader) Close() error {
	r.seq.Stop(r.src.Fail(-1, "the reader is closed", nil))
	return r.src.File.Close()
}

var (
	_ storage.Reader      = (*reader)(nil)
	_ storage.BlockReader = (*reader)(nil)
)

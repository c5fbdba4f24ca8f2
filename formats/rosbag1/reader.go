package rosbag1

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// A Reader reads a bag. ReadBlock and Info are safe for concurrent use.
type Reader struct {
	ctx    context.Context
	path   string
	strict bool
	audits bool // INDEX_DATA is compared with the chunks
	file   storage.File
	size   int64

	version string
	first   int64 // offset of the first record after the file header
	conns   connections
	blocks  []block
	codecs  map[string]int64 // chunks by compression

	topicSets map[string][]storage.TopicID // Block.Topics, until freeze ids of connections, by their CHUNK_INFO; equal ones share memory

	seq storage.Sequence // of ReadNext

	warnings warnings.Log

	verifies int // chunk headers that are compared with the index

	copying *copying // of the Writer that copies chunks; nil: none

	ownerless bool // the scan has told of the messages that belong to no connection

	mu     sync.Mutex
	broken map[int64]bool // offsets of chunks of which something is missing

	info *storage.Info // as Open has found it
}

// A block is a chunk, or a run of records that lie in the file as they are: the
// content of a chunk that was never closed or whose length cannot be believed.
type block struct {
	storage.Block
	run   bool
	index int64 // bytes of its INDEX_DATA records, by the trailer
	info  int64 // offset of its CHUNK_INFO record; 0: it has none
	dirty bool  // the scan found this chunk damaged: Size is where its bytes end, not what its header has
	cut   bool  // the file ends within this chunk, or its recorder stopped there: a warning of the whole bag has it

	counted int64 // messages, by CHUNK_INFO or else by INDEX_DATA; -1 where nothing counts them
}

// Open opens the bag at path. See storage.Format.
func Open(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	r, err := openReader(ctx, path, o, verifyChunks)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// openReader opens the bag; no more chunk headers than verify are compared with the index.
func openReader(ctx context.Context, path string, o storage.ReadOptions, verify int) (*Reader, error) {
	f, err := iox.FS(o.FS).Open(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{
		ctx: ctx, path: path, strict: o.Strict, audits: o.CheckIndexes, verifies: verify, file: f,
		conns: newConnections(), codecs: map[string]int64{}, broken: map[int64]bool{},
		topicSets: map[string][]storage.TopicID{}, warnings: warnings.Log{Hints: hints},
	}
	if err := r.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.info = r.newInfo()
	return r, nil
}

func (r *Reader) open() error {
	st, err := r.file.Stat()
	if err != nil {
		return err
	}
	r.size = st.Size()
	h, why, err := r.readHead()
	if err != nil {
		return err
	}
	if why == nil {
		if why, err = r.readIndex(h); err != nil {
			return err
		}
	}
	if why != nil {
		if err = r.scan(*why); err == nil && len(r.conns.list) == 0 && why.none != nil {
			err = why.none
		}
	} else {
		r.conns.freeze()
		r.numberTopics()
	}
	return err
}

// readHead reads the version line and the file header. Where the header cannot be
// read it returns why.
func (r *Reader) readHead() (h header, why *reason, err error) {
	head := make([]byte, min(r.size, storage.SniffLen))
	if err := iox.ReadFull(r.file, head, 0); err != nil {
		return h, nil, r.fail(0, "version line", err)
	}
	line, _, whole := bytes.Cut(head[:min(len(head), 64)], []byte("\n"))
	at := int64(len(line) + 1)
	if err := r.checkVersion(string(line), whole); err != nil {
		switch {
		case errors.Is(err, storage.ErrTruncated) && !looksLikeBag(head) || r.strict:
			return h, nil, err
		case !looksLikeBag(head) && errors.Is(err, storage.ErrUnsupported):
			return h, nil, err
		case !looksLikeBag(head):
			r.version = "2.0"
			return h, &reason{code: "header", what: "the version line and the file header cannot be read", none: err}, nil
		}
		at, r.version = int64(len(versionLine)), "2.0"
		if err := r.warn("version-line", 0, false, "the version line is damaged; what follows is a bag of version 2.0"); err != nil {
			return h, nil, err
		}
	}
	r.first = at
	no := func(format string, args ...any) (header, *reason, error) {
		return header{}, &reason{code: "header", at: at, what: fmt.Sprintf(format, args...) + "; the index is not used"}, nil
	}
	err = h.parseRecord(head[at:])
	if err == storage.ErrTruncated && len(head) == storage.SniffLen && r.size > storage.SniffLen {
		// A header with a long encrypted key.
		rest := make([]byte, min(r.size-at, maxHeader+8))
		if err := iox.ReadFull(r.file, rest, at); err != nil {
			return h, nil, r.fail(at, "file header", err)
		}
		err = h.parseRecord(rest)
	}
	switch {
	case err == storage.ErrTruncated && r.size <= storage.SniffLen:
		return h, nil, r.fail(at, "file header", err)
	case err != nil:
		return no("the file header cannot be read (%v)", err)
	case h.op != opFileHeader:
		return no("the first record is a %s, not a file header", opName(h.op))
	case h.have&hasEncryptor != 0 && len(h.encryptor) > 0:
		e := r.fail(at, fmt.Sprintf("the bag is encrypted with %.60q", h.encryptor), storage.ErrUnsupported)
		e.Hint = "decrypt it first: rosbag decrypt"
		return h, nil, e
	}
	end := at + int64(h.headLen) + h.dataSize()
	if end > r.size {
		found, err := r.find(at+int64(h.headLen), r.size, 1<<opMessage|1<<opChunk|1<<opConnection|1<<opChunkInfo)
		if err != nil {
			return h, nil, r.fail(at, "file header", err)
		}
		if found == r.size {
			return h, nil, r.fail(at, "file header", storage.ErrTruncated)
		}
		return no("the file header has a length of %d bytes that is over the end of the file", h.dataSize())
	}
	if h.guessed {
		if err := r.warn("op", at, false, "%v", errOp); err != nil {
			return h, nil, err
		}
	}
	r.first = end
	h.topic, h.compression, h.encryptor = nil, nil, nil
	return h, nil, nil
}

// looksLikeBag tells whether a file header stands where that of version 2.0 does.
func looksLikeBag(head []byte) bool {
	var h header
	return len(head) > len(versionLine) && h.parseRecord(head[len(versionLine):]) == nil && h.op == opFileHeader
}

// checkVersion takes 2.x. line is the first line, as far as the file has it.
func (r *Reader) checkVersion(line string, whole bool) error {
	unsupported := func(hint string) error {
		e := r.fail(0, fmt.Sprintf("version line %.40q", line), storage.ErrUnsupported)
		e.Hint = hint
		return e
	}
	switch {
	case !whole && (strings.HasPrefix(line, magicV2) || strings.HasPrefix(magicV2, line)):
		return r.fail(0, "version line", storage.ErrTruncated)
	case strings.HasPrefix(line, "#ROSRECORD V") || strings.HasPrefix(line, "#ROSLOG V"):
		return unsupported("bags older than version 2.0 are not read; a ROS 1 of 2010 to 2017 can: rosbag fix")
	case !strings.HasPrefix(line, magicV2):
		return r.fail(0, "no ROS 1 bag: the version line is missing", storage.ErrCorrupt)
	}
	r.version = strings.TrimSpace(strings.TrimPrefix(line, magicV2))
	if !strings.HasPrefix(r.version, "2.") {
		return unsupported("")
	}
	return nil
}

// Info describes the bag. See storage.Reader.
func (r *Reader) Info() (*storage.Info, error) { return r.info.Clone(), nil }

// newInfo returns what Info does.
func (r *Reader) newInfo() *storage.Info {
	info := &storage.Info{
		Format: formatName, Version: r.version, Path: r.path, Size: r.size, Files: []string{r.path},
		Compression: maps.Clone(r.codecs), Metadata: map[string]string{},
	}
	for i, c := range r.conns.list {
		t := c.topic
		t.Metadata = maps.Clone(t.Metadata)
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: t, ID: storage.TopicID(i), Messages: c.count})
		info.Messages += c.count
	}
	first := true
	for _, b := range r.blocks {
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
func (r *Reader) Damage() (d storage.Damage) {
	d.Warnings, d.Lost = r.warnings.Report()
	r.mu.Lock()
	defer r.mu.Unlock()
	d.Lost.Blocks += int64(len(r.broken))
	return d
}

// Blocks lists the chunks. See storage.BlockReader.
func (r *Reader) Blocks() ([]storage.Block, error) {
	out := make([]storage.Block, len(r.blocks))
	for i := range r.blocks {
		out[i] = r.blocks[i].Block
	}
	return out, nil
}

// Order is by blocks: each chunk has times of its own. See storage.BlockReader.
func (r *Reader) Order() storage.Order { return storage.OrderBlocks }

// ReadBlock reads a chunk. See storage.BlockReader.
func (r *Reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	b.Messages = b.Messages[:0]
	if err := errors.Join(ctx.Err(), r.ctx.Err()); err != nil {
		return err
	}
	if i < 0 || i >= len(r.blocks) {
		return r.fail(-1, fmt.Sprintf("there is no block %d", i), nil)
	}
	bl := &r.blocks[i]
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
	if w.stored != nil && w.damage.places == 0 && (bl.Messages < 0 || int64(read) == bl.Messages) {
		b.Stored = w.stored.finish()
	}
	if n := read - len(kept); n > 0 && !r.ownerless {
		read = len(kept)
		w.damage.left = int64(n)
		w.damage.repair("no-connection", bl.Offset, "%d messages belong to a connection that the file does not define (such as id %d) and are not read", n, unknown)
	}
	if r.audits && !bl.run && !bl.cut && w.damage.places == 0 && (bl.info > 0 || bl.counted > 0) {
		if err := r.audit(bl, b.Buf); err != nil {
			return err
		}
	}
	return r.judge(bl, &w.damage, int64(read))
}

// checkSame warns when a connection record disagrees with the one that is known.
func (r *Reader) checkSame(old *connection, h *header, data []byte, at int64) error {
	// The usual repetition is equal to the byte in what is checked here.
	if string(h.topic) == old.topic.Name && bytes.Contains(data, appendField(nil, "type", old.topic.Type)) &&
		bytes.Contains(data, appendField(nil, storage.MetaMD5Sum, old.topic.Metadata[storage.MetaMD5Sum])) {
		return nil
	}
	c, err := parseConnection(h, data)
	if err != nil {
		return r.warn("connection", at, false, "connection %d cannot be read: %v", h.conn, err)
	}
	if !c.same(old) {
		return r.warn("redefined", at, true, "connection %d is defined twice, as %s (%s) and as %s (%s); the first is used",
			h.conn, old.topic.Name, old.topic.Type, c.topic.Name, c.topic.Type)
	}
	return nil
}

// ReadNext returns the next message of the blocks in order. See storage.Reader.
func (r *Reader) ReadNext() (*storage.Message, error) { return r.seq.Next(r.ctx, r, len(r.blocks)) }

// Close closes the file.
func (r *Reader) Close() error {
	r.seq.Stop(r.fail(-1, "the reader is closed", nil))
	return r.file.Close()
}

// fail makes an error about a place in the file.
func (r *Reader) fail(at int64, what string, err error) *storage.Error {
	return &storage.Error{Format: formatName, Path: r.path, Offset: at, What: what, Err: err}
}

// lostOf notes that something of the chunk at an offset is missing.
func (r *Reader) lostOf(at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[at] = true
}

// warn is warnLost where nothing that can be counted was lost.
func (r *Reader) warn(code string, at int64, damage bool, format string, args ...any) error {
	return r.warnLost(storage.Lost{}, code, at, damage, format, args...)
}

// warnLost keeps a warning, once for a code and place, and adds what was lost
// there. For damage in a strict reader it returns an error instead.
func (r *Reader) warnLost(lost storage.Lost, code string, at int64, damage bool, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if damage && r.strict {
		return r.fail(at, message, storage.ErrCorrupt)
	}
	r.warnings.Add("", storage.Warning{Code: code, Message: message, Offset: at, Damage: damage}, lost)
	return nil
}

var (
	_ storage.Reader      = (*Reader)(nil)
	_ storage.BlockReader = (*Reader)(nil)
)

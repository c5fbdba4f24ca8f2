package rosbag1

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// defaultChunk is the chunk threshold of rosbag record: a chunk ends once it
// has more bytes than this.
const defaultChunk = 768 << 10

// A writer writes a bag. See storage.Writer for how it may be used.
type writer struct {
	chunked.Writer[*outChunk]
	path      string      // of the bag
	out       *iox.Output // nil: it adds to a bag
	old       *oldBag     // the bag to which it adds; nil: a new bag
	order     indexOrder  // of INDEX_DATA
	codec     *compress.Codec
	level     int
	threshold int
	sync      bool
	copies    bool // chunks may be copied: nothing is asked for that they might not be

	enc    encryptor         // nil: nothing is encrypted
	fields map[string]string // of the file header of an encrypted bag

	conns []outConn
	pool  sync.Pool // of *outChunk

	copying []*copying // of the bags whose chunks are copied
	copied  int        // chunks so far, for tests

	pos   int64  // end of the file so far; guarded by Mu, as infos
	infos []byte // CHUNK_INFO records so far
}

// outConn is a connection being written.
type outConn struct {
	id      uint32
	name    string
	record  []byte    // the whole CONNECTION record
	data    []byte    // of that record
	written bool      // it is in a chunk that this Writer has made
	old     bool      // the bag to which the Writer adds has it
	chunk   *outChunk // the last chunk with its messages
	slot    int       // its place in chunk.used
}

// createWriter starts a bag. See storage.Format.
func createWriter(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
	w, err := newWriter(ctx, path, o)
	if err != nil {
		return nil, err
	}
	if choice := o.Values[storage.NameEncrypt]; choice != "" {
		var err error
		if w.enc, w.fields, err = createEncryptor(ctx, choice); err != nil {
			return nil, createError(path, "encryption", err, "")
		}
	}
	fsys := iox.FS(o.FS)
	out, err := iox.NewOutput(fsys, path, o.Overwrite, w.sync)
	if err != nil {
		return nil, createError(path, "output", err, "")
	}
	w.out = out
	if w.File, err = fsys.OpenFile(out.Temp(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return nil, errors.Join(createError(path, "output", err, ""), out.Abort())
	}
	head := w.fileHeader(0)
	if _, err := w.File.WriteAt(head, 0); err != nil {
		return nil, errors.Join(createError(path, "file header", err, ""), w.File.Close(), out.Abort())
	}
	w.pos = int64(len(head))
	return w, nil
}

// newWriter returns a Writer with its options, without a file.
func newWriter(ctx context.Context, path string, o storage.WriteOptions) (*writer, error) {
	if err := options.Check(&o); err != nil {
		return nil, createError(path, "option", err, "")
	}
	w := &writer{path: path, order: usualOrder, codec: compress.None, level: o.Level, threshold: defaultChunk,
		sync: !o.NoSync}
	w.State = chunked.State{Ctx: ctx, Fail: w.fail}
	w.copies = o.ChunkSize == 0 && o.Level == 0
	if o.Compression != "" {
		w.codec = codecOf([]byte(o.Compression))
	}
	if o.Level > w.codec.MaxLevel() {
		return nil, createError(path, fmt.Sprintf("compression level %d of %s", o.Level, w.codec.Name()),
			storage.ErrUnsupported,
			levelHint(w.codec))
	}
	if o.ChunkSize > maxChunk {
		return nil, createError(path, fmt.Sprintf("chunk size %d", o.ChunkSize), storage.ErrUnsupported,
			"a chunk may have up to 4 GiB")
	}
	if o.ChunkSize > 0 {
		w.threshold = int(o.ChunkSize)
	}
	return w, nil
}

func createError(path, what string, err error, hint string) error {
	return &storage.Error{Format: formatName, Path: path, Offset: -1, What: what, Err: err, Hint: hint}
}

// fileHeader is the version line and the FILE_HEADER record.
func (w *writer) fileHeader(indexPos int64) []byte {
	b := append(make([]byte, 0, len(versionLine)+8+headerSize), versionLine...)
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	b = appendU32Field(b, "chunk_count", uint32(w.Appended))
	conns := len(w.conns)
	if indexPos == 0 {
		conns = 0
	}
	b = appendU32Field(b, "conn_count", uint32(conns))
	for _, name := range slices.Sorted(maps.Keys(w.fields)) {
		b = appendField(b, name, w.fields[name])
	}
	b = appendU64Field(b, "index_pos", uint64(indexPos))
	b = appendOp(b, opFileHeader)
	n := len(b) - at - 4
	binary.LittleEndian.PutUint32(b[at:], uint32(n))
	blanks := max(0, headerSize-n) // an encrypted key may be long
	b = binary.LittleEndian.AppendUint32(b, uint32(blanks))
	return append(b, strings.Repeat(" ", blanks)...)
}

// Identity returns that connections are kept apart. See storage.Writer.
func (w *writer) Identity() storage.Identity { return storage.IdentityTopic }

// CreateTopic makes a connection. See storage.Writer. Keys of t.Metadata that can be fields of the
// connection header become fields.
func (w *writer) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	if err := w.Usable(); err != nil {
		return 0, err
	}
	if t.Encoding != encoding {
		return 0, w.unsupported("topic %.80q: messages of encoding %q", t.Name, t.Encoding)
	}
	if t.Schema.Encoding != "" && t.Schema.Encoding != schemaEncoding {
		return 0, w.unsupported("topic %.80q: definition of kind %q", t.Name, t.Schema.Encoding)
	}
	fields := map[string]string{}
	for k, v := range t.Metadata {
		if headerField(k) {
			fields[k] = v
		}
	}
	if fields[storage.MetaMD5Sum] == "" {
		fields[storage.MetaMD5Sum] = "*"
	}
	if _, ok := fields[metaTopic]; !ok {
		fields[metaTopic] = t.Name
	}
	fields["type"] = t.Type
	fields["message_definition"] = string(t.Schema.Data)
	var data []byte
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		data = appendField(data, k, fields[k])
	}
	if len(t.Name) > maxHeader/2 || len(data) > maxChunk/2 {
		return 0, w.unsupported("topic %.80q: definition of %d bytes", t.Name, len(data))
	}
	id, number := storage.TopicID(len(w.conns)), uint32(len(w.conns))
	if w.old != nil {
		c, err := w.old.connection(&t)
		if err != nil {
			return 0, w.fail("", err)
		}
		if c != nil {
			w.conns = append(w.conns, *c)
			return id, nil
		}
		number = w.old.freeID()
	}
	b := make([]byte, 4, 64+len(t.Name)+len(data))
	b = appendU32Field(b, "conn", number)
	b = appendOp(b, opConnection)
	b = appendField(b, "topic", t.Name)
	binary.LittleEndian.PutUint32(b, uint32(len(b)-4))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(data)))
	b = append(b, data...)
	w.conns = append(w.conns, outConn{id: number, name: t.Name, record: b, data: b[len(b)-len(data):]})
	return id, nil
}

// fail returns an error about the output.
func (w *writer) fail(what string, err error) error { return createError(w.path, what, err, "") }

// unsupported returns the error for what a bag cannot hold.
func (w *writer) unsupported(format string, args ...any) error {
	return w.fail(fmt.Sprintf(format, args...), storage.ErrUnsupported)
}

// refuse stops the writer with the error of unsupported.
func (w *writer) refuse(format string, args ...any) error {
	return w.Stop(w.unsupported(format, args...))
}

// Write adds a message. See storage.Writer.
func (w *writer) Write(m *storage.Message) error {
	if !w.Ready() {
		return w.Usable()
	}
	if int(m.Topic) >= len(w.conns) {
		return w.Stop(w.fail(fmt.Sprintf("there is no topic %d", m.Topic), nil))
	}
	if uint64(m.LogTime) > maxTime {
		return w.refuse("time %d ns is before 1970 or after 2106", m.LogTime)
	}
	c := &w.conns[m.Topic]
	need := messageFixed + len(m.Data)
	if !c.written {
		need += len(c.record)
	}
	if need > maxChunk {
		return w.refuse("message of %d bytes", len(m.Data))
	}
	k := w.Cur
	if k == nil || k.Size()+need > maxChunk {
		if err := w.Flush(true); err != nil {
			return err
		}
		k = w.newChunk()
	}
	if !c.written {
		k.Buf = append(k.Buf, c.record...)
		c.written, k.defines = true, true
	}
	if c.chunk != k {
		c.chunk, c.slot = k, len(k.used)
		k.used = append(k.used, usedConn{conn: int(m.Topic), id: c.id, sorted: true})
	}
	last := k.Size()+messageFixed+len(m.Data) > w.threshold
	k.message(m, c.slot, last && w.codec == compress.None && w.enc == nil && len(m.Data) >= chunked.MinLent)
	if last {
		return w.Flush(true)
	}
	return nil
}

// Finish writes the index. See storage.Writer.
func (w *writer) Finish() (storage.Output, error) {
	temp := ""
	if w.old == nil {
		temp = w.out.Temp()
	}
	return w.State.Finish(w.finish, temp)
}

// Commit moves the bag to its name. See storage.Writer.
func (w *writer) Commit() error {
	if w.old != nil {
		return w.State.Commit(w.Finish, w.commitOld)
	}
	return w.State.Commit(w.Finish, w.out.Commit)
}

// finish writes the trailer and the final file header, and closes the file.
func (w *writer) finish() error {
	if err := w.End(); err != nil {
		return err
	}
	w.Mu.Lock()
	defer w.Mu.Unlock()
	if w.old != nil {
		return w.finishOld()
	}
	var trailer []byte
	for _, c := range slices.SortedFunc(slices.Values(w.conns),
		func(a, b outConn) int { return cmp.Compare(a.id, b.id) }) {
		var err error
		if trailer, err = w.appendConnection(trailer, &c); err != nil {
			return w.fail("index", err)
		}
	}
	trailer = append(trailer, w.infos...)
	_, err := w.File.WriteAt(trailer, w.pos)
	if err == nil {
		_, err = w.File.WriteAt(w.fileHeader(w.pos), 0)
	}
	if err != nil {
		return w.fail("index", err)
	}
	return w.EndFile(w.sync, "index")
}

// appendConnection appends a connection of the trailer.
func (w *writer) appendConnection(dst []byte, c *outConn) ([]byte, error) {
	if w.enc == nil {
		return append(dst, c.record...), nil
	}
	for _, part := range [][]byte{c.record[4 : len(c.record)-len(c.data)-4], c.data} {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(w.enc.Size(int64(len(part)))))
		var err error
		if dst, err = w.enc.Encrypt(dst, part); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// Close removes what was not committed. See storage.Writer.
func (w *writer) Close() error {
	err := w.Drop()
	if w.out != nil {
		err = errors.Join(err, w.out.Abort())
	}
	return err
}

// maxChunk is the greatest u32 length.
const maxChunk = math.MaxUint32

var (
	_ storage.Writer      = (*writer)(nil)
	_ storage.BlockWriter = (*writer)(nil)
	_ storage.BlockCopier = (*writer)(nil)
)

// levelHint names the levels that a codec has.
func levelHint(c *compress.Codec) string {
	if c.MaxLevel() == 0 {
		return "nothing is compressed without a codec: lz4 or bz2"
	}
	return fmt.Sprintf("levels go to %d, 0 is the default", c.MaxLevel())
}

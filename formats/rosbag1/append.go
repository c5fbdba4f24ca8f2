package rosbag1

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// An oldBag is a bag to which a Writer adds. New chunks stand after its trailer, and
// after them a trailer of all chunks; Commit then lets go of the old trailer, by one
// overwriting of the fields of the file header:
//
//	file header | chunks | old trailer | new chunks | trailer of all
//	      '-index_pos-----------------------------------^
//
// rosbag and roscpp find chunks by the trailer alone, and never read what lies between
// them. Their own append mode cuts the file at index_pos first, and a bag whose process
// then dies has no index.
type oldBag struct {
	file   *inplace.File
	topics []storage.Topic  // by connection
	conns  []*oldConn       // in the order of topics
	named  map[string][]int // indexes of conns, by name
	used   map[uint32]bool  // ids
	header []byte           // the FILE_HEADER record up to its data
	at     int64            // of the record
	infos  []byte           // the CHUNK_INFO records
	order  indexOrder       // of its INDEX_DATA records
	chunks uint32
}

// An oldConn is a connection of the bag.
type oldConn struct {
	outConn
	continued bool // by a topic of the writer
}

// appendTo starts to add to the bag at path. See storage.Format.
func appendTo(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, []storage.Topic, error) {
	in, err := inplace.Open(ctx, path, inplace.Options{Format: formatName, Read: openReader, Hint: soundHint, FS: o.FS,
		NoSync: o.NoSync, Grows: true})
	if err != nil {
		return nil, nil, createError(path, "bag to be added to", err, "")
	}
	old, codec, end, err := readOld(ctx, path, o.FS, in)
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	if o.Values[storage.NameEncrypt] != "" {
		return nil, nil, errors.Join(createError(path, "encryption of what is added", storage.ErrUnsupported,
			"write a new bag"), in.Close())
	}
	if o.Compression == "" {
		o.Compression = codec
	}
	w, err := newWriter(ctx, path, o)
	if err == nil {
		w.old, w.File, w.order = old, in, old.order
		w.pos, err = in.Begin(end)
	}
	if err != nil {
		return nil, nil, errors.Join(err, in.Close())
	}
	return w, old.topics, nil
}

// soundHint is the next step if nothing can be added to a bag.
const soundHint = "make a sound copy first: bagconv recover IN OUT"

// readOld reads the index of the bag, the codec of the most chunks, and where it ends.
func readOld(ctx context.Context, path string, fsys storage.FS, in *inplace.File) (old *oldBag, codec string, end int64,
	err error) {
	broken := func(what string, err error) (*oldBag, string, int64, error) {
		return nil, "", 0, createError(path, "bag to be added to: "+what, err, soundHint)
	}
	src, err := openReader(ctx, path, storage.ReadOptions{FS: fsys, Strict: true})
	encrypted := createError(path, "encrypted bag to be added to", storage.ErrUnsupported,
		"write a new bag: bagconv merge IN IN... OUT --encrypt KEY")
	switch {
	case errors.Is(err, storage.ErrKey):
		return nil, "", 0, encrypted
	case errors.Is(err, storage.ErrUnsupported):
		return nil, "", 0, err
	}
	if err != nil {
		return broken("it is damaged", err)
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	r, ok := src.(*reader)
	if !ok || r.version != "2.0" {
		return nil, "", 0, createError(path, "bag of another version than 2.0 to be added to", storage.ErrUnsupported,
			"write a new bag: bagconv merge IN IN... OUT")
	}
	if r.enc != nil || r.locked {
		return nil, "", 0, encrypted
	}
	if r.trailerEnd == 0 {
		return broken("it has no sound index", storage.ErrCorrupt)
	}
	old = &oldBag{file: in, topics: []storage.Topic{}, named: map[string][]int{}, used: map[uint32]bool{},
		at: int64(len(versionLine))}
	if old.order, err = r.indexOrder(); err != nil {
		return nil, "", 0, err
	}
	h, err := old.readHeader()
	if err != nil {
		return broken("file header", err)
	}
	trailer := make([]byte, max(r.trailerEnd-int64(h.indexPos), 0))
	if err := iox.ReadFull(in, trailer, int64(h.indexPos)); err != nil {
		return broken("index", err)
	}
	records := map[uint32][]byte{}
	for b := trailer; len(b) > 0; {
		var h header
		if err := h.parseRecord(b); err != nil || int64(h.headLen)+h.dataSize() > int64(len(b)) {
			return broken("index", errors.Join(err, storage.ErrCorrupt))
		}
		record := b[:int64(h.headLen)+h.dataSize()]
		switch h.op {
		case opConnection:
			records[h.conn] = slices.Clip(record)
			old.used[h.conn] = true
		case opChunkInfo:
			old.infos = append(old.infos, record...)
			old.chunks++
		}
		b = b[len(record):]
	}
	for _, c := range r.conns.list {
		record := records[c.id]
		data := record[8+binary.LittleEndian.Uint32(record):]
		old.named[c.topic.Name] = append(old.named[c.topic.Name], len(old.conns))
		old.topics = append(old.topics, c.topic)
		old.conns = append(old.conns, &oldConn{outConn: outConn{id: c.id, name: c.topic.Name, old: true, record: record,
			data: data}})
	}
	for name, n := range r.codecs {
		if codec == "" || n > r.codecs[codec] || n == r.codecs[codec] && name < codec {
			codec = name
		}
	}
	return old, codec, r.trailerEnd, nil
}

// readHeader reads the header of the file header record.
func (b *oldBag) readHeader() (h header, err error) {
	var n [4]byte
	if err := iox.ReadFull(b.file, n[:], b.at); err != nil {
		return h, err
	}
	if binary.LittleEndian.Uint32(n[:]) > maxHeader {
		return h, storage.ErrCorrupt
	}
	b.header = make([]byte, 8+binary.LittleEndian.Uint32(n[:]))
	if err := iox.ReadFull(b.file, b.header, b.at); err != nil {
		return h, err
	}
	return h, h.parseRecord(b.header)
}

// connection returns the connection that a topic continues, nil if the topic is new: connections of
// other publishers stay apart.
func (b *oldBag) connection(t *storage.Topic) (*outConn, error) {
	var refused error
	same := false
	for _, i := range b.named[t.Name] {
		c, have := b.conns[i], &b.topics[i]
		if err := t.Continues(have); err != nil {
			refused = err
			continue
		}
		if same = true; !c.continued && samePublisher(t, have) {
			c.continued = true
			return &c.outConn, nil
		}
	}
	if same {
		refused = nil // a name may have two types
	}
	return nil, refused
}

// samePublisher reports whether a topic may have the publisher of a connection.
func samePublisher(t, have *storage.Topic) bool {
	of := func(t *storage.Topic) map[string]string {
		m := maps.Clone(t.Metadata)
		maps.DeleteFunc(m, func(k, v string) bool {
			return !headerField(k) || k == storage.MetaMD5Sum || k == metaTopic && v == t.Name || k == storage.MetaLatching &&
				v == "0"
		})
		return m
	}
	a, b := of(t), of(have)
	if a[storage.MetaCallerID] == "" {
		delete(b, storage.MetaCallerID)
		delete(a, storage.MetaCallerID)
	}
	return maps.Equal(a, b)
}

// freeID returns an id for another connection: the number of connections, as rosbag numbers them,
// or the next free id.
func (b *oldBag) freeID() uint32 {
	id := uint32(len(b.used))
	for b.used[id] {
		id++
	}
	b.used[id] = true
	return id
}

// finishOld writes the trailer of all chunks.
func (w *writer) finishOld() error {
	var trailer []byte
	for _, c := range w.old.conns {
		trailer = append(trailer, c.record...)
	}
	for _, c := range w.added() {
		trailer = append(trailer, c.record...)
	}
	trailer = append(append(trailer, w.old.infos...), w.infos...)
	if _, err := w.File.WriteAt(trailer, w.pos); err != nil {
		return w.fail("index", err)
	}
	return nil
}

// added are the connections that the bag did not have.
func (w *writer) added() (list []*outConn) {
	for i := range w.conns {
		if c := &w.conns[i]; !c.old {
			list = append(list, c)
		}
	}
	return list
}

// commitOld lets the file header point to the new trailer, unless nothing was added.
func (w *writer) commitOld() (err error) {
	defer func() { err = errors.Join(err, w.Drop()) }()
	added := len(w.added())
	if w.Appended+added == 0 {
		return nil
	}
	patch, err := headerPatch(w.old.header, w.old.at, uint64(w.pos), uint32(len(w.old.conns)+added),
		w.old.chunks+uint32(w.Appended))
	if err != nil {
		return err
	}
	return w.old.file.Commit(patch)
}

// headerPatch sets the fields of the file header, whose record begins at byte at.
func headerPatch(record []byte, at int64, indexPos uint64, conns, chunks uint32) (inplace.Patch, error) {
	now := slices.Clone(record)
	for _, field := range []struct {
		name  string
		value []byte
	}{
		{"index_pos", binary.LittleEndian.AppendUint64(nil, indexPos)},
		{"conn_count", binary.LittleEndian.AppendUint32(nil, conns)},
		{"chunk_count", binary.LittleEndian.AppendUint32(nil, chunks)},
	} {
		place := fieldValue(now, field.name)
		if len(place) != len(field.value) {
			return inplace.Patch{}, fmt.Errorf("the file header has no %s of %d bytes: %w", field.name, len(field.value),
				storage.ErrUnsupported)
		}
		copy(place, field.value)
	}
	return inplace.NewPatch(at, record, now), nil
}

// fieldValue returns the value of a field of a record header, nil if it has no such field.
func fieldValue(record []byte, name string) []byte {
	n := binary.LittleEndian.Uint32(record)
	for b := record[4 : 4+n]; len(b) >= 4; {
		size := 4 + binary.LittleEndian.Uint32(b)
		if size > uint32(len(b)) {
			return nil
		}
		if key, value, ok := bytes.Cut(b[4:size], []byte("=")); ok && string(key) == name {
			return value
		}
		b = b[size:]
	}
	return nil
}

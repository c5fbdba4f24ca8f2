package ingest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/bagconv/bagconv/internal/ingest/build"
	"github.com/bagconv/bagconv/storage"
)

// An arrowStream is an Arrow stream on its way: the stream of the input, of a piece, or of frames.
type arrowStream struct {
	name, typ  string // what the input says of it beside the stream; "": nothing
	schema     []byte
	table      *table
	dicts      []dictionary
	batches    []span // of the block that is open
	bodies     []byte // these messages
	rows, size int64
	ended      bool
}

// A dictionary is the message of one.
type dictionary struct {
	id   int64
	text []byte
}

// A span is a part of the input.
type span struct{ offset, size int64 }

// maxDictionaries bounds the dictionaries of a stream, in bytes.
const maxDictionaries = 256 << 20

// isArrow reports whether an input begins as an Arrow stream or file does, or as pieces of streams.
func isArrow(b []byte) bool {
	return bytes.HasPrefix(b, arrowMagic) || bytes.HasPrefix(b, endOfStream[:4]) || len(b) >= pieceHead+4 &&
		bytes.Equal(b[pieceHead:pieceHead+4], endOfStream[:4])
}

// arrowForm lists the blocks of an Arrow stream or file, or of pieces of streams.
func (s *scan) arrowForm() error {
	b, err := s.in.look(pieceHead + 4)
	if err == nil && len(b) == pieceHead+4 && !bytes.HasPrefix(b, arrowMagic) && !bytes.HasPrefix(b,
		endOfStream[:4]) && isArrow(b) {
		return s.pieces()
	}
	return s.arrow()
}

// arrow lists the blocks of one Arrow stream or file, or of several streams one after the other.
func (s *scan) arrow() error {
	file := false
	if b, err := s.in.look(8); err == nil && bytes.HasPrefix(b, arrowMagic) {
		file = true
		if err := s.in.skip(8); err != nil {
			return s.in.wrong(0, "the input", err)
		}
		if b, err := s.in.look(4); err == nil && !bytes.Equal(b, endOfStream[:4]) {
			return s.arrowBlocks()
		}
	}
	for {
		st := &arrowStream{}
		for !st.ended {
			if err := s.arrowMessage(st, -1); err != nil {
				return err
			}
		}
		if file {
			return s.arrowFooter()
		}
		if b, err := s.in.look(1); err != nil || len(b) == 0 {
			return err
		}
	}
}

// arrowMagic begins and ends an Arrow file.
var arrowMagic = []byte("ARROW1")

// arrowFooter steps over what follows the messages of a file.
func (s *scan) arrowFooter() error {
	at := s.in.offset
	var end []byte
	for {
		b, err := s.in.look(piece)
		if err != nil {
			return s.in.wrong(s.in.offset, "the input cannot be read", err)
		}
		if len(b) == 0 {
			break
		}
		end = append(end, b[max(0, len(b)-len(arrowMagic)):]...)
		end = slices.Clone(end[max(0, len(end)-len(arrowMagic)):])
		if err := s.in.skip(int64(len(b))); err != nil {
			return s.in.wrong(s.in.offset, "the input cannot be read", err)
		}
	}
	if !bytes.Equal(end, arrowMagic) {
		return s.in.wrong(at, "the footer of the Arrow file", io.EOF)
	}
	return nil
}

// pieceHead is the bytes before a piece of a stream of several topics: u32 topic, u64 bytes that follow.
const pieceHead = 12

// markTopic is the number of a topic that only marks have: an i64 log time up to which all rows have come.
const markTopic = 1<<32 - 1

// pieces lists the blocks of Arrow streams of several topics in pieces.
func (s *scan) pieces() error {
	streams := map[uint32]*arrowStream{}
	for {
		at := s.in.offset
		b, err := s.in.look(pieceHead)
		switch {
		case err != nil:
			return s.in.wrong(at, "the input cannot be read", err)
		case len(b) == 0:
			for number, st := range streams {
				if !st.ended {
					return s.in.wrong(at, fmt.Sprintf("the stream of topic %d", number), io.EOF)
				}
			}
			return nil
		case len(b) < pieceHead:
			return s.in.wrong(at, "the head of a piece", io.EOF)
		}
		number, n := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint64(b[4:])
		switch {
		case number == markTopic && n != 8, n > 1<<62:
			return s.in.wrong(at, fmt.Sprintf("a piece of %d bytes", n), storage.ErrCorrupt)
		case number == markTopic:
			if err := s.in.skip(pieceHead + 8); err != nil {
				return s.in.wrong(at, "a mark", err)
			}
			continue
		case len(streams) > maxTopics:
			return s.in.wrong(at, fmt.Sprintf("more than %d topics", maxTopics), storage.ErrCorrupt)
		}
		if streams[number] == nil {
			streams[number] = &arrowStream{}
		}
		if err := s.in.skip(pieceHead); err != nil {
			return s.in.wrong(at, "the head of a piece", err)
		}
		if err := s.arrowPiece(streams[number], int64(n)); err != nil {
			return err
		}
		if s.unflushed > maxUnflushed {
			if err := s.flushAll(streams); err != nil {
				return err
			}
		}
	}
}

// maxUnflushed bounds the open blocks of all streams together, in bytes.
const maxUnflushed = 64 << 20

// flushAll ends the open blocks of streams, in the order of their numbers.
func (s *scan) flushAll(streams map[uint32]*arrowStream) error {
	for _, number := range slices.Sorted(maps.Keys(streams)) {
		if err := s.flush(streams[number]); err != nil {
			return err
		}
	}
	return nil
}

// arrowPiece reads so many bytes, which are whole messages of a stream.
func (s *scan) arrowPiece(st *arrowStream, n int64) error {
	for end := s.in.offset + n; s.in.offset < end; {
		if st.ended { // another stream of the topic begins
			*st = arrowStream{name: st.name, typ: st.typ}
		}
		if err := s.arrowMessage(st, end-s.in.offset); err != nil {
			return err
		}
	}
	return nil
}

// arrowMessage reads a message of a stream; left is how many bytes may follow, -1 for any number.
func (s *scan) arrowMessage(st *arrowStream, left int64) error {
	at := s.in.offset
	h, bodies, err := s.in.ipcMessage(st.bodies, left)
	if err != nil {
		return s.in.wrong(at, "message of an Arrow stream", err)
	}
	whole := bodies[len(st.bodies):]
	if st.bodies = bodies; h.kind != ipcBatch { // it is kept by itself
		whole, st.bodies = bytes.Clone(whole), bodies[:len(bodies)-len(whole)]
	}
	switch {
	case h.kind == 0:
		st.ended = true
		return s.flush(st)
	case h.kind == ipcSchema:
		if err = s.flush(st); err == nil {
			*st = arrowStream{name: st.name, typ: st.typ, schema: whole}
			err = s.arrowTable(st)
		}
	case st.schema == nil:
		err = badIPC("it comes before the schema")
	case h.kind == ipcDictionary:
		if err = s.flush(st); err == nil {
			err = st.define(&h, whole)
		}
	case h.kind == ipcBatch:
		st.batches = append(st.batches, span{at, int64(len(whole))})
		st.rows, st.size = st.rows+h.rows, st.size+int64(len(whole))
		if s.unflushed += int64(len(whole)); st.size >= blockBytes || st.rows >= blockMessages ||
			len(st.batches) >= 1024 {
			return s.flush(st)
		}
		return nil
	default:
		err = badIPC(fmt.Sprintf("its kind is %d", h.kind))
	}
	if err != nil && !isPlaced(err) {
		return s.in.wrong(at, "message of an Arrow stream", err)
	}
	return err
}

// isPlaced reports whether an error has an offset.
func isPlaced(err error) bool {
	var e *storage.Error
	return errors.As(err, &e)
}

// define takes a dictionary, which replaces the one before or adds to it.
func (st *arrowStream) define(h *ipcHead, whole []byte) error {
	if !h.delta {
		st.dicts = slices.DeleteFunc(st.dicts, func(d dictionary) bool { return d.id == h.id })
	}
	size := len(whole)
	for _, d := range st.dicts {
		size += len(d.text)
	}
	if size > maxDictionaries {
		return badIPC(fmt.Sprintf("dictionaries of more than %d MiB", maxDictionaries>>20))
	}
	st.dicts = append(slices.Clip(st.dicts), dictionary{h.id, whole})
	return nil
}

// arrowTable finds the topic of a stream by its schema.
func (s *scan) arrowTable(st *arrowStream) error {
	r, err := ipc.NewReader(bytes.NewReader(st.schema))
	if err != nil {
		return badIPC(err.Error())
	}
	defer r.Release()
	schema := r.Schema()
	meta := map[string]string{}
	for i, key := range schema.Metadata().Keys() {
		meta[key] = schema.Metadata().Values()[i]
	}
	var columns []columnName
	for _, f := range schema.Fields() {
		columns = append(columns, columnName{f.Name, f.Type.ID() == arrow.TIMESTAMP})
	}
	st.table, err = s.tableOf(meta, columns, st.name, st.typ)
	return err
}

// flush ends the open block of a stream.
func (s *scan) flush(st *arrowStream) error {
	if len(st.batches) == 0 {
		return nil
	}
	p := arrowPart{s.in, st.table, st.schema, st.dicts, st.batches}
	count, rows := int64(0), int64(0)
	first, last := int64(0), int64(0)
	at := 0
	err := p.decode(bytes.NewReader(st.bodies), func(b *batch) {
		s.tell(b)
		from, to, n := b.span()
		if n > 0 && count == 0 {
			first, last = from, to
		}
		if n > 0 {
			first, last = min(first, from), max(last, to)
		}
		count, rows = count+n, rows+int64(b.rows.Len())
		at++
	})
	if err != nil {
		return s.in.wrong(st.batches[min(at, len(st.batches)-1)].offset, "message of an Arrow stream", err)
	}
	s.addPart(p, storage.Block{Offset: st.batches[0].offset, Size: st.size, RawSize: 2 * st.size}, st.table.id, first,
		last, rows)
	s.unflushed -= st.size
	if st.batches, st.bodies, st.rows, st.size = nil, st.bodies[:0], 0, 0; cap(st.bodies) > maxUnflushed {
		st.bodies = nil
	}
	return nil
}

// An arrowPart decodes record batches of one stream.
type arrowPart struct {
	in      *input
	table   *table
	schema  []byte
	dicts   []dictionary
	batches []span
}

// endOfStream ends an Arrow stream.
var endOfStream = []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}

// decode calls f with each record batch of messages.
func (p *arrowPart) decode(messages io.Reader, f func(*batch)) error {
	parts := []io.Reader{bytes.NewReader(p.schema)}
	for _, d := range p.dicts {
		parts = append(parts, bytes.NewReader(d.text))
	}
	parts = append(parts, messages, bytes.NewReader(endOfStream))
	r, err := ipc.NewReader(io.MultiReader(parts...))
	if err != nil {
		return badIPC(err.Error())
	}
	defer r.Release()
	seen := 0
	for ; r.Next(); seen++ {
		rec := r.RecordBatch()
		columns := make([]*build.Column, rec.NumCols())
		for i := range columns {
			if columns[i], err = arrowColumn(rec.ColumnName(i), rec.Column(i).Data()); err != nil {
				return err
			}
			if columns[i].Len != int(rec.NumRows()) {
				return badIPC("its columns have several lengths")
			}
		}
		b, err := p.table.bind(columns)
		if err != nil {
			return err
		}
		f(b)
	}
	switch err := r.Err(); {
	case err != nil:
		return badIPC(err.Error())
	case seen != len(p.batches):
		return badIPC("it cannot be read")
	}
	return nil
}

func (p arrowPart) read(block *storage.Block, b *storage.Batch) ([]outcome, error) {
	b.Scratch = storage.Grow(b.Scratch, int(block.Size))
	at := int64(0)
	for _, sp := range p.batches {
		if err := p.in.again(b.Scratch[at:at+sp.size], sp.offset); err != nil {
			return nil, err
		}
		at += sp.size
	}
	var o outcomes
	var m maker
	if err := p.decode(bytes.NewReader(b.Scratch), func(rows *batch) { rows.messages(b, &m, &o) }); err != nil {
		return nil, p.in.wrong(block.Offset, "message of an Arrow stream", err)
	}
	return o, nil
}

package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/bagconv/bagconv/storage"
)

// arrowBlocks lists the blocks of an Arrow file whose messages are no stream, as polars writes it. Its footer
// (File.fbs) has the schema and where the messages are:
//
//	...  Footer: 1 schema, 2 dictionaries, 3 record batches, each {i64 offset, i32 bytes of metadata, i64 bytes of body}
//	u32  bytes of the footer
//	     "ARROW1"
func (s *scan) arrowBlocks() error {
	if err := s.toEnd(); err != nil {
		return err
	}
	in, size := s.in, s.in.offset
	wrong := func(what string, err error) error { return in.wrong(size, what, err) }
	tail := make([]byte, 4+len(arrowMagic))
	if size < int64(len(tail)) {
		return wrong("the Arrow file", io.EOF)
	}
	if err := in.again(tail, size-int64(len(tail))); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if !bytes.Equal(tail[4:], arrowMagic) {
		return wrong("the footer of the Arrow file", io.EOF)
	}
	if n > maxIPCMetadata || n > size-int64(len(tail)) {
		return wrong("the footer of the Arrow file", storage.ErrCorrupt)
	}
	b := make([]byte, n)
	if err := in.again(b, size-int64(len(tail))-n); err != nil {
		return err
	}
	footer := flatRoot(b)
	left := maxIPCFields
	schema := footer.table(1)
	schema.checkFields(1, 0, &left)
	schema.checkTexts(2)
	dicts, _ := footer.vector(2, 24)
	batches, at := footer.vector(3, 24)
	if !*footer.ok || schema.at == 0 {
		return wrong("the footer of the Arrow file", storage.ErrCorrupt)
	}
	if dicts > 0 {
		return wrong("dictionaries of an Arrow file without a stream in it cannot be read; write a stream",
			storage.ErrUnsupported)
	}
	st := &arrowStream{}
	if err := st.schemaOf(in.file, size); err != nil {
		return wrong("the footer of the Arrow file", err)
	}
	if err := s.arrowTable(st); err != nil {
		return wrong("the footer of the Arrow file", err)
	}
	for i := range batches {
		offset := int64(footer.int(at+24*i, 8))
		length := int64(footer.int(at+24*i+8, 4)) + int64(footer.int(at+24*i+16, 8))
		if offset < 0 || length < 0 || offset > size || length > size-offset {
			return wrong("a record batch is beyond the end of the Arrow file", storage.ErrCorrupt)
		}
		if err := s.arrowAt(st, span{offset, length}); err != nil {
			return err
		}
	}
	return s.flush(st)
}

// arrowAt reads a message elsewhere in the input.
func (s *scan) arrowAt(st *arrowStream, at span) error {
	in := s.in
	defer func() { s.in = in }()
	part := *in
	part.Reader = bufio.NewReaderSize(io.NewSectionReader(in.file, at.offset, at.size), int(min(at.size, piece)))
	part.offset = at.offset
	s.in = &part
	return s.arrowMessage(st, at.size)
}

// schemaOf takes the schema of the footer, as the message that begins a stream.
func (st *arrowStream) schemaOf(file storage.File, size int64) error {
	r, err := ipc.NewFileReader(io.NewSectionReader(file, 0, size))
	if err != nil {
		return badIPC(err.Error())
	}
	var b bytes.Buffer
	err = ipc.NewWriter(&b, ipc.WithSchema(r.Schema())).Close()
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		return badIPC(err.Error())
	}
	if b.Len() < len(endOfStream) {
		return fmt.Errorf("the schema has no message: %w", storage.ErrCorrupt)
	}
	st.schema = b.Bytes()[:b.Len()-len(endOfStream)]
	return nil
}

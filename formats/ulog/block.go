package ulog

import (
	"context"
	"iter"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// Blocks lists the blocks; each has its own times. See storage.BlockReader.
func (r *reader) Blocks(context.Context, *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	list := make([]storage.Block, len(r.blocks))
	for i := range r.blocks {
		list[i] = r.blocks[i].Block
	}
	return list, storage.OrderBlocks, nil
}

// ReadBlock reads a block, whose messages were all found when the file was opened. See storage.BlockReader.
func (r *reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x := &r.blocks[i]
	w := r.windows.Get().(*chunked.Window)
	defer r.windows.Put(w)
	b.Messages = b.Messages[:0]
	e := encoder{b: b.Buf[:0]}
	st := x.before
	var m message
	end := x.Offset + x.Size
	for at := x.Offset; at < end; at = m.end() {
		whole, err := r.message(w, &m, at, end)
		if err != nil {
			return r.src.Fail(at, "message", err)
		}
		if !whole {
			return r.src.Fail(at, "message: the file has changed since it was opened", storage.ErrTruncated)
		}
		if r.wrong(&m, at) != "" {
			continue
		}
		t, ns, ok := r.place(&m, &st)
		if !ok {
			continue
		}
		if ns == noTime {
			ns = st.last
		}
		from := len(e.b)
		r.encode(&e, &m, ns, st.data)
		data := e.b[from:len(e.b):len(e.b)]
		b.Messages = append(b.Messages, storage.Message{Topic: t.id, LogTime: ns, PublishTime: ns, Data: data})
	}
	b.Buf = e.b
	at := 0
	for k := range b.Messages { // the buffer may have moved while it grew
		n := len(b.Messages[k].Data)
		b.Messages[k].Data = b.Buf[at : at+n : at+n]
		at += n
	}
	return nil
}

// Query reads the blocks of the times that are asked for, whole. See storage.Querier.
func (r *reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	block := func(i int) *storage.Block { return &r.blocks[i].Block }
	return chunked.NewQuery(ctx, q, r.src, r, block, nil).Run(q, len(r.topics), len(r.blocks))
}

// encode appends a message in CDR.
func (r *reader) encode(e *encoder, m *message, ns int64, data bool) {
	switch m.op {
	case opData:
		e.begin()
		e.structure(m.topic.structure, m.body[dataHead:])
	case opText, opTagged:
		e.log(m, ns)
	case opParameter:
		kv, _ := parseKeyValue(m.op, m.body)
		e.parameter(&kv, parameterNode, ns, data)
	case opDefault:
		kv, _ := parseKeyValue(m.op, m.body)
		e.parameter(&kv, defaultNode(kv.prefix), ns, data)
	}
}

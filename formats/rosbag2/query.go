package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/internal/timeorder"
	"github.com/bagconv/bagconv/storage"
)

// Query reads by the index of timestamps. Topics have no index: the rows in the range are looked
// at, without their payloads. A recording is refused, wrapping storage.ErrUnsupported, if one of
// its parts has no such index, has other columns, or was salvaged. See storage.Querier.
func (r *reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		buf := messages.Get().(*[]byte)
		x := &query{r: r, ctx: ctx, q: q, batch: storage.Batch{Buf: *buf}}
		defer func() { *buf = x.batch.Buf; messages.Put(buf) }()
		var err error
		if x.wanted, err = timeorder.Wanted(&q, len(r.Topics.List)); err == nil {
			err = x.list()
		}
		if err != nil {
			yield(nil, r.Fail(r.Path, "query", err))
			return
		}
		parts := make([]timeorder.Part, len(x.parts))
		for i, p := range x.parts {
			parts[i] = timeorder.Part{Start: p.least, End: p.most, Timed: p.timed}
		}
		timeorder.Run(ctx, q, parts, x, func(err error) error { return r.Fail(r.Path, "query", err) })(yield)
	}
}

// messages has the memory of messages, for other queries.
var messages = sync.Pool{New: func() any { return new([]byte) }}

// A query is a running query.
type query struct {
	r      *reader
	ctx    context.Context
	q      storage.Query
	wanted []bool // index = TopicID
	parts  []*part
	batch  storage.Batch // of the current message
}

// context reports whether the query, or the reader, shall end.
func (x *query) context() error { return errors.Join(x.ctx.Err(), x.r.Ctx.Err()) }

// list takes the parts that have messages.
func (x *query) list() error {
	if len(x.r.parts) == 0 {
		return errors.New("the reader is closed")
	}
	for _, p := range x.r.parts {
		if p.empty {
			continue
		}
		if p.table == nil || !p.table.Indexed() {
			return noIndex(p.path)
		}
		x.parts = append(x.parts, p)
	}
	return nil
}

func noIndex(path string) error {
	return &storage.Error{
		Format: formatName, Path: path, Offset: -1, Err: storage.ErrUnsupported,
		What: "query: the messages have no index of timestamps that can be used",
		Hint: "read all of it in file order, or convert it: outputs have such an index",
	}
}

// Open starts to go over the index of a part. See timeorder.Source.
func (x *query) Open(i int, reverse bool) (timeorder.Cursor, error) {
	p := x.parts[i]
	c, err := x.r.acquire(p)
	if err != nil {
		return nil, x.r.Fail(p.path, "", err)
	}
	k := &cursor{x: x, conn: c, reverse: reverse}
	k.first, k.last = x.q.Range()
	if k.rows, err = k.pages(); err != nil {
		return nil, x.r.Fail(p.path, "query", errors.Join(err, k.Close()))
	}
	return k, nil
}

// A cursor goes over the index of a part. Pos is the rowid.
type cursor struct {
	x           *query
	conn        *conn
	first, last int64 // the range of time
	reverse     bool
	rows        *pageRows
	n           int64 // calls of step
	head        sqlitefile.Head
	topic       storage.TopicID
}

// Next returns the next row of a topic that is asked for. See timeorder.Cursor.
func (k *cursor) Next() (timeorder.Head, error) {
	p := k.conn.part
	for {
		if k.n&255 == 255 {
			if err := k.x.context(); err != nil {
				return timeorder.Head{}, err
			}
		}
		h, err := k.rows.next()
		if err == io.EOF {
			return timeorder.Head{}, k.ended()
		}
		if errors.Is(err, sqlitefile.ErrDeclined) { // an entry is not a time
			err = noIndex(p.path)
		}
		if err != nil {
			return timeorder.Head{}, k.x.r.Fail(p.path, "timestamp index", err)
		}
		k.n, k.head = k.n+1, h
		topic, ok := p.ids.get(h.Topic)
		if !ok {
			err := k.x.r.Warn("unknown-topic", true, p.path, "messages of topic id %d are left out: no topic has this id",
				h.Topic)
			if err != nil {
				return timeorder.Head{}, err
			}
			continue
		}
		if h.NoTime || h.NoData {
			f := &filler{r: k.x.r, c: k.conn}
			if _, ok, err := f.odd(&sqlitefile.Row{ID: h.ID, Time: h.Time, NoData: h.NoData}); err != nil {
				return timeorder.Head{}, err
			} else if !ok {
				continue
			}
		}
		if k.x.wanted[topic] {
			k.topic = topic
			return timeorder.Head{Time: h.Time, Pos: h.ID, Topic: topic}, nil
		}
	}
}

// ended is io.EOF, unless the index has ended too early.
func (k *cursor) ended() error {
	p := k.conn.part
	if n := k.rows.seen; p.rows > 0 && n != p.rows && k.first <= p.least && k.last >= p.most {
		return k.x.r.Fail(p.path, fmt.Sprintf("timestamp index: it has %d of %d rows", n, p.rows), storage.ErrCorrupt)
	}
	return io.EOF
}

// Read returns the current row. See timeorder.Cursor.
func (k *cursor) Read() (*storage.Message, error) {
	ok, err := k.read()
	if err != nil {
		return nil, k.x.r.Fail(k.conn.part.path, "message", err)
	}
	if !ok {
		return nil, nil
	}
	return &k.x.batch.Messages[0], nil
}

func (k *cursor) read() (ok bool, err error) {
	b, h := &k.x.batch, &k.head
	b.Messages = b.Messages[:0]
	f := &filler{r: k.x.r, ctx: k.x.ctx, c: k.conn, b: b, blk: &block{sized: true}, n: 1, last: h.ID}
	if b.Buf, err = k.rows.data(b.Buf[:0]); err != nil {
		return false, err
	}
	if f.compressed(b.Buf) {
		b.Scratch, b.Buf = b.Buf, b.Scratch[:0]
		if ok, err := f.inflate(b.Scratch); err != nil || !ok {
			return false, err
		}
	}
	f.add(k.topic, h.Time, 0)
	f.b.Place()
	return true, nil
}

// Close puts the connection back.
func (k *cursor) Close() error {
	if k.rows != nil {
		k.rows.close()
	}
	return k.x.r.release(k.conn)
}

var (
	_ storage.Querier  = (*reader)(nil)
	_ timeorder.Source = (*query)(nil)
	_ timeorder.Cursor = (*cursor)(nil)
)

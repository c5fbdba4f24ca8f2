package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/bagconv/bagconv/internal/timeorder"
	"github.com/bagconv/bagconv/storage"
)

// The rows of a time range by timestamp_idx, and a row by its id. A row's topic
// is looked at in the table, where it stands before the payload: that is not read.
const (
	selectHeads     = "SELECT rowid, topic_id, timestamp FROM messages WHERE timestamp BETWEEN ? AND ? ORDER BY timestamp, rowid"
	selectHeadsBack = "SELECT rowid, topic_id, timestamp FROM messages WHERE timestamp BETWEEN ? AND ? ORDER BY timestamp DESC, rowid DESC"
	selectRow       = "SELECT data, timestamp FROM messages WHERE rowid = ?"
)

// Query reads by the index of timestamps. There is none of topics: the rows in
// the range are looked at, without their payloads. Refused, wrapping
// storage.ErrUnsupported, are recordings that have a part without such an index,
// or a salvaged one. See storage.Querier.
func (r *Reader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		x := &query{r: r, ctx: ctx, q: q}
		var err error
		if x.wanted, _, err = timeorder.Wanted(&q, len(r.topics)); err == nil {
			err = x.list()
		}
		if err != nil {
			yield(nil, r.fail(r.path, "query", err))
			return
		}
		parts := make([]timeorder.Part, len(x.parts))
		for i, p := range x.parts {
			parts[i] = timeorder.Part{Start: p.least, End: p.most, Timed: p.timed}
		}
		timeorder.Run(ctx, q, parts, x, func(err error) error { return r.fail(r.path, "query", err) })(yield)
	}
}

// A query is one that runs.
type query struct {
	r      *Reader
	ctx    context.Context
	q      storage.Query
	wanted []bool // index = TopicID
	parts  []*part
	batch  storage.Batch // of the current message
}

// list takes the parts that have messages.
func (x *query) list() error {
	if len(x.r.parts) == 0 {
		return errors.New("the reader is closed")
	}
	for _, p := range x.r.parts {
		if p.empty {
			continue
		}
		if p.found != nil || !p.tables.timeIndex {
			return &storage.Error{
				Format: formatName, Path: p.path, Offset: -1, Err: storage.ErrUnsupported,
				What: "query: the messages have no index of timestamps that can be used",
				Hint: "read all of it in the order of the file, or convert it: what is written has one",
			}
		}
		x.parts = append(x.parts, p)
	}
	return nil
}

// Count cannot tell: no table counts messages. See timeorder.Source.
func (x *query) Count(int) (int64, error) { return -1, nil }

// Open starts to go over the index of a part. See timeorder.Source.
func (x *query) Open(i int) (timeorder.Cursor, error) {
	p := x.parts[i]
	c, err := x.r.acquire(p)
	if err != nil {
		return nil, x.r.fail(p.path, "", err)
	}
	k := &cursor{x: x, conn: c}
	if err := k.prepare(); err != nil {
		return nil, x.r.fail(p.path, "query", errors.Join(err, k.Close()))
	}
	return k, nil
}

// A cursor goes over the index of a part. Pos is the rowid.
type cursor struct {
	x     *query
	conn  *conn
	heads *stmt
	row   *stmt
	n     int // calls of step
	head  timeorder.Head
	topic storage.TopicID
}

func (k *cursor) prepare() (err error) {
	if err := k.conn.engine(0); err != nil {
		return err
	}
	text := selectHeads
	if k.x.q.Reverse {
		text = selectHeadsBack
	}
	if k.heads, err = k.conn.db.prepare(text); err == nil {
		k.row, err = k.conn.db.prepare(selectRow)
	}
	if err != nil {
		return err
	}
	start, end := k.x.q.Range()
	return k.heads.bind(start, end)
}

// Next gives the next row of a topic that is asked for. See timeorder.Cursor.
func (k *cursor) Next() (timeorder.Head, error) {
	p := k.conn.part
	for {
		if k.n++; k.n&255 == 0 {
			if err := errors.Join(k.x.ctx.Err(), k.x.r.ctx.Err()); err != nil {
				return timeorder.Head{}, err
			}
		}
		more, err := k.heads.step()
		if err != nil {
			return timeorder.Head{}, k.x.r.fail(p.path, "timestamp index", err)
		}
		if !more {
			return timeorder.Head{}, k.ended()
		}
		topic, ok := p.ids.get(k.heads.int(1))
		if !ok {
			err := k.x.r.warn("unknown-topic", true, p.path, "messages of topic id %d are left out: no topic has it", k.heads.int(1))
			if err != nil {
				return timeorder.Head{}, err
			}
			continue
		}
		if k.x.wanted[topic] {
			k.topic, k.head = topic, timeorder.Head{Time: k.heads.int(2), Pos: k.heads.int(0)}
			return k.head, nil
		}
	}
}

// ended is io.EOF, unless the index has ended too early.
func (k *cursor) ended() error {
	p := k.conn.part
	start, end := k.x.q.Range()
	if n := int64(k.n - 1); p.rows > 0 && n != p.rows && start <= p.least && end >= p.most {
		return k.x.r.fail(p.path, fmt.Sprintf("timestamp index: it has %d of %d rows", n, p.rows), storage.ErrCorrupt)
	}
	return io.EOF
}

// Read gives the current row. See timeorder.Cursor.
func (k *cursor) Read() (*storage.Message, error) {
	ok, err := k.read()
	k.row.reset()
	if err != nil {
		return nil, k.x.r.fail(k.conn.part.path, "message", err)
	}
	if !ok {
		return nil, nil
	}
	return &k.x.batch.Messages[0], nil
}

func (k *cursor) read() (bool, error) {
	if err := k.row.bind(k.head.Pos); err != nil {
		return false, err
	}
	more, err := k.row.step()
	if err != nil {
		return false, err
	}
	if !more {
		return false, fmt.Errorf("row %d, which the index has, is not there: %w", k.head.Pos, storage.ErrCorrupt)
	}
	if at := k.row.int(1); at != k.head.Time {
		return false, fmt.Errorf("row %d is at %d ns, the index says %d: %w", k.head.Pos, at, k.head.Time, storage.ErrCorrupt)
	}
	b, data := &k.x.batch, k.row.bytes(0)
	b.Messages, b.Buf = b.Messages[:0], b.Buf[:0]
	f := &filler{r: k.x.r, ctx: k.x.ctx, p: k.conn.part, b: b, n: 1, last: k.head.Pos}
	if f.compressed(data) {
		if ok, err := f.inflate(data); err != nil || !ok {
			return false, err
		}
	} else {
		b.Buf = append(b.Buf, data...) // SQLite's memory is not the caller's to change
	}
	f.add(k.topic, k.head.Time, 0)
	f.end()
	return true, nil
}

// Close gives the connection back.
func (k *cursor) Close() error {
	if k.heads != nil {
		k.heads.finalize()
	}
	if k.row != nil {
		k.row.finalize()
	}
	return k.x.r.release(k.conn)
}

var (
	_ storage.Querier  = (*Reader)(nil)
	_ timeorder.Source = (*query)(nil)
	_ timeorder.Cursor = (*cursor)(nil)
)

package rosbag2

import (
	"context"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// Rows of messages are read on three routes. Page by page through the tree
// (package sqlitefile) is the usual one. SQLite itself reads a part that has no
// table of the usual kind, and blocks that have a row of other types; it gives the
// same. Where something is damaged the rows are taken from all leaves that are
// found (salvage.go).

// ReadBlock reads the rows of block i into b. See storage.BlockReader.
func (r *Reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if r.brief {
		return r.fail(r.path, "", errBrief)
	}
	blk := &r.blocks[i]
	p := blk.part
	c, err := r.acquire(p)
	if err != nil {
		return r.fail(p.path, "", err)
	}
	f := &filler{r: r, ctx: ctx, p: p, b: b}
	f.begin(blk)
	switch {
	case p.found != nil:
		err = f.salvage(c, i, p.found)
	case p.table == nil:
		err = f.query(c, blk)
	default:
		if c.scan == nil {
			c.scan = p.table.NewScanner(c.src, scanBytes)
		}
		err = f.read(c.scan, blk)
		if errors.Is(err, sqlitefile.ErrDeclined) {
			f.begin(blk)
			err = f.query(c, blk)
		} else if isDamage(err) && !said(err) && !r.strict {
			err = f.rescue(c, i, err)
		}
	}
	if e := r.release(c); err == nil {
		err = e
	}
	f.end()
	r.lose(i, f.lost)
	return r.fail(p.path, "messages", err)
}

// said tells that an error is complete: it is a warning that strict reading made
// an error of.
func said(err error) bool {
	var e *storage.Error
	return errors.As(err, &e)
}

// maxGrow bounds the memory that is taken for a block before its rows are seen.
const maxGrow = 16 << 20

// A filler puts the rows of a block into a batch. Until end, the Data of a
// message has the right length only: Buf may move while it grows.
type filler struct {
	r    *Reader
	ctx  context.Context
	p    *part
	b    *storage.Batch
	blk  *block
	n    int          // rows so far
	lost storage.Lost // of rows that are left out
	last int64        // rowid of the last one
}

func (f *filler) begin(blk *block) {
	f.blk, f.n, f.last, f.lost = blk, 0, 0, storage.Lost{}
	f.b.Messages = f.b.Messages[:0]
	f.b.Buf = storage.Grow(f.b.Buf, int(min(blk.size, maxGrow)))[:0]
}

func (f *filler) end() {
	b, at := f.b, 0
	for k := range b.Messages {
		n := len(b.Messages[k].Data)
		b.Messages[k].Data = b.Buf[at : at+n : at+n]
		at += n
	}
}

// topic counts a row in, and finds its topic. ok is false when there is none, and
// the row is left out.
func (f *filler) topic(rowid, id int64) (topic storage.TopicID, ok bool, err error) {
	if f.n&255 == 0 && f.ctx.Err() != nil {
		return 0, false, f.ctx.Err()
	}
	f.n++
	f.last = rowid
	if topic, ok = f.p.ids.get(id); !ok {
		f.lost.Messages++
		err = f.r.warn("unknown-topic", true, f.p.path, "messages of topic id %d are left out: no topic has it", id)
	}
	return topic, ok, err
}

// add makes what is in Buf from start on a message.
func (f *filler) add(topic storage.TopicID, stamp int64, start int) {
	f.b.Messages = append(f.b.Messages, storage.Message{Topic: topic, LogTime: stamp, PublishTime: stamp, Data: f.b.Buf[start:]})
}

// compressed tells whether a row is to be decompressed. data is its start.
func (f *filler) compressed(data []byte) bool {
	return f.p.sniffRows && isFrame(data)
}

// isFrame tells whether data begins as a zstd frame.
func isFrame(data []byte) bool { return len(data) >= 4 && string(data[:4]) == ros2bag.ZstdMagic }

// scanBytes is how much is read at once: 1 MB in all for each scanner.
const scanBytes = 128 << 10

// A rowSource gives rows from pages.
type rowSource interface {
	Scan(lo, hi int64, f func(*sqlitefile.Row) error) error
	Append(dst []byte, row *sqlitefile.Row) ([]byte, error)
}

// read reads the rows of a range from pages. Each is copied once.
func (f *filler) read(src rowSource, blk *block) error {
	return src.Scan(blk.lo, blk.hi, func(row *sqlitefile.Row) error {
		topic, ok, err := f.topic(row.ID, row.Topic)
		if err != nil || !ok {
			return err
		}
		b, start := f.b, len(f.b.Buf)
		if f.compressed(row.Local()) {
			if b.Scratch, err = src.Append(b.Scratch[:0], row); err != nil {
				return err
			}
			if ok, err = f.inflate(b.Scratch); err != nil || !ok {
				return err
			}
		} else if b.Buf, err = src.Append(b.Buf, row); err != nil {
			return err
		}
		f.add(topic, row.Time, start)
		return nil
	})
}

// query reads the rows of a range with SQLite. Each is copied once, from SQLite's
// memory. After damage the rows before it are there, and a warning.
func (f *filler) query(c *conn, blk *block) error {
	err := f.steps(c, blk)
	if c.rows != nil {
		c.rows.Reset()
	}
	if isDamage(err) && !said(err) {
		f.lost.Uncounted = true
		return f.r.warn("corrupt", true, f.p.path, "messages after %s cannot be read: %v", f.after(blk), err)
	}
	return err
}

func (f *filler) steps(c *conn, blk *block) (err error) {
	if err := c.engine(0); err != nil {
		return err
	}
	if c.rows == nil {
		if c.rows, err = c.db.Prepare(selectMessages); err != nil {
			return err
		}
	}
	if err := c.rows.Bind(blk.lo, blk.hi); err != nil {
		return err
	}
	limit := f.p.real()
	for {
		more, err := c.rows.Step()
		if err != nil || !more {
			return err
		}
		id := c.rows.Int(0)
		if f.n > 0 && id <= f.last {
			return fmt.Errorf("row %d comes after row %d: %w", id, f.last, storage.ErrCorrupt)
		}
		stamp, known, err := f.p.rowTime(c, c.rows, 2, id)
		if err != nil {
			return err
		}
		isData := c.rows.IsBytes(3)
		if !isData || !c.rows.IsInt(2) {
			if err := f.oddRow(id, isData, known); err != nil {
				return err
			}
			if !isData || !known {
				f.n, f.last = f.n+1, id
				continue
			}
		}
		data := c.rows.Bytes(3)
		if limit -= int64(len(data)); limit < 0 {
			return fmt.Errorf("the rows from %d on have more bytes than the file: %w", blk.lo, storage.ErrCorrupt)
		}
		topic, ok, err := f.topic(id, c.rows.Int(1))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		start := len(f.b.Buf)
		if f.compressed(data) {
			if ok, err = f.inflate(data); err != nil {
				return err
			}
			if !ok {
				continue
			}
		} else {
			f.b.Buf = append(f.b.Buf, data...)
		}
		f.add(topic, stamp, start)
	}
}

func (f *filler) after(blk *block) string {
	if f.n == 0 {
		return fmt.Sprintf("the start of rows %d to %d", blk.lo, blk.hi)
	}
	return fmt.Sprintf("row %d, up to row %d,", f.last, blk.hi)
}

// What decompression of a row may take: a row beyond it is an attack on memory.
const (
	rowInflate = 200
	rowSlack   = 64 << 20
)

// What all rows of a block may take where their sizes were not looked at: where the
// tree is damaged or of another kind, and where only some rows are compressed.
const (
	maxInBlock = 512 << 20
	maxMixed   = 64 << 20
)

// unpackedSize is the most bytes that a row of some bytes becomes. start is its start.
func unpackedSize(start []byte, size int) int64 {
	if !isFrame(start) {
		return int64(size)
	}
	most := int64(size)*rowInflate + rowSlack
	if stated, ok := compress.ZstdSize(start); ok {
		return min(stated, most)
	}
	return most
}

// inflate appends what a row decompresses to. ok is false when it is damaged, and
// left out. Where nothing says that rows are compressed, a row that is no frame
// only looked like one, and is taken as it is.
func (f *filler) inflate(row []byte) (ok bool, err error) {
	start := len(f.b.Buf)
	limit := unpackedSize(row, len(row))
	switch {
	case !f.p.zstdRows:
		limit = min(limit, maxMixed-int64(start))
	case f.blk != nil && !f.blk.sized: // a query reads one row, and has no block
		limit = min(limit, maxInBlock-int64(start))
	}
	buf, err := compress.Zstd.Decode(f.b.Buf, row, limit)
	switch {
	case err == nil:
		f.b.Buf = buf
		return true, nil
	case !f.p.zstdRows && !errors.Is(err, compress.ErrLimit):
		f.b.Buf = append(f.b.Buf[:start], row...)
		return true, nil
	}
	f.b.Buf = f.b.Buf[:start]
	f.lost.Messages++
	f.lost.Blocks = 1
	return false, f.r.warn("zstd", true, f.p.path, "row %d is left out: %v", f.last, err)
}

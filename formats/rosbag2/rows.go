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
// table of the usual kind (plain.go). Where something is damaged the rows are taken from
// all leaves that are found (salvage.go).

// A rowSource reads rows on one of the routes. It belongs to one goroutine.
type rowSource interface {
	Scan(lo, hi int64, f func(*sqlitefile.Row) error) error
	Append(dst []byte, row *sqlitefile.Row) ([]byte, error)
}

// scanBytes is how much is read at once: 1 MB in all for each scanner. countBytes is that
// where the payloads do not matter.
const (
	scanBytes  = 128 << 10
	countBytes = 16 << 10
)

// scanner reads a part that was not salvaged; heads tells that no data is asked for, but
// for what is Local.
func (c *conn) scanner(heads bool) rowSource {
	switch {
	case c.part.table == nil:
		return &plainRows{c: c, heads: heads}
	case heads:
		return c.part.table.NewScanner(c.src, countBytes)
	case c.scan == nil:
		c.scan = c.part.table.NewScanner(c.src, scanBytes)
	}
	return c.scan
}

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
	f := &filler{r: r, ctx: ctx, c: c, b: b}
	f.begin(blk)
	if p.found != nil {
		err = f.salvage(i, p.found)
	} else if err = f.read(c.scanner(false)); isDamage(err) && !said(err) && !r.strict {
		if p.table != nil {
			err = f.rescue(i, err)
		} else {
			f.lost.Uncounted = true
			err = r.warn("corrupt", true, p.path, "messages after %s cannot be read: %v", f.after(), err)
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
	c    *conn
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
	if topic, ok = f.c.part.ids.get(id); !ok {
		f.lost.Messages++
		err = f.r.warn("unknown-topic", true, f.c.part.path, "messages of topic id %d are left out: no topic has it", id)
	}
	return topic, ok, err
}

// add makes what is in Buf from start on a message.
func (f *filler) add(topic storage.TopicID, stamp int64, start int) {
	f.b.Messages = append(f.b.Messages, storage.Message{Topic: topic, LogTime: stamp, PublishTime: stamp, Data: f.b.Buf[start:]})
}

// compressed tells whether a row is to be decompressed. data is its start.
func (f *filler) compressed(data []byte) bool {
	return f.c.part.sniffRows && isFrame(data)
}

// isFrame tells whether data begins as a zstd frame.
func isFrame(data []byte) bool { return len(data) >= 4 && string(data[:4]) == ros2bag.ZstdMagic }

// read reads the rows of the block. Each is copied once.
func (f *filler) read(src rowSource) error {
	return src.Scan(f.blk.lo, f.blk.hi, func(row *sqlitefile.Row) error {
		stamp := row.Time
		if row.NoTime || row.NoData {
			var ok bool
			var err error
			if stamp, ok, err = f.odd(row.ID, row.Time, row.NoTime, row.NoData); err != nil || !ok {
				f.n, f.last = f.n+1, row.ID
				return err
			}
		}
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
		f.add(topic, stamp, start)
		return nil
	})
}

// after tells how far the block was read.
func (f *filler) after() string {
	if f.n == 0 {
		return fmt.Sprintf("the start of rows %d to %d", f.blk.lo, f.blk.hi)
	}
	return fmt.Sprintf("row %d, up to row %d,", f.last, f.blk.hi)
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
	case !f.c.part.zstdRows:
		limit = min(limit, maxMixed-int64(start))
	case f.blk != nil && !f.blk.sized: // a query reads one row, and has no block
		limit = min(limit, maxInBlock-int64(start))
	}
	buf, err := compress.Zstd.Decode(f.b.Buf, row, limit)
	switch {
	case err == nil:
		f.b.Buf = buf
		return true, nil
	case !f.c.part.zstdRows && !errors.Is(err, compress.ErrLimit):
		f.b.Buf = append(f.b.Buf[:start], row...)
		return true, nil
	}
	f.b.Buf = f.b.Buf[:start]
	f.lost.Messages++
	f.lost.Blocks = 1
	return false, f.r.warn("zstd", true, f.c.part.path, "row %d is left out: %v", f.last, err)
}

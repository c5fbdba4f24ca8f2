package rosbag2

import (
	"context"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// A block is a range of rowids in a part.
type block struct {
	part   *part
	lo, hi int64
	bytes  int64 // of the pages that hold its rows, about
	size   int64 // of its rows in memory, about
	sized  bool  // size is no less than what its rows, decompressed, may have
}

const (
	blockBytes     = 2 << 20   // of a block's pages, or of its rows when they are decompressed
	zstdBlockBytes = 512 << 10 // of rows that are compressed one by one, if their sizes are not looked at
)

// blocks cuts a part into ranges of about equal size.
func (p *part) blocks(ctx context.Context, c *conn) (list []block, err error) {
	if p.empty {
		return nil, nil
	}
	target := int64(blockBytes)
	if p.zstdRows {
		target = zstdBlockBytes
	}
	ranges := p.ranges
	switch {
	case p.salvaged != nil:
		ranges = p.salvaged.Ranges(target)
	case p.table == nil:
		ranges, err = (&plainRows{c: c, heads: true}).ranges(ctx, target)
	case ranges == nil || p.zstdRows:
		var size func(*sqlitefile.Row) int64
		if p.zstdRows {
			target, size = blockBytes, func(row *sqlitefile.Row) int64 { return ros2bag.UnpackedSize(row.Local(), row.Size) }
		}
		ranges, err = p.table.Ranges(ctx, c.src, target, size)
	}
	if err != nil {
		return nil, err
	}
	list = make([]block, len(ranges))
	for i, g := range ranges {
		list[i] = block{part: p, lo: g.Lo, hi: g.Hi, bytes: g.Bytes, size: max(g.Size, g.Bytes), sized: p.zstdRows &&
			p.table != nil}
	}
	return list, nil
}

// Rows of messages are read on three routes. Page by page through the tree
// (package sqlitefile) is the usual one. SQLite itself reads a part that has no
// table of the usual kind (plain.go). If something is damaged the rows are taken from
// all leaves that are found (salvage.go).

// A rowSource reads rows on one of the routes. It belongs to one goroutine.
type rowSource interface {
	Scan(lo, hi int64, f func(*sqlitefile.Row) error) error
	Append(dst []byte, row *sqlitefile.Row) ([]byte, error)
}

// scanBytes is how much is read at once: 1 MB in all for each scanner. countBytes is the same if
// the payloads do not matter.
const (
	scanBytes  = 128 << 10
	countBytes = 16 << 10
)

// scanner reads a part that was not salvaged. With heads no data is asked for, except what is
// Local.
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
func (r *reader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if r.brief {
		return r.Fail(r.Path, "", errBrief)
	}
	blk := &r.blocks[i]
	p := blk.part
	c, err := r.acquire(p)
	if err != nil {
		return r.Fail(p.path, "", err)
	}
	f := &filler{r: r, ctx: ctx, c: c, b: b}
	f.begin(blk)
	if p.salvaged != nil {
		err = f.salvage(i, p.salvaged)
	} else if err = f.read(f.scanner()); storage.IsDamage(err) && !reported(err) && !r.Strict {
		if p.table != nil {
			err = f.rescue(i, err)
		} else {
			f.lost.Uncounted = true
			err = r.Warn("corrupt", true, p.path, "messages after %s cannot be read: %v", f.after(), err)
		}
	}
	if e := r.release(c); err == nil {
		err = e
	}
	f.b.Place()
	r.lose(i, f.lost)
	return r.Fail(p.path, "messages", err)
}

// reported reports whether an error is complete: strict reading made it of a warning.
func reported(err error) bool {
	var e *storage.Error
	return errors.As(err, &e)
}

// maxGrow bounds the memory that is taken for a block before its rows are seen.
const maxGrow = 16 << 20

// A filler puts the rows of a block into a batch. Until end, the Data of a
// message has the right length only: Buf may move while it grows.
type filler struct {
	r    *reader
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

// topic returns the row's topic and counts the row. ok is false if the row has no topic: then it is
// left out.
func (f *filler) topic(rowid, id int64) (topic storage.TopicID, ok bool, err error) {
	if f.n&255 == 0 && f.ctx.Err() != nil {
		return 0, false, f.ctx.Err()
	}
	f.n++
	f.last = rowid
	if topic, ok = f.c.part.ids.get(id); !ok {
		f.lost.Messages++
		err = f.r.Warn("unknown-topic", true, f.c.part.path, "messages of topic id %d are left out: no topic has this id", id)
	}
	return topic, ok, err
}

// add makes what is in Buf from start on a message.
func (f *filler) add(topic storage.TopicID, stamp int64, start int) {
	f.b.Messages = append(f.b.Messages, storage.Message{Topic: topic, LogTime: stamp, PublishTime: stamp,
		Data: f.b.Buf[start:]})
}

// scanner returns the scanner of a block: with small pieces if data is left out.
func (f *filler) scanner() rowSource {
	if f.b.Wanted == nil || f.r.Strict || f.c.part.table == nil || iox.Distant(f.c.src) {
		return f.c.scanner(false)
	}
	if f.c.few == nil {
		f.c.few = f.c.part.table.NewScanner(f.c.src, countBytes)
	}
	return f.c.few
}

// unwanted reports whether the rows of a topic are left out without a look at their data.
func (f *filler) unwanted(topic storage.TopicID) bool {
	return f.b.Wanted != nil && !f.r.Strict && int(topic) < len(f.b.Wanted) && !f.b.Wanted[topic]
}

// read reads the rows of the block. Each is copied once.
func (f *filler) read(src rowSource) error {
	return src.Scan(f.blk.lo, f.blk.hi, func(row *sqlitefile.Row) error {
		stamp := row.Time
		if row.NoTime || row.NoData {
			var ok bool
			var err error
			if stamp, ok, err = f.odd(row); err != nil || !ok {
				f.n, f.last = f.n+1, row.ID
				return err
			}
		}
		topic, ok, err := f.topic(row.ID, row.Topic)
		if err != nil || !ok || f.unwanted(topic) {
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

// after names the part of the block that was not read.
func (f *filler) after() string {
	if f.n == 0 {
		return fmt.Sprintf("the start of rows %d to %d", f.blk.lo, f.blk.hi)
	}
	return fmt.Sprintf("row %d, up to row %d,", f.last, f.blk.hi)
}

package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// A reader reads a recording. ReadBlock, Query and Info are safe for concurrent use;
// Blocks is called before them.
type reader struct {
	ros2bag.Reader
	brief bool // only Info is wanted: there are no blocks, and counts may be estimated
	lazy  bool // blocks are found when they are first asked for

	parts  []*part
	row    *ros2bag.Metadata // of the metadata table of a single file without metadata.yaml
	cut    bool              // into blocks
	blocks []block
	start  int64
	end    int64
	size   int64

	estimated bool // counts are estimated

	mu   sync.Mutex
	idle []*conn
	lost map[int]storage.Lost // by block; below 0: parts that cannot be read at all

	info *storage.Info // as Open has found it
}

const (
	maxIdle = 8 // connections that are kept for the next block
)

// openReader opens the recording at path: a folder, or a single database. See
// storage.Format.
func openReader(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	return openEager(ctx, path, o, eagerBytes)
}

// eagerBytes is up to which size the blocks of a recording are found when it is
// opened, so that damage of the tree is known from then on. They are not worth the
// time above that, if only a message or two may be wanted.
const eagerBytes = 256e6

// openEager finds the blocks of recordings of up to eager bytes.
func openEager(ctx context.Context, path string, o storage.ReadOptions, eager int64) (storage.Reader, error) {
	r := &reader{lost: map[int]storage.Lost{}}
	r.Init(ctx, db3, path, "the database", &o, r.explained)
	r.Uncounted = uncounted
	if err := r.open(o, eager); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.info = r.newInfo()
	return r, nil
}

func (r *reader) open(o storage.ReadOptions, eager int64) error {
	if err := r.Find(); err != nil {
		return err
	}
	if !r.Layout.Folder {
		if err := db3.WarnAlone(r.FS, r.Path, r.Warner(r.Path)); err != nil {
			return err
		}
	}
	r.brief = o.InfoOnlyAbove > 0 && r.Layout.Size(r.FS) > o.InfoOnlyAbove
	r.lazy = r.Layout.Size(r.FS) > eager
	mode := opening{unpacker: r.Unpacker, strict: r.Strict, brief: r.brief, lazy: r.lazy, uncommitted: o.Uncommitted}
	if len(r.Layout.Parts) == 1 {
		mode.meta = r.Layout.Meta
	}
	if err := r.OpenParts(func(path string) error {
		p, err := openPart(r.Ctx, r.FS, path, mode, r.Warner(path))
		if err == nil {
			r.parts = append(r.parts, p)
			r.size += p.bytes
		}
		return err
	}, r.losePart); err != nil {
		return err
	}
	if err := r.joinTopics(); err != nil {
		return err
	}
	if err := r.count(); err != nil || r.brief || r.lazy {
		return err
	}
	return r.findBlocks()
}

// findBlocks cuts the parts into blocks, once.
func (r *reader) findBlocks() error {
	if r.brief {
		return r.Fail(r.Path, "", errBrief)
	}
	if r.cut {
		return nil
	}
	if len(r.parts) == 0 {
		return r.Closed()
	}
	r.blocks = nil
	for _, p := range r.parts {
		c, err := r.acquire(p)
		if err != nil {
			return r.Fail(p.path, "", err)
		}
		list, err := p.blocks(r.Ctx, c)
		if r.lazy && !r.Strict && storage.IsDamage(err) {
			if err = p.giveUpTree(r.Ctx, c.src, err, 0, r.Warner(p.path)); err == nil {
				r.Missing += max(p.rows-p.salvaged.Found.Rows, 0)
				list, err = p.blocks(r.Ctx, c)
			}
		}
		if err = errors.Join(err, r.release(c)); err != nil {
			return r.Fail(p.path, "", err)
		}
		r.blocks = append(r.blocks, list...)
	}
	r.cut = true
	return nil
}

// Info describes the recording. See storage.Reader.
func (r *reader) Info() *storage.Info { return r.info.Clone() }

// newInfo returns what Info does.
func (r *reader) newInfo() *storage.Info {
	schema, rows := 0, false
	for _, p := range r.parts {
		schema = max(schema, p.tables.schema)
	}
	info := r.NewInfo(r.size, fmt.Sprintf("schema %d", schema))
	info.Start, info.End, info.Estimated, info.Messages = r.start, r.end, r.estimated, r.messages()
	for _, p := range r.parts {
		info.Files = append(info.Files, p.path)
		if rows = rows || p.zstdRows; p.temp != nil {
			info.Compression["zstd"]++
		} else if !p.zstdRows {
			info.Compression["none"]++
		}
	}
	if rows {
		info.Compression["zstd"] = info.Messages
	}
	if fact, some := r.Unpacker.Fact(); some {
		info.Facts = append(info.Facts, fact)
	}
	info.Damage = r.Damage()
	return info
}

// Damage returns what was found so far. See storage.Reader.
func (r *reader) Damage() (d storage.Damage) {
	r.mu.Lock()
	d.Lost = r.lostSoFar()
	r.mu.Unlock()
	d.Warnings, _ = r.Log.Report()
	return d
}

// messages returns the number of messages by the topics.
func (r *reader) messages() (n int64) {
	for i := range r.Topics.List {
		n += r.Topics.List[i].Messages
	}
	return n
}

// Blocks lists the ranges of rows. See storage.BlockReader.
func (r *reader) Blocks(ctx context.Context, wanted *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	if err := r.findBlocks(); err != nil {
		return nil, storage.OrderNone, err
	}
	if wanted != nil {
		if err := r.findTimes(ctx); err != nil {
			return nil, storage.OrderNone, err
		}
	}
	list := make([]storage.Block, len(r.blocks))
	k := 0 // number of a block in its part
	for i, b := range r.blocks {
		if k++; i == 0 || b.part != r.blocks[i-1].part {
			k = 0
		}
		p := b.part
		list[i] = storage.Block{Offset: -1, Size: b.bytes, RawSize: b.size, Messages: -1, Start: p.least, End: p.most,
			Timed: p.timed}
		if p.spans != nil {
			s := p.spans[k]
			list[i].Messages, list[i].Start, list[i].End, list[i].Timed = s.Rows, s.Least, s.Most, s.Rows > 0
		}
	}
	return list, r.order(), nil
}

// ReadNext returns the next message, part after part in the order of rows. See
// storage.Reader.
func (r *reader) ReadNext() (*storage.Message, error) {
	if err := r.findBlocks(); err != nil {
		r.Sequence.Stop(err)
	}
	return r.Sequence.Next(r.Ctx, r, len(r.blocks))
}

// acquire returns a connection to a part.
func (r *reader) acquire(p *part) (*conn, error) {
	r.mu.Lock()
	for i, c := range r.idle {
		if c.part == p {
			r.idle = slices.Delete(r.idle, i, i+1)
			r.mu.Unlock()
			if c.scan != nil {
				idleScans.Add(-1)
			}
			return c, nil
		}
	}
	r.mu.Unlock()
	return openConn(r.FS, p)
}

// release puts a connection back, and closes the one that was idle longest
// when there are too many.
func (r *reader) release(c *conn) error {
	if c.db != nil && c.db.Dead() {
		return c.close()
	}
	if c.scan != nil && idleScans.Add(1) > maxIdleScans {
		idleScans.Add(-1)
		c.scan = nil
	}
	var drop *conn
	r.mu.Lock()
	r.idle = append(r.idle, c)
	if len(r.idle) > maxIdle {
		drop = r.idle[0]
		r.idle = slices.Delete(r.idle, 0, 1)
	}
	r.mu.Unlock()
	if drop != nil {
		return drop.retire()
	}
	return nil
}

// idleScans counts the scanners of connections that are idle, of all readers: each has
// memory of its own (scanBytes), which many databases that are read at once, as for
// merging, would add up.
var idleScans atomic.Int64

const maxIdleScans = 24

// retire closes a connection that was idle.
func (c *conn) retire() error {
	if c.scan != nil {
		idleScans.Add(-1)
	}
	return c.close()
}

// Close frees the files and removes decompressed parts.
func (r *reader) Close() error {
	r.mu.Lock()
	idle := r.idle
	r.idle = nil
	r.mu.Unlock()
	var err error
	for _, c := range idle {
		err = errors.Join(err, c.retire())
	}
	for _, p := range r.parts {
		err = errors.Join(err, p.close())
	}
	r.parts = nil
	r.Sequence.Stop(r.Closed())
	return err
}

var _ storage.BlockReader = (*reader)(nil)

package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// A reader reads a recording. ReadBlock, Query and Info are safe for concurrent use;
// Blocks is called before them.
type reader struct {
	ctx    context.Context
	fs     storage.FS
	path   string
	strict bool
	brief  bool // only Info is wanted: there are no blocks, and counts may be estimated
	lazy   bool // blocks are found when they are first asked for

	unpacker *ros2bag.Unpacker

	layout *ros2bag.Layout
	parts  []*part
	topics ros2bag.Topics
	row    *ros2bag.Metadata // of the metadata table of a single file without metadata.yaml
	cut    bool              // into blocks
	blocks []block
	start  int64
	end    int64
	size   int64

	estimated bool  // counts are estimated
	missing   int64 // messages that metadata.yaml counts and that are not there

	seq storage.Sequence // of ReadNext

	mu        sync.Mutex
	idle      []*conn
	warnings  warnings.Log
	uncounted atomic.Bool          // a warning has one of the codes in uncounted
	lost      map[int]storage.Lost // by block; below 0: parts that cannot be read at all

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
	r := &reader{ctx: ctx, fs: iox.FS(o.FS), path: path, strict: o.Strict, warnings: warnings.Log{Hints: ros2bag.Hints,
		ByText: true}, lost: map[int]storage.Lost{}}
	r.topics = ros2bag.Topics{Source: "the database", Warn: r.warn, Explained: r.explained}
	if err := r.open(o, eager); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.info = r.newInfo()
	return r, nil
}

func (r *reader) open(o storage.ReadOptions, eager int64) (err error) {
	if r.layout, err = db3.Find(r.ctx, r.fs, r.path, r.warner("")); err != nil {
		return r.fail(r.path, "", err)
	}
	if !r.layout.Folder {
		if err := r.checkAlone(); err != nil {
			return err
		}
	}
	r.brief = o.InfoOnlyAbove > 0 && r.layout.Size(r.fs) > o.InfoOnlyAbove
	r.lazy = r.layout.Size(r.fs) > eager
	r.unpacker = ros2bag.NewUnpacker(o.Memory)
	var failed error
	for _, path := range r.layout.Parts {
		mode := opening{unpacker: r.unpacker, strict: r.strict, brief: r.brief, lazy: r.lazy, uncommitted: o.Uncommitted}
		if len(r.layout.Parts) == 1 {
			mode.meta = r.layout.Meta
		}
		p, err := openPart(r.ctx, r.fs, path, mode, r.warner(path))
		if err == nil {
			r.parts = append(r.parts, p)
			r.size += p.bytes
			continue
		}
		err = r.fail(path, "", err)
		if !storage.IsDamage(err) || r.strict || len(r.layout.Parts) == 1 {
			return err
		}
		failed = errors.Join(failed, err)
		if err := r.warn("part", true, path, "%v", errors.Unwrap(err)); err != nil {
			return err
		}
		r.losePart(path)
	}
	if len(r.parts) == 0 {
		return failed
	}
	if err := r.joinTopics(); err != nil {
		return err
	}
	if err := r.count(); err != nil || r.brief || r.lazy {
		return err
	}
	return r.findBlocks()
}

// checkAlone reports that a database that was named itself is one of several.
func (r *reader) checkAlone() error {
	name, parts := db3.Whole(r.fs, r.path)
	if name == "" {
		return nil
	}
	return r.warn(storage.CodeOnePart, false, r.path, "this is part %d of %d of one recording; to read all of it, name %s",
		1+slices.Index(parts, filepath.Clean(r.path)), len(parts), name)
}

// findBlocks cuts the parts into blocks, once.
func (r *reader) findBlocks() error {
	if r.brief {
		return r.fail(r.path, "", errBrief)
	}
	if r.cut {
		return nil
	}
	if len(r.parts) == 0 {
		return r.closed()
	}
	r.blocks = nil
	for _, p := range r.parts {
		c, err := r.acquire(p)
		if err != nil {
			return r.fail(p.path, "", err)
		}
		list, err := p.blocks(r.ctx, c)
		if r.lazy && !r.strict && storage.IsDamage(err) {
			if err = p.giveUpTree(r.ctx, c.src, err, 0, r.warner(p.path)); err == nil {
				r.missing += max(p.rows-p.salvaged.Found.Rows, 0)
				list, err = p.blocks(r.ctx, c)
			}
		}
		if err = errors.Join(err, r.release(c)); err != nil {
			return r.fail(p.path, "", err)
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
	info := &storage.Info{
		Format: formatName, Path: r.path, Size: r.size, Start: r.start, End: r.end,
		Compression: map[string]int64{}, Metadata: maps.Clone(r.topics.Custom), Estimated: r.estimated,
	}
	for _, t := range r.topics.List {
		t.Metadata = maps.Clone(t.Metadata)
		t.QoS = slices.Clone(t.QoS)
		info.Topics = append(info.Topics, t)
		info.Messages += t.Messages
	}
	schema, rows := 0, false
	for _, p := range r.parts {
		info.Files = append(info.Files, p.path)
		schema = max(schema, p.tables.schema)
		if rows = rows || p.zstdRows; p.temp != nil {
			info.Compression["zstd"]++
		} else if !p.zstdRows {
			info.Compression["none"]++
		}
	}
	if rows {
		info.Compression["zstd"] = info.Messages
	}
	if fact, some := r.unpacker.Fact(); some {
		info.Facts = append(info.Facts, fact)
	}
	info.Version = fmt.Sprintf("schema %d", schema)
	if m := r.layout.Meta; m != nil {
		info.Version = m.VersionText() + ", " + info.Version
	}
	info.Damage = r.Damage()
	return info
}

// Damage returns what was found so far. See storage.Reader.
func (r *reader) Damage() (d storage.Damage) {
	total := int64(0)
	for i := range r.topics.List {
		total += r.topics.List[i].Messages
	}
	r.mu.Lock()
	d.Lost = r.lostSoFar(total)
	r.mu.Unlock()
	d.Warnings, _ = r.warnings.Report()
	return d
}

// Blocks lists the ranges of rows. See storage.BlockReader.
func (r *reader) Blocks() ([]storage.Block, error) {
	if err := r.findBlocks(); err != nil {
		return nil, err
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
	return list, nil
}

// ReadNext returns the next message, part after part in the order of rows. See
// storage.Reader.
func (r *reader) ReadNext() (*storage.Message, error) {
	if err := r.findBlocks(); err != nil {
		r.seq.Stop(err)
	}
	return r.seq.Next(r.ctx, r, len(r.blocks))
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
	return openConn(r.fs, p)
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
	r.seq.Stop(r.closed())
	return err
}

func (r *reader) closed() error { return fmt.Errorf("%s: the reader is closed", r.path) }

// warn keeps a warning, once for each text. Damage is an error when reading is
// strict. It may be called concurrently.
func (r *reader) warn(code string, damage bool, path, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	if damage && r.strict {
		return r.fail(path, msg, storage.ErrCorrupt)
	}
	if path != "" && path != r.path {
		msg = base(path) + ": " + msg
	}
	if damage && slices.Contains(uncounted, code) {
		r.uncounted.Store(true)
	}
	r.warnings.Add("", storage.Warning{Code: code, Message: msg, Offset: -1, Damage: damage}, storage.Lost{})
	return nil
}

// warner binds warn to a file.
func (r *reader) warner(path string) ros2bag.Warner {
	return func(code string, damage bool, format string, args ...any) error {
		return r.warn(code, damage, path, format, args...)
	}
}

// fail makes err a *storage.Error, unless it is one or is nil.
func (r *reader) fail(path, what string, err error) error {
	var e *storage.Error
	if err == nil || errors.As(err, &e) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if path == "" {
		path = r.path
	}
	return &storage.Error{Format: formatName, Path: path, Offset: -1, What: what, Err: err}
}

var (
	_ storage.BlockReader = (*reader)(nil)
	_ storage.BlockTimer  = (*reader)(nil)
)

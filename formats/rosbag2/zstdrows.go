package rosbag2

import (
	"errors"
	"fmt"
	"math"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// sniffRows finds out whether the rows of a part are compressed one by one.
func (r *reader) sniffRows(p *part) error {
	m := r.Layout.Meta
	stated, other := m.PacksMessages() // other: or the name of the codec is damaged
	p.sniffRows = true
	for i := range p.topics {
		p.sniffRows = p.sniffRows && p.topics[i].format == encoding
	}
	p.sniffRows = p.sniffRows || stated
	if p.empty || !p.sniffRows && !other {
		return nil
	}
	c, err := r.acquire(p)
	if err == nil {
		err = r.firstRow(c)
		if e := r.release(c); err == nil {
			err = e
		}
	}
	if err != nil {
		return r.Fail(p.path, "", err)
	}
	if other && !p.zstdRows {
		return r.Fail(p.path, fmt.Sprintf("messages compressed with %.40q", m.Compression), storage.ErrUnsupported)
	}
	p.sniffRows = p.sniffRows || other
	if !p.zstdRows && stated {
		return r.Warn("compression", false, p.path, "according to %s messages are compressed, but the first is not",
			ros2bag.MetadataName)
	}
	if p.zstdRows && !stated && m != nil {
		return r.Warn("compression", false, p.path, "messages are compressed with zstd, but %s does not mention it",
			ros2bag.MetadataName)
	}
	return nil
}

// firstRow looks whether the first row is compressed. Damage is for reading to report.
func (r *reader) firstRow(c *conn) (err error) {
	p := c.part
	stop := errors.New("the first row is enough")
	look := func(row *sqlitefile.Row) error {
		p.zstdRows = ros2bag.IsFrame(row.Local())
		return stop
	}
	if p.salvaged != nil {
		first := p.salvaged.Ranges(1)[0]
		err = p.salvaged.NewSalvager(c.src).Scan(first.Lo, first.Hi, look)
	} else {
		err = c.scanner(p.table != nil).Scan(math.MinInt64, math.MaxInt64, look)
	}
	if err == stop || storage.IsDamage(err) {
		return nil
	}
	return err
}

// compressed reports whether a row is to be decompressed. data is its start.
func (f *filler) compressed(data []byte) bool {
	return f.c.part.sniffRows && ros2bag.IsFrame(data)
}

// What all rows of a block may take if their sizes were not looked at: if the
// tree is damaged or of another kind, and if only some rows are compressed.
const (
	maxInBlock = 512 << 20
	maxMixed   = 64 << 20
)

// inflate appends what a row decompresses to. ok is false when it is damaged, and
// left out. If nothing shows that rows are compressed, a row that is not a frame
// only looked like one, and is taken as it is.
func (f *filler) inflate(row []byte) (ok bool, err error) {
	start := len(f.b.Buf)
	limit := ros2bag.UnpackedSize(row, len(row))
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
	return false, f.r.Warn("zstd", true, f.c.part.path, "row %d is left out: %v", f.last, err)
}

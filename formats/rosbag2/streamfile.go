package rosbag2

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// A streamFile is a database that is written once from its start to its end, but for its first
// pages: for outputs that are compressed as a whole, and for stores, where what was sent cannot be
// changed. Its first pages, which change until the end, and its last ones, which SQLite adds when
// it fills the small tables, stay in memory. The pages of messages between them are written as the
// loader hands them out. With a level they are compressed:
//
//	frame     the first pages as they are: their place is known before their bytes
//	frames    runs of pages of messages, each compressed on any core
//	frames    the last pages
//
// Decoders read frames that follow each other as one file; rosbag2 does since Galactic. Foxy's
// decoder wants one frame that states its content size. Then the blocks of all runs are in one
// frame, compressed one after the other. Source: ros2/rosbag2
// rosbag2_compression_zstd/src/rosbag2_compression_zstd/zstd_decompressor.cpp, and for Foxy
// rosbag2_compression/src/rosbag2_compression/zstd_decompressor.cpp.
//
// Offsets of its methods are offsets in the database. The rows may be appended in one goroutine
// while others compress.
type streamFile struct {
	storage.File     // nil while it is closed
	level        int // of compression; 0: it is not compressed
	foxy         bool

	head []byte // the first pages
	tail []byte // the last pages
	body int64  // end of the pages that are written, in the database; 0: no page can be yet
	rows bool   // pages of messages may follow the written pages

	mu  sync.Mutex
	end int64 // of the file
	one *compress.ZstdStream
}

// begin ends the first pages: pages of messages follow.
func (p *streamFile) begin() (err error) {
	p.body, p.rows = int64(len(p.head)), true
	switch {
	case p.level == 0:
		p.end = p.body
	case p.foxy:
		p.end = int64(compress.ZstdStreamHead(len(p.head)))
		p.one, err = compress.NewZstdStream(streamEnd{p}, p.level)
	default:
		p.end = int64(compress.RawFrameSize(len(p.head)))
	}
	return err
}

// streamEnd writes at the end of the file.
type streamEnd struct{ p *streamFile }

func (e streamEnd) Write(b []byte) (int, error) {
	n, err := e.p.File.WriteAt(b, e.p.end)
	e.p.end += int64(n)
	return n, err
}

// A streamRun is a run of pages on its way to a streamFile.
type streamRun struct {
	*sqlitefile.Buffer
	p     *streamFile
	frame []byte
}

// Encode compresses the pages. See storage.PendingBlock.
func (r *streamRun) Encode() (err error) {
	if r.p.one == nil {
		r.frame, err = compress.Zstd.Encode(nil, r.Bytes(), r.p.level)
	}
	return err
}

// Append writes the frame. See storage.PendingBlock.
func (r *streamRun) Append() error { return r.Done(r.p.add(r.Bytes(), r.frame)) }

// add writes pages that follow the earlier ones: their frame, if they have one of their own.
func (p *streamFile) add(pages, frame []byte) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.File == nil {
		return errClosedPart
	}
	switch {
	case p.level == 0:
		_, err = streamEnd{p}.Write(pages)
	case p.one != nil:
		_, err = p.one.Write(pages)
	default:
		_, err = streamEnd{p}.Write(frame)
	}
	p.body += int64(len(pages))
	return err
}

var errClosedPart = errors.New("internal error: the part is closed")

// finish writes the last pages, and then the first.
func (p *streamFile) finish() error {
	const run = 1 << 20
	var frame []byte
	for tail := p.tail; len(tail) > 0; {
		n := min(len(tail), run)
		if p.level > 0 && p.one == nil {
			var err error
			if frame, err = compress.Zstd.Encode(frame[:0], tail[:n], p.level); err != nil {
				return err
			}
		}
		if err := p.add(tail[:n], frame); err != nil {
			return err
		}
		tail = tail[n:]
	}
	p.tail = nil
	head := p.head
	switch {
	case p.one != nil:
		if err := p.one.Close(); err != nil {
			return err
		}
		head = p.one.Head(head)
	case p.level > 0:
		head = compress.AppendRawFrame(nil, head)
	}
	_, err := p.File.WriteAt(head, 0)
	return err
}

// size is the bytes of the database.
func (p *streamFile) size() int64 { return max(p.body, int64(len(p.head))) + int64(len(p.tail)) }

// WriteAt changes or adds first or last pages, or adds pages of messages that are not compressed.
func (p *streamFile) WriteAt(b []byte, at int64) (int, error) {
	if p.File == nil {
		return 0, errClosedPart
	}
	switch {
	case p.body == 0:
		p.head = overwrite(p.head, b, at)
	case p.rows && p.level == 0 && at == p.body:
		if err := p.add(b, nil); err != nil {
			return 0, err
		}
	case at >= p.body && !p.rows:
		p.tail = overwrite(p.tail, b, at-p.body)
	case at+int64(len(b)) <= int64(len(p.head)):
		copy(p.head[at:], b)
	default:
		return 0, fmt.Errorf("internal error: bytes %d to %d of the database are written already", at, at+int64(len(b)))
	}
	return len(b), nil
}

// overwrite puts b at an offset of a slice, which grows if it must.
func overwrite(dst, b []byte, at int64) []byte {
	if grow := int(at) + len(b) - len(dst); grow > 0 {
		dst = append(dst, make([]byte, grow)...)
	}
	copy(dst[at:], b)
	return dst
}

// ReadAt reads first or last pages.
func (p *streamFile) ReadAt(b []byte, at int64) (int, error) {
	from := p.head
	switch {
	case at < int64(len(p.head)):
		from = from[at:]
	case p.body > 0 && at < p.body:
		return 0, fmt.Errorf("internal error: byte %d of the database is written already", at)
	default:
		from = p.tail[min(max(at-p.body, 0), int64(len(p.tail))):]
	}
	n := copy(b, from)
	if n == len(b) {
		return n, nil
	}
	if p.body > 0 && at < int64(len(p.head)) && p.size() > int64(len(p.head)) {
		rest, err := p.ReadAt(b[n:], at+int64(n))
		return n + rest, err
	}
	return n, io.EOF
}

// Truncate cuts first or last pages off.
func (p *streamFile) Truncate(size int64) error {
	switch {
	case size >= p.size():
	case p.body > 0 && size >= p.body:
		p.tail = p.tail[:size-p.body]
	case p.body == 0:
		p.head = p.head[:size]
	default:
		return fmt.Errorf("internal error: a cut at byte %d of a database that is written already", size)
	}
	return nil
}

// Stat returns what the file has, with the size of the database.
func (p *streamFile) Stat() (os.FileInfo, error) {
	st, err := p.File.Stat()
	return streamInfo{st, p.size()}, err
}

type streamInfo struct {
	os.FileInfo
	size int64
}

func (i streamInfo) Size() int64 { return i.size }

// Close closes the file; what is in memory stays. It can be opened again.
func (p *streamFile) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.File
	p.File = nil
	return f.Close()
}

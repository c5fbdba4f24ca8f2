package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/sqlitefile"
	"github.com/bagconv/bagconv/storage"
)

// A part is one database file of a recording.
type part struct {
	path  string       // as the recording names it
	temp  storage.File // the decompressed copy, in memory or without a name; nil: the file is not compressed
	bytes int64        // of path
	opening
	head    sqlite.Header
	size    int64           // of temp, or of path
	total   int64           // of the database, as it is read
	cut     string          // how much of the file is there, if its end is missing
	overlay *sqlite.Overlay // what is beside the file, nil without

	tables   tables
	table    *sqlitefile.Table   // nil: rows are read by SQLite, or
	salvaged *sqlitefile.Salvage // not nil: read from the pages, whatever the tree has
	ranges   []sqlitefile.Range  // of table, nil until they are needed
	spans    []sqlitefile.Span   // of the blocks; nil while their times are not known
	topics   []topicRow
	defs     map[string]definition // by topic_type
	last     string                // text of the last row of the metadata table
	distro   string                // of the schema table

	ids        topicIDs
	rows       int64 // that there are; 0: not known
	first, end int64 // least and greatest rowid
	empty      bool
	timed      bool  // least and most are known
	least      int64 // time of a message
	most       int64
	zstdRows   bool // rows are zstd frames, by metadata.yaml or by the first row
	sniffRows  bool // a row that begins as a zstd frame is one: no CDR message begins so

	mu      sync.Mutex
	odd     map[int64]oddTime   // rows whose time is not an integer; nil until one was met
	rescued *sqlitefile.Salvage // for ranges in which the tree turned out to be damaged
}

// opening is how a part is opened.
type opening struct {
	strict      bool // what is damaged is not salvaged
	brief       bool // what only reading needs is left out
	lazy        bool // what only reading all of it needs waits until it is asked for
	uncommitted bool // rows that were never committed are taken too
	unpacker    *ros2bag.Unpacker
	meta        *ros2bag.Metadata // metadata.yaml of this part alone, or nil
}

// openPart looks at one file. Without a database in it there is an error.
func openPart(ctx context.Context, fsys storage.FS, path string, o opening, warn ros2bag.Warner) (*part, error) {
	p := &part{path: path, opening: o}
	st, err := fsys.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("not a regular file: %w", storage.ErrUnsupported)
	}
	p.bytes = st.Size()
	head, size, err := p.readHead(fsys)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(string(head), ros2bag.ZstdMagic) {
		var cut error
		if p.temp, cut, err = o.unpacker.Inflate(ctx, fsys, path); err != nil {
			return nil, err
		}
		if head, size, err = p.readHead(fsys); err == nil && cut != nil {
			err = p.explainCut(head, size, cut, warn)
		}
		if err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	err = p.load(ctx, fsys, head, size, warn)
	broken := storage.IsDamage(err) && !errors.Is(err, storage.ErrUnsupported)
	switch {
	case o.uncommitted && p.overlay.Unfinished() && (err == nil || broken):
		err = p.salvageOpen(ctx, fsys, o.meta, err, warn)
	case broken && !o.strict:
		err = p.salvage(ctx, fsys, o.meta, err, warn)
	case err == nil && p.cut != "":
		err = warn("zstd", true, "%s", p.cut)
	}
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// real is the bytes that there are for the database, in the file and beside it.
func (p *part) real() int64 {
	n := p.size
	if p.overlay != nil {
		n += int64(len(p.overlay.At)) * p.overlay.Page
	}
	return n
}

// explainCut distinguishes a frame that rosbag2 did not end from a damaged one.
func (p *part) explainCut(head []byte, size int64, cut error, warn ros2bag.Warner) error {
	if h, err := sqlite.ParseHeader(head); err == nil && h.Size() > 0 && h.Size() == size {
		return warn("zstd-open", false,
			"the zstd frame has no end, as rosbag2 writes it for a multiple of 131072 bytes; all %d bytes were read", size)
	}
	p.cut = fmt.Sprintf("decompression stopped after %d bytes: %v", size, cut)
	if p.strict {
		return warn("zstd", true, "%s", p.cut)
	}
	return nil
}

// A sharedFile is a file that several read and one other closes.
type sharedFile struct{ storage.File }

func (sharedFile) Close() error { return nil }

// open opens the database.
func (p *part) open(fsys storage.FS) (storage.File, error) {
	if p.temp != nil {
		return sharedFile{p.temp}, nil
	}
	return fsys.Open(p.path)
}

// close frees the decompressed copy.
func (p *part) close() error {
	if p.temp == nil {
		return nil
	}
	return p.temp.Close()
}

// readHead reads the database header, as far as the file has it.
func (p *part) readHead(fsys storage.FS) ([]byte, int64, error) {
	f, err := p.open(fsys)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	head := make([]byte, min(st.Size(), sqlite.HeaderLen))
	if err := iox.ReadFull(f, head, 0); err != nil {
		return nil, 0, err
	}
	return head, st.Size(), nil
}

// load looks at the header, the log, the tables and the tree of messages. With an
// error that is damage, what could be read is there.
func (p *part) load(ctx context.Context, fsys storage.FS, head []byte, size int64, warn ros2bag.Warner) (err error) {
	if size, err = p.withoutLeftover(fsys, head, size, warn); err != nil {
		return err
	}
	p.size, p.total = size, size
	if err := p.readBeside(ctx, fsys, head, warn); err != nil {
		return err
	}
	if p.overlay != nil {
		if at, ok := p.overlay.At[0]; ok { // the first page is there
			f, err := fsys.Open(p.overlay.Path)
			if err != nil {
				return err
			}
			head = make([]byte, sqlite.HeaderLen)
			err = errors.Join(iox.ReadFull(f, head, at), f.Close())
			if err != nil {
				return err
			}
		}
	}
	if size == 0 && len(head) == 0 {
		return fmt.Errorf("the file is empty: %w", storage.ErrTruncated)
	}
	if p.overlay != nil && p.overlay.Pages == 0 {
		return fmt.Errorf("the only transaction was never committed: %w", storage.ErrTruncated)
	}
	if len(head) < sqlite.HeaderLen && strings.HasPrefix(sqlite.Magic, string(head[:min(len(head), 16)])) {
		return fmt.Errorf("database header: %d of %d bytes: %w", len(head), sqlite.HeaderLen, storage.ErrTruncated)
	}
	if p.head, err = sqlite.ParseHeader(head); err != nil {
		return err
	}
	if p.overlay != nil {
		if p.overlay.Page != int64(p.head.Page) {
			return fmt.Errorf("%s has pages of %d bytes, the database of %d: %w", base(p.overlay.Path), p.overlay.Page,
				int64(p.head.Page), storage.ErrCorrupt)
		}
		p.total = min(p.overlay.Pages*int64(p.head.Page), p.real())
	} else if want := p.head.Size(); want > p.size {
		p.total = want
		if p.cut != "" {
			p.cut += "; "
		}
		p.cut += fmt.Sprintf("the file has %d of %d bytes of the database", p.size, want)
		if p.strict {
			return warn("truncated", true, "%s", p.cut)
		}
	}
	c, err := openConn(fsys, p)
	if err != nil {
		return err
	}
	if err = c.engine(1000 + p.real()/1000); err == nil {
		err = p.readTables(c.db, warn)
	}
	if p.real() < p.total && (err == nil || storage.IsDamage(err)) {
		err = fmt.Errorf("the file is cut off: %w", storage.ErrTruncated)
	}
	if err == nil && p.overlay == nil && p.head.Size() > 0 && p.head.Size() < p.size {
		var rows int64
		if rows, err = sqlitefile.RowsBehind(ctx, c.src, p.size, int64(p.head.Page), int64(p.head.Pages)); rows > 0 {
			err = fmt.Errorf("%d messages are after the last page: writing was interrupted: %w", rows, storage.ErrCorrupt)
		}
	}
	if err == nil {
		err = p.findTable(ctx, c.src)
	}
	if err == nil && len(p.topics) == 0 && !p.empty {
		// The last that a recorder writes, see outPart.finish; a salvage finds its notes.
		err = fmt.Errorf("messages without topics: writing was interrupted: %w", storage.ErrCorrupt)
	}
	if e := c.close(); err == nil {
		err = e
	}
	return err
}

// findTable looks whether the rows of messages can be read page by page. They
// cannot if the table is not as rosbag2 makes it: then SQLite reads them (plain.go).
func (p *part) findTable(ctx context.Context, src *sqlite.Image) (err error) {
	if p.table, err = sqlitefile.NewTable(src, p.total); err == nil && !p.brief && !p.lazy {
		p.ranges, err = p.table.Ranges(ctx, src, blockBytes, nil)
	}
	if errors.Is(err, sqlitefile.ErrDeclined) {
		return nil
	}
	return err
}

// A conn is a part with its own open files. It is used by one goroutine at a
// time.
type conn struct {
	part  *part
	files []storage.File
	src   *sqlite.Image
	scan  *sqlitefile.Scanner  // nil until it is used
	few   *sqlitefile.Scanner  // the same, with pieces of countBytes
	salv  *sqlitefile.Salvager // the same

	db *sqlite.DB // not there until it is used
}

// openConn opens a part.
func openConn(fsys storage.FS, p *part) (*conn, error) {
	c := &conn{part: p}
	if err := c.open(fsys); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *conn) open(fsys storage.FS) error {
	p := c.part
	f, err := p.open(fsys)
	if err != nil {
		return err
	}
	c.files = append(c.files, f)
	var log storage.File
	if p.overlay != nil {
		if log, err = fsys.Open(p.overlay.Path); err != nil {
			return err
		}
		c.files = append(c.files, log)
	}
	c.src = sqlite.NewImage(f, p.size, p.total, p.overlay, log)
	return nil
}

// engine opens the database in SQLite, unless it is open. budget is sqlite.Options.Budget, for what
// is read without a limit from the number of rows that a file can have.
func (c *conn) engine(budget int64) (err error) {
	if c.db != nil {
		return nil
	}
	if c.db, err = sqlite.Open(sqlite.Options{File: c.src, ReadOnly: true, MaxValue: c.part.real(),
		Budget: budget}); err != nil {
		return err
	}
	return c.db.Exec("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0")
}

func (c *conn) close() error {
	var err error
	if c.db != nil {
		err = c.db.Close()
	}
	for _, f := range c.files {
		err = errors.Join(err, f.Close())
	}
	c.files = nil
	return err
}

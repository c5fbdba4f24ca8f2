package mcap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// A Reader reads an MCAP file. ReadBlock and Info are safe for concurrent use.
type Reader struct {
	ctx    context.Context
	path   string
	strict bool
	audits bool // indexes are compared with what they are about
	file   storage.File
	size   int64

	header      header
	defs        *definitions
	blocks      []block
	codecs      map[string]int64 // chunks by compression
	how         string           // how the file was opened, for Info
	attachments []placedAttachment
	metadata    []placed
	own         ownRecords
	accounted   bool // what is missing of blocks that were read at Open was reported as a whole

	seq storage.Sequence // of ReadNext

	warnings warnings.Log
	copying  *copying // of the Writer that copies chunks; nil: none

	mu     sync.Mutex
	broken map[int64]bool // offsets of chunks of which something is missing

	info *storage.Info // as Open has found it
}

// Open opens the file at path. See storage.Format.
func Open(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	f, err := iox.FS(o.FS).Open(path)
	if err != nil {
		return nil, err
	}
	r, err := openFile(ctx, path, f, o)
	if err == nil {
		err = r.checkAlone(iox.FS(o.FS))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// checkAlone reports that a file that was named itself is one of several.
func (r *Reader) checkAlone(fsys storage.FS) error {
	name, parts := mcapStorage.Whole(fsys, r.path)
	if name == "" {
		return nil
	}
	err := r.warn(storage.CodeOnePart, -1, false, "this is part %d of %d of one recording; all of it is read by the name %s",
		1+slices.Index(parts, filepath.Clean(r.path)), len(parts), name)
	r.info.Damage = r.Damage()
	return err
}

// openFile returns a Reader of a file, which is the Reader's then if there is no error.
func openFile(ctx context.Context, path string, f storage.File, o storage.ReadOptions) (*Reader, error) {
	r := &Reader{
		ctx: ctx, path: path, strict: o.Strict, audits: o.CheckIndexes, file: f,
		defs: newDefinitions(), codecs: map[string]int64{}, broken: map[int64]bool{},
		warnings: warnings.Log{Hints: hints},
	}
	if err := r.open(); err != nil {
		return nil, err
	}
	if err := r.readOwn(); err != nil {
		return nil, err
	}
	r.info = r.newInfo()
	return r, nil
}

func (r *Reader) open() error {
	st, err := r.file.Stat()
	if err != nil {
		return err
	}
	r.size = st.Size()
	if err := r.readMagic(); err != nil {
		return err
	}
	s, why, err := r.readSummary()
	if err != nil {
		return err
	}
	if err := r.scan(s, why); err != nil {
		return err
	}
	if r.audits && why == "" {
		return r.audit(s)
	}
	return nil
}

// readMagic looks at the first bytes. Where they are damaged, what follows must be a
// Header.
func (r *Reader) readMagic() error {
	head := make([]byte, min(r.size, storage.SniffLen))
	if err := iox.ReadFull(r.file, head, 0); err != nil {
		return r.fail(0, "magic", err)
	}
	switch kind := headKind(head); kind {
	case headSound:
		return nil
	case headCut:
		return r.fail(0, "magic", storage.ErrTruncated)
	case headVersion:
		return r.fail(0, fmt.Sprintf("major version %q", head[5]), storage.ErrUnsupported)
	case headText:
		e := r.fail(0, "every CR LF in it was turned into LF, as a transfer in text mode does", storage.ErrCorrupt)
		e.Hint = "copy the original again, in binary mode (git: mark it as binary in .gitattributes)"
		return e
	case headDamaged:
		return r.warn("magic", 0, false, "the first bytes are damaged; what follows is an MCAP file")
	}
	return r.fail(0, "no MCAP file: the magic is missing", storage.ErrCorrupt)
}

// The kinds of first bytes.
const (
	headOther = iota
	headSound
	headCut     // the start of a magic
	headVersion // of another major version
	headText    // without the CR of the magic
	headDamaged // followed by a Header
)

// headKind tells what the first bytes of a file are.
func headKind(head []byte) int {
	s := string(head[:min(len(head), len(magic))])
	switch {
	case s == magic:
		return headSound
	case strings.HasPrefix(s, "\x89MCAP0\n"):
		return headText
	case len(s) >= 5 && len(s) < len(magic) && strings.HasPrefix(magic, s):
		return headCut
	case len(s) == len(magic) && s[:5] == magic[:5] && s[6:] == magic[6:] && s[5] > '0' && s[5] <= '9':
		return headVersion
	case len(head) > len(magic)+recordHead && head[len(magic)] == opHeader:
		h, _ := parseHead(head[len(magic):])
		body := head[len(magic)+recordHead:]
		same := 0
		for i := range len(magic) {
			if head[i] == magic[i] {
				same++
			}
		}
		if same >= len(magic)/2 && h.length <= uint64(len(body)) && checkBody(opHeader, h.length, body[:h.length]) == nil {
			return headDamaged
		}
	}
	return headOther
}

// Info describes the file. See storage.Reader.
func (r *Reader) Info() (*storage.Info, error) { return r.info.Clone(), nil }

// newInfo returns what Info does.
func (r *Reader) newInfo() *storage.Info {
	info := &storage.Info{
		Format: formatName, Version: "0", Path: r.path, Size: r.size, Files: []string{r.path},
		Compression: maps.Clone(r.codecs), Metadata: map[string]string{},
		Facts: []storage.Fact{{Key: "index", Value: r.how}},
	}
	if r.header.library != "" {
		info.Facts = append(info.Facts, storage.Fact{Key: "library", Value: r.header.library})
	}
	info.Facts = append(info.Facts, storage.Fact{Key: "profile", Value: r.header.profile})
	for i, t := range r.defs.list {
		topic := t.Topic
		topic.Metadata = maps.Clone(topic.Metadata)
		info.Topics = append(info.Topics, storage.TopicInfo{Topic: topic, ID: storage.TopicID(i), Messages: t.messages})
		info.Messages += t.messages
	}
	maps.Copy(info.Metadata, r.own.values)
	if !r.defs.usual(r.header.profile) {
		info.Metadata[metaProfile] = r.header.profile
	}
	first := true
	for i := range r.blocks {
		b := &r.blocks[i]
		if !b.Timed || b.Messages == 0 {
			continue
		}
		if first {
			info.Start, info.End, first = b.Start, b.End, false
		}
		info.Start, info.End = min(info.Start, b.Start), max(info.End, b.End)
	}
	info.Damage = r.Damage()
	return info
}

// Damage returns what was found so far. See storage.Reader.
func (r *Reader) Damage() (d storage.Damage) {
	d.Warnings, d.Lost = r.warnings.Report()
	r.mu.Lock()
	defer r.mu.Unlock()
	d.Lost.Blocks += int64(len(r.broken))
	return d
}

// ReadNext returns the next message of the blocks in order. See storage.Reader.
func (r *Reader) ReadNext() (*storage.Message, error) { return r.seq.Next(r.ctx, r, len(r.blocks)) }

// Close closes the file.
func (r *Reader) Close() error {
	r.seq.Stop(r.fail(-1, "the reader is closed", nil))
	return r.file.Close()
}

func (r *Reader) window() window { return window{r: r.file, size: r.size} }

// fail makes an error about a place in the file.
func (r *Reader) fail(at int64, what string, err error) *storage.Error {
	return &storage.Error{Format: formatName, Path: r.path, Offset: at, What: what, Err: err}
}

// lostOf notes that something of the chunk at an offset is missing.
func (r *Reader) lostOf(at int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken[at] = true
}

// warn is warnLost where nothing that can be counted was lost.
func (r *Reader) warn(code string, at int64, damage bool, format string, args ...any) error {
	return r.warnLost(storage.Lost{}, code, at, damage, format, args...)
}

// warnLost keeps a warning, once for a code and place, and adds what was lost
// there. For damage in a strict reader it returns an error instead.
func (r *Reader) warnLost(lost storage.Lost, code string, at int64, damage bool, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	if damage && r.strict {
		return r.fail(at, message, storage.ErrCorrupt)
	}
	r.warnings.Add("", storage.Warning{Code: code, Message: message, Offset: at, Damage: damage}, lost)
	return nil
}

var (
	_ storage.Reader      = (*Reader)(nil)
	_ storage.BlockReader = (*Reader)(nil)
	_ storage.Querier     = (*Reader)(nil)
)

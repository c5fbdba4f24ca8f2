package mcap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A reader reads an MCAP file. ReadBlock and Info are safe for concurrent use.
type reader struct {
	src    *chunked.Source
	audits bool // indexes are compared with what they are about
	tested bool // a channel that the summary and a chunk with a checksum define differently is an error

	header      header
	defs        *definitions
	blocks      []block
	codecs      map[string]int64 // chunks by compression
	access      string           // how the file was read at Open, for Info
	attachments []placedAttachment
	metadata    []placed
	own         ownRecords
	summed      bool // the summary is used and has a checksum
	accounted   bool // what is missing of blocks that were read at Open was reported as a whole

	seq storage.Sequence // of ReadNext

	copying *copySource // of the Writer that copies chunks; nil: no Writer does

	info *storage.Info // as Open has found it
}

// accessSummary is how a file was read whose summary is used.
const accessSummary = "summary"

// openReader opens the file at path. See storage.Format.
func openReader(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	f, err := iox.FS(o.FS).Open(path)
	if err != nil {
		return nil, err
	}
	r, err := openFile(ctx, path, f, o)
	if err == nil && r.packsMessages() {
		if err := r.Close(); err != nil {
			return nil, err
		}
		return openFolder(ctx, path, o)
	}
	if err == nil {
		err = r.checkAlone(iox.FS(o.FS))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// checkAlone reports that a file that was named itself is one of several.
func (r *reader) checkAlone(fsys storage.FS) error {
	err := mcapStorage.WarnAlone(fsys, r.src.Path, func(code string, damage bool, format string, args ...any) error {
		return r.src.Warn(code, -1, damage, format, args...)
	})
	r.info.Damage = r.Damage()
	return err
}

// openFile returns a Reader of a file, which is the Reader's then if there is no error.
func openFile(ctx context.Context, path string, f storage.File, o storage.ReadOptions) (*reader, error) {
	r := &reader{
		src: chunked.NewSource(ctx, formatName, path, f, o.Strict, hints), audits: o.CheckIndexes,
		tested: o.Index == storage.IndexTested,
		defs:   newDefinitions(), codecs: map[string]int64{},
	}
	if err := r.open(o.Index == storage.IndexIgnored); err != nil {
		return nil, err
	}
	if err := r.readSelfDescription(); err != nil {
		return nil, err
	}
	r.info = r.newInfo()
	return r, nil
}

func (r *reader) open(ignore bool) error {
	st, err := r.src.File.Stat()
	if err != nil {
		return err
	}
	r.src.Size = st.Size()
	if err := r.readMagic(); err != nil {
		return err
	}
	s, why, err := r.readSummary()
	if err != nil {
		return err
	}
	if ignore && s != nil && why == "" {
		why = "its definitions differ from the definitions in the chunks"
	}
	if err := r.scan(s, why); err != nil {
		return err
	}
	if r.audits && why == "" {
		return r.audit(s)
	}
	return nil
}

// readMagic looks at the first bytes. If they are damaged, what follows must be a
// Header.
func (r *reader) readMagic() error {
	head := make([]byte, min(r.src.Size, storage.SniffLen))
	if err := iox.ReadFull(r.src.File, head, 0); err != nil {
		return r.src.Fail(0, "magic", err)
	}
	switch kind := headKind(head); kind {
	case headSound:
		return nil
	case headCut:
		return r.src.Fail(0, "magic", storage.ErrTruncated)
	case headVersion:
		return r.src.Fail(0, fmt.Sprintf("major version %q", head[5]), storage.ErrUnsupported)
	case headText:
		e := r.src.Fail(0, "every CR LF in it was turned into LF, as a transfer in text mode does", storage.ErrCorrupt)
		e.Hint = "copy the original again, in binary mode (git: mark it as binary in .gitattributes)"
		return e
	case headDamaged:
		return r.src.Warn("magic", 0, false, "the first bytes are damaged; what follows is an MCAP file")
	}
	return r.src.Fail(0, "not an MCAP file: the magic is missing", storage.ErrCorrupt)
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

// headKind returns what the first bytes of a file are.
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
func (r *reader) Info() *storage.Info { return r.info.Clone() }

// newInfo returns what Info does.
func (r *reader) newInfo() *storage.Info {
	info := &storage.Info{
		Format: formatName, Version: "0", Path: r.src.Path, Size: r.src.Size, Files: []string{r.src.Path},
		Compression: maps.Clone(r.codecs), Metadata: map[string]string{},
		Facts: []storage.Fact{{Key: "index", Value: r.access}},
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
func (r *reader) Damage() storage.Damage { return r.src.Damage() }

// ReadNext returns the next message of the blocks in order. See storage.Reader.
func (r *reader) ReadNext() (*storage.Message, error) { return r.seq.Next(r.src.Ctx, r, len(r.blocks)) }

// Close closes the file.
func (r *reader) Close() error {
	r.seq.Stop(r.src.Fail(-1, "the reader is closed", nil))
	return r.src.File.Close()
}

var (
	_ storage.Reader      = (*reader)(nil)
	_ storage.BlockReader = (*reader)(nil)
	_ storage.Querier     = (*reader)(nil)
)

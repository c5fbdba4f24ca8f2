package cyber

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"sync"

	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
	"google.golang.org/protobuf/proto"
)

// A file is one file of a recording.
type file struct {
	r    *reader
	path string
	file storage.File
	size int64

	header     *pb.Header       // nil when it cannot be read
	wrong      *storage.Warning // what is wrong with it; nil: nothing
	channels   map[string]*channel
	redeclared bool // a channel has several topics
	contested  bool // the index describes a channel otherwise than its section
	chunks     []*chunk
	index      indexState
	indexAt    int64 // where the index begins and ends; 0: no index
	indexEnd   int64
	counts     map[string]int64 // messages by channel, by the index
	damaged    bool             // there was a warning of damage while its sections were read
	proven     bool             // counts are from the index
	indexCut   bool             // the file ends within the index
	tail       tail             // what is wrong at its end
	sections   []entry          // but HEADER and INDEX
	stated     map[string]int64 // counts, whatever the index is worth
	lost       storage.Lost     // messages that were found missing while it was opened
	whole      int64            // chunks that are there in full
	missing    int64            // messages that the header counts and that cannot be read
	begin, end int64            // least and greatest time of its messages, ns; begin > end: no messages
}

// windows has *window that are not used.
var windows = sync.Pool{New: func() any { return new(window) }}

// window returns a window on the file; the caller puts it back into windows.
func (f *file) window() *window {
	w := windows.Get().(*window)
	*w = window{r: f.file, size: f.size, buf: w.buf[:0]}
	return w
}

// openFile opens a file of the recording.
func (r *reader) openFile(path string) (*file, error) {
	h, err := r.fs.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := h.Stat()
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return r.open(path, h, st.Size())
}

// open opens the first size bytes of a file, which is the file's then if there is no error.
func (r *reader) open(path string, h storage.File, size int64) (*file, error) {
	f := &file{r: r, path: path, file: h, size: size, channels: map[string]*channel{}, begin: math.MaxInt64,
		end: math.MinInt64}
	if err := f.open(); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return f, nil
}

// open reads the header and all sections but chunk bodies. It also reads these if nothing else
// shows what is in them.
func (f *file) open() error {
	w := f.window()
	defer windows.Put(w)
	if err := f.readHeader(w); err != nil {
		return err
	}
	s := scanner{f: f, w: w}
	if err := s.run(f.r.ctx); err != nil {
		return err
	}
	f.sections, f.stated = s.entries, f.counts
	if err := f.checkFound(); err != nil {
		return err
	}
	if f.proven = f.prove(); !f.proven {
		if err := f.measure(f.r.ctx, w); err != nil {
			return err
		}
	}
	return f.settle()
}

// readHeader reads the HEADER section. A record without a header, or with a damaged one, is read
// all the same.
func (f *file) readHeader(w *window) error {
	b, err := w.peek(0, headerEnd)
	if err != nil {
		return f.fail(0, "header", err)
	}
	if len(b) < sectionHead+1 {
		return f.fail(0, "header", storage.ErrTruncated)
	}
	x := parseSection(b)
	switch fits := x.size > 0 && x.size <= maxHeader+1; {
	case fits && x.size > int64(len(b)-sectionHead) && sniffFile(b):
		return f.fail(0, "header", storage.ErrTruncated)
	case !fits || x.size > int64(len(b)-sectionHead):
		f.badHeader("header", "the file does not begin with a readable header; what follows it is read")
		return nil
	}
	h, typed := &pb.Header{}, x.typ == uint32(pb.SectionType_SECTION_HEADER)
	content := b[sectionHead:][:x.size]
	if !typed && !bytes.HasPrefix(content, versionFields) || proto.Unmarshal(content, h) != nil {
		f.badHeader("header", "the file does not begin with a readable header; what follows it is read")
		return nil
	}
	f.header = h
	if len(b) < headerEnd && !h.GetIsComplete() {
		f.endsAt(f.size, "truncated", headerEnd, "the file ends within its header section")
	}
	switch {
	case !typed:
		f.badHeader("header", "the first section has type %d, and not 0, the type of a header", x.typ)
	case h.GetMajorVersion() != 1:
		f.badHeader("header", "the header has version %d.%d; the file is read as version 1.0, the only one",
			h.GetMajorVersion(), h.GetMinorVersion())
	case h.GetCompress() != pb.CompressType_COMPRESS_NONE:
		return f.warn("compress-flag", 0, false, storage.Lost{},
			"the header has %s, but no version of Apollo compresses; the chunks are read as uncompressed", h.GetCompress())
	}
	return nil
}

// badHeader notes what is wrong with the header, which checkFound reports.
func (f *file) badHeader(code, format string, args ...any) {
	f.wrong = &storage.Warning{Code: code, Message: fmt.Sprintf(format, args...)}
}

// checkFound reports what is wrong with the header. It refuses a file in which
// nothing of a record was found after it.
func (f *file) checkFound() error {
	h := f.header
	switch {
	case f.wrong == nil:
		return nil
	case len(f.chunks) > 0 || len(f.channels) > 0 || f.index != indexMissing:
	case h == nil:
		return f.fail(0, "not a Cyber record: no header and no other section found", storage.ErrCorrupt)
	case h.GetMajorVersion() != 1:
		e := f.fail(0, fmt.Sprintf("version %d.%d", h.GetMajorVersion(), h.GetMinorVersion()), storage.ErrUnsupported)
		e.Hint = "records of Apollo 3.5 and later have version 1.0"
		return e
	}
	return f.warn(f.wrong.Code, 0, true, storage.Lost{}, "%s", f.wrong.Message)
}

// prove reports whether the index can be believed: it has what the sections have, each in its
// place, and its counts add up to the counts of the chunks. Its counts are then taken.
func (f *file) prove() bool {
	if f.index != indexOK && f.index != indexShifted || f.damaged || f.redeclared {
		return false
	}
	var sum, counted int64
	for _, n := range f.counts {
		sum += n
	}
	for _, c := range f.chunks {
		if !c.bounded || c.count > 0 && c.begin > c.end { // bounds that are others as int64
			return false
		}
		counted += c.count
	}
	return sum == counted && len(f.counts) == len(f.channels)
}

// measure goes over the heads of all messages.
func (f *file) measure(ctx context.Context, w *window) error {
	var last *channel
	f.counts = nil
	for _, c := range f.chunks {
		var topic storage.TopicID
		last = nil
		err := c.measure(ctx, w, func(at int64, name []byte) (err error) {
			if last == nil || string(name) != last.name {
				if last = f.channels[string(name)]; last == nil {
					if last, err = f.undeclared(at, name); err != nil {
						return err
					}
				}
				topic = last.at(c.body)
			}
			f.r.topics.counts[topic]++
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// settle fills in times and counts, and compares the header with them.
func (f *file) settle() error {
	var messages int64
	overlaps := 0
	for _, c := range f.chunks {
		if c.count == 0 {
			continue
		}
		if c.begin < f.end {
			overlaps++
		}
		messages += c.count
		if !c.cut {
			f.whole++
		}
		f.begin, f.end = min(f.begin, c.begin), max(f.end, c.end)
	}
	for name, n := range f.counts {
		f.r.topics.counts[f.channels[name].topic] += n
	}
	if overlaps > 0 {
		if err := f.warn("overlap", -1, false, storage.Lost{},
			"%d of %d chunks begin before the one before them ends; Apollo's viewer may leave messages out", overlaps,
			len(f.chunks)); err != nil {
			return err
		}
	}
	if err := f.account(messages); err != nil {
		return err
	}
	if err := f.checkEnd(); err != nil {
		return err
	}
	return f.checkHeader(messages)
}

// fail makes an error about a place in the file.
func (f *file) fail(at int64, what string, err error) *storage.Error {
	return &storage.Error{Format: formatName, Path: f.path, Offset: at, What: what, Err: err}
}

// warn keeps a warning, once for a code and place, and what was lost there. For
// damage in a strict reader it returns an error instead. Messages that are found
// missing while the file is opened are left to account.
func (f *file) warn(code string, at int64, damage bool, lost storage.Lost, format string, args ...any) error {
	if !f.r.isOpen {
		f.damaged = f.damaged || damage
		f.lost.Messages += lost.Messages
		f.lost.Uncounted = f.lost.Uncounted || lost.Uncounted
		lost.Messages, lost.Uncounted = 0, false
	}
	return f.report(code, at, damage, lost, fmt.Sprintf(format, args...))
}

// report keeps a warning, and what was lost.
func (f *file) report(code string, at int64, damage bool, lost storage.Lost, message string) error {
	r := f.r
	if damage && r.strict {
		cause := storage.ErrCorrupt
		if code == "truncated" {
			cause = storage.ErrTruncated
		}
		return f.fail(at, message, cause)
	}
	if r.several {
		message = filepath.Base(f.path) + ": " + message
	}
	r.warnings.Add(f.path, storage.Warning{Code: code, Message: message, Offset: storage.Known(at), Damage: damage}, lost)
	return nil
}

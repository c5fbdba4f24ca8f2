package virtual

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A layout is what there is to know of an output that is not written: where each chunk lies, how
// to make it again, and all bytes between the chunks.
//
//	[head][chunk]...[chunk][summary]
//
// It is made in one pass over the source. A view makes the bytes of chunks when they are read.
type layout struct {
	Size   int64
	Chunks []chunk
	Report *convert.Report // of the pass
	Spans  []recording.Span
	Files  []fileState // of the source
	Fixed  []fixed
	Index  storage.IndexUse // how far the index of the source is believed
	Secret bool             // the source is encrypted: the layout, which has parts of it, must not be kept in a file

	store storage.File // the bytes of Fixed
	tag   string
}

// A chunk is what the writer appends to the output at once.
type chunk struct {
	Offset, Length int64
	Sum            uint32         // CRC-32 of its bytes
	From           recording.Mark // before its first message
	Copied         int            // the block of the source that it is a copy of; -1: none
}

// A fixed part has bytes of the output that are kept in the store.
type fixed struct{ Offset, Length, At int64 }

// A fileState is what shows that a file has changed.
type fileState struct {
	Path    string
	Size    int64
	ModTime time.Time
	info    os.FileInfo // nil: there was no such file
}

// newLayout makes the layout of the output that a job describes. Job.Sink only has a name, and
// nothing is written, except that attachments of more than 16 MB are copied to a temporary file
// without a name. Formats whose outputs cannot be made in parts are ErrUnsupported; otherwise
// errors are the errors of Run.
func newLayout(ctx context.Context, job convert.Job) (l *layout, err error) {
	if job.Write.SegmentSize > 0 || job.Write.SegmentDuration > 0 || job.Append || job.Extras != "" || job.DryRun {
		return nil, errors.New("internal error: a layout of other than one file")
	}
	parts := tapped(&job)
	var src *recording.Source
	l = &layout{}
	job.Tap.Begin = func(s *recording.Source) (err error) {
		src = s
		l.Files, err = statesOf(job.Read.FS, append(pathsOf(&job), s.Info.Files...))
		return err
	}
	if l.Report, err = convert.Run(ctx, job); err != nil {
		return nil, errors.Join(err, parts.store.Close())
	}
	l.Secret, l.Index = src.Info.Encrypted, src.Index()
	l.Chunks, l.Fixed, l.store, l.Spans = parts.chunks, parts.fixed, parts.store, parts.trace.Spans
	l.Size, l.Report.Sink.Size = parts.size, parts.size
	if changed := changedFile(job.Read.FS, l.Files); changed != "" {
		return nil, errors.Join(fmt.Errorf("%s: %w", changed, recording.ErrChanged), l.Close())
	}
	return l, l.makeTag()
}

// Tag names the content of the output: outputs with other bytes have another tag.
func (l *layout) Tag() string { return l.tag }

// end returns the place after a chunk; nil after the last.
func (l *layout) end(i int) *recording.Mark {
	if i+1 == len(l.Chunks) {
		return nil
	}
	return &l.Chunks[i+1].From
}

// makeTag sums up what the output consists of.
func (l *layout) makeTag() error {
	h := sha256.New()
	fmt.Fprintln(h, l.Size)
	for _, c := range l.Chunks {
		fmt.Fprintln(h, c.Offset, c.Length, c.Sum)
	}
	st, err := l.store.Stat()
	if err != nil {
		return err
	}
	if _, err := io.Copy(h, io.NewSectionReader(l.store, 0, st.Size())); err != nil {
		return err
	}
	l.tag = hex.EncodeToString(h.Sum(nil)[:12])
	return nil
}

// ModTime returns when a file of the source was changed last.
func (l *layout) ModTime() (last time.Time) {
	for _, f := range l.Files {
		if f.ModTime.After(last) {
			last = f.ModTime
		}
	}
	return last
}

// Close forgets the bytes that are kept.
func (l *layout) Close() error { return l.store.Close() }

// pathsOf lists the files of a source that are there.
func pathsOf(job *convert.Job) []string {
	set, _ := job.SourceFormat.FilesOf(job.Read.FS, job.Source) // without an answer, the files that are read are watched
	return slices.DeleteFunc(slices.Concat(set.Messages, set.Beside), func(path string) bool {
		_, err := iox.FS(job.Read.FS).Stat(path)
		return err != nil
	})
}

// statesOf looks at files, each once.
func statesOf(fsys storage.FS, paths []string) (list []fileState, err error) {
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		st, err := iox.FS(fsys).Stat(path)
		if err != nil {
			return nil, err
		}
		list = append(list, fileState{path, st.Size(), st.ModTime(), st})
	}
	return list, nil
}

// changedFile returns the first of the files that is not what it was; "" if no file has changed.
func changedFile(fsys storage.FS, was []fileState) string {
	for _, f := range was {
		st, err := iox.FS(fsys).Stat(f.Path)
		if err != nil || f.info == nil || st.Size() != f.Size || !st.ModTime().Equal(f.ModTime) || iox.Replaced(f.info, st) {
			return f.Path
		}
	}
	return ""
}

// maxKept is the most that a layout has in memory of bytes that are not of chunks, and what
// encode takes.
const maxKept = 16 << 20

// layoutMagic is what an encoded layout begins with; then comes the SHA-256 of the rest.
const layoutMagic = "bagconv layout 1\n"

// errLarge is the error of a layout that is too large to be kept.
var errLarge = fmt.Errorf("the layout has more than %d MB: %w", maxKept>>20, storage.ErrUnsupported)

// encodedLayout is the rest of an encoded layout, as gob has it.
type encodedLayout struct {
	Layout *layout
	Store  []byte
}

// encode returns the layout as bytes, for decodeLayout of the same build. The report is without
// errors of single messages.
func (l *layout) encode() ([]byte, error) {
	st, err := l.store.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > maxKept {
		return nil, errLarge
	}
	e := encodedLayout{Layout: l, Store: make([]byte, st.Size())}
	if err := iox.ReadFull(l.store, e.Store, 0); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(e); err != nil {
		return nil, err
	}
	if b.Len() > 4*maxKept {
		return nil, errLarge
	}
	sum := sha256.Sum256(b.Bytes())
	return bytes.Join([][]byte{[]byte(layoutMagic), sum[:], b.Bytes()}, nil), nil
}

// decodeLayout reads what encode has returned. Other bytes are an error.
func decodeLayout(text []byte) (*layout, error) {
	const head = len(layoutMagic) + sha256.Size
	bad := func(err error) (*layout, error) { return nil, fmt.Errorf("no layout: %w: %w", err, storage.ErrCorrupt) }
	if len(text) < head || string(text[:len(layoutMagic)]) != layoutMagic {
		return bad(io.ErrUnexpectedEOF)
	}
	if sum := sha256.Sum256(text[head:]); !bytes.Equal(sum[:], text[len(layoutMagic):head]) {
		return bad(errors.New("its sum is wrong"))
	}
	var e encodedLayout
	if err := gob.NewDecoder(bytes.NewReader(text[head:])).Decode(&e); err != nil || e.Layout == nil {
		return bad(errors.Join(err, io.ErrUnexpectedEOF))
	}
	l := e.Layout
	l.store = iox.NewMemoryFile("layout")
	if _, err := l.store.WriteAt(e.Store, 0); err != nil {
		return nil, err
	}
	if err := l.check(int64(len(e.Store))); err != nil {
		return bad(err)
	}
	return l, l.makeTag()
}

// check reports whether chunks and fixed bytes are all of the file, each byte once.
func (l *layout) check(stored int64) error {
	at, c, f := int64(0), l.Chunks, l.Fixed
	for at < l.Size {
		length := int64(0)
		switch {
		case len(c) > 0 && c[0].Offset == at:
			length, c = c[0].Length, c[1:]
		case len(f) > 0 && f[0].Offset == at:
			if length = f[0].Length; f[0].At < 0 || f[0].At > stored || length > stored-f[0].At {
				return errors.New("bytes are missing")
			}
			f = f[1:]
		}
		if length <= 0 || length > math.MaxInt64-at {
			return fmt.Errorf("there is nothing at offset %d", at)
		}
		at += length
	}
	if at != l.Size || len(c)+len(f) > 0 {
		return errors.New("parts are too many")
	}
	return nil
}

// tapped sets the job up to have its output taken apart.
func tapped(j *convert.Job) *partsFS {
	parts := newPartsFS(j.SinkFormat)
	j.Tap = &convert.Tap{Trace: &parts.trace, Opened: parts.follow}
	j.Sink, j.Write.FS, j.Write.NoSync, j.Write.Overwrite, j.Stage, j.Verify = parts.name, parts, true, false, nil, nil
	return parts
}

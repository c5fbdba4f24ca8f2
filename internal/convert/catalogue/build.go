package catalogue

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/ordered"
	"github.com/bagconv/bagconv/storage"
)

// A Job is a catalogue to be written.
type Job struct {
	FS      storage.FS // that the catalogue stands in; nil: the operating system's
	Path    string     // of the catalogue
	Inputs  []*batch.Input
	Name    func(in *batch.Input) string // of a recording, in the catalogue
	Workers int
	Full    bool // every recording is read
	Content bool // Describe reads messages: rows without what these have are not kept

	// Describe opens a recording, and returns what its reader knows, and with Content what its messages have. It is
	// called on several goroutines. An error that does not end ctx is the error of this recording; what is returned
	// with it counts.
	Describe func(ctx context.Context, in *batch.Input) (*storage.Info, *Content, error)
	Explain  func(err error) string        // the text of an error
	Done     func(r *Recording, kept bool) // called for each recording, in order
}

// A Result is what became of a Job.
type Result struct {
	Recordings int64 `json:"recordings"`
	Topics     int64 `json:"topics"`
	Messages   int64 `json:"messages"`
	Read       int64 `json:"read"`     // recordings that were opened
	Kept       int64 `json:"kept"`     // recordings that have not changed
	Gone       int64 `json:"gone"`     // recordings of the catalogue before that are not there any more
	Failed     int64 `json:"failed"`   // that cannot be read
	Damaged    int64 `json:"damaged"`  //
	LeftOut    int64 `json:"left_out"` // topics and texts that have no place in the catalogue
}

// An entry is a recording on its way into the catalogue.
type entry struct {
	in   *batch.Input
	name string
	row  *Recording
	kept bool
	odd  bool  // its path may stand for several recordings, so that no row is known to be its
	err  error // of the catalogue before
}

// Write writes a catalogue, which appears when it is whole. previous is the catalogue before it, see Previous; Write
// closes it.
func Write(ctx context.Context, job *Job, previous Reader) (*Result, error) {
	b := &builder{Job: job, old: previous}
	for _, in := range job.Inputs {
		b.list = append(b.list, &entry{in: in, name: job.Name(in)})
	}
	slices.SortStableFunc(b.list, func(x, y *entry) int { return cmp.Compare(valid(x.name), valid(y.name)) })
	for i, e := range b.list {
		e.odd = !utf8.ValidString(e.name) || i > 0 && b.list[i-1].name == e.name ||
			i+1 < len(b.list) && b.list[i+1].name == e.name
	}
	k := kindBy(job.Path)
	if k == nil {
		return nil, errors.Join(ErrOther, previous.Close())
	}
	closed := false
	err := iox.Replace(job.FS, job.Path, func(w io.Writer) error {
		return k.write(job.FS, filepath.Dir(job.Path), w, func(to Writer) error {
			err := b.run(ctx, to)
			closed = true
			return errors.Join(err, previous.Close()) // before another file takes its place
		})
	})
	if !closed {
		err = errors.Join(err, previous.Close())
	}
	return &b.Result, err
}

// A builder merges the recordings that were found with the catalogue before.
type builder struct {
	*Job
	Result
	list []*entry
	next int
	old  Reader
	row  *Recording // of old, the next one
	end  bool
}

func (b *builder) run(ctx context.Context, to Writer) error {
	err := ordered.Line[*entry]{
		Workers: max(b.Workers, 1), Limit: int64(4 * max(b.Workers, 1)),
		Next: b.take,
		Work: func(_ int, e *entry) error { return b.read(ctx, e) },
		Finish: func(_ int, e *entry) error {
			b.count(e)
			row := e.row
			e.row = nil
			return to.Add(row)
		},
	}.Run(ctx)
	for err == nil && !b.end {
		err = b.forward()
	}
	return err
}

// take returns the next recording, with its row in the catalogue before if it has not changed.
func (b *builder) take() (*entry, int64, bool) {
	if b.next == len(b.list) {
		return nil, 0, false
	}
	e := b.list[b.next]
	b.next++
	e.row = fileRow(e.in, e.name)
	for !b.end && (b.row == nil || b.row.Path < e.row.Path) && e.err == nil {
		e.err = b.forward()
	}
	if b.row != nil && b.row.Path == e.row.Path {
		if same(b.row, e.row) && !e.odd && (b.row.Content || b.row.Locked || !b.Content) {
			e.row, e.kept = b.row, true
		}
		b.row = nil
	}
	return e, 1, true
}

// forward goes to the next row of the catalogue before. A row that nobody took is of a recording that is gone.
func (b *builder) forward() (err error) {
	if b.row != nil {
		b.Gone++
	}
	if b.row, err = b.old.Next(); errors.Is(err, io.EOF) {
		b.row, b.end, err = nil, true, nil
	}
	return err
}

// same reports whether the files of a recording are as they were. What could not be read is tried again.
func same(old, now *Recording) bool {
	return old.Error == nil && now.Error == nil && old.Size == now.Size && old.Files == now.Files &&
		old.ModifiedNS == now.ModifiedNS && value(&old.ETag) == value(&now.ETag)
}

// read opens a recording, unless it has not changed.
func (b *builder) read(ctx context.Context, e *entry) error {
	if e.err != nil || e.kept {
		return e.err
	}
	err := e.in.Err
	var info *storage.Info
	var content *Content
	if err == nil {
		info, content, err = b.Describe(ctx, e.in)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if info != nil {
		e.row.describe(info)
	}
	if content != nil {
		e.row.addContent(content)
	}
	if err != nil {
		e.row.Error = e.row.text(b.Explain(err))
	}
	return nil
}

func (b *builder) count(e *entry) {
	b.Recordings++
	b.Topics += int64(len(e.row.Topics))
	b.LeftOut += e.row.LeftOut
	if e.kept {
		b.Kept++
	} else {
		b.Read++
	}
	if e.row.Messages != nil {
		b.Messages += *e.row.Messages
	}
	if e.row.Error != nil {
		b.Failed++
	}
	if e.row.Damage != nil {
		b.Damaged++
	}
	if b.Done != nil {
		b.Done(e.row, e.kept)
	}
}

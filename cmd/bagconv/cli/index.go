package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/catalogue"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/storage"
)

// indexJSON is what index --json prints.
type indexJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Path          string `json:"path"`
	*catalogue.Result
	Others int `json:"others"` // files that are not recordings
	Links  int `json:"links"`  // to folders, which are not followed
}

// index writes what recordings have into a catalogue.
func (e *env) index(ctx context.Context) error {
	out := e.set.output
	switch endings := phrase.OrList(catalogue.Endings()); {
	case len(e.words) == 0:
		return flags.Usage("type: bagconv index drives/ -o catalogue.parquet", "no input given")
	case out == "":
		return flags.Usage("type: bagconv index drives/ -o catalogue.parquet", "--output names the catalogue")
	case !slices.Contains(catalogue.Endings(), strings.ToLower(filepath.Ext(out))):
		return flags.Usage("its ending is "+endings, "--output %s: the ending chooses no kind of catalogue",
			phrase.Clean(out))
	}
	path, err := iox.Abs(out)
	if err != nil {
		return err
	}
	e.cleanUp([]string{path})
	before, err := catalogue.Previous(e.fs, path, e.set.index.full)
	if err != nil {
		return explainCatalogue(out, err)
	}
	found, err := e.findIndexed(path)
	if err != nil {
		return errors.Join(err, before.Close())
	}
	run := &indexRun{env: e, show: e.newProgress(), began: time.Now(), inputs: found.Inputs}
	result, err := catalogue.Write(ctx, run.job(path), before)
	run.show.stop()
	run.say()
	switch {
	case errors.Is(err, context.Canceled):
		return &failure{path: out, what: "interrupted; the catalogue is as it was", err: context.Canceled}
	case err != nil:
		return explainCatalogue(out, err)
	}
	about := &indexJSON{schemaVersion, remote.Show(out), result, found.Others, len(found.Links)}
	if err := e.writeIndexed(about); err != nil {
		return err
	}
	return outcome{some: result.Failed > 0, lossy: result.Damaged > 0}.end()
}

// findIndexed finds the recordings. Catalogues among them are no recordings.
func (e *env) findIndexed(path string) (*batch.Found, error) {
	finder := batch.Finder{FS: e.fs, Formats: e.formats, Detect: e.detect}
	for _, word := range e.words {
		if _, err := e.fs.Stat(word); errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(word, "*?[") {
			if _, err := e.formats.DetectIn(e.fs, word); err != nil {
				return nil, &failure{path: word, what: "no such file or folder", hint: e.suggestPath(word), err: fs.ErrNotExist}
			}
		}
	}
	found, err := finder.Find(e.words)
	if err != nil {
		return nil, flags.Usage("see: bagconv help index", "%v", err)
	}
	found.Inputs = slices.DeleteFunc(found.Inputs, func(in *batch.Input) bool {
		return in.Path == path || catalogue.Is(e.fs, in.Path)
	})
	if len(found.Inputs) == 0 {
		return nil, &failure{path: strings.Join(e.words, ", "), what: "there is no recording in it",
			hint: "bagconv formats lists what can be read", err: fs.ErrNotExist}
	}
	return found, nil
}

// An indexRun is a catalogue in the making.
type indexRun struct {
	*env
	show           progress
	began          time.Time
	inputs         []*batch.Input
	done, messages int64
	lines          [][2]string // what is wrong, and with which recording
	more           int         // lines that are not kept
}

// maxIndexLines is how many recordings are named of which something is wrong.
const maxIndexLines = 100

// job returns the job of a catalogue.
func (x *indexRun) job(path string) *catalogue.Job {
	size := int64(0)
	for _, in := range x.inputs {
		size += in.Size
	}
	workers := x.set.job.Threads
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if x.set.index.content {
		workers = max(1, workers/contentThreads)
	}
	return &catalogue.Job{
		FS: x.fs, Path: path, Inputs: x.inputs, Workers: workers, Full: x.set.index.full, Content: x.set.index.content,
		Name:     func(in *batch.Input) string { return remote.Show(in.Path) },
		Describe: x.describeIndexed, Explain: func(err error) string { return iox.ShowAll(explain(err)) },
		Done: func(r *catalogue.Recording, kept bool) {
			x.done += r.Size
			if r.Messages != nil {
				x.messages += *r.Messages
			}
			x.show.update(convert.Progress{Bytes: x.done, Total: size, Messages: x.messages, Elapsed: time.Since(x.began)})
			if !x.set.quiet && (!kept || x.set.verbose) {
				x.note(r)
			}
		},
	}
}

// note keeps what is wrong with a recording, to be said when the progress is not shown any more.
func (x *indexRun) note(r *catalogue.Recording) {
	add := func(what, line string) {
		if len(x.lines) == maxIndexLines {
			x.more++
			return
		}
		x.lines = append(x.lines, [2]string{what, line})
	}
	switch {
	case r.Error != nil:
		add("failed", *r.Error)
	case r.Damage != nil:
		add("damaged", r.Path+": "+*r.Damage)
	}
	if r.LeftOut > 0 {
		add("note", r.Path+": "+phrase.Count(r.LeftOut, "topic or text")+" left out, as the catalogue has no place for it")
	}
}

func (x *indexRun) say() {
	for _, l := range x.lines {
		x.writeLines(l[0], []string{l[1]})
	}
	if x.more > 0 {
		x.writeLines("note", []string{fmt.Sprintf("%d more of these lines; the catalogue has all", x.more)})
	}
}

// describeIndexed returns what the reader of a recording knows, and with --content what its messages have.
func (e *env) describeIndexed(ctx context.Context, in *batch.Input) (*storage.Info, *catalogue.Content, error) {
	ref := e.refTo(in.Path, in.Format)
	ref.Read.InfoOnlyAbove = scanLimitOf(in.Path)
	r, err := in.Format.Open(ctx, in.Path, ref.Read)
	if err != nil {
		return nil, nil, err
	}
	info := r.Info().Clone()
	info.Damage = r.Damage()
	if err := r.Close(); err != nil || !e.set.index.content || info.Locked {
		return info, nil, err
	}
	content, warnings, err := contentIndexed(ctx, e.refTo(in.Path, in.Format), info)
	info.Warnings = append(slices.Clone(info.Warnings), warnings...)
	return info, content, err
}

// contentThreads is the number of workers of each recording whose messages are read.
const contentThreads = 2

// contentIndexed reads the messages of a recording. The hashes are the work of a comparison of the recording with
// itself.
func contentIndexed(ctx context.Context, ref recording.Ref, info *storage.Info) (*catalogue.Content,
	[]storage.Warning, error) {
	side := verify.Side{Ref: ref}
	res, err := verify.Run(ctx, verify.Job{A: side, B: side, Threads: contentThreads})
	if err != nil {
		return nil, nil, err
	}
	c := &catalogue.Content{Hashes: map[catalogue.Key]string{}}
	for _, t := range res.Topics {
		if t.Basis == "content" && t.A != nil {
			c.Hashes[catalogue.Key{Name: t.A.Name, Type: t.A.Type, Encoding: t.A.Encoding}] = t.A.Hash
		}
	}
	if catalogue.HasFixes(info) {
		c.Boxes, err = catalogue.Boxes(ctx, ref, contentThreads)
	}
	return c, res.A.Warnings, err
}

// writeIndexed prints what is in the catalogue.
func (e *env) writeIndexed(r *indexJSON) error {
	if e.set.json {
		return writeJSON(e.Out, r)
	}
	if e.set.quiet {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s, %s, %s", r.Path, phrase.Count(r.Recordings, "recording"),
		phrase.Count(r.Topics, "topic"), phrase.Count(r.Messages, "message"))
	fmt.Fprintf(&b, "; %d read, %d unchanged, %d gone", r.Read, r.Kept, r.Gone)
	for _, more := range []struct {
		n    int64
		what string
	}{{r.Failed, "cannot be read"}, {r.Damaged, "damaged"}, {int64(r.Others), "not recordings"},
		{int64(r.Links), "links to folders, not followed"}, {r.LeftOut, "topics or texts left out"}} {
		if more.n > 0 {
			fmt.Fprintf(&b, ", %d %s", more.n, more.what)
		}
	}
	e.say("%s", phrase.Clean(b.String()))
	return nil
}

// explainCatalogue explains why a catalogue cannot be read or written.
func explainCatalogue(path string, err error) error {
	switch {
	case errors.Is(err, catalogue.ErrOther):
		return &failure{path: path, what: "it exists, and is not a catalogue of bagconv index",
			hint: "choose another file, or remove it", err: err}
	case errors.Is(err, storage.ErrCorrupt), errors.Is(err, storage.ErrTruncated), errors.Is(err, storage.ErrUnsupported):
		return &failure{path: path, what: "the catalogue before cannot be read: " + plainError(err).Error(),
			hint: "--full reads all recordings again", err: err}
	}
	return err
}

// indexCommand is the command index.
func (e *env) indexCommand() flags.Command {
	return flags.Command{
		Name: "index", Part: manyPart, Call: "index IN... -o FILE", Summary: "list recordings in a table for SQL",
		About: `Writes what the recordings in IN have into one file, a row for each recording and
topic: times, counts, rates, types, hashes of definitions, sizes, damage. IN is as for
bagconv batch. Without --content no messages are read but of small files without an
index. DuckDB and sqlite3 query the file; docs/catalogue.md has questions with SQL.`,
		Note: `A file that exists is brought up to date: recordings whose files have the same
size and time (in a store: the same ETag) are not opened. Recordings that are
gone lose their rows. What could not be read is tried again, and has a row with
the error.`,
		Examples: []string{
			"bagconv index drives/ -o catalogue.parquet",
			"bagconv index drives/ s3://bucket/drives/ -o catalogue.sqlite",
			"bagconv index 'drives/*/camera_*' -o cameras.parquet --full",
		},
		Exits: flags.Exits{
			0:   "all recordings are in the catalogue, and sound",
			1:   "the catalogue could not be written, or there is no recording; it is as it was",
			3:   "written, and some recordings are damaged",
			5:   "written, and some recordings cannot be read",
			130: "interrupted; the catalogue is as it was",
		},
		Run: e.index,
	}
}

// indexFlags returns the flags of index alone.
func (s *settings) indexFlags() []flags.Flag {
	return flags.AllIn(readGroup, "index",
		flags.Flag{Name: "output", Short: "o", Arg: "FILE", Kind: flags.File, Set: flags.Put(&s.output),
			Help: "the catalogue, which may exist; the ending chooses Parquet (.parquet) or SQLite (.sqlite, .sqlite3, .db)"},
		flags.Flag{Name: "full", Kind: flags.OnOff, Set: flags.Put(&s.index.full),
			Help: "read all recordings, also those that have not changed"},
		flags.Flag{Name: "content", Kind: flags.OnOff, Set: flags.Put(&s.index.content),
			Help: "read all messages, for the content hash of each topic, which copies in other formats share, and the " +
				"bounding box of positions by satellites"},
		s.jsonFlag(),
		flags.Flag{Name: "quiet", Short: "q", Kind: flags.OnOff, Set: flags.Put(&s.quiet), Help: "print errors only"},
		flags.Flag{Name: "verbose", Short: "v", Kind: flags.OnOff, Set: flags.Put(&s.verbose),
			Help: "also name unchanged recordings that are damaged"},
	)
}

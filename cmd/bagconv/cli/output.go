package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/stdio"
	"github.com/bagconv/bagconv/storage"
)

// writable lists the formats that can be written.
func (e *env) writable() (names []string) {
	for _, f := range e.formats.Writable() {
		names = append(names, f.Name)
	}
	return names
}

// exported lists the formats that are only written.
func (e *env) exported() (names []string) {
	for _, f := range e.formats.Writable() {
		if f.Open == nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// writableWithAliases lists them with the name that they are best known by.
func (e *env) writableWithAliases() (names []string) {
	for _, name := range e.writable() {
		if aliases := e.formats.Lookup(name).Aliases; len(aliases) > 0 {
			name += " (" + aliases[0] + ")"
		}
		names = append(names, name)
	}
	return names
}

// sinkFormat chooses the output's format: --to, else the name's ending. A
// trailing separator or no ending means the format that is a folder. Options, whose values
// option returns, may ask for another.
func (e *env) sinkFormat(to, out string, option func(name string) string) (*storage.Format, error) {
	if out == stdio.Out && to == "" {
		return nil, flags.Usage("name its format: --to "+e.streamable(),
			"standard output has no ending that tells the format")
	}
	f, err := e.namedFormat(to, out)
	if err != nil {
		return nil, err
	}
	if f = e.formats.Choose(f, to, out, option); storage.NamesFolder(out) && !f.Layout.Folder {
		return nil, flags.Usage("remove the separator at the end", "%s is a folder, but a %s is a single file",
			phrase.Clean(out), f.Name)
	}
	if out != stdio.Out {
		return f, nil
	}
	if f.Layout.Folder {
		return nil, flags.Usage("choose a format that is a file: --to "+e.streamable(),
			"a %s is a folder, and standard output is a file", f.Name)
	}
	e.streams.Direct(f.Layout.Streamable)
	return f, nil
}

// readable lists the names of all formats.
func (e *env) readable() (names []string) {
	for _, f := range e.formats.Formats() {
		names = append(names, f.Name)
	}
	return names
}

// namedFormat returns the format that --to or the name of the output mean.
func (e *env) namedFormat(to, out string) (*storage.Format, error) {
	choices := phrase.OrList(e.writableWithAliases())
	folder := storage.NamesFolder(out)
	if to != "" {
		f := e.formats.Lookup(to)
		switch {
		case f == nil && e.formats.Named("."+to) != nil:
			return nil, flags.Usage("--to takes "+choices, "%s cannot be written yet", e.formats.Named("."+to).Help)
		case f == nil || f.Create == nil:
			return nil, flags.Usage("--to takes "+choices, "unknown output format %q", to)
		}
		return f, nil
	}
	ext := strings.ToLower(filepath.Ext(filepath.Clean(out)))
	var endings []string
	for _, f := range e.formats.Writable() {
		if f.Layout.Folder && (folder || ext == "" || ext == ".") {
			return f, nil
		}
		for _, x := range f.Extensions {
			if x == ext && !folder {
				return f, nil
			}
			endings = append(endings, x)
		}
	}
	hint := fmt.Sprintf("use --to %s, a name in %s, or a folder with / at its end", choices, phrase.OrList(endings))
	if f := e.formats.Named(out); f != nil && f.Create == nil {
		return nil, flags.Usage(hint, "%s: %s cannot be written yet", phrase.Clean(out), f.Help)
	}
	if slices.Contains([]string{".json", ".jsonl", ".ndjson", ".yaml"}, ext) {
		hint = "bagconv cat --format ndjson or yaml prints messages: bagconv cat IN > " + phrase.Clean(out)
	}
	return nil, flags.Usage(hint, "%s: cannot tell the output format from %s", phrase.Clean(out), phrase.Clean(ext))
}

// checkOutputs refuses outputs that would take the place of something else than an old
// output, and a report that would lie in one of them.
func (e *env) checkOutputs(jobs []*convert.Job, report string) error {
	for _, job := range jobs {
		if report != "" && (iox.SamePath(e.fs, report, job.Source) || e.within(report, job.Sink)) {
			return e.refuseReport("the input or the output")
		}
	}
	err := convert.CheckOutputs(jobs...)
	if err == nil {
		return nil
	}
	job := jobs[0]
	var r *guard.Refusal
	if errors.As(err, &r) {
		if i := slices.IndexFunc(jobs, func(j *convert.Job) bool { return j.Sink == r.Path }); i >= 0 {
			job = jobs[i]
		}
	}
	return explainOutput(job, err)
}

// explainOutput adds the next step to an error about the place of an output.
func explainOutput(job *convert.Job, err error) error {
	var r *guard.Refusal
	switch {
	case !errors.As(err, &r):
		if errors.Is(err, fs.ErrExist) { // it came meanwhile
			return &failure{path: job.Sink, what: "it exists already", hint: "choose another name, or use --force to replace it",
				err: fs.ErrExist}
		}
		return err
	case errors.Is(r.Err, guard.ErrInput), errors.Is(r.Err, syscall.EISDIR):
		return flags.Usage(phrase.Clean(r.Hint), "%s: %s", phrase.Clean(r.Path), phrase.Clean(r.What))
	case !errors.Is(r.Err, fs.ErrExist):
		return &failure{path: r.Path, what: phrase.Clean(r.What), hint: phrase.Clean(r.Hint), err: err}
	case older(job):
		return &failure{path: r.Path, what: r.What + " and is older than the input",
			hint: "the last argument is the output: are input and output swapped?", err: err}
	}
	return &failure{path: r.Path, what: r.What, hint: r.Hint + ", or use --force to replace it", err: err}
}

// older reports whether what stands at the output is older than the input: then it was
// not made from it, but perhaps the input from the output.
func older(job *convert.Job) bool {
	time := func(fsys storage.FS, f *storage.Format, path string) (t time.Time) {
		files, err := f.FilesOf(fsys, path)
		if err != nil || len(files.Messages) == 0 {
			return t
		}
		if st, err := iox.FS(fsys).Stat(files.Messages[0]); err == nil {
			t = st.ModTime()
		}
		return t
	}
	in, out := time(job.Read.FS, job.SourceFormat, job.Source), time(job.Write.FS, job.SinkFormat, job.Sink)
	return !out.IsZero() && out.Before(in)
}

// within reports whether a path is dir, or something in it.
func (e *env) within(path, dir string) bool {
	for p := filepath.Clean(path); ; p = filepath.Dir(p) {
		if iox.SamePath(e.fs, p, dir) {
			return true
		}
		if p == filepath.Dir(p) {
			return false
		}
	}
}

// appendable lists the names of the formats that can be added to.
func (e *env) appendable() (names []string) {
	for _, f := range e.formats.Formats() {
		if f.AppendTo != nil {
			names = append(names, f.Name)
		}
	}
	return names
}

// writeFile writes a file of a kind, which appears in one step, unless write fails.
func (e *env) writeFile(kind guard.Kind, path string, write func(io.Writer) error) (err error) {
	fsys := kind.Writer(e.fs)
	out, err := iox.NewOutput(fsys, path, e.set.job.Write.Overwrite, true)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, out.Abort())
		}
	}()
	f, err := fsys.OpenFile(out.Temp(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = iox.Sync(f)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return out.Commit()
}

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// writable lists the formats that can be written.
func (e *env) writable() (names []string) {
	for _, f := range e.formats.Formats() {
		if f.Create != nil {
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

// notYet are name endings of formats that are known, but not here.
var notYet = map[string]string{".mcap": "MCAP"}

// orList is "a, b or c".
func orList(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
	}
	return strings.Join(words, "")
}

// sinkFormat chooses the output's format: --to, else the name's ending. A
// trailing separator or no ending means the format that is a folder.
func (e *env) sinkFormat(to, out string) (*storage.Format, error) {
	choices := orList(e.writableWithAliases())
	folder := os.IsPathSeparator(out[len(out)-1])
	if to != "" {
		f := e.formats.Lookup(to)
		switch {
		case f == nil && notYet["."+to] != "":
			return nil, usage("--to takes "+choices, "%s cannot be written yet", notYet["."+to])
		case f == nil || f.Create == nil:
			return nil, usage("--to takes "+choices, "unknown output format %q", to)
		case folder && !f.Folder:
			return nil, usage("leave the separator at its end out", "%s names a folder, and a %s is a file", clean(out), f.Name)
		}
		return f, nil
	}
	ext := strings.ToLower(filepath.Ext(filepath.Clean(out)))
	var endings []string
	for _, f := range e.formats.Formats() {
		if f.Create == nil {
			continue
		}
		if f.Folder && (folder || ext == "" || ext == ".") {
			return f, nil
		}
		for _, x := range f.Extensions {
			if x == ext && !folder {
				return f, nil
			}
			endings = append(endings, x)
		}
	}
	hint := fmt.Sprintf("use --to %s, a name in %s, or a folder with / at its end", choices, orList(endings))
	if what := notYet[ext]; what != "" {
		return nil, usage(hint, "%s: %s cannot be written yet", clean(out), what)
	}
	return nil, usage(hint, "%s: the ending %s tells no output format", clean(out), clean(ext))
}

// checkOutput refuses outputs that would destroy something else than an old
// output.
func (e *env) checkOutput(job *convert.Job, report string) error {
	if same(job.Source, job.Sink) {
		return usage("choose another output", "%s: input and output are the same", clean(job.Sink))
	}
	if report != "" && (same(report, job.Source) || same(report, job.Sink)) {
		return usage("choose another name", "--report %s would overwrite the input or the output", clean(report))
	}
	st, err := os.Stat(job.Sink)
	switch {
	case err != nil:
		return nil // missing, as it should be; or Create will say
	case !job.Write.Overwrite:
		return existsError(job.Sink)
	case st.IsDir() && !job.SinkFormat.Folder:
		return usage("name a file in it", "%s is a folder, and a %s is a file", clean(job.Sink), job.SinkFormat.Name)
	case st.IsDir() && !onlyRecording(job.Sink, job.SinkFormat):
		return &failure{path: job.Sink, what: "the folder has other things in it than a recording, and --force would remove them", hint: "choose another output, or remove it yourself"}
	}
	return nil
}

func existsError(path string) error {
	return &failure{path: path, what: "it exists already", hint: "--force replaces it", err: fs.ErrExist}
}

// same tells whether two names are one file, also when it does not exist.
func same(a, b string) bool {
	sa, errA := os.Stat(a)
	sb, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(sa, sb)
	}
	a, errA = filepath.Abs(a)
	b, errB = filepath.Abs(b)
	return errA == nil && errB == nil && a == b
}

// onlyRecording tells whether all that a folder has is a recording of the
// format: its files and metadata.yaml.
func onlyRecording(dir string, f *storage.Format) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, entry := range entries {
		ours := entry.Name() == "metadata.yaml"
		for _, x := range f.Extensions {
			ours = ours || strings.Contains(entry.Name(), x)
		}
		if !ours || !entry.Type().IsRegular() {
			return false
		}
	}
	return true
}

// A reportFile is the file of --report. It is made before the run, so that a
// name that cannot be written costs nothing, and appears when it is whole.
type reportFile struct {
	out  *iox.Output
	file *os.File
}

// newReportFile starts a report; with an empty path the report goes nowhere.
func newReportFile(path string) (*reportFile, error) {
	if path == "" {
		return &reportFile{}, nil
	}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return nil, usage("give the name of a file", "--report %s is a folder", clean(path))
	}
	out, err := iox.NewOutput(nil, path, true, false)
	if err != nil {
		return nil, err
	}
	file, err := os.Create(out.Temp())
	if err != nil {
		return nil, &failure{path: path, what: "the report cannot be written there", hint: "is its folder there, and may you write in it?", err: err}
	}
	return &reportFile{out: out, file: file}, nil
}

func (r *reportFile) write(v any) error {
	if r.out == nil {
		return nil
	}
	err := errors.Join(writeJSON(r.file, v), r.file.Close())
	if err == nil {
		err = r.out.Commit()
	}
	if err != nil {
		return fmt.Errorf("the report could not be written: %w", err)
	}
	r.out = nil
	return nil
}

func (r *reportFile) abort() {
	if r.out != nil {
		_ = r.file.Close()
		_ = r.out.Abort()
	}
}

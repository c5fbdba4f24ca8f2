package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A reportFile is the file of --report. It is written before the run, so that a name that cannot be
// written costs nothing, and as the report of an interrupted run: so the report of an earlier run
// is never taken for the report of a run that was killed. What is no regular file, such as
// /dev/stdout or a pipe, is written once, in place.
type reportFile struct {
	fs    storage.FS
	path  string   // "": the report goes nowhere
	place *os.File // written in place; nil for a regular file
}

// reportKind is the kind of files that a report may replace.
var reportKind = guard.Kind{Name: "report of bagconv", Is: isReport}

// isReport reports whether a file begins as what resultJSON and batchJSON become.
func isReport(head []byte) bool {
	d := json.NewDecoder(bytes.NewReader(head))
	t, _ := d.Token()
	if t == json.Delim('[') { // of split
		t, _ = d.Token()
	}
	if t != json.Delim('{') {
		return false
	}
	for _, key := range []string{"schema_version", "status", "exit_status"} {
		k, _ := d.Token()
		v, err := d.Token()
		if _, nested := v.(json.Delim); err != nil || nested || k != key {
			return false
		}
	}
	return true
}

// openReport makes the report; initial is its content until the run ends.
func (e *env) openReport(ctx context.Context, path string, initial any) (*reportFile, error) {
	if path == "" {
		return &reportFile{}, nil
	}
	e.report.attempted = true
	st, err := e.fs.Stat(path)
	if err == nil && st.IsDir() || os.IsPathSeparator(path[len(path)-1]) {
		return nil, flags.Usage("give the name of a file", "--report %s is a folder", phrase.Clean(path))
	}
	r := &reportFile{fs: e.fs, path: path}
	if err == nil && (!st.Mode().IsRegular() || isStandard(st)) {
		if r.place, err = openPlace(ctx, path); err != nil {
			return nil, err
		}
		e.report.file = r
		return r, nil
	}
	e.cleanUp([]string{path})
	if err := reportKind.Check(e.fs, path); err != nil {
		return nil, explainReport(path, err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		r.path = real // a link to it stays
	}
	if err := r.write(initial); err != nil {
		return nil, err
	}
	e.report.file = r
	return r, nil
}

// isStandard reports whether a file is what standard output or error goes to.
func isStandard(st os.FileInfo) bool {
	return slices.ContainsFunc([]*os.File{os.Stdout, os.Stderr}, func(f *os.File) bool {
		other, err := f.Stat()
		return err == nil && iox.SameFile(st, other)
	})
}

// openPlace opens what is written in place. A pipe may let us wait for its reader.
func openPlace(ctx context.Context, path string) (*os.File, error) {
	type result struct {
		f   *os.File
		err error
	}
	done := make(chan result, 1)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		done <- result{f, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, explainReport(path, r.err)
		}
		return r.f, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func explainReport(path string, err error) error {
	var r *guard.Refusal
	if errors.As(err, &r) {
		return flags.Usage(r.Hint, "--report %s: %s", phrase.Clean(path), phrase.Clean(r.What))
	}
	return &failure{path: path, what: "the report cannot be written there",
		hint: "is its folder there, and may you write in it?", err: err}
}

// write replaces the content of the file.
func (r *reportFile) write(v any) error {
	if r.path == "" {
		return nil
	}
	if r.place != nil {
		return errors.Join(writeJSON(r.place, v), r.place.Close())
	}
	fsys := reportKind.Writer(r.fs)
	out, err := iox.NewOutput(fsys, r.path, true, false)
	if err != nil {
		return explainReport(r.path, err)
	}
	f, err := fsys.OpenFile(out.Temp(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return explainReport(r.path, errors.Join(err, out.Abort()))
	}
	if err := errors.Join(writeJSON(f, v), f.Close()); err != nil {
		return fmt.Errorf("the report could not be written: %w", errors.Join(err, out.Abort()))
	}
	if err := out.Commit(); err != nil {
		return explainReport(r.path, err)
	}
	return nil
}

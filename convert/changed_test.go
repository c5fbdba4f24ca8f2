package convert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// A source that is overwritten while it is read is damaged, and a strict run refuses
// it; one whose name changes is not.
func TestSourceChanged(t *testing.T) {
	old := time.Unix(1_700_000_000, 0)
	for name, c := range map[string]struct {
		do   func(path string) error
		want bool
	}{
		"nothing":     {func(string) error { return nil }, false},
		"overwritten": {func(path string) error { return os.WriteFile(path, []byte("new"), 0o666) }, true},
		"grown": {func(path string) error {
			return errors.Join(os.WriteFile(path, []byte("old and new"), 0o666), os.Chtimes(path, old, old))
		}, true},
		"renamed": {func(path string) error { return os.Rename(path, path+".old") }, false},
		"removed": {os.Remove, false},
		"replaced": {func(path string) error {
			return errors.Join(os.WriteFile(path+".new", []byte("old"), 0o666), os.Chtimes(path+".new", old, old),
				os.Rename(path+".new", path))
		}, true},
		"read only": {func(path string) error { return os.Chmod(path, 0o400) }, false},
	} {
		for _, strict := range []bool{false, true} {
			bag := fake.Random(1, 3, 5, 0)
			source, format := bag.Source(t)
			if err := errors.Join(os.WriteFile(source, []byte("old"), 0o666), os.Chtimes(source, old, old)); err != nil {
				t.Fatal(err)
			}
			bag.Files = []string{source}
			sink := &fake.Sink{}
			target := sink.Target()
			create := target.Create
			target.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
				if err := c.do(source); err != nil {
					t.Error(err)
				}
				return create(ctx, path, o)
			}
			job := Job{Source: source, SourceFormat: format, Sink: filepath.Join(t.TempDir(), "sink"), SinkFormat: target}
			job.Read.Strict = strict
			r, err := Run(t.Context(), job)
			damaged := len(r.Warnings) == 1 && r.Warnings[0].Code == "source-changed" && r.Lossy()
			if strict && c.want != errors.Is(err, ErrLossy) || !strict && err != nil || damaged != c.want ||
				!c.want && len(r.Warnings) > 0 {
				t.Errorf("%s, strict=%v: %v, %v", name, strict, err, r.Warnings)
			}
		}
	}
}

// A replacedWriter is one whose output has 5 bytes until Commit, and is replaced by another run then.
type replacedWriter struct {
	storage.Writer
	temp string
}

func (w replacedWriter) Finish() (storage.Output, error) {
	_, err := w.Writer.Finish()
	return storage.Output{Path: w.temp}, errors.Join(err, os.WriteFile(w.temp, []byte("12345"), 0o666))
}

func (w replacedWriter) Commit() error { return errors.Join(w.Writer.Commit(), os.Remove(w.temp)) }

// TestSinkReplaced: the size of an output is that of what was written, even if nothing or something
// else stands there by the time of the report.
func TestSinkReplaced(t *testing.T) {
	bag := fake.Random(1, 3, 5, 0)
	source, format := bag.Source(t)
	sink := &fake.Sink{}
	target := sink.Target()
	create := target.Create
	target.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
		w, err := create(ctx, path, o)
		return replacedWriter{w, path + ".part"}, err
	}
	job := Job{Source: source, SourceFormat: format, Sink: filepath.Join(t.TempDir(), "sink"), SinkFormat: target}
	r, err := Run(t.Context(), job)
	if err != nil || r.Sink.Size != 5 || len(r.Sink.Files) != 1 {
		t.Errorf("%d bytes in %q, %v", r.Sink.Size, r.Sink.Files, err)
	}
}

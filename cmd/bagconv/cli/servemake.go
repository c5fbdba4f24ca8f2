package cli

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/live/serve"
	"github.com/bagconv/bagconv/storage"
)

// madeFormats names the formats that recordings can be downloaded in.
func (e *env) madeFormats() (names []string) {
	for _, f := range e.formats.Formats() {
		if f.Create != nil && !f.Layout.Live && (f.Layout.Folder || len(f.Extensions) > 0) {
			names = append(names, f.Name)
		}
	}
	return names
}

// makeServed converts a recording to a temporary file or folder, with the flags of serve.
func (e *env) makeServed(ctx context.Context, fsys storage.FS, rec serve.Recording, format string) (made *serve.Made,
	err error) {
	dir, err := os.MkdirTemp("", "bagconv-serve-")
	if err != nil {
		return nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) } // what stays is in the folder for temporary files
	defer func() {
		if err != nil {
			remove()
		}
	}()
	name := filepath.Join(dir, strings.TrimSuffix(path.Base(rec.Name), path.Ext(rec.Name)))
	sink, err := e.sinkFormat(format, name, e.command.Text)
	if err != nil {
		return nil, err
	}
	job, err := e.jobFor(sink)
	if err != nil {
		return nil, err
	}
	if !sink.Layout.Folder {
		name += sink.Extensions[0]
	}
	job.Source, job.SourceFormat, job.Formats, job.Read.FS = rec.Path, rec.Format, e.formats, fsys
	job.Sink, job.Write.NoSync = name, true
	report, err := convert.Run(ctx, *job)
	if err != nil {
		return nil, explainSelection(rec.Name, err)
	}
	e.logs.Lock()
	defer e.logs.Unlock()
	lost, damaged := missingLines(rec.Name, report)
	e.writeLines("lost", lost)
	e.writeLines("damaged", damaged)
	return &serve.Made{Path: name, Remove: remove}, nil
}

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/multi"
	"github.com/bagconv/bagconv/internal/live/access"
	"github.com/bagconv/bagconv/internal/live/serve"
	"github.com/bagconv/bagconv/internal/live/virtual"
	"github.com/bagconv/bagconv/storage"
)

// openOutputs has serve serve recordings in the format that is made while it is read, as the
// flags ask for it. close ends that.
func (e *env) openOutputs(ctx context.Context, config *serve.Config) (close func(), err error) {
	sink := e.servedFormat()
	if sink == nil {
		return func() {}, nil
	}
	job, err := e.jobFor(sink)
	if err != nil {
		return nil, err
	}
	if job.Write.Compression == "" {
		job.Write.Compression = "none"
	}
	if err := checkLevel(job); err != nil {
		return nil, err
	}
	job.Formats, job.Read.FS = e.formats, config.FS
	dir, err := os.UserCacheDir()
	if dir = filepath.Join(dir, "bagconv", "layouts"); err != nil || e.set.serve.noCache || job.Target != nil {
		dir = "" // the name of a layout is not made of rules
	}
	shelf := virtual.NewShelf(ctx, dir, e.logLayout)
	options := e.serveOptions(sink)
	config.Sink = sink
	config.Open = func(ctx context.Context, r serve.Recording) (serve.Output, error) {
		job := *job
		job.Source, job.SourceFormat = r.Path, r.Format
		out, err := shelf.Open(ctx, job, options)
		if err != nil {
			return nil, explainSelection(r.Name, err) // not a nil *Output in an interface
		}
		return out, nil
	}
	config.Play = e.playServed(*job, access.Rules{Origins: config.Origins, Hosts: config.Hosts})
	return shelf.Close, nil
}

// servedFormat returns the format in which recordings are served, nil if no format serves.
func (e *env) servedFormat() *storage.Format {
	i := slices.IndexFunc(e.formats.Formats(), func(f *storage.Format) bool {
		return f.Layout.Streamable &&
			len(f.Extensions) > 0
	})
	if i < 0 {
		return nil
	}
	return e.formats.Formats()[i]
}

// servedAddress returns the address of a recording in that format.
func (e *env) servedAddress(name string) string {
	f := e.servedFormat()
	if f == nil {
		return ""
	}
	return "/" + f.Name + "/" + name + f.Extensions[0]
}

// serveOptions names what changes what is made, and the program that makes it.
func (e *env) serveOptions(sink *storage.Format) string {
	version, revision := buildVersion()
	list := []string{version, revision}
	if path, err := os.Executable(); err == nil {
		if st, err := os.Stat(path); err == nil {
			list = append(list, fmt.Sprint(st.Size(), st.ModTime().UnixNano()))
		}
	}
	return strings.Join(append(list, e.recipe(sink).Hash()), "\x00")
}

// logLayout reports that a recording was looked through.
func (e *env) logLayout(source string, r *convert.Report) {
	e.logs.Lock()
	defer e.logs.Unlock()
	fmt.Fprintf(e.Err, "%s: read once in %s, to be served as %s of %s\n", phrase.Clean(source),
		durationText(int64(r.Elapsed)), r.Sink.Format, sizeText(r.Sink.Size))
	lost, damaged := missingLines(source, r)
	e.writeLines("lost", lost)
	e.writeLines("damaged", damaged)
}

// mergedRecording returns all recordings as one.
func mergedRecording(name string, list []serve.Recording) serve.Recording {
	inputs := make([]multi.Input, len(list))
	paths := make([]string, len(list))
	for i, r := range list {
		inputs[i] = multi.Input{Path: r.Path, Format: r.Format}
		paths[i] = r.Path
	}
	return serve.Recording{Name: name, Path: strings.Join(paths, ", "), Format: multi.Format(inputs)}
}

package cli

import (
	"context"
	"errors"
	"io/fs"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/identify"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// detect finds the format of a recording by its content, else takes the format of --from.
// The error explains what stands at the path if that is not a recording.
func (e *env) detect(path string) (*storage.Format, error) {
	f, err := e.formats.DetectIn(e.fs, path)
	if err == nil {
		return f, nil
	}
	if e.from != nil && errors.Is(err, storage.ErrUnknownFormat) {
		return e.from, nil
	}
	found := identify.Path(e.fs, path, e.formats)
	fail := &failure{path: path, what: found.What, hint: found.Hint, err: err}
	if errors.Is(err, fs.ErrNotExist) && fail.hint == "" {
		fail.hint = e.suggestPath(path)
	}
	if fail.hint == "" && errors.Is(err, storage.ErrUnknownFormat) {
		fail.hint = "bagconv formats lists what can be read"
	}
	return nil, fail
}

// infoLimit is up to which size --scan auto reads the whole recording, in bytes: what the index proves is not read of a
// larger one.
const infoLimit = 16e6

// scanLimit is up to which size counts are never estimated, in bytes.
const scanLimit = 256e6

// open opens a recording of any format.
func (e *env) open(ctx context.Context, path string) (*recording.Source, error) {
	return e.openWith(ctx, path, storage.ReadOptions{})
}

// glance opens a recording for its Info, in which counts may be estimated.
func (e *env) glance(ctx context.Context, path string) (*recording.Source, error) {
	return e.openWith(ctx, path, storage.ReadOptions{InfoOnlyAbove: scanLimitOf(path)})
}

func (e *env) openWith(ctx context.Context, path string, o storage.ReadOptions) (*recording.Source, error) {
	ref, err := e.refOf(path)
	if err != nil {
		return nil, err
	}
	o.Key, o.FS = ref.Read.Key, ref.Read.FS
	ref.Read = o
	return recording.Open(ctx, ref)
}

// refOf names a recording of the line, with the flags for inputs.
func (e *env) refOf(path string) (recording.Ref, error) {
	format, err := e.detectOne(path)
	return e.refTo(path, format), err
}

// refTo names a recording of a known format, with the flags for inputs.
func (e *env) refTo(path string, format *storage.Format) recording.Ref {
	job, read := &e.set.job, storage.ReadOptions{FS: e.files(), Key: e.set.job.Read.Key}
	ref := recording.Ref{Path: path, Format: format, Read: read, Definitions: job.Definitions, Distro: job.Distro}
	if ref.Distro == mapping.ROS1Distro { // of which gen makes code, and which is no choice of definitions
		ref.Distro = ""
	}
	return ref
}

// scanLimitOf is scanLimit for a recording of this machine, and less for one that is not.
func scanLimitOf(path string) int64 {
	if iox.IsURL(path) {
		return infoLimit
	}
	return scanLimit
}

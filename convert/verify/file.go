package verify

import (
	"context"

	"github.com/bagconv/bagconv/internal/identify"
	"github.com/bagconv/bagconv/storage"
)

// Files compares the recordings at two paths or URLs, whatever their formats: Run, with the formats that their content
// has. job has what is to be done otherwise; of it the paths of A and B are not used, and what is set of their formats
// and file systems stays.
//
//	res, err := verify.Files(ctx, all.Registry(), a, b, verify.Job{})
//	if err == nil && !res.Equal { ... }
//
// If one of them is no recording, the error wraps storage.ErrUnknownFormat. Other errors are the
// errors of Run.
func Files(ctx context.Context, formats *storage.Registry, a, b string, job Job) (*Result, error) {
	if job.A.Read.FS == nil && job.B.Read.FS == nil {
		place, err := formats.Locate(ctx, nil, a, b)
		if err != nil {
			return nil, err
		}
		defer place.End()
		a, b = place.Names[0], place.Names[1]
		job.A.Read.FS, job.B.Read.FS = place.FS, place.FS
	}
	job.A.Path, job.B.Path = a, b
	for _, side := range []*Side{&job.A, &job.B} {
		if side.Format != nil {
			continue
		}
		var err error
		if side.Format, err = identify.Detect(formats, side.Read.FS, side.Path); err != nil {
			return nil, err
		}
	}
	return Run(ctx, job)
}

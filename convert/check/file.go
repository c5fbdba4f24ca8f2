package check

import (
	"context"
	"errors"

	"github.com/bagconv/bagconv/storage"
)

// File checks the recording at a path or URL: Run, with its reader.
//
//	res, err := check.File(ctx, all.Registry(), path, check.Options{})
//	for _, f := range res.Findings { fmt.Println(f.Severity, f.Code, f.Message) }
//
// If it is no recording, the error wraps storage.ErrUnknownFormat.
func File(ctx context.Context, formats *storage.Registry, path string, o Options) (res *Result, err error) {
	r, err := formats.Open(ctx, path, storage.ReadOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return Run(ctx, r, o)
}

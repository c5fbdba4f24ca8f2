package live

import (
	"context"

	"github.com/bagconv/bagconv/storage"
)

// Source returns the source of a conversion that records a running system: open begins to record from
// Job.Source, an address. Such a job has Order: convert.OrderFile.
func Source(open func(ctx context.Context, address string) (storage.Reader, error)) *storage.Format {
	return &storage.Format{
		Name:  "live",
		Files: func(storage.FS, string) (storage.Files, error) { return storage.Files{}, nil },
		Open: func(ctx context.Context, address string, _ storage.ReadOptions) (storage.Reader, error) {
			return open(ctx, address)
		},
	}
}

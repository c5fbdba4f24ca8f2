// Package live records and plays running systems: a Source makes a recorder of a protocol the source of a conversion,
// and a Clock is when a player sends. Packages ros1 and foxglove are the protocols. A Recorder refuses nothing; what
// does not fit into its memory is left out and counted. The methods of a Clock are safe for concurrent use, and so are
// Stop, Release and Stats of a Recorder.
//
//	protocol -> Recorder -> conversion -> file          Source
//	file -> conversion -> player, at the time of Clock -> protocol
package live

import (
	"context"

	"github.com/bagconv/bagconv/internal/live/intake"
	"github.com/bagconv/bagconv/storage"
)

// What a Recorder is, and what it is told.
type (
	// A Recorder is a storage.Reader and a storage.Resumer of what a protocol receives. Stop ends it, and what was
	// received until then is still read; Stats returns what became of each topic; Release passes on what a snapshot keeps.
	Recorder = intake.Recorder

	// Options are the limits of a recording. The zero value is the defaults.
	Options = intake.Options

	// TopicStats are what became of a topic.
	TopicStats = intake.TopicStats
)

// DefaultMaxMessage is how large a message of a running system may be, in bytes.
const DefaultMaxMessage = intake.DefaultMaxMessage

// Source returns the source of a conversion that records a running system: open begins to record from
// Job.Source, an address. Such a job has Order: convert.OrderFile.
func Source(open func(ctx context.Context, address string) (storage.Reader, error)) *storage.Format {
	return &storage.Format{
		Name:   "live",
		Layout: storage.Layout{Files: func(storage.FS, string) (storage.Files, error) { return storage.Files{}, nil }},
		Open: func(ctx context.Context, address string, _ storage.ReadOptions) (storage.Reader, error) {
			return open(ctx, address)
		},
	}
}

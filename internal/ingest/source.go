package ingest

import (
	"context"
	"io"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// The forms of input.
const (
	Frames  = "frames"
	Lines   = "ndjson"
	Arrow   = "arrow"
	Parquet = "parquet"
)

// Forms lists the forms of input.
func Forms() []string { return []string{Frames, Lines, Arrow, Parquet} }

// formatName is Format.Name of an input that was made from nothing known.
const formatName = "import"

// Stdin is the path that means Options.In.
const Stdin = "-"

// Options are how an input is read. The zero value of each is the default.
type Options struct {
	Form string    // of the input, one of Forms; "": by its first bytes
	In   io.Reader // what the path Stdin means; nil: nothing

	// Like are recordings whose topics the input has: encodings, definitions, QoS and metadata are
	// theirs, by the name and the type of a topic, and the metadata of the recording is the
	// metadata of the first. Messages and extras are not.
	Like []Like

	Topic string // of values whose input does not name one; "": such an input is an error
	Type  string // of topics whose type the input and Like do not say; "": such an input is an error

	Definitions []*defset.Set // that the user has, in order of preference
	Distro      string        // whose standard definitions are taken; "": the distribution of Like, or the default

	TempDir string // for an input that cannot be read twice
}

// A Like is a recording that an input is like.
type Like struct {
	*storage.Info
	Path   string          // which no output may replace; "": any
	Mapper *mapping.Mapper // finds the definitions by which its messages are read; nil: as for topics of the input
}

// Source returns the source of a conversion of an input: Job.Source is a path, or Stdin. The format belongs to one
// run: opening an input sets its Sequence, and its Name if the input says what it was made from: a conversion to that
// format leaves messages as they are.
func Source(o Options) *storage.Format {
	f := &storage.Format{Name: formatName, Holds: storage.Capacity{PublishTime: true}}
	f.Layout.Files = func(_ storage.FS, path string) (storage.Files, error) {
		var files storage.Files
		for _, l := range o.Like {
			if l.Path != "" {
				files.Beside = append(files.Beside, l.Path)
			}
		}
		if path != Stdin {
			files.Messages = []string{path}
		}
		return files, nil // of a folder no file may be replaced, either: it is an input
	}
	f.Open = func(ctx context.Context, path string, read storage.ReadOptions) (storage.Reader, error) {
		r, err := open(ctx, path, &o, read)
		if err != nil {
			return nil, err
		}
		f.Name, f.Holds.Sequence = r.info.Format, r.numbered
		return r, nil
	}
	return f
}

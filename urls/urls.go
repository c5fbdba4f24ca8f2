// Package urls makes file systems in which names that are URLs are files: of web servers, which are read, and of object
// stores, which are read and written. docs/remote.md has what the URLs are, where credentials come from, and what
// happens if something goes wrong.
//
// all.Open, and whatever takes the formats of all.Registry, makes one by itself for a name that is a URL. New makes one
// with other limits, or for several recordings:
//
//	files, end := urls.New(ctx, urls.Options{Bandwidth: 10e6, Listings: all.Registry().Listings()})
//	defer end()
//	r, err := all.Open(ctx, "https://example.org/drive", storage.ReadOptions{FS: files})
//
// Such a file system goes into storage.ReadOptions.FS and storage.WriteOptions.FS, which convert.Job has as Read and
// Write. Nothing else of the process knows it, so that several with other limits may be used at the same time.
package urls

import (
	"context"
	"time"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/storage"
)

// Options are the limits of a file system, over all that is read and written in it. Zeros are the defaults of the
// command line.
type Options struct {
	Connections int           // requests at a time; 8
	Bandwidth   int64         // bytes per second, of all requests; no limit
	Timeout     time.Duration // without a byte, of one request; 60 s
	Retries     int           // attempts after the first, of a request that gets nowhere; 6; -1: none
	Memory      int64         // bytes of outputs that wait to be sent; 64 MiB; more of them wait in a temporary file

	// Note is told what may surprise, such as objects whose keys are no paths. It may be called from several
	// goroutines. Nil: nobody is told.
	Note func(text string)

	// Listings are of the folders on web servers, which do not list them: the listings of the formats to read.
	Listings []storage.Listing
}

// New returns a file system whose requests end with ctx. Names that are no URLs are names of the operating system. end
// gives up what was begun to be written and is not whole; the file system is not to be used after it. It is safe for
// concurrent use, but for end.
func New(ctx context.Context, o Options) (files storage.FS, end func()) {
	stores := remote.New(ctx, &remote.Settings{
		Connections: o.Connections, Bandwidth: o.Bandwidth, Timeout: o.Timeout, Retries: o.Retries, Memory: o.Memory,
		Note: o.Note, Listings: o.Listings,
	})
	return iox.Join(nil, stores), stores.Close
}

// Name returns the name to use for a URL that people wrote: for file: URLs the path; for a URL with a query or a
// password one in which a mark stands for these, so that neither is in an error, and files beside it have them too; and
// else the URL. It refuses a URL that is no path, such as one with empty parts. The process keeps what was marked.
func Name(url string) (string, error) { return remote.Name(url) }

// Locate makes a file system of default limits for names of which some are URLs: it is the storage.Locator of
// all.Registry.
func Locate(ctx context.Context, listings []storage.Listing, names []string) (storage.Place, error) {
	p, some := storage.Place{Names: make([]string, len(names))}, false
	for i, name := range names {
		var err error
		if p.Names[i], err = Name(name); err != nil {
			return p, err
		}
		some = some || iox.IsURL(p.Names[i])
	}
	if some {
		p.FS, p.End = New(ctx, Options{Listings: listings})
	}
	return p, nil
}

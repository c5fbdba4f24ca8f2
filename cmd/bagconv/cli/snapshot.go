package cli

import (
	"os"
	"os/signal"
	"sync"

	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

// A snapshotReader passes on what a recorder has kept, each time the signal comes.
type snapshotReader struct {
	liveReader
	signals chan os.Signal
	once    sync.Once
	done    sync.WaitGroup
}

// snapshots returns a reader that waits for signals. say writes how many messages each has passed on; it is not
// called after Close.
func snapshots(r liveReader, signals chan os.Signal, say func(messages int)) *snapshotReader {
	s := &snapshotReader{liveReader: r, signals: signals}
	s.done.Go(func() {
		for range signals {
			say(r.Release())
		}
	})
	return s
}

// Close ends the waiting, and the recorder. See storage.Reader.
func (s *snapshotReader) Close() error {
	s.once.Do(func() {
		signal.Stop(s.signals)
		close(s.signals)
	})
	s.done.Wait()
	return s.liveReader.Close()
}

var (
	_ storage.Reader  = (*snapshotReader)(nil)
	_ storage.Resumer = (*snapshotReader)(nil)
)

// A liveReader reads a running system.
type liveReader interface {
	storage.Reader
	storage.Resumer
	Stop(error)
	Release() int
	Stats() []live.TopicStats
}

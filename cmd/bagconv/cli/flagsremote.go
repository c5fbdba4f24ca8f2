package cli

import (
	"slices"
	"strconv"
	"time"

	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/storage"
)

// remoteFlags are limits of what is read and written elsewhere, by URL.
func (s *settings) remoteFlags() (list []flag) {
	count := func(least int) func(string) (int, error) {
		return func(text string) (int, error) {
			n, err := strconv.Atoi(text)
			if err != nil || n < least || n > 1000 {
				return 0, usage("", "it takes a number from %d to 1000, not %q", least, text)
			}
			if n == 0 {
				n = -1 // none, which is not the default
			}
			return n, nil
		}
	}
	timeout := func(text string) (time.Duration, error) {
		d, err := selection.ParseDuration(text)
		return time.Duration(d), err
	}
	for _, f := range []flag{
		{name: "connections", arg: "N", kind: aNumber, set: parsed(&s.remote.Connections, count(1)),
			help: "requests at a time of what is read and written by URL (default " + strconv.Itoa(remote.DefaultConnections) + ")"},
		{name: "bandwidth", arg: "SIZE", set: parsed(&s.remote.Bandwidth, storage.ParseSize),
			help: "bytes per second that all of it takes together at most, such as 50M (default: no limit)"},
		{name: "timeout", arg: "D", set: parsed(&s.remote.Timeout, timeout), help: "how long a request may go without a byte (default 60s)"},
		{name: "retries", arg: "N", kind: aNumber, set: parsed(&s.remote.Retries, count(0)),
			help: "further attempts of a request that gets nowhere (default " + strconv.Itoa(remote.DefaultRetries) + ")"},
	} {
		list = append(list, f.in(runGroup, f.help, remoteWriters...), f.in(readGroup, f.help, remoteReaders...))
	}
	return list
}

// The commands that read recordings by URL, those that write first.
var (
	remoteWriters = append(slices.Clone(newOutput), "batch", "work")
	remoteReaders = []string{"info", "topics", "du", "list", "schema", "cat", "check", "verify"}
)

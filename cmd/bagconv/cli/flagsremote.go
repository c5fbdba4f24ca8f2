package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
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
			help: "bytes per second of all that is read and written by URL, such as 50M (default: no limit)"},
		{name: "timeout", arg: "D", set: parsed(&s.remote.Timeout, timeout), help: "how long a request to a URL may wait for its next 16 KiB (default 60s)"},
		{name: "retries", arg: "N", kind: aNumber, set: parsed(&s.remote.Retries, count(0)),
			help: "further attempts of a request to a URL that gets nowhere (default " + strconv.Itoa(remote.DefaultRetries) + ")"},
	} {
		list = append(list, f.in(runGroup, f.help, remoteWriters...), f.in(readGroup, f.help, remoteReaders...))
	}
	return list
}

// sayLocal says that limits were given which concern URLs alone, if no word of the line is one.
func (e *env) sayLocal(c *command, words []string) {
	var flags []string
	for _, f := range c.flags {
		if slices.ContainsFunc(e.set.remoteFlags(), func(r flag) bool { return r.name == f.name }) && f.IsSet() {
			flags = append(flags, dashed(f.name))
		}
		words = append(words, f.texts...)
	}
	words = append(words, os.Getenv(defsVariable))
	isURL := func(word string) bool { return iox.IsURL(word) || strings.Contains(word, "://") } // also one in a list of places
	// Plans and lists of inputs may have URLs.
	if len(flags) == 0 || e.set.quiet || c.name == "work" || len(e.set.includeFrom) > 0 || slices.ContainsFunc(words, isURL) {
		return
	}
	e.writeLines("note", []string{fmt.Sprintf("%s: without effect, because no URL is read or written", strings.Join(flags, ", "))})
}

// The commands that read recordings by URL, those that write first.
var (
	remoteWriters = append(slices.Clone(newOutput), "batch", "work")
	remoteReaders = []string{"info", "topics", "du", "list", "schema", "cat", "check", "verify"}
)

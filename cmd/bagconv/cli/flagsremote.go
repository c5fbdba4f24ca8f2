package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/remote"
	"github.com/bagconv/bagconv/storage"
)

// remoteFlags are limits of what is read and written elsewhere, by URL.
func (s *settings) remoteFlags() (list []flags.Flag) {
	count := func(least int) func(string) (int, error) {
		return func(text string) (int, error) {
			n, err := strconv.Atoi(text)
			if err != nil || n < least || n > 1000 {
				return 0, flags.Usage("", "it takes a number from %d to 1000, not %q", least, text)
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
	for _, f := range []flags.Flag{
		{Name: "connections", Arg: "N", Kind: flags.Number, Set: flags.Parsed(&s.remote.Connections, count(1)),
			Help: "requests at a time of what is read and written by URL (default " + strconv.Itoa(remote.DefaultConnections) +
				")"},
		{Name: "bandwidth", Arg: "SIZE", Set: flags.Parsed(&s.remote.Bandwidth, storage.ParseSize),
			Help: "bytes per second of all that is read and written by URL, such as 50M (default: no limit)"},
		{Name: "timeout", Arg: "D", Set: flags.Parsed(&s.remote.Timeout, timeout),
			Help: "how long a request to a URL may wait for its next 16 KiB (default 60s)"},
		{Name: "retries", Arg: "N", Kind: flags.Number, Set: flags.Parsed(&s.remote.Retries, count(0)),
			Help: "how often to repeat a request to a URL that gets nowhere (default " + strconv.Itoa(remote.DefaultRetries) +
				")"},
	} {
		list = append(list, f.In(urlGroup, "",
			makes+" export batch import work info list defs cat check report verify index"))
	}
	return list
}

// sayLocal says that limits were given which concern URLs alone, if no word of the line is one.
func (e *env) sayLocal(c *flags.Command, words []string) {
	var limits []string
	for _, f := range c.Flags {
		if slices.ContainsFunc(e.set.remoteFlags(), func(r flags.Flag) bool { return r.Name == f.Name }) && f.IsSet() {
			limits = append(limits, flags.Dashed(f.Name))
		}
		words = append(words, f.Texts...)
	}
	words = append(words, os.Getenv(defsVariable))
	// also one in a list of places
	isURL := func(word string) bool { return iox.IsURL(word) || strings.Contains(word, "://") }
	// Plans and lists of inputs may have URLs.
	if len(limits) == 0 || e.set.quiet || c.Name == "work" || len(e.set.batch.includeFrom) > 0 ||
		slices.ContainsFunc(words, isURL) {
		return
	}
	e.writeLines("note", []string{fmt.Sprintf("%s: without effect, because no URL is read or written",
		strings.Join(limits, ", "))})
}

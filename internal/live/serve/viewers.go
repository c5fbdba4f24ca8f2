package serve

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bagconv/bagconv/internal/live/access"
)

// A viewer is a web page that opens a recording by its address.
type viewer struct {
	Name    string
	Origin  string   // "": the viewer runs on this machine
	Local   string   // where one is looked for on this machine; "": it has an Origin
	Address string   // %s is the escaped address of the recording
	Endings []string // of recordings that it reads
	Live    string   // %s is the escaped address of a WebSocket on which one is played; "": it takes no address
}

// viewers.json has the viewers that are known to open recordings by address. Sources: foxglove
// docs.foxglove.dev/docs/visualization/shareable-links, lichtblick-suite/lichtblick
// packages/suite-base/src/util/appURLState.ts, rerun.io/docs/reference/viewer/urls.
//
//go:embed viewers.json
var viewersText []byte

var viewers = sync.OnceValue(func() (list []viewer) {
	if err := json.Unmarshal(viewersText, &list); err != nil {
		panic("internal error: viewers.json: " + err.Error())
	}
	return list
})

// An Obstacle is why a viewer gets no links.
type Obstacle struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// obstacles says of each viewer, in their order, why it cannot open recordings here for who asks; "": it can.
func (s *Server) obstacles(r *http.Request) []string {
	known := viewers()
	why := make([]string, len(known))
	for i := range known {
		v := &known[i]
		switch {
		case v.Local != "":
			why[i] = s.absent(r, v)
		case !s.rules().Origin(v.Origin, ""):
			why[i] = "may not read here, until bagconv serve is started with --allow-origin " + v.Origin
		case !access.ThisMachine(r.Host):
			why[i] = "is a page with encryption, which browsers let read from localhost only"
		}
	}
	return why
}

// absent says why there is no viewer on the machine of who asks.
func (s *Server) absent(r *http.Request, v *viewer) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return "is looked for on the machine that serves, for its own browsers only"
	}
	if !s.locals.answers(r.Context(), &s.config, v) {
		return "does not answer at " + v.Local + ": start it there, and load this page again"
	}
	return ""
}

// locals remembers which viewers of this machine answered.
type locals struct {
	mu    sync.Mutex
	known map[string]localViewer
}

type localViewer struct {
	answers bool
	at      time.Time
}

// localTime is how long an answer is remembered.
const localTime = 5 * time.Second

func (k *locals) answers(ctx context.Context, config *Config, v *viewer) bool {
	if config.Fetch == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if old, ok := k.known[v.Name]; ok && time.Since(old.at) < localTime {
		return old.answers
	}
	page, err := config.Fetch(ctx, v.Local)
	found := localViewer{err == nil && strings.Contains(strings.ToLower(page), strings.ToLower(v.Name)), time.Now()}
	if k.known == nil {
		k.known = map[string]localViewer{}
	}
	k.known[v.Name] = found
	return found.answers
}

// readers returns links to viewers that read such a file, and have no obstacle.
func readers(address string, obstacles []string) []Link {
	return links(address, obstacles, func(v *viewer) string {
		if !slices.ContainsFunc(v.Endings, func(ending string) bool { return strings.EqualFold(path.Ext(address), ending) }) {
			return ""
		}
		return v.Address
	})
}

// links returns links to viewers without an obstacle; form returns how an address is passed, "" if it is not.
func links(address string, obstacles []string, form func(*viewer) string) []Link {
	list := []Link{}
	known := viewers()
	for i := range known {
		if f := form(&known[i]); f != "" && obstacles[i] == "" {
			list = append(list, Link{Text: known[i].Name, URL: fmt.Sprintf(f, url.QueryEscape(address))})
		}
	}
	return list
}

// sizeText returns a number of bytes for people.
func sizeText(n int64) string {
	units := []string{"bytes", "kB", "MB", "GB", "TB"}
	v, i := float64(n), 0
	for v >= 999.5 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.3g %s", v, units[i])
}

package serve

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
)

// A viewer is a web page that opens a recording by its address.
type viewer struct {
	Name    string
	Origin  string   // "": the viewer runs on this machine
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

// viewers returns links to viewers that read such a file, and may.
func (s *Server) viewers(address string) []Link {
	return s.links(address, func(v *viewer) string {
		if !slices.ContainsFunc(v.Endings, func(ending string) bool { return strings.EqualFold(path.Ext(address), ending) }) {
			return ""
		}
		return v.Address
	})
}

// links returns links to viewers that may read here; form returns how an address is passed, "" if it is not.
func (s *Server) links(address string, form func(*viewer) string) []Link {
	list := []Link{}
	known := viewers()
	for i := range known {
		v := &known[i]
		if f := form(v); f != "" && (v.Origin == "" || s.rules().Origin(v.Origin, "")) {
			list = append(list, Link{Text: v.Name, URL: fmt.Sprintf(f, url.QueryEscape(address))})
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

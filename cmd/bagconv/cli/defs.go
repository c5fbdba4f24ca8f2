package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/recording"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/schema/defset"
	"github.com/bagconv/bagconv/storage"
)

// defsVariable is the environment variable that adds places to those of --defs.
const defsVariable = "BAGCONV_DEFS"

// readDefinitions reads the places of --defs, then those of the environment.
func (e *env) readDefinitions(ctx context.Context) error {
	type place struct{ path, origin string }
	var places []place
	for _, path := range e.set.defs {
		places = append(places, place{path, "--defs"})
	}
	for _, path := range splitPlaces(os.Getenv(defsVariable)) {
		if path != "" {
			places = append(places, place{path, defsVariable})
		}
	}
	for _, p := range places {
		set, err := e.readPlace(ctx, p.path, e.set.job.Definitions)
		if err != nil {
			return usage(placeHint, "%s: %v", p.origin, explain(err))
		}
		for _, problem := range set.Problems {
			e.say("%s %s: %s", p.origin, clean(p.path), clean(problem))
		}
		e.set.job.Definitions = append(e.set.job.Definitions, set.All()...)
	}
	return nil
}

// splitPlaces splits a list of places, in which the colons of a URL, after its scheme and before its
// port, are not between places.
func splitPlaces(list string) (places []string) {
	for _, part := range filepath.SplitList(list) {
		last := len(places) - 1
		scheme := last >= 0 && strings.HasPrefix(part, "//") && iox.IsURL(places[last]+":/x")
		port := last >= 0 && part != "" && part[0] >= '0' && part[0] <= '9' && iox.IsURL(places[last]) && strings.Count(places[last], "/") == 2
		if scheme || port {
			places[last] += ":" + part
		} else {
			places = append(places, part)
		}
	}
	return places
}

// readPlace reads the definitions of one place; before are those that were read before.
func (e *env) readPlace(ctx context.Context, path string, before []*defset.Set) (*defset.Set, error) {
	format, err := e.formats.DetectIn(e.fs, path)
	if err != nil {
		return defset.Read(e.fs, path, before...)
	}
	return e.definitionsIn(ctx, format, path)
}

// sayDoubts warns of why the definition of a topic may be wrong.
func (e *env) sayDoubts(t *storage.Topic, remarks []mapping.Remark) {
	var lines []lossJSON
	for _, r := range remarks {
		if r.Warning {
			lines = append(lines, lossJSON{Code: r.Code, Topic: t.Name, Message: r.Message})
		}
	}
	e.writeLines("warning", lossLines(lines, ""))
}

// definitionsIn returns the definitions that a recording has.
func (e *env) definitionsIn(ctx context.Context, format *storage.Format, path string) (set *defset.Set, err error) {
	r, err := recording.Open(ctx, recording.Ref{Path: path, Format: format, Read: storage.ReadOptions{FS: e.fs, InfoOnlyAbove: scanLimit, Key: e.set.job.Read.Key}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info := r.Info
	set = defset.New(path)
	set.Recorded = true
	for i := range info.Topics {
		t := &info.Topics[i].Topic
		if len(t.Schema.Data) == 0 {
			continue
		}
		topic := defset.New(path)
		topic.Recorded = true
		if err := topic.AddText(t.Type, t.Schema.Encoding, t.Schema.Data, t.Name); err != nil {
			set.Problems = append(set.Problems, fmt.Sprintf("topic %s: %v", t.Name, err))
		}
		set.Join(topic)
	}
	if set.Empty() {
		return nil, fmt.Errorf("%s: %w", path, defset.ErrNone)
	}
	return set, nil
}

package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/schema/defset"
	"github.com/bagconv/bagconv/schema/builtin"
	"github.com/bagconv/bagconv/storage"
)

// readPlace reads the definitions of one place; before are the definitions of the places before it.
func (e *env) readPlace(ctx context.Context, path string, before []*defset.Set) (*defset.Set, error) {
	format, err := e.formats.DetectIn(e.fs, path)
	if err != nil {
		return defset.Read(e.fs, path, before...)
	}
	return e.definitionsIn(ctx, format, path)
}

// sayDoubts warns of why the definition of a topic may be wrong.
func (e *env) sayDoubts(t *storage.Topic, remarks []mapping.Remark) {
	var lines []convert.Loss
	for _, r := range remarks {
		if r.Warning {
			lines = append(lines, convert.Loss{Code: r.Code, Topic: t.Name, Message: r.Message})
		}
	}
	e.writeLines("warning", lossLines(lines, ""))
}

// merged reads places as one. Each may be what --defs takes.
func (e *env) merged(ctx context.Context, paths []string) (*defset.Set, error) {
	var sets []*defset.Set
	for _, path := range paths {
		set, err := e.readPlace(ctx, path, sets)
		if err != nil {
			return nil, &failure{path: path, what: "its definitions cannot be read: " + explain(err), hint: placeHint, err: err}
		}
		for _, problem := range set.Problems {
			e.say("%s: %s", phrase.Clean(path), phrase.Clean(problem))
		}
		sets = append(sets, set)
	}
	sets = append(sets, e.set.job.Definitions...)
	out := defset.Merge("all places", sets...)
	for _, problem := range out.Problems {
		e.say("%s", phrase.Clean(problem))
	}
	return out, nil
}

// placeHint explains what a place of definitions is.
const placeHint = "a place is a folder of ROS packages, a .zip or .tar.gz of one, a definition, a pack, or a recording"

// standardTypes complete definitions with the standard types of a distribution.
func standardTypes(distro string) defset.Rest {
	distro, _ = mapping.SourceDistro(distro, nil)
	return defset.Rest{ROS1: lookupIn(mapping.ROS1Distro), ROS2: lookupIn(distro)}
}

// definitionsIn returns the definitions that a recording has.
func (e *env) definitionsIn(ctx context.Context, format *storage.Format, path string) (set *defset.Set, err error) {
	ref := e.refTo(path, format)
	ref.Read.InfoOnlyAbove = scanLimit
	r, err := recording.Open(ctx, ref)
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

func lookupIn(distro string) func(string) (string, bool) {
	return func(name string) (string, bool) { return builtin.Lookup(distro, name) }
}

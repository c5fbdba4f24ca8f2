package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/guard"
	"github.com/bagconv/bagconv/internal/schema/defset"
)

// packKind is what a pack may take the place of: the first entry of one is its index.
var packKind = guard.Kind{Name: "pack of definitions", Is: func(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK")) && bytes.Contains(head[:min(len(head), 64)], []byte(defset.PackIndex))
}}

// collect writes the definitions of places into a pack.
func (e *env) collect(ctx context.Context, paths []string) error {
	out := e.set.output
	switch {
	case len(paths) == 0:
		return flags.Usage("type: bagconv defs pack IN... -o pack.zip", "no input given")
	case !strings.HasSuffix(strings.ToLower(out), ".zip"):
		return flags.Usage("add -o pack.zip", "defs pack needs the name of a .zip archive, not %q", out)
	}
	set, err := e.merged(ctx, paths)
	if err != nil {
		return err
	}
	if _, err := e.fs.Stat(out); err == nil && !e.set.job.Write.Overwrite {
		return &failure{path: out, what: "it exists", hint: "--force replaces it", err: fs.ErrExist}
	}
	if err := packKind.Check(e.fs, out); err != nil {
		var r *guard.Refusal
		if errors.As(err, &r) {
			return flags.Usage(r.Hint, "-o %s: %s", phrase.Clean(out), phrase.Clean(r.What))
		}
		return err
	}
	n, err := e.writePack(set, out)
	if err != nil {
		return err
	}
	e.say("%s: %s", phrase.Clean(out), phrase.Count(int64(n), "definition"))
	return nil
}

// writePack writes a pack, which appears in one step.
func (e *env) writePack(set *defset.Set, path string) (n int, err error) {
	err = e.writeFile(packKind, path, func(w io.Writer) error {
		var problems []string
		var err error
		if n, problems, err = set.WritePack(w, standardTypes(e.set.job.Distro)); err != nil {
			return err
		}
		for _, problem := range problems {
			e.say("left out: %s", phrase.Clean(problem))
		}
		if n == 0 {
			return &failure{path: path, what: "no definition can be written",
				hint: "bagconv defs list shows what the places have"}
		}
		return nil
	})
	return n, err
}

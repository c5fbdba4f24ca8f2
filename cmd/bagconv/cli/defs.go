package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/iox"
)

// defsVariable is the environment variable that adds places to the places of --defs.
const defsVariable = "BAGCONV_DEFS"

// readDefinitions reads the places of --defs, then the places of the environment.
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
			return flags.Usage(placeHint, "%s: %v", p.origin, explain(err))
		}
		for _, problem := range set.Problems {
			e.say("%s %s: %s", p.origin, phrase.Clean(p.path), phrase.Clean(problem))
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
		port := last >= 0 && part != "" && part[0] >= '0' && part[0] <= '9' && iox.IsURL(places[last]) &&
			strings.Count(places[last], "/") == 2
		if scheme || port {
			places[last] += ":" + part
		} else {
			places = append(places, part)
		}
	}
	return places
}

// defsCommand is the command defs.
func (e *env) defsCommand() flags.Command {
	return flags.Command{
		Name: "defs", Part: codePart, Old: map[string]string{"migrate": "changes", "migrate plan": "changes",
			"schema": "show"}, Call: "defs WHAT ...", Summary: "show, explain, compare, pack definitions",
		About: `Shows which definitions there are, and which of them a conversion uses. WHAT is
  pack PLACE... -o pack.zip
               gather the definitions of recordings, workspaces and archives in
               one archive, which is all that --defs then needs
  list PLACE...
               list the types there, with md5sum, type hash and a fingerprint of
               the layout: types that share it are read alike
  show IN [TOPIC], show TYPE [PLACE]...
               print the definition of topics as the recording has it, or of a
               type as the first place has it; else the standard one
  which IN     list the definition of each topic of a recording, its place, why
               it is used, and which others fit the messages
  changes IN --types-to DEFS
               compare the types of a recording with other definitions, and
               draft rules for types that have changed: docs/migration.md
A place is what --defs takes; places of the line come before the places of --defs.`,
		Note: `docs/definitions.md has the rules by which a definition is chosen.`,
		Examples: []string{
			"bagconv defs pack src/ drive{file} -o pack.zip",
			"bagconv defs which drive{file} --defs pack.zip",
			"bagconv defs show drive{file} /imu --tree",
			"bagconv defs changes drive{file} --types-to ~/ws/src -o rules.yaml",
			"bagconv defs show sensor_msgs/msg/Imu --tree --distro jazzy",
			"bagconv defs list pack.zip --json | jq -r '.definitions[].type'",
		},
		Exits: flags.Exits{
			0: "done",
			1: "a recording or an output cannot be read or written, there is no such topic, or a definition is missing or " +
				"cannot be expanded",
			3:   "which: a topic has no definition that can be used",
			130: "interrupted",
		},
		Operands: []flags.Flag{{Kind: flags.OneWord, Values: flags.Words(defsWords...)}, {Kind: flags.File},
			{Kind: flags.Topic, Several: true}},
		Run: e.defs,
	}
}

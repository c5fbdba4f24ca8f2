package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/schema/defset"
)

// outputChanges lists what of a line and its environment changes what is written: the flags, and the content of
// the definitions that --defs, --types-to and BAGCONV_DEFS name. It is the only such list: manifests, tasks and
// the cache of serve have it. A key of an encrypted input is no part of it: with a wrong one nothing is
// written, and with the right one always the same.
func (e *env) outputChanges(flags []cli.Flag) (list []string) {
	groups := []*group{selectGroup, editGroup, outputGroup, messageGroup}
	for _, x := range flags {
		f := x.(*flag)
		if !slices.Contains(groups, f.group) || slices.Contains([]string{"from", "no-sync", "strict"}, f.name) {
			continue
		}
		for _, text := range f.texts {
			list = append(list, dashed(f.name)+"="+text)
		}
	}
	if content := e.definitions(); content != "" {
		list = append(list, "--defs=content:"+content)
	}
	return list
}

// definitions returns a hash of the definitions of the line and the environment, "" if there are none.
func (e *env) definitions() string {
	sets := e.set.job.Definitions
	if t := e.set.job.Target; t != nil && t.Set != nil {
		sets = append(slices.Clone(sets), t.Set)
	}
	return defset.Fingerprint(sets)
}

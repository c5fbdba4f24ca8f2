package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
)

// release is the version of a build that scripts/release makes: the linker sets
// it (-X).
var release string

// buildVersion returns the version and the revision of this build, from what the
// Go linker left in it; the revision is "" if the version has it.
func buildVersion() (version, revision string) {
	if release != "" {
		return release, ""
	}
	version = "(devel)"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, ""
	}
	if v := info.Main.Version; v != "" {
		version = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && version == "(devel)":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true" && revision != "":
			revision += " (modified)"
		}
	}
	return version, revision
}

// version reports which build this is.
func (e *env) version(ctx context.Context) error {
	if len(e.words) > 0 {
		return flags.Usage("type: bagconv version", "version takes no file")
	}
	version, revision := buildVersion()
	if revision != "" {
		revision = " " + revision
	}
	_, err := fmt.Fprintf(e.Out, "bagconv %s%s %s %s/%s\n", version, revision, runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
	return err
}

// versionCommand is the command version.
func (e *env) versionCommand() flags.Command {
	return flags.Command{
		Name: "version", Call: "version", Summary: "print version and platform of this build",
		About: `Prints the version of this build, the version of Go that built it, and the
platform.`,
		Examples: []string{
			"bagconv version",
			"bagconv --version",
		},
		Exits:    flags.Exits{0: "done"},
		Operands: []flags.Flag{{}},
		Run:      e.version,
	}
}

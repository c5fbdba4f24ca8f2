package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

func (e *env) versionCommand() *cli.Command {
	return &cli.Command{Name: "version", Action: e.version}
}

// version says which build this is, from what the Go linker left in it.
func (e *env) version(c *cli.Context) error {
	if c.NArg() > 0 {
		return usage("type: bagconv version", "version takes no file")
	}
	version, revision := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" {
			version = v
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && version == "(devel)":
				revision = " " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true" && revision != "":
				revision += " (modified)"
			}
		}
	}
	_, err := fmt.Fprintf(e.Out, "bagconv %s%s %s %s/%s\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

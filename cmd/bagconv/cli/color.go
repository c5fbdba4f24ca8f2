package cli

import (
	"os"
	"runtime"
	"strings"

	"github.com/urfave/cli/v2"
)

// colorFlag is a flag of all commands. Coloured is what begins a line on
// standard error: that of an error, "damaged:" and "lost:" in red, "warning:" in
// yellow. Standard output has no colours.
var colorFlag = &cli.StringFlag{Name: "color", Value: "auto", Usage: "auto, always or never"}

// The escape sequences (ECMA-48, SGR).
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// colors are the beginnings of lines that are coloured, without their colon.
var colors = map[string]string{"bagconv": red, "damaged": red, "lost": red, "warning": yellow}

// takeColor takes --color off a line and obeys the last one. Without it, a
// terminal gets colours unless NO_COLOR is set to anything (no-color.org).
// Windows gets none: its consoles may show the sequences as they are.
func (e *env) takeColor(args []string) (rest []string, err error) {
	mode := colorFlag.Value
	for i := 0; i < len(args); i++ {
		value, ok := strings.CutPrefix(args[i], "--"+colorFlag.Name+"=")
		switch {
		case args[i] == "--":
			rest, args = append(rest, args[i:]...), nil
		case ok:
			mode = value
		case args[i] == "--"+colorFlag.Name:
			if i++; i == len(args) {
				return nil, usage("see: bagconv help", "--color needs a value: %s", colorFlag.Usage)
			}
			mode = args[i]
		default:
			rest = append(rest, args[i])
		}
	}
	e.color = mode == "always" || mode == "auto" && e.Terminal && os.Getenv("NO_COLOR") == "" && runtime.GOOS != "windows"
	return rest, oneOf("--color", mode, choices(colorFlag.Usage)...)
}

// painted is "word:" in the colour of the word.
func (e *env) painted(word string) string {
	if code := colors[word]; code != "" && e.color {
		return code + word + ":" + plain
	}
	return word + ":"
}

package cli

import (
	"os"
	"runtime"
)

// The escape sequences (ECMA-48, SGR).
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	plain  = "\x1b[0m"
)

// colors are the beginnings of lines that are coloured, without their colon.
var colors = map[string]string{"bagconv": red, "damaged": red, "lost": red, "warning": yellow}

// colorAs sets the colours by a value of --color: the beginnings of lines on standard
// error, red for errors, "damaged:" and "lost:", yellow for "warning:". Without a value, a
// terminal gets colours unless NO_COLOR is set to anything (no-color.org). Windows gets
// none: its consoles may show the sequences as they are. Standard output has no colours.
func (e *env) colorAs(mode string) {
	auto := mode == "" || mode == "auto"
	e.color = mode == "always" || auto && e.Terminal && os.Getenv("NO_COLOR") == "" && runtime.GOOS != "windows"
}

// painted is "word:" in the colour of the word.
func (e *env) painted(word string) string {
	if code := colors[word]; code != "" && e.color {
		return code + word + ":" + plain
	}
	return word + ":"
}

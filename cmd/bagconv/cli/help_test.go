package cli

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
)

// TestNarrowHelp: a narrow terminal gets the same words in narrow lines; only what is verbatim, such
// as examples, stays as wide as it is.
func TestNarrowHelp(t *testing.T) {
	show := func(columns int, command string) string {
		var out, errOut bytes.Buffer
		Run(context.Background(), []string{"bagconv", "help", command}, Stdio{Out: &out, Err: &errOut,
			OutTerminal: columns > 0, OutColumns: columns}, all.Registry())
		if errOut.Len() > 0 || out.Len() == 0 {
			t.Fatalf("%s: %s", command, &errOut)
		}
		return out.String()
	}
	words := func(s string) []string { return strings.Fields(strings.NewReplacer(":", "", "\\\n", "").Replace(s)) }
	for _, command := range []string{"convert", "verify", "info", "batch"} {
		wide := show(0, command)
		for _, columns := range []int{1, 40, 70, 200} {
			text := show(columns, command)
			if !slices.Equal(words(text), words(wide)) {
				t.Errorf("help %s has other words at %d columns:\n%s", command, columns, text)
			}
			for line := range strings.Lines(text) {
				if columns >= 40 && len(line)-1 > min(columns, 80) && !strings.Contains(wide, "\n"+line) {
					t.Errorf("help %s at %d columns: %s", command, columns, line)
				}
			}
		}
		if show(80, command) != wide || show(200, command) != wide {
			t.Errorf("help %s differs on wide terminals", command)
		}
	}
}

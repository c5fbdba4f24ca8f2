package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/formats/all"
)

// TestSynonyms: each word of the table of synonyms leads to one of its choices in some command, and a flag in a choice
// is
// one that the named command takes.
func TestSynonyms(t *testing.T) {
	e := &env{formats: withExports(all.Registry())}
	commands := e.commands()
	takes := func(name string, only string) bool {
		for _, c := range commands {
			if c.Flag(name) != nil && (only == "" || (&flags.Flag{On: only}).TakenBy(c.Name)) {
				return true
			}
		}
		return false
	}
	for word, choices := range flags.Synonyms() {
		led := slices.ContainsFunc(commands, func(c *flags.Command) bool {
			_, err := flags.Parse(commands, []string{c.Name, flags.Dashed(word) + "=1"})
			return err != nil && slices.ContainsFunc(strings.Split(choices, " | "), func(choice string) bool {
				_, answer, limited := strings.Cut(choice, ": ")
				if !limited {
					answer = choice
				}
				return strings.Contains(err.Error(), answer)
			})
		})
		if !led {
			t.Errorf("--%s: no command has an answer", word)
		}
		for choice := range strings.SplitSeq(choices, " | ") {
			only, answer, limited := strings.Cut(choice, ": ")
			if !limited {
				only, answer = "", choice
			}
			for flag := range strings.FieldsSeq(answer) {
				flag = strings.TrimRight(flag, ",")
				if name := strings.TrimLeft(flag, "-"); flag[0] == '-' && flag != "-30s" && !takes(name, only) {
					t.Errorf("%s of --%s: no command takes it", flag, word)
				}
			}
		}
	}
}

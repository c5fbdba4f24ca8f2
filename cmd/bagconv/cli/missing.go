package cli

import (
	"errors"
	"slices"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/phrase"
	"github.com/bagconv/bagconv/internal/convert/batch"
)

// A missingCount counts the recordings that lack the topics of --missing-topics ok. The zero value is ready.
type missingCount struct {
	inputs   int            // of which a line of a manifest says what became
	without  int            // that have none of the topics
	patterns map[string]int // recordings without a topic of the pattern
}

// add adds the line of a manifest.
func (c *missingCount) add(e *batch.Entry) {
	if !e.Done() {
		return
	}
	if c.inputs++; e.Status == batch.StatusNoTopics {
		c.without++
	}
	for _, p := range e.Missing {
		if c.patterns == nil {
			c.patterns = map[string]int{}
		}
		c.patterns[p]++
	}
}

// nowhere returns the error of a run that looked at all inputs, and found the topics in no recording: perhaps their
// names are wrong.
func (c *missingCount) nowhere() error {
	if c.inputs == 0 || c.without < c.inputs {
		return nil
	}
	return errors.New("no recording has the selected topics; bagconv info --topics lists the topics of a recording")
}

// notes names the patterns that match in no recording, while others do.
func (c *missingCount) notes() (lines []string) {
	for p, n := range c.patterns {
		if n == c.inputs && c.without < n {
			lines = append(lines, phrase.Clean(p)+": no recording has such a topic")
		}
	}
	slices.Sort(lines)
	return lines
}

package cli

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"
)

// topics lists the topics of a recording, one per line: name, type, encoding,
// number of messages. It reads the index only, and estimates what the index does not have.
func (e *env) topics(c *cli.Context) (err error) {
	if c.NArg() != 1 {
		return usage("type: bagconv topics IN", "topics takes one recording, not %d", c.NArg())
	}
	path := c.Args().First()
	r, err := e.glance(c.Context, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	in := infoOf(r.Info, nil)
	if e.set.json {
		err = writeJSON(e.Out, struct {
			SchemaVersion int           `json:"schema_version"`
			Path          string        `json:"path"`
			Estimated     bool          `json:"estimated"`
			Topics        []topicJSON   `json:"topics"`
			Warnings      []warningJSON `json:"warnings"`
		}{schemaVersion, path, in.Estimated, in.Topics, in.Warnings})
	} else {
		err = e.writeTopics(in)
	}
	if err == nil && in.damaged() {
		e.writeLines("damaged", warningLines(path, in.Warnings))
		return outcome{lossy: true}.end()
	}
	return err
}

func (e *env) writeTopics(in *infoJSON) error {
	rows := make([][]string, len(in.Topics))
	for i, t := range in.Topics {
		rows[i] = []string{clean(t.Name), in.countText(t.Count)}
	}
	align(rows)
	for i, t := range in.Topics {
		if _, err := fmt.Fprintf(e.Out, "%s  %s  %s [%s]\n", rows[i][0], rows[i][1], clean(t.Type), clean(t.Encoding)); err != nil {
			return err
		}
	}
	return nil
}

package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/bagconv/bagconv/convert/recording"
)

// The JSON of du.
type (
	duJSON struct {
		SchemaVersion int           `json:"schema_version"`
		Path          string        `json:"path"`
		Size          int64         `json:"size"` // of all files
		Messages      int64         `json:"messages"`
		Stored        *int64        `json:"stored"` // of the files, with messages in it; null if the format has no such parts
		Raw           int64         `json:"raw"`    // of messages
		Topics        []duTopicJSON `json:"topics"` // the largest first
		Warnings      []warningJSON `json:"warnings"`
	}
	duTopicJSON struct {
		Name     string `json:"name"`
		Type     string `json:"type"`
		Encoding string `json:"encoding"`
		Messages int64  `json:"messages"`
		Stored   *int64 `json:"stored"`
		Raw      int64  `json:"raw"`
	}
)

// du lists the bytes of each topic.
func (e *env) du(c *cli.Context) (err error) {
	if c.NArg() != 1 {
		return usage("type: bagconv du IN", "du takes one recording, not %d", c.NArg())
	}
	path := c.Args().First()
	r, err := e.open(c.Context, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	info := r.Info
	show := e.newProgress()
	scan, err := r.Totals(c.Context, recording.Query{Threads: e.set.job.Threads, Progress: show.update})
	show.stop()
	if err != nil {
		return err
	}
	out := &duJSON{SchemaVersion: schemaVersion, Path: path, Size: info.Size, Messages: scan.Messages, Raw: scan.Bytes, Topics: []duTopicJSON{}}
	total := int64(0)
	for _, g := range groups(info, scan) {
		total += g.stats.Stored
		out.Topics = append(out.Topics, duTopicJSON{g.Name, g.Type, g.Encoding, g.messages, &g.stats.Stored, g.stats.Bytes})
	}
	if out.Stored = &total; total == 0 && out.Messages > 0 { // there are no blocks to share out
		out.Stored = nil
		for i := range out.Topics {
			out.Topics[i].Stored = nil
		}
	}
	slices.SortStableFunc(out.Topics, func(a, b duTopicJSON) int { return cmp.Compare(b.Raw, a.Raw) })
	out.Warnings = warningsJSON(r.Reader.Damage().Warnings)
	if e.set.json {
		err = writeJSON(e.Out, out)
	} else {
		err = e.writeUsage(out)
	}
	if err != nil {
		return err
	}
	damaged := (&infoJSON{Warnings: out.Warnings}).damaged()
	if damaged {
		e.writeLines("damaged", warningLines(path, out.Warnings))
	}
	return outcome{lossy: damaged}.end()
}

// writeUsage writes the bytes of each topic as text.
func (e *env) writeUsage(d *duJSON) error {
	stored := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return sizeText(*n)
	}
	rows, last := [][]string{{"", "stored", "raw", "%", "messages"}}, []string{"topic"}
	for _, t := range d.Topics {
		share := "-"
		if d.Raw > 0 {
			share = fmt.Sprintf("%.1f", 100*float64(t.Raw)/float64(d.Raw))
		}
		rows, last = append(rows, []string{"", stored(t.Stored), sizeText(t.Raw), share, grouped(t.Messages)}), append(last, clean(t.Name)+"  "+clean(t.Type))
	}
	rows, last = append(rows, []string{"", stored(d.Stored), sizeText(d.Raw), "", grouped(d.Messages)}), append(last, "all topics")
	if d.Stored != nil {
		rows, last = append(rows, []string{"", sizeText(d.Size - *d.Stored), "", "", ""}), append(last, "the rest of "+sizeText(d.Size))
	}
	for _, line := range table(rows, last) {
		if _, err := fmt.Fprintln(e.Out, line[2:]); err != nil { // after the empty column
			return err
		}
	}
	return nil
}

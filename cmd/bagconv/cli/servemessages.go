package cli

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/render"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/convert/text"
	"github.com/bagconv/bagconv/internal/live/serve"
	"github.com/bagconv/bagconv/storage"
)

// servedMessages makes the table of the first messages of a topic: the lines that cat prints as CSV, with notes in
// place of long lists.
func (e *env) servedMessages(ctx context.Context, fsys storage.FS, rec serve.Recording, topic string) (*serve.Table,
	error) {
	ref := e.refTo(rec.Path, rec.Format)
	ref.Read.FS = fsys
	var q recording.Query
	q.Select.Topics, q.Threads = []selection.Pattern{selection.Exactly(topic)}, e.set.job.Threads
	q.Edit.Latch = selection.NoLatch
	table := &serve.Table{}
	var lines bytes.Buffer
	printer := text.New(&lines, text.Options{Render: render.Options{Style: render.CSV}, Limit: serve.FirstMessages,
		Tell: func(_ *storage.Topic, left error, remarks []mapping.Remark) {
			if left != nil {
				table.Notes = append(table.Notes, "the messages cannot be shown: "+left.Error())
			}
			for _, r := range remarks {
				table.Notes = append(table.Notes, r.Message)
			}
		}})
	err := recording.Use(ctx, []recording.Ref{ref}, func(sources []*recording.Source) error {
		_, err := printer.Read(ctx, sources[0], q)
		return err
	})
	if errors.Is(err, text.ErrNothing) && len(table.Notes) > 0 {
		return table, nil
	}
	if err = errors.Join(err, printer.Flush()); err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(&lines).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s of %s as CSV: %w", topic, rec.Name, err)
	}
	if len(rows) > 0 {
		for i := range rows { // the first column is the topic
			rows[i] = rows[i][1:]
		}
		table.Columns, table.Rows = rows[0], rows[1:]
	}
	return table, nil
}

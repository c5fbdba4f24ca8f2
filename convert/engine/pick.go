package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// pick reads the messages that the index finds. See StreamJob.Pick.
func (job *StreamJob) pick(ctx context.Context, choice *selection.Choice, topics []StreamTopic, v Visitor) (*StreamResult, error) {
	src := job.Source
	query := storage.ReaderCapabilities(src.Reader).Query
	if query == nil {
		return nil, fmt.Errorf("messages of a %s cannot be found by their number: %w", src.Info.Format, storage.ErrUnsupported)
	}
	pick := *job.Pick
	pick.Topics, pick.Start, pick.End = []storage.TopicID{}, choice.First, choice.Last
	for i, chosen := range choice.Topics {
		if chosen {
			pick.Topics = append(pick.Topics, storage.TopicID(i))
		}
	}
	res := &StreamResult{Refused: make([]Refused, len(topics))}
	to := &Pipeline{Source: src, Visitor: v}
	var buf []byte
	for m, err := range query.Query(ctx, pick) {
		if err != nil {
			return nil, err
		}
		if err := checkTopic(m, len(topics)); err != nil {
			return nil, err
		}
		if p := topics[m.Topic].Program; p != nil {
			if buf, err = mapping.AppendAt(p, buf[:0], m.Data, m.LogTime); err != nil {
				r := &res.Refused[m.Topic]
				if r.Messages++; r.First == nil {
					r.First = err
				}
				continue
			}
			out := *m
			out.Data = buf
			m = &out
		}
		if err := to.take(m, repeatedBlock, nil, 0); errors.Is(err, ErrEnough) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	return res.end(src), nil
}

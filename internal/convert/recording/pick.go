package recording

import (
	"context"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// pick reads the messages that the index finds. See Query.Pick.
func (s *Source) pick(ctx context.Context, pick storage.Query, choice *selection.Choice, topics []Topic,
	v Visitor) (*Result, error) {
	query := storage.ReaderCapabilities(s.Reader).Query
	if query == nil {
		return nil, fmt.Errorf("messages of a %s cannot be found by their number: %w", s.Info.Format, storage.ErrUnsupported)
	}
	pick.Topics, pick.Start, pick.End = []storage.TopicID{}, choice.First, choice.Last
	for i, chosen := range choice.Topics {
		if chosen {
			pick.Topics = append(pick.Topics, storage.TopicID(i))
		}
	}
	res := &Result{Refused: make([]Refused, len(topics))}
	to := &Pipeline{Source: s, Visitor: v}
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
	return res.end(s), nil
}

package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// Pick is Stream for some messages that the index finds: pick.Reverse and pick.Skip define
// which, and the order of time; the topics and times are those of the job. It reads one
// message after the other, until write returns ErrEnough. An error that wraps
// storage.ErrUnsupported means that the format has no such index.
func Pick(ctx context.Context, job StreamJob, pick storage.Query, plan StreamPlan, write func(*storage.Message) error) (res *StreamResult, err error) {
	src, err := Open(ctx, job.Format, job.Path, job.Read, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	query := storage.ReaderCapabilities(src.Reader).Query
	if query == nil {
		return nil, fmt.Errorf("%s: messages of a %s cannot be found by their number: %w", job.Path, job.Format.Name, storage.ErrUnsupported)
	}
	choice, err := src.Choose(&job.Select, &job.Edit)
	if err != nil {
		return nil, err
	}
	named, _, err := job.look(ctx, src)
	if err != nil {
		return nil, err
	}
	topics, err := plan(named, choice.Topics)
	if err != nil {
		return nil, err
	}
	pick.Topics = []storage.TopicID{}
	for i, t := range topics {
		if choice.Topics[i] && !t.Skip {
			pick.Topics = append(pick.Topics, storage.TopicID(i))
		}
	}
	pick.Start, pick.End = choice.First, choice.Last
	res = &StreamResult{Refused: make([]Refused, len(topics))}
	var buf []byte
	for m, err := range query.Query(ctx, pick) {
		if err != nil {
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
		if err := write(m); errors.Is(err, ErrEnough) {
			break
		} else if err != nil {
			return nil, err
		}
	}
	res.Info = src.Info.Clone()
	res.Info.Damage = src.Damage()
	return res, nil
}

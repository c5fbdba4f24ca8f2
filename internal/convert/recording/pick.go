package recording

import (
	"context"
	"errors"
	"fmt"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A Pick is how the index finds messages. The zero value is all of them.
type Pick struct {
	Reverse bool  // the last message comes first
	Skip    int64 // messages that are left out at the start; only their heads are read
	NoData  bool  // as in storage.Query
}

// pick reads the messages that the index finds. See Query.Pick.
func (s *Source) pick(ctx context.Context, p *Pick, choice *selection.Choice, topics []Topic,
	v Visitor) (*Result, error) {
	query := storage.ReaderCapabilities(s.Reader).Query
	if query == nil {
		return nil, fmt.Errorf("messages of a %s cannot be found by their number: %w", s.Info.Format, storage.ErrUnsupported)
	}
	pick := storage.Query{Topics: []storage.TopicID{}, Start: choice.First, End: choice.Last, Reverse: p.Reverse,
		NoData: p.NoData}
	for i, chosen := range choice.Topics {
		if chosen {
			pick.Topics = append(pick.Topics, storage.TopicID(i))
		}
	}
	skip := p.Skip
	if choice.Filters != nil || choice.Stretches != nil { // the heads do not tell what they leave out
		pick.NoData = false
	} else {
		var err error
		if skip, err = skipHeads(ctx, query, &pick, p.Skip); err != nil {
			return nil, err
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
		takes, err := holds(choice, m)
		if err != nil {
			res.Refused[m.Topic].add(err)
		}
		if !takes {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if p := topics[m.Topic].Program; p != nil {
			if buf, err = mapping.AppendAt(p, buf[:0], m.Data, m.LogTime); err != nil {
				res.Refused[m.Topic].add(err)
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

// skipHeads makes q begin at the time of the message after the first n. It returns how many messages of this time
// are among the n: q still has them. If q has no more than n messages, all that it has are among them.
func skipHeads(ctx context.Context, querier storage.Querier, q *storage.Query, n int64) (same int64, err error) {
	if n == 0 {
		return 0, nil
	}
	heads := *q
	heads.NoData, heads.Limit = true, n+1
	seen, last := int64(0), int64(0)
	for m, err := range querier.Query(ctx, heads) {
		if err != nil {
			return 0, err
		}
		if seen == 0 || m.LogTime != last {
			same, last = 0, m.LogTime
		}
		seen, same = seen+1, same+1
	}
	if seen > n {
		same-- // the message after them
	}
	switch {
	case seen == 0:
	case q.Reverse && (q.Start != 0 || last != 0):
		q.End = last
	case !q.Reverse && (q.End != 0 || last != 0):
		q.Start = last
	default: // both bounds 0 would be all times
		same = n
	}
	return same, nil
}

// add counts a message.
func (r *Refused) add(err error) {
	if r.Messages++; r.First == nil {
		r.First = err
	}
}

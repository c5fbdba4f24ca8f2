package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// Blocks have the times of the whole recording, or their own if these are wanted.
func (r *refReader) Blocks(_ context.Context, wanted *storage.TimeRange) ([]storage.Block, storage.Order, error) {
	if wanted != nil {
		return r.timed(), storage.OrderBlocks, nil
	}
	all := times(r.rec.Messages)
	if r.broken == "bounds of parts that are too narrow" {
		all.End--
	}
	var out []storage.Block
	for at := 0; at < len(r.rec.Messages); at += refBlockLen {
		b := all
		b.Topics = topicsOf(r.rec.Messages[at:min(len(r.rec.Messages), at+refBlockLen)])
		if r.broken == "blocks without one of their topics" && len(b.Topics) > 1 {
			b.Topics = b.Topics[1:]
		}
		out = append(out, b)
	}
	return out, storage.OrderParts, nil
}

func (r *refReader) timed() (out []storage.Block) {
	for at := 0; at < len(r.rec.Messages); at += refBlockLen {
		b := times(r.rec.Messages[at:min(len(r.rec.Messages), at+refBlockLen)])
		if r.broken == "times of blocks that are too wide" {
			b.Start--
		}
		out = append(out, b)
	}
	return out
}

func times(msgs []storage.Message) storage.Block {
	b := storage.Block{Offset: -1, Messages: -1}
	for i, m := range msgs {
		if i == 0 {
			b.Start, b.End, b.Timed = m.LogTime, m.LogTime, true
		}
		b.Start, b.End = min(b.Start, m.LogTime), max(b.End, m.LogTime)
	}
	return b
}

func topicsOf(msgs []storage.Message) (topics []storage.TopicID) {
	for _, m := range msgs {
		if !slices.Contains(topics, m.Topic) {
			topics = append(topics, m.Topic)
		}
	}
	return topics
}

func (r *refReader) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if err := ctx.Err(); err != nil && r.broken != "does not stop" {
		return err
	}
	b.Messages, b.Buf = b.Messages[:0], nil
	shared := r.broken == "shares memory of blocks"
	if shared {
		r.buf = r.buf[:0]
	}
	for _, m := range r.rec.Messages[i*refBlockLen : min(len(r.rec.Messages), (i+1)*refBlockLen)] {
		if shared {
			at := len(r.buf)
			r.buf = append(r.buf, m.Data...)
			m.Data = r.buf[at:]
		} else {
			m.Data = bytes.Clone(m.Data)
		}
		r.message(&m)
		b.Messages = append(b.Messages, m)
	}
	if r.broken == "swaps messages of blocks" && len(b.Messages) > 1 {
		b.Messages[0], b.Messages[1] = b.Messages[1], b.Messages[0]
	}
	return nil
}

// Query sorts all messages.
func (r *refReader) Query(ctx context.Context, q storage.Query) iter.Seq2[*storage.Message, error] {
	return func(yield func(*storage.Message, error) bool) {
		for _, id := range q.Topics {
			if int(id) >= len(r.rec.Topics) && r.broken != "queries any topic" {
				yield(nil, fmt.Errorf("ref: no topic %d", id))
				return
			}
		}
		if q.Limit < 0 && r.broken != "queries any topic" {
			yield(nil, errors.New("ref: a query of less than nothing"))
			return
		}
		switch r.broken {
		case "queries without topics":
			q.Topics = nil
		case "queries up to the end":
			if q.Start != 0 {
				q.End--
			}
		case "queries return data that is not asked for":
			q.NoData = false
		case "queries forwards only":
			q.Reverse = false
		case "queries move ReadNext":
			r.at = min(r.at+1, len(r.rec.Messages))
		}
		var buf []byte
		list := Select(r.rec.Messages, q)
		if r.broken == "queries lose a message" && len(list) > 1 {
			list = list[1:]
		}
		for _, m := range list {
			if err := ctx.Err(); err != nil && r.broken != "does not stop queries" {
				yield(nil, err)
				return
			}
			buf = append(buf[:0], m.Data...)
			if r.broken == "queries give memory that is not theirs to give" {
				buf = m.Data
			}
			m.Data = buf
			if !yield(&m, nil) && r.broken != "does not stop queries" {
				return
			}
		}
	}
}

package values

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/bagconv/bagconv/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// Read returns the messages of a topic as values of T, in the order of the file. Each is the caller's
// to keep. It reads with ReadNext, so that only one loop over a reader may run.
//
// The loop ends after an error of the reader, or if the topic is missing or T does not fit its type. A
// message that does not fit is an error after which the loop goes on.
func Read[T any](r storage.Reader, topic string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		codecs, err := codecsOf[T](r, topic)
		if err != nil {
			yield(none, err)
			return
		}
		for {
			m, err := r.ReadNext()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(none, err)
				return
			case codecs[m.Topic] == nil:
				continue
			}
			var v T
			if err := codecs[m.Topic].Decode(m.Data, &v); err != nil {
				if !yield(none, fmt.Errorf("topic %s, message at time %d: %w", topic, m.LogTime, err)) {
					return
				}
			} else if !yield(v, nil) {
				return
			}
		}
	}
}

// codecsOf returns the codecs of all topics of that name.
func codecsOf[T any](r storage.Reader, topic string) (map[storage.TopicID]*Codec[T], error) {
	info, err := r.Info()
	if err != nil {
		return nil, err
	}
	known, err := mapping.Look(context.Background(), r, info, nil, "")
	if err != nil {
		return nil, err
	}
	mapper := mapping.New(known.Options())
	list := map[storage.TopicID]*Codec[T]{}
	for i := range info.Topics {
		t := &info.Topics[i].Topic
		if t.Name != topic {
			continue
		}
		if list[storage.TopicID(i)], err = compileTopic[T](mapper, t); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no topic %s", topic)
	}
	return list, nil
}

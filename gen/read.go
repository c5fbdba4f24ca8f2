package gen

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/bagconv/bagconv/schema"
	"github.com/bagconv/bagconv/storage"
)

// A Readable is a pointer to a struct that Go code has been generated for.
type Readable[T any] interface {
	*T
	TypeName() string
	UnmarshalROS1(data []byte) error
	UnmarshalCDR(data []byte) error
}

// Read returns the messages of a topic as values of a generated type, in the order of the file.
// Each is the caller's to keep. It reads with ReadNext, so that only one loop over a reader may
// run.
//
// The loop ends after an error of the reader, or if the topic is missing or of another type. A
// message that does not fit its type is an error, behind which the loop goes on.
func Read[T any, P Readable[T]](r storage.Reader, topic string) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		decode, err := decoders[T, P](r, topic)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			m, err := r.ReadNext()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(nil, err)
				return
			case decode[m.Topic] == nil:
				continue
			}
			p := P(new(T))
			if err = decode[m.Topic](p, m.Data); err != nil {
				p, err = nil, fmt.Errorf("topic %s, message at time %d: %w", topic, m.LogTime, err)
			}
			if !yield(p, err) {
				return
			}
		}
	}
}

// decoders returns what reads the messages of each topic of that name; nil for the others.
func decoders[T any, P Readable[T]](r storage.Reader, topic string) (map[storage.TopicID]func(P, []byte) error, error) {
	info, err := r.Info()
	if err != nil {
		return nil, err
	}
	list := map[storage.TopicID]func(P, []byte) error{}
	for i := range info.Topics {
		t := &info.Topics[i].Topic
		if t.Name != topic {
			continue
		}
		if want := P(nil).TypeName(); schema.ShortName(t.Type) != schema.ShortName(want) {
			return nil, fmt.Errorf("topic %s has type %s, not %s", topic, t.Type, want)
		}
		switch t.Encoding {
		case "ros1":
			list[storage.TopicID(i)] = P.UnmarshalROS1
		case "cdr":
			list[storage.TopicID(i)] = P.UnmarshalCDR
		default:
			return nil, fmt.Errorf("topic %s has messages in %q: %w", topic, t.Encoding, ErrUnsupported)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("there is no topic %s", topic)
	}
	return list, nil
}

package view

import (
	"fmt"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/storage"
)

// A Reader reads the messages of a topic.
type Reader struct {
	Type *message.Type
	Head mapping.Program // turns the messages into messages of Type; nil: they are already
}

// ReaderOf returns what reads the messages of a topic as they are.
func ReaderOf(t *storage.Topic) (*Reader, error) {
	return ReaderBy(mapping.New(mapping.Options{Encoding: "cdr"}), t)
}

// ReaderBy is ReaderOf with the definitions that a mapper finds.
func ReaderBy(m *mapping.Mapper, t *storage.Topic) (*Reader, error) {
	typ, d, err := m.Type(t)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", storage.ErrUnsupported, err)
	case typ == nil:
		return nil, fmt.Errorf("%w: there is no definition of its messages", storage.ErrUnsupported)
	}
	return &Reader{typ, d.Head}, nil
}

// Message returns a message as one of Type: the bytes that it is given, or the bytes in scratch,
// which is used again.
func (r *Reader) Message(m []byte, logTime int64, scratch *[]byte) ([]byte, error) {
	if r.Head == nil {
		return m, nil
	}
	var err error
	*scratch, err = mapping.AppendAt(r.Head, (*scratch)[:0], m, logTime)
	return *scratch, err
}

package chunked

import (
	"errors"
	"fmt"
	"iter"

	"github.com/bagconv/bagconv/storage"
)

// errEnough ends a list that nobody reads any more.
var errEnough = errors.New("enough")

// Sections returns the sections that list adds; see storage.SectionLister. An error of add
// ends list, which returns it.
func Sections(list func(add func(storage.Section) error) error) iter.Seq2[*storage.Section, error] {
	return func(yield func(*storage.Section, error) bool) {
		err := list(func(s storage.Section) error {
			if !yield(&s, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// GoesOn returns where reading goes on after damage in a file of size bytes; "" at its end.
func GoesOn(next, size int64) string {
	if next >= size {
		return ""
	}
	return fmt.Sprintf("; reading goes on at byte %d", next)
}

// PartSection describes a file of a recording: kind is what the format calls it.
func PartSection(path, kind string, size, messages, start, end int64) storage.Section {
	s := storage.NewSection(path, kind, 0, size)
	if s.Messages = storage.Known(messages); messages > 0 {
		s.Span(start, end)
	}
	return s
}

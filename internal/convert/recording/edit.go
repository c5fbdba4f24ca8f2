package recording

import (
	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/storage"
)

// restamp sets the times of messages to the times of their headers, if that is asked for.
func (s *Source) restamp(msgs []storage.Message) {
	for i := range msgs {
		if m := &msgs[i]; int(m.Topic) < len(s.stamps) && s.stamps[m.Topic] != nil {
			restamp(s.stamps[m.Topic], m)
		}
	}
}

// restamp sets the time of a message to the time of its header; false if the header has none.
func restamp(s *mapping.Stamp, m *storage.Message) bool {
	at, ok := s.Time(m.Data)
	if !ok {
		return false
	}
	if m.PublishTime == m.LogTime {
		m.PublishTime = at
	}
	m.LogTime = at
	return true
}

package lerobot

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/storage"
)

// A stream is a topic that the mapping names, with the messages of it that a row may still need.
type stream struct {
	topic  storage.Topic
	id     storage.TopicID
	reader *view.Reader

	fields []*numbers // that features are made of, in the order of the mapping
	cams   []*camera  // that show its pictures: one, or several of the same topic
	view   *view.View // of pictures
	read   func(*view.Values) (view.Frame, error)
	task   *message.Path // the text of the task
	bound  *numbers      // the value that divides episodes

	times  []int64
	rows   []float64 // width numbers for each of times
	frames []*frame  // one for each of times, if it has pictures
	at     int       // the last one that is not later than the next tick; -1: no such message
	width  int

	scratch []byte
	row     []float64
	losses  []loss
	use     streamUse
}

// A loss is why some messages of a topic were not used.
type loss struct {
	code, text string
	messages   int64
}

// A streamUse counts what an episode has of a stream.
type streamUse struct {
	last     *int64 // the time of the message of the row before
	messages int64  // of the episode so far
	repeated int64  // rows with the message of the row before
	delay    int64  // the sum over all rows of tick minus time, ns
	hold     int64  // the largest of these, ns
	rows     int64
}

// needed reports whether an episode can only be where the stream has messages.
func (s *stream) needed() bool { return len(s.fields) > 0 || len(s.cams) > 0 }

// lose counts a message that is not used; the text of the first one of a code is kept.
func (s *stream) lose(code, text string) {
	for i := range s.losses {
		if s.losses[i].code == code {
			s.losses[i].messages++
			return
		}
	}
	s.losses = append(s.losses, loss{code, text, 1})
}

// take reads a message that comes now. A message that cannot be used is counted.
func (s *stream) take(m *storage.Message) (text string, value float64, inBounds bool, err error) {
	if len(s.cams) > 0 {
		if err := s.takeFrame(m); err != nil || s.task == nil && s.bound == nil {
			return "", 0, false, err
		}
	}
	data, err := s.reader.Message(m.Data, m.LogTime, &s.scratch)
	if err != nil {
		s.lose("messages-unreadable", err.Error())
		return "", 0, false, nil
	}
	c := message.Open(s.reader.Type, data)
	defer c.Close()
	if s.task != nil && c.Seek(s.task) {
		text = strings.ToValidUTF8(string(c.Text(s.task.Field)), string(utf8.RuneError))
	}
	if s.bound != nil {
		row, err := s.bound.append(c, s.row[:0])
		if s.row = row; err == nil && len(row) > 0 {
			value, inBounds = row[0], true
		} else if err != nil {
			s.refuse(err)
		}
	}
	if len(s.fields) > 0 {
		s.takeNumbers(c, m.LogTime)
	}
	return text, value, inBounds, nil
}

// takeNumbers keeps the numbers of a message.
func (s *stream) takeNumbers(c *message.Cursor, now int64) {
	row := s.row[:0]
	var err error
	for _, f := range s.fields {
		if row, err = f.append(c, row); err != nil {
			break
		}
	}
	if err == nil {
		c.Rewind()
		c.Fields(s.reader.Type, c.Check)
		err = c.End()
	}
	if s.row = row; err != nil {
		s.refuse(err)
		return
	}
	s.width = len(row)
	s.times, s.rows = append(s.times, now), append(s.rows, row...)
	s.use.messages++
}

// refuse counts a message whose numbers cannot be used.
func (s *stream) refuse(err error) {
	switch {
	case errors.Is(err, errWidth):
		s.lose("lerobot-width", "messages with other numbers than the first one has are not used; the first: "+err.Error())
	case errors.Is(err, errFinite):
		s.lose("lerobot-not-finite", "messages with NaN or infinity in a number are not used; the first: "+err.Error())
	default:
		s.lose("messages-unreadable", err.Error())
	}
}

// takeFrame keeps the picture of a message.
func (s *stream) takeFrame(m *storage.Message) error {
	data, err := s.view.Reader.Message(m.Data, m.LogTime, &s.scratch)
	if err != nil {
		s.lose("messages-unreadable", err.Error())
		return nil
	}
	values := s.view.Open(data)
	defer values.Close()
	f, err := s.read(values)
	if err == nil {
		err = values.All()
	}
	if err == nil {
		var x *frame
		if x, err = s.cams[0].look(f); err == nil && x != nil {
			s.times, s.frames = append(s.times, m.LogTime), append(s.frames, x)
			s.use.messages++
		}
	}
	switch {
	case err == nil:
	case errors.Is(err, errSize):
		s.lose("lerobot-size", "pictures of another size than the first one are not used; the first: "+err.Error())
	case isData(err) || values.Err() != nil:
		s.lose("lerobot-picture", "pictures that cannot be used; the first: "+err.Error())
	default:
		return err
	}
	return nil
}

// forget drops messages that no row needs any more, when they are many.
func (s *stream) forget() {
	if s.at <= 0 || s.at < 64 && len(s.frames) == 0 {
		return
	}
	n := s.at
	s.times = s.times[:copy(s.times, s.times[n:])]
	s.rows = s.rows[:copy(s.rows, s.rows[min(len(s.rows), n*s.width):])]
	if len(s.frames) > 0 {
		kept := copy(s.frames, s.frames[n:])
		clear(s.frames[kept:])
		s.frames = s.frames[:kept]
	}
	s.at = 0
}

// clear drops all messages.
func (s *stream) clear() {
	clear(s.frames)
	s.times, s.rows, s.frames, s.at = s.times[:0], s.rows[:0], s.frames[:0], -1
}

// kept returns how many bytes wait for rows.
func (s *stream) kept() (n int) {
	for _, f := range s.frames[max(s.at, 0):] {
		n += len(f.data)
	}
	return n + 8*len(s.rows)
}

// advance goes to the last message that is not later than a tick.
func (s *stream) advance(tick int64) {
	for s.at+1 < len(s.times) && s.times[s.at+1] <= tick {
		s.at++
	}
}

// count counts what a row has of the stream: message i.
func (s *stream) count(i int, tick int64) {
	u := &s.use
	at := s.times[i]
	if u.last != nil && *u.last == at {
		u.repeated++
	}
	u.last = &at
	u.rows++
	u.delay += max(tick-at, at-tick)
	u.hold = max(u.hold, tick-at)
}

// describe names what a stream is for.
func (s *stream) describe() string {
	if len(s.cams) > 0 {
		return fmt.Sprintf("%s (%s)", s.topic.Name, s.cams[0].name)
	}
	return s.topic.Name
}

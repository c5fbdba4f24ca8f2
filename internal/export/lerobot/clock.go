package lerobot

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/export/align"
	"github.com/bagconv/bagconv/storage"
)

// A clock divides a recording into episodes, and each of them into ticks of an exact rate:
//
//	messages      s1   s2  s3    s4   s5          of /joint_states
//	                c1      c2       c3      c4   of a camera
//	ticks           |   |   |   |   |   |         from the first moment at which all streams have a message
//	state           s1  s2  s3  s3  s4  s5
//	camera          c1  c1  c2  c2  c3  c3        frames are repeated or skipped, and counted
//
// An episode also ends where no topic has a message for 10 s, or for the gap of the mapping if that is longer, so that
// a clock that jumps makes no frames.
//
// Tick k of an episode is k/fps s after its first. A tick becomes a row when no message that comes later can change it,
// so that messages have to come in the order of time.
type clock struct {
	m       *Mapping
	rule    align.Rule
	streams []*stream
	rows    rows // takes the rows

	started bool
	last    int64 // time of a message
	open    bool  // an episode may be here
	from    int64 // since then
	began   bool  // the topic of Mapping.Start has had a message since then
	any     bool  // a stream that has to have messages has had one since then
	running bool
	first   int64 // tick of the episode
	k       int64 // ticks of it that are rows
	limit   int   // bytes of messages that wait

	early   int64 // rows that were made before it was known that no message can change them
	empty   int64 // episodes without a row
	emptied string
	task    string // the last text of a task
	tasked  bool
}

// rows are where the rows of episodes go.
type rows interface {
	// addRow adds a row to the current episode, or begins one. The streams are at the messages of the tick.
	addRow(tick int64, chosen []choice) error

	// endEpisode ends the current episode.
	endEpisode(why string) error
}

// A choice is between which messages of a stream a tick is. See align.Rule.Choose.
type choice struct {
	i, k  int
	share float64
}

// take takes a message of a stream.
func (c *clock) take(s *stream, m *storage.Message) error {
	now := m.LogTime
	if c.started && now < c.last {
		return errors.New("messages of a data set must be in the order of time; omit --order file")
	}
	d := &c.m.Episodes
	switch {
	case !c.started:
		c.started, c.last = true, now
		c.open, c.from = d.By == "file" || d.By == "gap", now
	case d.By == "gap" && now-c.last > d.Gap:
		if err := c.silence("gap"); err != nil {
			return err
		}
		c.open, c.from, c.began, c.any = true, now, false, false
	case now-c.last > max(align.Idle, c.rule.MaxGap): // the clock has jumped, or the recorder has stopped
		if err := c.silence(fmt.Sprintf("silence of %v", time.Duration(now-c.last).Round(time.Millisecond))); err != nil {
			return err
		}
	}
	if d.By == "topic" && s.topic.Name == d.Topic {
		if err := c.close(now-1, "topic"); err != nil {
			return err
		}
		c.open, c.from, c.began, c.any = true, now, false, false
	}
	text, value, bounded, err := s.take(m)
	if err != nil {
		return err
	}
	if s.task != nil {
		c.task, c.tasked = text, true
	}
	if bounded && s.bound != nil {
		if err := c.bound(value, now); err != nil {
			return err
		}
	}
	c.began = c.began || s.topic.Name == c.m.Start
	c.any = c.any || s.needed()
	c.last = now
	if err := c.ready(now, false); err != nil {
		return err
	}
	c.begin(now)
	return nil
}

// silence ends the episode that is running at the last message, and forgets all messages.
func (c *clock) silence(why string) error {
	if c.open {
		if err := c.close(c.last, why); err != nil {
			return err
		}
	}
	for _, s := range c.streams {
		s.clear()
	}
	c.any = false
	return nil
}

// bound begins or ends an episode by a value.
func (c *clock) bound(value float64, now int64) error {
	inside := value >= c.m.Episodes.From && value <= c.m.Episodes.To
	switch {
	case inside && !c.open:
		c.open, c.from, c.began, c.any = true, now, false, false
	case !inside && c.open:
		err := c.close(now-1, "value")
		c.open = false
		return err
	}
	return nil
}

// begin begins an episode now, if all streams have messages.
func (c *clock) begin(now int64) {
	if c.running || !c.open || c.m.Start != "" && !c.began {
		return
	}
	for _, s := range c.streams {
		if !s.needed() {
			continue
		}
		if len(s.times) == 0 || c.rule.MaxGap > 0 && now-s.times[len(s.times)-1] > c.rule.MaxGap {
			return
		}
	}
	for _, s := range c.streams {
		s.use = streamUse{messages: 1}
	}
	c.running, c.first, c.k = true, now, 0
}

// tick returns the next tick.
func (c *clock) tick() int64 {
	fps := int64(c.m.FPS)
	return c.first + c.k/fps*1e9 + (c.k%fps*1e9+fps/2)/fps
}

// ready makes rows of the ticks that no message from now on can change; with end of all up to now.
func (c *clock) ready(now int64, end bool) error {
	for c.running {
		tick := c.tick()
		if tick > now || !end && !c.settled(tick, now) {
			if end || now <= tick || c.kept() < c.limit {
				break
			}
			c.early++
		}
		if err := c.row(tick); err != nil {
			return err
		}
	}
	for _, s := range c.streams {
		if !c.running { // the last message is all that a later episode may need
			s.at = len(s.times) - 1
		}
		s.forget()
	}
	return nil
}

// settled reports whether no message from now on can change the row of a tick.
func (c *clock) settled(tick, now int64) bool {
	if now <= tick || c.rule.Settled(tick, now) {
		return now > tick
	}
	for _, s := range c.streams {
		if s.needed() && c.rule.Awaits(s.times, tick) {
			return false
		}
	}
	return true
}

func (c *clock) kept() (n int) {
	for _, s := range c.streams {
		n += s.kept()
	}
	return n
}

// row makes the row of a tick. Where a stream has no message within the gap, the episode ends.
func (c *clock) row(tick int64) error {
	chosen := make([]choice, len(c.streams))
	for n, s := range c.streams {
		s.advance(tick)
		if !s.needed() {
			continue
		}
		x := &chosen[n]
		x.i, x.k, x.share = c.rule.Choose(s.times, s.at, tick)
		if x.i < 0 && c.rule.MaxGap == 0 && s.at >= 0 { // after the last message nothing is in between
			x.i, x.k = s.at, s.at
		}
		if x.i < 0 {
			c.running = false
			return c.endEpisode("gap in " + s.topic.Name)
		}
	}
	for n, s := range c.streams {
		if s.needed() {
			s.count(chosen[n].i, tick)
		}
	}
	c.k++
	return c.rows.addRow(tick, chosen)
}

// close ends the episode that may be there at a time.
func (c *clock) close(last int64, why string) error {
	if !c.open {
		return nil
	}
	running := c.running
	if err := c.ready(last, true); err != nil {
		return err
	}
	if c.running {
		c.running = false
		return c.endEpisode(why)
	}
	if !running && c.any {
		c.lack()
	}
	return nil
}

// endEpisode ends an episode, which may have no row.
func (c *clock) endEpisode(why string) error {
	if c.k == 0 {
		c.empty++
		return nil
	}
	return c.rows.endEpisode(why)
}

// lack counts an episode that did not begin.
func (c *clock) lack() {
	c.empty++
	var missing []string
	for _, s := range c.streams {
		if s.needed() && len(s.times) == 0 {
			missing = append(missing, s.describe())
		}
	}
	if c.emptied == "" {
		c.emptied = "not all streams have messages at the same time"
		if len(missing) > 0 {
			c.emptied = "there is no message of " + strings.Join(missing, ", ")
		} else if c.m.Start != "" && !c.began {
			c.emptied = "there is no message of " + c.m.Start
		}
	}
}

// finish ends the last episode.
func (c *clock) finish() error {
	if !c.started {
		return nil
	}
	return c.close(c.last, c.m.Episodes.By)
}

// lossText says what is lost of episodes, "" if nothing is.
func (c *clock) lossText() string {
	if c.empty == 0 {
		return ""
	}
	text := fmt.Sprintf("%d episodes without a frame are left out", c.empty)
	if c.emptied != "" {
		text += "; of the first: " + c.emptied
	}
	return text
}

package live

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Clock is the time of a recording that is played: it runs at a rate, stops, and goes on. All
// methods are safe for concurrent use.
type Clock struct {
	mu      sync.Mutex
	rate    float64
	paused  bool
	steps   int // messages that are sent although it is paused
	started bool
	timed   bool      // there was a message, or Restart
	base    int64     // time of the recording at since, ns
	since   time.Time // when rate, paused or base changed last
	changed chan struct{}

	lateness Lateness             // of all messages
	topics   map[string]*Lateness // and of each topic
}

// NewClock returns a clock that starts with the first message.
func NewClock(rate float64, paused bool) *Clock {
	return &Clock{rate: rate, paused: paused, changed: make(chan struct{}), topics: map[string]*Lateness{}}
}

// Restart stands the clock at the time of a message that will start it.
func (c *Clock) Restart(at int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started, c.timed, c.base = false, true, at
}

// now is Now for a caller that has locked.
func (c *Clock) now() int64 {
	if c.paused || !c.started {
		return c.base
	}
	return c.base + int64(float64(time.Since(c.since))*c.rate)
}

// Now returns the time of the recording; false if it is not known yet.
func (c *Clock) Now() (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now(), c.started || c.timed
}

// set changes the clock, from now on.
func (c *Clock) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.base, c.since = c.now(), time.Now()
	change()
	close(c.changed)
	c.changed = make(chan struct{})
}

// Toggle pauses or goes on, and reports whether it is paused now.
func (c *Clock) Toggle() (paused bool) {
	c.set(func() { c.paused = !c.paused; paused = c.paused })
	return paused
}

// Set pauses or plays, at a rate.
func (c *Clock) Set(paused bool, rate float64) {
	c.set(func() { c.paused, c.rate = paused, rate })
}

// State returns whether it is paused, and the rate.
func (c *Clock) State() (paused bool, rate float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.paused, c.rate
}

// Hold sets the clock back to the time of a message, because a receiver did not take it earlier.
func (c *Clock) Hold(at int64) {
	c.set(func() { c.base = min(c.base, at) })
}

// Step sends one message, if it is paused.
func (c *Clock) Step() {
	c.set(func() {
		if c.paused {
			c.steps++
		}
	})
}

// Speed multiplies the rate, and returns the new one.
func (c *Clock) Speed(factor float64) (rate float64) {
	c.set(func() { c.rate = min(max(c.rate*factor, 1e-3), 1e3); rate = c.rate })
	return rate
}

// Rate returns the rate.
func (c *Clock) Rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rate
}

// maxBrief is how long before a message is due the clock does not look for a change any more.
const maxBrief = 2 * time.Millisecond

// Wait waits until a message of a topic and of that time is due.
func (c *Clock) Wait(ctx context.Context, topic string, at int64) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		wait, changed, due := c.due(topic, at)
		switch {
		case due:
			return nil
		case wait <= maxBrief:
			briefly(wait)
			continue
		}
		timer := time.NewTimer(wait - maxBrief)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
		timer.Stop()
	}
}

// due reports whether a message is due, or how long to wait.
func (c *Clock) due(topic string, at int64) (wait time.Duration, changed chan struct{}, due bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.started {
		c.base, c.since, c.started = at, time.Now(), true
	}
	if c.paused {
		if c.steps == 0 {
			return time.Hour, c.changed, false
		}
		c.steps--
		c.base = max(c.base, at)
		return 0, nil, true
	}
	left := float64(at-c.now()) / c.rate
	if left > float64(time.Hour) {
		return time.Hour, c.changed, false
	}
	if left > 0 {
		return time.Duration(math.Ceil(left)), c.changed, false
	}
	c.note(topic, time.Duration(-left))
	return 0, nil, true
}

func (c *Clock) note(topic string, d time.Duration) {
	l := c.topics[topic]
	if l == nil {
		l = new(Lateness)
		c.topics[topic] = l
	}
	l.add(d)
	c.lateness.add(d)
}

// A Played is what became of a recording that was played. docs/json.md describes its JSON.
type Played struct {
	P99    time.Duration `json:"late_p99_ns,string"` // 99 of 100 messages were sent within this time after they were due
	Most   time.Duration `json:"late_max_ns,string"` // and all of them
	Topics []PlayedTopic `json:"topics"`             // by name

	// What the player knows, as it is when all connections are closed.
	// how often the recording was played, also from where a viewer has sought
	Passes          int      `json:"passes,omitempty"`
	LostConnections []string `json:"lost_connections,omitempty"` // that ended before the recording did
	Problems        []string `json:"problems,omitempty"`         // of subscribers, and of the server
	// the system does not show who subscribes, so that no topic has Early
	SubscribersUnknown bool `json:"subscribers_unknown,omitempty"`
}

// A PlayedTopic is a topic of it.
type PlayedTopic struct {
	Name     string        `json:"name"`
	Messages int64         `json:"messages"` // that were sent
	P99      time.Duration `json:"late_p99_ns,string"`
	Most     time.Duration `json:"late_max_ns,string"`
	// messages that were sent before the topic had a subscriber
	Early int64 `json:"before_subscriber,omitempty"`
}

// Played returns by how much messages were sent after they were due. early has the messages of each topic that were
// sent before it had a subscriber.
func (c *Clock) Played(early map[string]int64) *Played {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := &Played{P99: c.lateness.P99(), Most: c.lateness.Most, Topics: []PlayedTopic{}}
	for name, l := range c.topics {
		p.Topics = append(p.Topics, PlayedTopic{name, l.Messages, l.P99(), l.Most, early[name]})
	}
	slices.SortFunc(p.Topics, func(a, b PlayedTopic) int { return strings.Compare(a.Name, b.Name) })
	return p
}

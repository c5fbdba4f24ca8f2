package foxglove

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/internal/live/access"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

// Access is who may connect: pages of which origins, and under which names of this machine.
type Access = access.Rules

// PlayOptions are how a Player plays.
type PlayOptions struct {
	Clock      *live.Clock // when messages are due
	Name       string      // that viewers show
	Start, End int64       // what can be sought: log times in ns since 1970, both included
	Access     access.Rules
	Drop       bool          // messages for a viewer that does not keep up are left out; else the clock waits for it
	Wait       bool          // the first message waits until each channel has a subscriber
	WaitAny    bool          // it waits until one channel has
	Delay      time.Duration // before the first message, after that
	Patience   time.Duration // in which a viewer must take a message, or answer a ping, or it is cut off; 0: 30 s
	Waiting    int64         // bytes of messages that may wait for a viewer; 0: 16 MiB
}

// Defaults of PlayOptions.
const (
	defaultPatience = 30 * time.Second
	defaultWaiting  = 16 << 20
)

// errSought is why a run of the conversion ends when a viewer seeks.
var errSought = errors.New("a viewer seeks")

// A Player serves recordings to viewers: an http.Handler for their connections, and a Format that is
// the sink of convert. Several runs may follow each other; they continue the channels. All viewers
// share one clock.
type Player struct {
	o       PlayOptions
	session string
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	sought  chan struct{} // has an element if a viewer has sought

	mu        sync.Mutex
	changed   *sync.Cond // there is room, or a viewer has come, left or subscribed
	closed    bool
	channels  []*channelOut
	byKey     map[string]*channelOut
	list      []byte // the text that advertises all channels; nil: to be made
	viewers   map[*viewer]bool
	waiting   int64 // bytes of messages that viewers have not got yet, each counted once
	latched   int64 // bytes of messages that new subscribers get
	ended     bool  // the recording is at its end
	announced state // what viewers know
	from      *int64
	endRun    context.CancelCauseFunc
	dropped   int64
	sent      int64 // bytes
	lost      []string
}

// NewPlayer returns a player. It ends with Close.
func NewPlayer(o PlayOptions) *Player {
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	if o.Waiting == 0 {
		o.Waiting = defaultWaiting
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id) // it never fails
	p := &Player{o: o, session: hex.EncodeToString(id), sought: make(chan struct{}, 1), byKey: map[string]*channelOut{},
		viewers: map[*viewer]bool{}}
	p.changed = sync.NewCond(&p.mu)
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.running.Go(p.tick)
	return p
}

// Begin returns the context of a run of the conversion, which a viewer that seeks ends, and the
// log time at which it begins; nil: where the recording does.
func (p *Player) Begin(ctx context.Context) (run context.Context, from *int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	run, p.endRun = context.WithCancelCause(ctx)
	from, p.from, p.ended = p.from, nil, false
	return run, from
}

// Sought reports whether a viewer has sought since Begin.
func (p *Player) Sought() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.from != nil
}

// AtEnd shows viewers that the recording is at its end, and waits until one of them seeks. Without
// that it returns false when ctx ends.
func (p *Player) AtEnd(ctx context.Context) bool {
	p.mu.Lock()
	if p.from == nil {
		p.ended = true
		p.announce(p.state(), false, nil)
	}
	p.mu.Unlock()
	for !p.Sought() {
		select {
		case <-ctx.Done():
			return false
		case <-p.sought:
		}
	}
	return true
}

// seek has the next run begin at a time. Messages of the old place that wait are forgotten.
func (p *Player) seek(at int64) {
	at = min(max(at, p.o.Start), p.o.End)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.from, p.ended = &at, false
	if p.endRun != nil {
		p.endRun(errSought)
	}
	p.o.Clock.Restart(at)
	for v := range p.viewers {
		p.forget(v)
	}
	select {
	case p.sought <- struct{}{}:
	default:
	}
	p.changed.Broadcast()
}

// Problems returns the viewers that were cut off because they took nothing, and how many messages
// were dropped for viewers that did not keep up.
func (p *Player) Problems() (lost []string, dropped int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lost), p.dropped
}

// Sent returns the number of bytes that were sent to viewers.
func (p *Player) Sent() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

// Tell shows viewers a text: a warning, or an error.
func (p *Player) Tell(text string, isError bool) {
	level := 1
	if isError {
		level = 2
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for v := range p.viewers {
		v.put(status(level, text))
	}
}

// Close waits a moment until the viewers have what waits for them, and ends their connections.
func (p *Player) Close() error {
	p.mu.Lock()
	p.closed = true
	timer := time.AfterFunc(drainTimeout, func() { p.cancel(); p.wake() })
	for p.ctx.Err() == nil && slices.ContainsFunc(p.all(), func(v *viewer) bool { return len(v.queue) > 0 || v.writing }) {
		p.changed.Wait()
	}
	var closing sync.WaitGroup
	for _, v := range p.all() {
		if conn := v.conn; conn != nil {
			closing.Go(func() { _ = conn.Close(websocket.StatusGoingAway, "the playing has ended") })
		}
	}
	p.mu.Unlock()
	closing.Wait() // for as long as the timer lets it
	timer.Stop()
	p.cancel()
	p.running.Wait()
	return nil
}

// wake has whoever waits for a change look again.
func (p *Player) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed.Broadcast()
}

// all returns the viewers, for a caller that has locked.
func (p *Player) all() (list []*viewer) {
	for v := range p.viewers {
		list = append(list, v)
	}
	return list
}

// Format returns the format of recordings that are played: their sinks are channels.
func (p *Player) Format() *storage.Format {
	return &storage.Format{
		Name: "foxglove", Holds: storage.Capacity{
			Native:        "cdr",
			QoS:           true,
			Carries:       func(string, string) bool { return true },
			TopicMetadata: func(string) bool { return true },
		},
		Layout: storage.Layout{Live: true},
		Create: func(ctx context.Context, _ string, _ storage.WriteOptions) (storage.Writer, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, c := range p.channels {
				c.last = nil
			}
			p.latched = 0
			return &playWriter{player: p, ctx: ctx}, nil
		},
	}
}

// A playWriter plays one run.
type playWriter struct {
	player  *Player
	ctx     context.Context
	topics  []source
	started bool
}

// A source is a topic of the recording, and its channel.
type source struct {
	*channelOut
	name    string // of the topic
	latched bool
}

// Identity returns that publishers are apart: the last message of each is kept. See storage.Writer.
func (w *playWriter) Identity() storage.Identity { return storage.IdentityTopic }

// CreateTopic advertises a channel, unless there is one with the same content. See storage.Writer.
func (w *playWriter) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	c := w.player.channel(&t)
	latched := t.Metadata[storage.MetaLatching] == "1" || strings.HasSuffix("/"+t.Name, "/tf_static") ||
		slices.ContainsFunc(t.QoS, func(q storage.QoS) bool { return q.Durability == storage.DurabilityTransientLocal })
	w.topics = append(w.topics, source{c, t.Name, latched})
	return storage.TopicID(len(w.topics) - 1), nil
}

// Write sends a message when it is due. See storage.Writer.
func (w *playWriter) Write(m *storage.Message) error {
	p := w.player
	if !w.started {
		w.started = true
		if err := w.awaitSubscribers(); err != nil {
			return err
		}
		p.o.Clock.Restart(m.LogTime)
	}
	if err := p.o.Clock.Wait(w.ctx, w.topics[m.Topic].name, m.LogTime); err != nil {
		return err
	}
	return p.send(w.ctx, w.topics[m.Topic], m)
}

// awaitSubscribers waits before the first message.
func (w *playWriter) awaitSubscribers() error {
	p := w.player
	defer context.AfterFunc(w.ctx, p.wake)()
	p.mu.Lock()
	for p.lacksSubscribers(w.topics) && w.ctx.Err() == nil {
		p.changed.Wait()
	}
	delay := time.NewTimer(p.o.Delay)
	if w.ctx.Err() == nil {
		p.o.Wait, p.o.WaitAny, p.o.Delay = false, false, 0 // runs that follow go on at once
	}
	p.mu.Unlock()
	defer delay.Stop()
	select {
	case <-w.ctx.Done():
		return context.Cause(w.ctx)
	case <-delay.C:
		return nil
	}
}

// lacksSubscribers reports whether the first message waits, for a caller that has locked.
func (p *Player) lacksSubscribers(topics []source) bool {
	some := slices.ContainsFunc(topics, func(s source) bool { return s.subscribers > 0 })
	all := !slices.ContainsFunc(topics, func(s source) bool { return s.subscribers == 0 })
	return p.o.Wait && !all || p.o.WaitAny && !some
}

// Finish, Commit and Close do nothing: channels stay until the player is closed.
func (w *playWriter) Finish() (storage.Output, error) { return storage.Output{}, nil }

// Commit does nothing. See Finish.
func (w *playWriter) Commit() error { return nil }

// Close does nothing. See Finish.
func (w *playWriter) Close() error { return nil }

var _ storage.Writer = (*playWriter)(nil)

// cutOff keeps that a viewer was cut off.
func (p *Player) cutOff(v *viewer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.lost) < 1000 {
		p.lost = append(p.lost, fmt.Sprintf("viewer %s: it took nothing for %s, and was cut off", v.name, p.o.Patience))
	}
}

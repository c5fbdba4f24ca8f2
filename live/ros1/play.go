package ros1

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

// PlayOptions are how a Player plays.
type PlayOptions struct {
	Clock      *live.Clock   // when messages are due
	ClockHz    float64       // how often /clock is published, per second of real time; 0: not at all
	Publishers bool          // each publisher of the recording is a node of its own
	Wait       bool          // the first message of the first recording waits until each topic has a subscriber
	Delay      time.Duration // between the first topic and that message
}

// A Player publishes recordings in a ROS 1 system. Its Format is a sink for convert. Several
// recordings may be played one after the other; they continue the topics.
type Player struct {
	o       PlayOptions
	address string
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup // connections, and /clock

	mu       sync.Mutex
	closed   bool
	stopped  bool                // from outside, before the recording ended
	stations map[string]*station // by the name of the publisher; "" for all of them together
	lost     []string            // connections that ended too early
	problems []string            // of subscribers
}

// NewPlayer returns a player for the master at an address ros1://HOST:PORT.
func NewPlayer(ctx context.Context, address string, o PlayOptions) (*Player, error) {
	p := &Player{o: o, address: address, stations: map[string]*station{}}
	p.ctx, p.cancel = context.WithCancel(ctx)
	context.AfterFunc(ctx, p.interrupt)
	n, err := newNode(address, "/bagconv_play")
	if err != nil {
		return nil, err
	}
	if _, err := n.master.topics(ctx); err != nil {
		return nil, unreachable(err)
	}
	p.run(p.watch)
	if o.ClockHz > 0 {
		return p, p.startClock()
	}
	return p, nil
}

// Format returns the format of recordings that are played: their sinks are topics.
func (p *Player) Format() *storage.Format {
	return &storage.Format{
		Name: encoding, Holds: storage.Capacity{
			Native:        encoding,
			TopicMetadata: func(string) bool { return true },
		},
		Layout: storage.Layout{Live: true},
		Create: func(ctx context.Context, _ string, _ storage.WriteOptions) (storage.Writer, error) {
			return &playWriter{player: p, ctx: ctx}, nil
		},
	}
}

// run runs f until Close waits for it; false if the player is closed.
func (p *Player) run(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.running.Go(f)
	}
	return !p.closed
}

// complain keeps what was wrong with a subscriber.
func (p *Player) complain(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.problems, text) && len(p.problems) < 100 {
		p.problems = append(p.problems, text)
	}
}

// ended takes the end of a connection.
func (p *Player) ended(pub *publication, l *link, missing int, err error) {
	if err == nil && missing == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.stopped && len(p.lost) < 1000 {
		p.lost = append(p.lost, fmt.Sprintf("topic %s, subscriber %s: the connection ended before the recording did: %v",
			pub.topic, l.caller, plain(err)))
	}
}

// Problems returns connections that ended before the recording did, and what subscribers asked
// for in vain.
func (p *Player) Problems() (lost, refused []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.lost), slices.Clone(p.problems)
}

// Close waits until all subscribers have all messages, and leaves the system. If ctx of NewPlayer
// has ended, it does not wait.
func (p *Player) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	stations := p.all()
	for _, s := range stations {
		s.finish(nil)
	}
	p.cancel() // the clock
	p.running.Wait()
	var err error
	for _, s := range stations {
		err = errors.Join(err, s.leave())
	}
	return err
}

// watch registers all topics anew if the master was restarted.
func (p *Player) watch() {
	tick := time.NewTicker(masterPoll)
	defer tick.Stop()
	for registered := map[*station]bool{}; ; {
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
		}
		for _, s := range p.all() {
			known, err := s.node.master.knows(p.ctx, s.node.api)
			if registered[s] = registered[s] || known; err != nil || known || !registered[s] {
				continue // if there is no answer, it is asked again
			}
			p.complain("the master was restarted; all topics are registered again, and nodes that asked before that may not " +
				"have found them")
			for _, t := range s.published() {
				_, _ = s.node.master.call(p.ctx, "registerPublisher", t[0], t[1], s.node.api) // a failure is found the next time
			}
		}
	}
}

func (p *Player) all() (list []*station) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.stations {
		list = append(list, s)
	}
	return list
}

// interrupt ends all connections at once.
func (p *Player) interrupt() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	for _, s := range p.all() {
		s.finish(context.Canceled)
	}
}

// A station is a node that publishes topics.
type station struct {
	player *Player
	node   *node
	listen net.Listener
	port   int

	mu   sync.Mutex
	pubs map[string]*publication
}

// station returns the node for a publisher of a recording.
func (p *Player) station(caller string) (*station, error) {
	if !p.o.Publishers {
		caller = ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.stations[caller]; s != nil {
		return s, nil
	}
	s := &station{player: p, pubs: map[string]*publication{}}
	var err error
	if s.node, err = newNode(p.address, randomName("/bagconv_play"+strings.ReplaceAll(caller, "/", "_"))); err != nil {
		return nil, err
	}
	if s.listen, s.port, err = s.node.listen(); err != nil {
		return nil, err
	}
	s.node.requestTopic = func(topic string) (int, bool) { return s.port, s.publication(topic) != nil }
	s.node.published = s.published
	if err := s.node.start(); err != nil {
		return nil, errors.Join(err, s.listen.Close())
	}
	go func() {
		for {
			conn, err := s.listen.Accept()
			if err != nil {
				return
			}
			go s.accept(conn)
		}
	}()
	p.stations[caller] = s
	return s, nil
}

func (s *station) publication(topic string) *publication {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pubs[topic]
}

func (s *station) published() (list [][2]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pubs {
		list = append(list, [2]string{p.topic, p.typ})
	}
	return list
}

// publish returns the publication that continues one or is new.
func (s *station) publish(pub *publication) (*publication, error) {
	s.mu.Lock()
	if old := s.pubs[pub.topic]; old != nil {
		s.mu.Unlock()
		if old.md5 != pub.md5 {
			return nil, fmt.Errorf("topic %s is published with type %s already: %w", pub.topic, old.typ, storage.ErrUnsupported)
		}
		return old, nil
	}
	pub.links = map[*link]bool{}
	s.pubs[pub.topic] = pub
	s.mu.Unlock()
	_, err := s.node.master.call(s.player.ctx, "registerPublisher", pub.topic, pub.typ, s.node.api)
	return pub, err
}

// finish has all connections end: after their last message, or at once if there is a cause.
func (s *station) finish(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pubs {
		p.mu.Lock()
		for l := range p.links {
			if l.end(cause); cause != nil {
				_ = l.conn.Close() // which ends a write, too
			}
		}
		p.mu.Unlock()
	}
}

// leave unregisters all topics, and ends the node.
func (s *station) leave() error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.player.ctx), 2*time.Second)
	defer cancel()
	for _, p := range s.published() {
		if _, err := s.node.master.call(ctx, "unregisterPublisher", p[0], s.node.api); err != nil {
			break // it is gone, or as good as that
		}
	}
	s.node.close()
	return s.listen.Close()
}

// startClock publishes /clock.
func (p *Player) startClock() error {
	s, err := p.station("")
	if err != nil {
		return err
	}
	pub, err := s.publish(&publication{topic: "/clock", typ: "rosgraph_msgs/Clock",
		md5: "a9c97c1d230cfc112e270351a944ee47", definition: "time clock\n"})
	if err != nil {
		return err
	}
	p.run(func() {
		tick := time.NewTicker(time.Duration(float64(time.Second) / p.o.ClockHz))
		defer tick.Stop()
		for {
			select {
			case <-p.ctx.Done():
				return
			case <-tick.C:
			}
			if now, ok := p.o.Clock.Now(); ok && now >= 0 {
				b := binary.LittleEndian.AppendUint32([]byte{8, 0, 0, 0}, uint32(now/1e9))
				pub.send(binary.LittleEndian.AppendUint32(b, uint32(now%1e9)))
			}
		}
	})
	return nil
}

// A playWriter plays one recording.
type playWriter struct {
	player  *Player
	ctx     context.Context
	pubs    []*publication
	started bool
}

// Identity returns that publishers are apart, if each is a node. See storage.Writer.
func (w *playWriter) Identity() storage.Identity {
	if w.player.o.Publishers {
		return storage.IdentityTopic
	}
	return storage.IdentityName
}

// CreateTopic publishes a topic. See storage.Writer.
func (w *playWriter) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	name := "/" + strings.TrimPrefix(t.Name, "/")
	pub := &publication{topic: name, typ: t.Type, md5: t.Metadata[storage.MetaMD5Sum], definition: string(t.Schema.Data),
		latching: t.Metadata[storage.MetaLatching] == "1"}
	switch {
	case t.Encoding != encoding:
		return 0, fmt.Errorf("messages of encoding %q: %w", t.Encoding, storage.ErrUnsupported)
	case pub.md5 == "" || pub.md5 == "*":
		return 0, fmt.Errorf("the md5sum of %s is not known: %w", t.Type, storage.ErrUnsupported)
	case !isName(name):
		return 0, fmt.Errorf("%q is not a topic name of ROS 1, which has parts of ASCII letters, digits and _ with / "+
			"between them; rename the topic: %w", name, storage.ErrUnsupported)
	case name == "/clock" && w.player.o.ClockHz > 0:
		return 0, fmt.Errorf("the player publishes /clock itself: %w", storage.ErrUnsupported)
	}
	s, err := w.player.station(t.Metadata[storage.MetaCallerID])
	if err != nil {
		return 0, err
	}
	if pub, err = s.publish(pub); err != nil {
		return 0, err
	}
	w.pubs = append(w.pubs, pub)
	return storage.TopicID(len(w.pubs) - 1), nil
}

// isName is what roscpp requires of a global name (ros::names::validate), whose nodes end with an
// exception when the master has another one, and leaves as it is (ros::names::clean).
func isName(name string) bool {
	return strings.Trim(name, "/_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" &&
		path.Clean(name) == name && name != "/"
}

// Write sends a message when it is due. See storage.Writer.
func (w *playWriter) Write(m *storage.Message) error {
	if !w.started {
		w.started = true
		w.player.o.Clock.Restart(m.LogTime) // nodes with simulated time have it before the first message
		if err := w.awaitSubscribers(); err != nil {
			return err
		}
	}
	if err := w.player.o.Clock.Wait(w.ctx, w.pubs[m.Topic].topic, m.LogTime); err != nil {
		return err
	}
	framed := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(m.Data)), uint32(len(m.Data)))
	w.pubs[m.Topic].send(append(framed, m.Data...))
	return nil
}

// awaitSubscribers waits before the first message. Recordings that follow go on at once.
func (w *playWriter) awaitSubscribers() error {
	o := &w.player.o
	for wait := o.Delay; ; wait = 10 * time.Millisecond {
		select {
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		case <-time.After(wait):
		}
		if !o.Wait || !slices.ContainsFunc(w.pubs, func(p *publication) bool { return p.subscribers() == 0 }) {
			o.Wait, o.Delay = false, 0
			return nil
		}
	}
}

// Finish, Commit and Close do nothing: topics stay until the player is closed.
func (w *playWriter) Finish() (storage.Output, error) { return storage.Output{}, nil }

// Commit does nothing. See Finish.
func (w *playWriter) Commit() error { return nil }

// Close does nothing. See Finish.
func (w *playWriter) Close() error { return nil }

var _ storage.Writer = (*playWriter)(nil)

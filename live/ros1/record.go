package ros1

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bagconv/bagconv/internal/live/intake"

	"github.com/bagconv/bagconv/internal/live/ros1/wire"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

// encoding is the encoding of the messages, schemaEncoding the encoding of their definitions.
const (
	encoding       = "ros1"
	schemaEncoding = "ros1msg"
)

// RecordOptions are what to record.
type RecordOptions struct {
	live.Options // Now is not used

	Topics []string // names that are subscribed to at once; their publishers may come later
	// reports whether another topic is recorded when it has a publisher; nil: no topic is
	Takes      func(name, typ string) bool
	WallTime   bool  // of this machine, although the system has a simulated one
	MaxMessage int64 // bytes; 0: live.DefaultMaxMessage. A publisher that sends a larger one is disconnected
}

// A Recorder records the topics of a ROS 1 system. It is a storage.Reader whose topics are the
// connections: publishers of one topic are apart.
type Recorder struct {
	*live.Recorder
	o       RecordOptions
	node    *node
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool // nothing more is begun
	subs     map[string]*subscription
	topics   map[string]storage.TopicID // by their header
	types    map[string]string          // md5sum by topic and caller
	followed int                        // publishers

	connecting chan struct{} // has an element for each connection that is being made

	simulated bool
	time      atomic.Int64 // of /clock, ns; 0: no time came
}

// firstTopics is how long the first subscriptions may take before the recording begins.
const firstTopics = 2 * time.Second

// Limits of connections to publishers: connections that are being made at a time, and all.
const (
	maxConnecting = 256
	maxPublishers = 32_768
)

// masterPoll is how often the master is asked for new topics.
const masterPoll = 500 * time.Millisecond

// Record begins to record from the master at an address ros1://HOST:PORT. The recording ends
// with Stop, with the options, or when the master asks for it; ctx ends it at once.
func Record(ctx context.Context, address string, o RecordOptions) (*Recorder, error) {
	if o.MaxMessage == 0 {
		o.MaxMessage = live.DefaultMaxMessage
	}
	n, err := newNode(address, randomName("/bagconv_record"))
	if err != nil {
		return nil, err
	}
	r := &Recorder{o: o, node: n, subs: map[string]*subscription{}, topics: map[string]storage.TopicID{},
		types: map[string]string{}, connecting: make(chan struct{}, maxConnecting)}
	r.o.Format, r.o.Path = encoding, address
	if !o.WallTime {
		if r.simulated, err = n.master.simTime(ctx); err != nil {
			return nil, unreachable(err)
		}
	}
	if r.simulated {
		r.o.Now = func() (int64, bool) { t := r.time.Load(); return t, t != 0 }
	}
	if err := n.start(); err != nil {
		return nil, err
	}
	r.Recorder = intake.NewRecorder(ctx, r.o.Options)
	r.ctx, r.cancel = context.WithCancel(ctx)
	n.publisherUpdate = func(topic string, uris []string) {
		if s := r.subscription(topic); s != nil {
			s.update(uris)
		}
	}
	n.shutdown = func(string) { r.Stop(nil) }
	begun := make(chan error, 1)
	r.start(func() { r.watch(begun) })
	select {
	case err := <-begun:
		if err != nil {
			return nil, unreachable(err, r.Close())
		}
	case <-time.After(firstTopics): // it goes on meanwhile: there may be very many, or the master may be slow
	case <-r.ctx.Done():
	}
	return r, nil
}

func unreachable(err error, others ...error) error {
	for _, e := range others {
		if e != nil {
			return fmt.Errorf("%w; %w", err, e)
		}
	}
	return fmt.Errorf("%w; is roscore running there?", plain(err))
}

// begin subscribes to what is there.
func (r *Recorder) begin() error {
	if r.simulated {
		keep := slices.Contains(r.o.Topics, "/clock") || r.o.Takes != nil && r.o.Takes("/clock", "rosgraph_msgs/Clock")
		if err := r.subscribe("/clock", keep); err != nil {
			return err
		}
	}
	for _, name := range r.o.Topics {
		if err := r.subscribe(name, true); err != nil {
			return err
		}
	}
	return r.discover()
}

func (r *Recorder) subscription(topic string) *subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.subs[topic]
}

// subscribe subscribes to a topic, unless that is done; keep: its messages are recorded.
func (r *Recorder) subscribe(topic string, keep bool) error {
	r.mu.Lock()
	s := r.subs[topic]
	added := s == nil
	if added {
		s = &subscription{r: r, topic: topic, keep: keep, clock: r.simulated && topic == "/clock",
			publishers: map[string]bool{}}
		r.subs[topic] = s
	}
	r.mu.Unlock()
	err := r.register(s)
	if err != nil && added {
		r.mu.Lock()
		delete(r.subs, topic) // discover finds it again
		r.mu.Unlock()
	}
	return err
}

func (r *Recorder) register(s *subscription) error {
	v, err := r.node.master.call(r.ctx, "registerSubscriber", s.topic, "*", r.node.api)
	if err == nil {
		s.update(texts(v))
	}
	return err
}

// start runs f until Close waits for it.
func (r *Recorder) start(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.running.Go(f)
	}
}

// discover subscribes to topics that have a publisher now.
func (r *Recorder) discover() error {
	if r.o.Takes == nil {
		return nil
	}
	types, err := r.node.master.topics(r.ctx)
	if err != nil {
		return err
	}
	for name, typ := range types {
		if r.Ended() {
			return nil
		}
		if r.subscription(name) == nil && r.o.Takes(name, typ) {
			if err := r.subscribe(name, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// watch subscribes to what is there, then finds new topics, and registers anew if the master was restarted.
func (r *Recorder) watch(begun chan<- error) {
	err := r.begin()
	begun <- err
	done := err == nil
	tick := time.NewTicker(masterPoll)
	defer tick.Stop()
	for {
		select {
		case <-r.ctx.Done():
			return
		case <-tick.C:
		}
		if err = r.goOn(&done); r.Ended() {
			continue // until Close
		}
		if err != nil && r.ctx.Err() == nil {
			r.Warn(storage.Warning{Code: "master-lost",
				Message: "the master did not answer for a time; topics that began then may be missing"})
		}
	}
}

// goOn subscribes to what is there, if that is not done, or to what is new.
func (r *Recorder) goOn(begun *bool) error {
	if r.Ended() {
		return nil
	}
	if !*begun {
		err := r.begin()
		*begun = err == nil
		return err
	}
	known, err := r.node.master.knows(r.ctx, r.node.api)
	if err == nil && !known {
		err = r.registerAll()
	}
	if err == nil {
		err = r.discover()
	}
	return err
}

// registerAll registers all subscriptions with a master that does not know them.
func (r *Recorder) registerAll() error {
	r.mu.Lock()
	var list []*subscription
	for _, s := range r.subs {
		list = append(list, s)
	}
	r.mu.Unlock()
	for _, s := range list {
		if r.Ended() {
			return nil
		}
		if err := r.register(s); err != nil {
			return err
		}
	}
	return nil
}

// connected returns the topic of a connection with such a header: the topic of an older connection
// if the publisher is the same and has the same type.
func (r *Recorder) connected(topic, uri string, fields map[string]string) (storage.TopicID, error) {
	caller := fields[wire.FieldCaller]
	if caller == "" {
		caller = uri
	}
	key := strings.Join([]string{topic, caller, fields[wire.FieldType], fields[wire.FieldMD5], fields[wire.FieldLatching],
		fields[wire.FieldDefinition]}, "\x00")
	r.mu.Lock()
	defer r.mu.Unlock()
	if id, known := r.topics[key]; known {
		r.Reconnected(id)
		return id, nil
	}
	who := topic + "\x00" + caller
	if was, known := r.types[who]; known && was != fields[wire.FieldMD5] {
		r.Warn(storage.Warning{Code: "type-changed",
			Message: fmt.Sprintf("topic %s: %s has another type now, %s, and its messages are a topic of their own", topic,
				caller, fields[wire.FieldType])})
	}
	r.types[who] = fields[wire.FieldMD5]
	t := storage.Topic{Name: topic, Type: fields[wire.FieldType], Encoding: encoding, Metadata: map[string]string{}}
	if text := fields[wire.FieldDefinition]; text != "" {
		t.Schema = storage.Schema{Encoding: schemaEncoding, Data: []byte(text)}
	}
	for _, key := range []string{wire.FieldCaller, wire.FieldMD5, wire.FieldLatching} {
		if v, ok := fields[key]; ok {
			t.Metadata[key] = v
		}
	}
	id, err := r.AddTopic(t)
	if err == nil {
		r.topics[key] = id
	}
	return id, err
}

// setTime takes a message of /clock.
func (r *Recorder) setTime(data []byte) {
	if len(data) == 8 {
		r.time.Store(int64(binary.LittleEndian.Uint32(data))*1e9 + int64(binary.LittleEndian.Uint32(data[4:])))
		r.Tick()
	}
}

// startsWithHeader reports whether messages of a definition begin with std_msgs/Header.
func startsWithHeader(definition string) bool {
	for line := range strings.Lines(definition) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.Contains(line, "="): // a constant
		default:
			return words[0] == "Header" || words[0] == "std_msgs/Header" || words[0] == "roslib/Header"
		}
	}
	return false
}

// Close leaves the system, and ends all connections. See storage.Reader.
func (r *Recorder) Close() error {
	err := r.Recorder.Close()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), 2*time.Second)
	defer cancel()
	r.cancel()
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.running.Wait()
	for topic := range r.subs {
		if _, err := r.node.master.call(ctx, "unregisterSubscriber", topic, r.node.api); err != nil {
			break // it is gone, or as good as that
		}
	}
	r.node.close()
	return err
}

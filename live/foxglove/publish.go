package foxglove

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bagconv/bagconv/internal/live/intake"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

// PublishOptions are how a Publisher plays.
type PublishOptions struct {
	Clock    *live.Clock   // when messages are due
	ClockHz  float64       // how often /clock is published, per second of real time; 0: not at all
	Delay    time.Duration // between the first channels and the first message
	Patience time.Duration // in which the server must take a message, and show its graph; 0: 30 s
	Wait     bool          // the first message of the first recording waits until each topic has a subscriber
}

// published are the encodings of messages that a Publisher sends, first the ones to which others
// are converted.
var published = []string{"cdr", "ros1", "protobuf"}

// maxProblems is how many texts of a server are kept.
const maxProblems = 100

// A Publisher publishes recordings through a server that takes messages of its clients, such as foxglove_bridge with
// the capability clientPublish. Its Format is a sink for convert. Several recordings may be played one after the other;
// they continue the channels. Who receives messages only a server with the capability connectionGraph shows.
type Publisher struct {
	o       PublishOptions
	address string
	conn    *websocket.Conn
	takes   []string // encodings, as the server lists them
	ctx     context.Context
	cancel  context.CancelCauseFunc
	running sync.WaitGroup // reading, and /clock

	mu       sync.Mutex
	channels map[string]uint32
	problems [2][]string // that the server reports: errors and warnings
	graph    graph
}

// NewPublisher connects to a server at an address ws://HOST:PORT. It is an error that wraps storage.ErrUnsupported if
// the server takes no messages of clients, or in other encodings only, or if it does not show who subscribes and
// o.Wait is set. ctx ends the connection at once.
func NewPublisher(ctx context.Context, address string, o PublishOptions) (*Publisher, error) {
	if o.Patience == 0 {
		o.Patience = defaultPatience
	}
	conn, err := connect(ctx, address, 0)
	if err != nil {
		return nil, err
	}
	p := &Publisher{o: o, address: address, conn: conn, channels: map[string]uint32{}}
	if err := p.greet(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", address, err), conn.CloseNow())
	}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.running.Go(func() { p.cancel(p.read()) })
	if o.ClockHz > 0 {
		return p, p.startClock()
	}
	return p, nil
}

// greet reads what the server says of itself.
func (p *Publisher) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	var info serverInfo
	for info.Op != "serverInfo" {
		kind, in, err := p.conn.Reader(ctx)
		if err != nil {
			return fmt.Errorf("the server says nothing of itself: %w", err)
		}
		b, err := intake.ReadMessage(in, 0, maxText)
		if err != nil {
			return err
		}
		if kind != websocket.MessageText {
			continue
		}
		if err := info.read(b); err != nil {
			return err
		}
	}
	if !slices.Contains(info.Capabilities, takesMessages) {
		return fmt.Errorf("the server takes no messages of clients: it lacks the capability %s, so start it with that: %w",
			takesMessages, storage.ErrUnsupported)
	}
	if p.takes = info.Encodings; len(p.takes) == 0 {
		p.takes = published[:1]
	}
	if p.native() == "" {
		return fmt.Errorf("the server takes messages in %.200q only, and here they are published in %s: %w",
			strings.Join(p.takes, ", "), strings.Join(published, ", "), storage.ErrUnsupported)
	}
	return p.askForGraph(ctx, info.Capabilities)
}

// A serverInfo is what a server says of itself, which is not longer than maxInfo.
type serverInfo struct {
	Op           string   `json:"op"`
	Capabilities []string `json:"capabilities"`
	Encodings    []string `json:"supportedEncodings"`
}

// maxInfo is how many bytes it may have.
const maxInfo = 1 << 20

// read reads a message, of which others have Op alone.
func (s *serverInfo) read(b []byte) error {
	var m struct {
		Op string `json:"op"`
	}
	err := json.Unmarshal(b, &m)
	switch {
	case err == nil && m.Op != "serverInfo":
		*s = serverInfo{Op: m.Op}
		return nil
	case err == nil && len(b) > maxInfo:
		return fmt.Errorf("what the server says of itself has %d bytes: %w", len(b), intake.ErrTooMuch)
	case err == nil:
		err = json.Unmarshal(b, s)
	}
	if err != nil {
		return fmt.Errorf("a message that is not JSON as it should be: %w: %w", err, storage.ErrCorrupt)
	}
	return nil
}

// native returns the encoding to which messages are converted that the server does not take; "": it
// takes no encoding.
func (p *Publisher) native() string {
	for _, name := range published {
		if slices.Contains(p.takes, name) {
			return name
		}
	}
	return ""
}

// read reads what the server sends until the connection ends, and returns why it did. Only its warnings and errors are
// kept.
func (p *Publisher) read() error {
	for {
		kind, in, err := p.conn.Reader(p.ctx)
		if err != nil {
			return fmt.Errorf("%s: the connection ended: %w", p.address, err)
		}
		if kind != websocket.MessageText {
			if _, err := io.Copy(io.Discard, in); err != nil {
				return fmt.Errorf("%s: the connection ended: %w", p.address, err)
			}
			continue
		}
		b, err := intake.ReadMessage(in, 0, maxText)
		if err != nil {
			return fmt.Errorf("%s: %w", p.address, err)
		}
		p.text(b)
	}
}

// text takes a message in JSON: what the server reports, who subscribes, and that it does not take messages any more.
// All others are skipped.
func (p *Publisher) text(b []byte) {
	var info serverInfo
	if err := info.read(b); err != nil {
		p.complain(1, fmt.Sprintf("the server sends %.300s", err))
		return
	}
	switch info.Op {
	case "status":
		var m struct {
			Level   int    `json:"level"`
			Message string `json:"message"`
		}
		if json.Unmarshal(b, &m) == nil && m.Level > 0 {
			p.complain(m.Level, fmt.Sprintf("the server reports: %.300s", m.Message))
		}
	case "connectionGraphUpdate":
		p.updateGraph(b)
	case "serverInfo":
		if !slices.Contains(info.Capabilities, takesMessages) {
			p.complain(2, fmt.Sprintf("the server does not take messages of clients any more: it has dropped the capability %s",
				takesMessages))
		}
	}
}

// complain keeps what the server reports: 1 is a warning, 2 an error.
func (p *Publisher) complain(level int, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := &p.problems[0]
	if level == 1 {
		list = &p.problems[1]
	}
	if len(*list) < maxProblems && !slices.Contains(*list, text) {
		*list = append(*list, text)
	}
}

// Problems returns the errors and warnings that the server has reported, each once, and where it contradicts itself.
func (p *Publisher) Problems() (failed, warnings []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	failed, warnings = slices.Clone(p.problems[0]), slices.Clone(p.problems[1])
	if doubt := p.graph.doubt(); doubt != "" {
		warnings = append(warnings, doubt)
	}
	return failed, warnings
}

// Format returns the format of recordings that are played: their sinks are channels.
func (p *Publisher) Format() *storage.Format {
	return &storage.Format{
		Name: "foxglove", Holds: storage.Capacity{
			Native:        p.native(),
			Carries:       func(encoding, _ string) bool { return slices.Contains(p.takes, encoding) },
			TopicMetadata: func(string) bool { return true },
		},
		Layout: storage.Layout{Live: true},
		// nothing of it is asked for
		Create: func(ctx context.Context, _ string, _ storage.WriteOptions) (storage.Writer, error) {
			return &publishWriter{publisher: p, ctx: ctx}, nil
		},
	}
}

// Close withdraws the channels, and ends the connection when the server has everything. If ctx of NewPublisher has
// ended, it does not wait.
func (p *Publisher) Close() error {
	p.mu.Lock()
	list := []uint32{}
	for _, id := range p.channels {
		list = append(list, id)
	}
	p.mu.Unlock()
	var err error
	if p.ctx.Err() == nil {
		slices.Sort(list)
		b, _ := json.Marshal(map[string]any{"op": "unadvertise", "channelIds": list}) // of numbers and text
		if err = p.write(p.ctx, websocket.MessageText, b); err == nil {
			_ = p.conn.Close(websocket.StatusNormalClosure, "") // the server may answer with an end of its own
		}
	}
	p.cancel(nil)
	_ = p.conn.CloseNow()
	p.running.Wait()
	return err
}

// write sends a message; one that the server does not take in time ends the connection.
func (p *Publisher) write(ctx context.Context, kind websocket.MessageType, parts ...[]byte) error {
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	limited, cancel := context.WithTimeout(ctx, p.o.Patience)
	defer cancel()
	out, err := p.conn.Writer(limited, kind)
	for _, part := range parts {
		if err == nil {
			_, err = out.Write(part)
		}
	}
	if err == nil {
		err = out.Close()
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case limited.Err() != nil:
		return fmt.Errorf("%s: the server took nothing for %s", p.address, p.o.Patience)
	}
	return fmt.Errorf("%s: %w", p.address, err)
}

// channel returns the number of a channel, which the server learns of if it is new.
func (p *Publisher) channel(ctx context.Context, c channel) (uint32, error) {
	p.mu.Lock()
	id, known := p.channels[c.key()]
	if !known {
		id = uint32(len(p.channels) + 1)
		p.channels[c.key()] = id
	}
	p.mu.Unlock()
	switch {
	case known:
		return id, nil
	case id > maxChannels:
		return 0, fmt.Errorf("more than %d channels: %w", maxChannels, storage.ErrUnsupported)
	}
	c.ID = uint64(id)
	b, err := json.Marshal(map[string]any{"op": "advertise", "channels": []channel{c}})
	if err != nil {
		return 0, err
	}
	return id, p.write(ctx, websocket.MessageText, b)
}

// send sends a message of a channel.
func (p *Publisher) send(ctx context.Context, id uint32, data []byte) error {
	return p.write(ctx, websocket.MessageBinary, binary.LittleEndian.AppendUint32([]byte{1}, id), data)
}

// clocks are the channels of /clock in ROS 2 and ROS 1.
var clocks = map[string]channel{
	"cdr": {Topic: "/clock", Encoding: "cdr", SchemaName: "rosgraph_msgs/msg/Clock", SchemaEncoding: "ros2msg",
		Schema: "builtin_interfaces/Time clock\n" + strings.Repeat("=", 80) +
			"\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"},
	"ros1": {Topic: "/clock", Encoding: "ros1", SchemaName: "rosgraph_msgs/Clock", SchemaEncoding: "ros1msg",
		Schema: "time clock\n"},
}

// startClock publishes /clock.
func (p *Publisher) startClock() error {
	c, ok := clocks[p.native()]
	if !ok {
		err := fmt.Errorf("%s: the server takes no messages of ROS, and /clock is one: %w", p.address, storage.ErrUnsupported)
		return errors.Join(err, p.Close())
	}
	id, err := p.channel(p.ctx, c)
	if err != nil {
		return errors.Join(err, p.Close())
	}
	var head []byte
	if c.Encoding == "cdr" {
		head = []byte{0, 1, 0, 0}
	}
	p.running.Go(func() {
		tick := time.NewTicker(time.Duration(float64(time.Second) / p.o.ClockHz))
		defer tick.Stop()
		for {
			select {
			case <-p.ctx.Done():
				return
			case <-tick.C:
			}
			if now, ok := p.o.Clock.Now(); ok && now >= 0 {
				b := binary.LittleEndian.AppendUint32(slices.Clone(head), uint32(now/1e9))
				_ = p.send(p.ctx, id, binary.LittleEndian.AppendUint32(b, uint32(now%1e9))) // the next message finds the cause
			}
		}
	})
	return nil
}

// A publishWriter plays one recording.
type publishWriter struct {
	publisher *Publisher
	ctx       context.Context
	topics    []publishedTopic
	started   bool
}

// A publishedTopic is a topic of the recording, and its channel.
type publishedTopic struct {
	channel uint32
	name    string
	path    string // in the system
}

// Identity returns that the publishers of a topic are joined. See storage.Writer.
func (w *publishWriter) Identity() storage.Identity { return storage.IdentityName }

// CreateTopic advertises a channel, unless there is one with the same content. See storage.Writer.
func (w *publishWriter) CreateTopic(t storage.Topic) (storage.TopicID, error) {
	c := channelOf(&t)
	c.Topic = "/" + strings.TrimPrefix(t.Name, "/")
	if c.Topic == "/clock" && w.publisher.o.ClockHz > 0 {
		return 0, fmt.Errorf("the player publishes /clock itself: %w", storage.ErrUnsupported)
	}
	id, err := w.publisher.channel(w.ctx, c)
	if err != nil {
		return 0, err
	}
	w.topics = append(w.topics, publishedTopic{id, t.Name, c.Topic})
	return storage.TopicID(len(w.topics) - 1), nil
}

// slow is how long a message may take that does not hold the clock.
const slow = 5 * time.Millisecond

// Write sends a message when it is due. A server that does not take it holds the clock. See storage.Writer.
func (w *publishWriter) Write(m *storage.Message) error {
	p := w.publisher
	if !w.started {
		w.started = true
		p.o.Clock.Restart(m.LogTime) // nodes with simulated time have it before the first message
		delay := p.o.Delay
		p.o.Delay = 0 // recordings that follow go on at once
		select {
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		case <-time.After(delay):
		}
		if p.o.Wait {
			p.o.Wait = false
			if err := p.awaitSubscribers(w.ctx, w.topics); err != nil {
				return err
			}
		}
	}
	t := &w.topics[m.Topic]
	if err := p.o.Clock.Wait(w.ctx, t.name, m.LogTime); err != nil {
		return err
	}
	p.count(t)
	began := time.Now()
	if err := p.send(w.ctx, t.channel, m.Data); err != nil {
		return err
	}
	if time.Since(began) > slow {
		p.o.Clock.Hold(m.LogTime)
	}
	return nil
}

// Finish, Commit and Close do nothing: channels stay until the publisher is closed.
func (w *publishWriter) Finish() (storage.Output, error) { return storage.Output{}, nil }

// Commit does nothing. See Finish.
func (w *publishWriter) Commit() error { return nil }

// Close does nothing. See Finish.
func (w *publishWriter) Close() error { return nil }

var _ storage.Writer = (*publishWriter)(nil)

// Package foxglove speaks the Foxglove WebSocket protocol: a Recorder records from servers, such as
// foxglove_bridge of ROS 2 and programs with the Foxglove SDK, a Publisher plays recordings into them,
// and a Player is a server that plays recordings to viewers. The subprotocols foxglove.websocket.v1 and foxglove.sdk.v1
// differ in the control of the playback alone, which only the second one has:
//
//	text    JSON {"op": ...}: serverInfo, advertise, status, connectionGraphUpdate from the server; subscribe,
//	        unsubscribe, subscribeConnectionGraph, and advertise, unadvertise for channels of the client, to it
//	binary  from the server: u8 1, u32 subscription, u64 log time in ns, then the message
//	        u8 2, u64 time in ns; u8 5, the state of the playback
//	        to the server: u8 1, u32 channel of the client, then the message
//	        u8 3, the control of the playback; all little endian
//
// The protocol does not number messages: what a server drops, because a client or the network is slow,
// cannot be seen by the client.
//
// Messages for a Recorder have a limit in bytes, and a connection that breaks it is closed and made
// again. All other messages of a server are skipped. A Player refuses what is no request of the
// protocol with the end of the connection, and other requests with a status. What waits for
// viewers is bounded: then the clock waits, or messages are dropped.
//
// Source: github.com/foxglove/ws-protocol, docs/spec.md, and github.com/foxglove/foxglove-sdk. A
// Recorder, a Publisher and a Player start goroutines and end them in Close; their methods are safe
// for concurrent use, except the methods of storage.Reader and storage.Writer.
package foxglove

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/bagconv/bagconv/internal/live/intake"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

// subprotocols are offered to servers: some know one of them only.
var subprotocols = []string{"foxglove.sdk.v1", "foxglove.websocket.v1"}

// Limits of what a server sends besides messages, in bytes.
const (
	maxText     = 64 << 20
	maxChannels = 100_000 // in one text, not bytes
	maxMetadata = 1 << 20 // of a channel
)

// Limits of time.
const (
	connectTimeout = 10 * time.Second
	firstTopics    = time.Second // how long the first list of channels may take before the recording begins
	firstRetry     = 500 * time.Millisecond
	lastRetry      = 32 * time.Second
)

// RecordOptions are what to record.
type RecordOptions struct {
	live.Options

	Takes      func(name, typ string) bool // reports whether a topic is recorded
	WallTime   bool                        // times of this machine, not of the server
	MaxMessage int64                       // bytes; 0: live.DefaultMaxMessage
}

// A Recorder records the channels of a server. It is a storage.Reader.
type Recorder struct {
	*live.Recorder
	o       RecordOptions
	address string
	cancel  context.CancelFunc
	done    chan struct{}
	listed  chan struct{} // closed with the first list of channels
	once    sync.Once

	topics map[[sha256.Size]byte]storage.TopicID // by the hash of all that a channel has
}

// Record begins to record from a server at an address ws://HOST:PORT. The recording ends with Stop or
// the options; ctx ends it at once.
func Record(ctx context.Context, address string, o RecordOptions) (*Recorder, error) {
	if o.MaxMessage == 0 {
		o.MaxMessage = live.DefaultMaxMessage
	}
	o.Format, o.Path = "foxglove", address
	r := &Recorder{o: o, address: address, done: make(chan struct{}), listed: make(chan struct{}),
		topics: map[[sha256.Size]byte]storage.TopicID{}}
	conn, err := connect(ctx, address, o.MaxMessage)
	if err != nil {
		return nil, err
	}
	r.Recorder = intake.NewRecorder(ctx, r.o.Options)
	ctx, r.cancel = context.WithCancel(ctx)
	go r.follow(ctx, conn)
	select {
	case <-r.listed:
	case <-time.After(firstTopics):
	case <-ctx.Done():
	}
	_, err = r.Resume() // with the topics of the list
	return r, err
}

// connect makes a connection to a server, whose messages have maxMessage bytes at most, or the
// limit of a text.
func connect(ctx context.Context, address string, maxMessage int64) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, address, &websocket.DialOptions{Subprotocols: subprotocols,
		HTTPClient: &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dial}}})
	if err != nil {
		if resp != nil {
			return nil, fmt.Errorf("%s: it answers with HTTP status %s: not a server of the Foxglove WebSocket protocol",
				address, resp.Status)
		}
		return nil, fmt.Errorf(
			"%s: %w; is foxglove_bridge or another server of the Foxglove WebSocket protocol running there?", address, err)
	}
	if conn.Subprotocol() == "" {
		return nil, errors.Join(fmt.Errorf("%s: a WebSocket server, but not of the Foxglove protocol", address),
			conn.CloseNow())
	}
	conn.SetReadLimit(max(maxMessage, maxText) + 64<<10)
	return conn, nil
}

// dial makes a connection of which the end is an error of its own. The library takes io.EOF within a
// message for the end of the message, and returns the part of it as if it were whole.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return endedConn{conn}, nil
}

type endedConn struct{ net.Conn }

func (c endedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// follow stays connected until the recording ends.
func (r *Recorder) follow(ctx context.Context, conn *websocket.Conn) {
	defer close(r.done)
	for wait := firstRetry; ctx.Err() == nil && !r.Ended(); {
		if conn != nil {
			err := r.session(ctx, conn)
			_ = conn.CloseNow()
			if wait = firstRetry; ctx.Err() == nil && !r.Ended() {
				r.Warn(storage.Warning{Code: "connection-lost", Damage: true,
					Message: fmt.Sprintf("the connection ended, and is made again; what is sent meanwhile is lost: %v", err)})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = min(2*wait, lastRetry)
		conn, _ = connect(ctx, r.address, r.o.MaxMessage) // else it is tried again
	}
}

// A channel is what a server advertises.
type channel struct {
	ID             uint64 `json:"id"`
	Topic          string `json:"topic"`
	Encoding       string `json:"encoding"`
	SchemaName     string `json:"schemaName"`
	SchemaEncoding string `json:"schemaEncoding"`
	Schema         string `json:"schema"`

	Metadata metadata `json:"metadata,omitempty"` // servers of foxglove.sdk.v1 have it
}

// channels is a list of channels that is not longer than it may be.
type channels []channel

// UnmarshalJSON reads one channel after the other.
func (c *channels) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return errors.Join(errors.New("the channels are no list"), err)
	}
	for d.More() {
		if len(*c) == maxChannels {
			return fmt.Errorf("more than %d channels: %w", maxChannels, intake.ErrTooMuch)
		}
		var one channel
		if err := d.Decode(&one); err != nil {
			return err
		}
		*c = append(*c, one)
	}
	return nil
}

// metadata is what a channel has about itself, if it is not larger than it may be.
type metadata map[string]string

// UnmarshalJSON reads it.
func (m *metadata) UnmarshalJSON(b []byte) error {
	if len(b) > maxMetadata {
		return fmt.Errorf("metadata of %d bytes: %w", len(b), intake.ErrTooMuch)
	}
	return json.Unmarshal(b, (*map[string]string)(m))
}

// session reads a connection until its end.
func (r *Recorder) session(ctx context.Context, conn *websocket.Conn) error {
	subscribed := map[uint32]storage.TopicID{} // by the number of the subscription, which is the number of the channel
	sizes := map[storage.TopicID]int64{}       // of the largest messages
	for {
		kind, in, err := conn.Reader(ctx)
		if err != nil {
			return err
		}
		if kind == websocket.MessageText {
			b, err := intake.ReadMessage(in, 0, maxText)
			if err == nil {
				err = r.text(ctx, conn, b, subscribed)
			}
			if err != nil {
				return err
			}
			continue
		}
		m, wanted, err := r.message(in, subscribed, sizes)
		if err != nil {
			return err
		}
		if wanted && !r.Add(m) {
			return nil
		}
	}
}

// message reads a message of a channel. What is not wanted is left out as it comes: time, assets, the state of a
// player, and what was sent before the server knew that a subscription ended.
func (r *Recorder) message(in io.Reader, subscribed map[uint32]storage.TopicID, sizes map[storage.TopicID]int64) (
	m storage.Message, wanted bool, err error) {
	var head [13]byte
	n, err := io.ReadFull(in, head[:])
	switch {
	case n > 0 && head[0] == 1 && errors.Is(err, io.ErrUnexpectedEOF):
		return m, false, fmt.Errorf("a message of %d bytes: %w", n, storage.ErrTruncated)
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return m, false, err
	}
	if m.Topic, wanted = subscribed[binary.LittleEndian.Uint32(head[1:])]; !wanted || head[0] != 1 {
		_, err = io.Copy(io.Discard, in)
		return m, false, err
	}
	if m.Data, err = intake.ReadMessage(in, sizes[m.Topic], r.o.MaxMessage); err != nil {
		return m, false, err
	}
	sizes[m.Topic] = max(sizes[m.Topic], int64(len(m.Data)))
	if !r.o.WallTime {
		m.LogTime = int64(binary.LittleEndian.Uint64(head[5:]))
	}
	return m, true, nil
}

// text takes a message in JSON.
func (r *Recorder) text(ctx context.Context, conn *websocket.Conn, b []byte,
	subscribed map[uint32]storage.TopicID) error {
	var m struct {
		Op       string   `json:"op"`
		Channels channels `json:"channels"`
		Level    int      `json:"level"`
		Message  string   `json:"message"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("a message that is not JSON as it should be: %w: %w", err, storage.ErrCorrupt)
	}
	switch {
	case m.Op == "status" && m.Level > 0:
		r.Warn(storage.Warning{Code: "server-status", Message: fmt.Sprintf("the server reports: %.300s", m.Message)})
	case m.Op == "advertise":
		defer r.once.Do(func() { close(r.listed) })
		return r.subscribe(ctx, conn, m.Channels, subscribed)
	}
	return nil
}

// subscribe subscribes to the channels that are wanted.
func (r *Recorder) subscribe(ctx context.Context, conn *websocket.Conn, channels []channel,
	subscribed map[uint32]storage.TopicID) error {
	list := []subscription{}
	for i := range channels {
		c := &channels[i]
		if !r.o.Takes(c.Topic, c.SchemaName) {
			continue
		}
		id, err := r.topic(c)
		if err != nil || c.ID > 1<<32-1 {
			r.Warn(storage.Warning{Code: "channel-refused", Damage: true,
				Message: fmt.Sprintf("topic %.200s cannot be recorded: its number is %d, its definition is in %.40q: %v", c.Topic,
					c.ID, c.SchemaEncoding, err)})
			continue
		}
		subscribed[uint32(c.ID)] = id
		list = append(list, subscription{uint32(c.ID), c.ID})
	}
	if len(list) == 0 {
		return nil
	}
	b, err := json.Marshal(map[string]any{"op": "subscribe", "subscriptions": list})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return conn.Write(ctx, websocket.MessageText, b)
}

// usualSchema has the encodings of definitions that servers of the first version leave out.
var usualSchema = map[string]string{"ros1": "ros1msg", "cdr": "ros2msg", "protobuf": "protobuf", "json": "jsonschema",
	"flatbuffer": "flatbuffer"}

// topic returns the topic of a channel: the topic of an older channel if they are the same.
func (r *Recorder) topic(c *channel) (storage.TopicID, error) {
	key := sha256.Sum256([]byte(c.key()))
	if id, known := r.topics[key]; known {
		r.Reconnected(id)
		return id, nil
	}
	t := storage.Topic{Name: c.Topic, Type: c.SchemaName, Encoding: c.Encoding, Metadata: c.Metadata,
		Schema: storage.Schema{Encoding: c.SchemaEncoding, Data: []byte(c.Schema)}}
	if t.Schema.Encoding == "" {
		t.Schema.Encoding = usualSchema[c.Encoding]
	}
	if t.Schema.Encoding == "protobuf" || t.Schema.Encoding == "flatbuffer" {
		var err error
		if t.Schema.Data, err = base64.StdEncoding.DecodeString(c.Schema); err != nil {
			return 0, err
		}
	}
	if c.Schema == "" {
		t.Schema = storage.Schema{}
	}
	id, err := r.AddTopic(t)
	if err == nil {
		r.topics[key] = id
	}
	return id, err
}

// Close ends the connection. See storage.Reader.
func (r *Recorder) Close() error {
	err := r.Recorder.Close()
	r.cancel()
	<-r.done
	return err
}

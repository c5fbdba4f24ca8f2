package foxglove

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"maps"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// Limits of what waits for viewers, besides PlayOptions.Waiting for each. Beyond them the clock waits,
// or messages are dropped.
const (
	waitingOfAll = 8   // times Waiting: for all of them; messages that several wait for count once
	waitingOfNew = 4   // times Waiting: of messages kept for new subscribers; messages that come later are not kept
	itemMemory   = 128 // bytes of an item of a queue, besides its data
)

// A channelOut is a channel that is advertised.
type channelOut struct {
	id          uint32
	text        []byte // its JSON
	subscribers int
	last        map[storage.TopicID]*payload // of latched publishers, for new subscribers
}

// A payload is the data of a message, for all viewers that wait for it.
type payload struct {
	logTime int64
	data    []byte
	waiting int // viewers
}

func (d *payload) size() int64 { return int64(len(d.data)) + itemMemory }

// channelOf returns what the protocol has of a topic, without its number and metadata.
func channelOf(t *storage.Topic) channel {
	c := channel{Topic: t.Name, Encoding: t.Encoding, SchemaName: t.Type, SchemaEncoding: t.Schema.Encoding,
		Schema: string(t.Schema.Data)}
	if t.Schema.Encoding == "protobuf" || t.Schema.Encoding == "flatbuffer" {
		c.Schema = base64.StdEncoding.EncodeToString(t.Schema.Data)
	}
	return c
}

// key tells apart channels that differ in their messages.
func (c *channel) key() string {
	return strings.Join([]string{c.Topic, c.Encoding, c.SchemaName, c.SchemaEncoding, c.Schema}, "\x00")
}

// channel returns the channel of a topic; viewers learn of a new one.
func (p *Player) channel(t *storage.Topic) *channelOut {
	c := channelOf(t)
	c.Metadata = maps.Clone(t.Metadata)
	for _, key := range []string{storage.MetaCallerID, storage.MetaCallerIDs} {
		delete(c.Metadata, key) // other publishers may join the channel
	}
	key := c.key()
	p.mu.Lock()
	defer p.mu.Unlock()
	if out := p.byKey[key]; out != nil {
		return out
	}
	c.ID = uint64(len(p.channels) + 1)
	text, _ := json.Marshal(c) // of numbers and text
	out := &channelOut{id: uint32(c.ID), text: text}
	p.channels, p.byKey[key], p.list = append(p.channels, out), out, nil
	advertise := advertisement([]*channelOut{out})
	for v := range p.viewers {
		v.put(item{text: true, head: advertise})
	}
	return out
}

// advertisement returns the text that advertises channels.
func advertisement(list []*channelOut) []byte {
	texts := make([][]byte, len(list))
	for i, c := range list {
		texts[i] = c.text
	}
	return append(append([]byte(`{"op":"advertise","channels":[`), bytes.Join(texts, []byte(","))...), "]}"...)
}

// send passes a message to all subscribers. It waits for slow ones, unless messages are dropped.
func (p *Player) send(ctx context.Context, s source, m *storage.Message) error {
	data := &payload{logTime: m.LogTime, data: bytes.Clone(m.Data)}
	size := data.size()
	defer context.AfterFunc(ctx, p.wake)()
	p.mu.Lock()
	defer p.mu.Unlock()
	if ctx.Err() != nil { // then the viewers are elsewhere already
		return context.Cause(ctx)
	}
	if s.latched {
		p.keep(s, m.Topic, data)
	}
	waited := false
	wait := func(full func() bool) bool { // reports whether there is room
		for full() && !p.o.Drop && ctx.Err() == nil {
			waited = true
			p.changed.Wait()
		}
		return !full()
	}
	room := wait(func() bool { return p.waiting > 0 && p.waiting+size > waitingOfAll*p.o.Waiting })
	for _, v := range p.all() {
		id, subscribed := v.subscriptions[s.channelOut]
		switch {
		case !subscribed:
		case !wait(func() bool { return v.size > 0 && v.size+size > p.o.Waiting && !v.ended }) || !room:
			p.drop(ctx, v)
		case !v.ended:
			v.putMessage(id, data)
		}
	}
	if waited {
		p.o.Clock.Hold(m.LogTime)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// drop counts a message that a viewer does not get, and shows it the first time.
func (p *Player) drop(ctx context.Context, v *viewer) {
	if ctx.Err() != nil {
		return // the run has ended, nobody gets it
	}
	if p.dropped++; !v.behind {
		v.behind = true
		v.put(status(1, "Send buffer limit reached"))
	}
}

// keep keeps the last message of a latched publisher for viewers that subscribe later.
func (p *Player) keep(s source, publisher storage.TopicID, data *payload) {
	if s.last == nil {
		s.last = map[storage.TopicID]*payload{}
	}
	if old := s.last[publisher]; old != nil {
		p.latched -= old.size()
		delete(s.last, publisher)
	}
	if p.latched+data.size() <= waitingOfNew*p.o.Waiting {
		p.latched += data.size()
		s.last[publisher] = data
	}
}

// messageHead returns what is before the data of a message.
func messageHead(subscription uint32, logTime int64) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{1}, subscription)
	return binary.LittleEndian.AppendUint64(b, uint64(logTime))
}

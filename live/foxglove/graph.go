package foxglove

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/internal/live/intake"
	"github.com/bagconv/bagconv/storage"
)

// Capabilities of a server that a Publisher asks for.
const (
	takesMessages = "clientPublish"
	showsGraph    = "connectionGraph"
)

// maxGraph is how many bytes of names of topics with subscribers are kept.
const maxGraph = 16 << 20

// A graph is which topics of a system have subscribers, as the connection graph of the server shows it.
type graph struct {
	listed bool             // the server has the capability
	come   chan struct{}    // closed with the first update
	err    error            // why the graph is not known any more
	size   int              // of the names
	topics map[string]bool  // that have or had subscribers: whether they have one now; nil: nothing has come
	heard  bool             // a message was sent to a topic that had one
	early  map[string]int64 // messages by the topic of the recording that were sent before it had a subscriber
}

// known reports whether it has come and could be read, for a caller that has locked.
func (g *graph) known() bool {
	select {
	case <-g.come:
		return g.err == nil
	default:
		return false
	}
}

// fail says that the graph is not known any more.
func (g *graph) fail(err error) {
	if g.err == nil {
		g.err = err
	}
	if g.topics == nil {
		g.topics = map[string]bool{}
		close(g.come)
	}
}

// A topicsOf is the list subscribedTopics of an update: topics, each with whether it has subscribers.
type topicsOf map[string]bool

// UnmarshalJSON reads one topic after the other, so that memory is bounded by the names.
func (t *topicsOf) UnmarshalJSON(b []byte) error {
	*t = topicsOf{}
	return each(b, func(d *json.Decoder) (string, error) {
		var one struct {
			Name string    `json:"name"`
			IDs  idsOrNone `json:"subscriberIds"`
		}
		err := d.Decode(&one)
		(*t)[one.Name] = bool(one.IDs)
		return one.Name, err
	})
}

// An idsOrNone is whether a list has members.
type idsOrNone bool

// UnmarshalJSON reads it.
func (n *idsOrNone) UnmarshalJSON(b []byte) error {
	*n = len(bytes.Trim(b, "[] \t\r\n")) > 0 && string(b) != "null"
	return nil
}

// A nameList is a list of topics that have gone.
type nameList []string

// UnmarshalJSON reads it.
func (l *nameList) UnmarshalJSON(b []byte) error {
	return each(b, func(d *json.Decoder) (name string, err error) {
		err = d.Decode(&name)
		*l = append(*l, name)
		return name, err
	})
}

// each reads a list in JSON, one member after the other, up to the limits of a graph.
func each(b []byte, read func(d *json.Decoder) (name string, err error)) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		if start == nil && err == nil {
			return nil // null
		}
		return errors.Join(errors.New("the topics are no list"), err)
	}
	size := 0
	for n := 0; d.More(); n++ {
		name, err := read(d)
		if size += len(name); err != nil {
			return err
		}
		if n == maxChannels || size > maxGraph {
			return fmt.Errorf("more than %d topics, or names of more than %d bytes: %w", maxChannels, maxGraph,
				intake.ErrTooMuch)
		}
	}
	return nil
}

// updateGraph takes an update of the connection graph.
func (p *Publisher) updateGraph(b []byte) {
	var m struct {
		Subscribed topicsOf `json:"subscribedTopics"`
		Removed    nameList `json:"removedTopics"`
	}
	err := json.Unmarshal(b, &m)
	p.mu.Lock()
	defer p.mu.Unlock()
	g := &p.graph
	if !g.listed || g.err != nil {
		return // nobody asked for it
	}
	if err != nil {
		g.fail(fmt.Errorf("the connection graph of the server cannot be read: %w", err))
		return
	}
	if g.topics == nil {
		g.topics = map[string]bool{}
		close(g.come)
	}
	for _, name := range m.Removed {
		if _, known := g.topics[name]; known {
			g.topics[name] = false
		}
	}
	for name, subscribed := range m.Subscribed {
		if _, known := g.topics[name]; !known && !subscribed {
			continue
		} else if !known {
			if g.size += len(name); g.size > maxGraph || len(g.topics) == maxChannels {
				g.fail(fmt.Errorf("the connection graph of the server has more than %d topics, or names of more than %d bytes",
					maxChannels, maxGraph))
				return
			}
		}
		g.topics[name] = subscribed
	}
}

// askForGraph asks a server that has a connection graph to show it.
func (p *Publisher) askForGraph(ctx context.Context, capabilities []string) error {
	p.graph = graph{listed: slices.Contains(capabilities, showsGraph), come: make(chan struct{}),
		early: map[string]int64{}}
	switch {
	case p.graph.listed:
		ctx, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		return p.conn.Write(ctx, websocket.MessageText, []byte(`{"op":"subscribeConnectionGraph"}`))
	case p.o.Wait:
		return fmt.Errorf("the server does not show who subscribes, so that the first message cannot wait for it: it lacks "+
			"the capability %s: %w", showsGraph, storage.ErrUnsupported)
	}
	return nil
}

// awaitSubscribers waits until the graph shows a subscriber of each topic.
func (p *Publisher) awaitSubscribers(ctx context.Context, topics []publishedTopic) error {
	timer := time.NewTimer(p.o.Patience)
	defer timer.Stop()
	select {
	case <-p.graph.come:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-p.ctx.Done():
		return context.Cause(p.ctx)
	case <-timer.C:
		return fmt.Errorf("%s: the server lists the capability %s, but shows no connection graph: %w", p.address, showsGraph,
			storage.ErrUnsupported)
	}
	for {
		p.mu.Lock()
		err := p.graph.err
		missing := slices.ContainsFunc(topics, func(t publishedTopic) bool { return !p.graph.topics[t.path] })
		p.mu.Unlock()
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", p.address, err)
		case !missing:
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.ctx.Done():
			return context.Cause(p.ctx)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// count counts a message that is sent before its topic has had a subscriber.
func (p *Publisher) count(t *publishedTopic) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, heard := p.graph.topics[t.path]; heard {
		p.graph.heard = true
	} else {
		p.graph.early[t.name]++
	}
}

// Early returns how many messages of each topic were sent before it had a subscriber, and whether any topic has had
// one, as the connection graph of the server shows it. known is false if the server shows none: then nobody knows.
func (p *Publisher) Early() (messages map[string]int64, heard, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.graph.known() {
		return nil, false, false
	}
	return maps.Clone(p.graph.early), p.graph.heard, true
}

// doubt returns why it is not known who gets messages although the server lists the capability; "" without a reason.
func (g *graph) doubt() string {
	switch {
	case !g.listed || g.known():
		return ""
	case g.err != nil:
		return g.err.Error()
	}
	return fmt.Sprintf("the server lists the capability %s, but shows no connection graph", showsGraph)
}

package foxglove

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

// graphInfo is what a bridge says of itself that also shows who subscribes.
var graphInfo = strings.Replace(publishInfo, `"time"`, `"connectionGraph"`, 1)

// shows returns what a bridge does that shows a graph, and then others, 50 ms apart.
func shows(texts ...string) func(ctx context.Context, conn *websocket.Conn) {
	return func(ctx context.Context, conn *websocket.Conn) {
		go func() {
			for i, text := range texts {
				time.Sleep(time.Duration(min(i, 1)) * 50 * time.Millisecond)
				_ = conn.Write(ctx, websocket.MessageText, []byte(text))
			}
		}()
	}
}

// subscribed returns an update of the connection graph: topics with a subscriber.
func subscribed(topics ...string) string {
	list := make([]string, len(topics))
	for i, name := range topics {
		list[i] = fmt.Sprintf(`{"name":%q,"subscriberIds":["/listener"]}`, name)
	}
	return `{"op":"connectionGraphUpdate","publishedTopics":[],"subscribedTopics":[` + strings.Join(list, ",") +
		`,{"name":"/nobody","subscriberIds":[ ]}],"advertisedServices":[],"removedTopics":[],"removedServices":[]}`
}

// update returns one with another list of topics that have subscribers.
func update(list string) string {
	return `{"op":"connectionGraphUpdate","subscribedTopics":` + list + `}`
}

// twoTopics are published as /two and /nobody.
var twoTopics = []storage.Topic{{Name: "two", Type: "a.B", Encoding: "json"}, {Name: "/nobody", Type: "a.B",
	Encoding: "json"}}

// TestEarly: what is sent before a topic has a subscriber is counted, by the graph of the server.
func TestEarly(t *testing.T) {
	for name, c := range map[string]struct {
		texts []string
		want  map[string]int64
		heard bool
	}{
		"one of two": {[]string{subscribed("/two")}, map[string]int64{"/nobody": 3}, true},
		"nobody":     {[]string{subscribed("/other")}, map[string]int64{"two": 3, "/nobody": 3}, false},
		"all": {[]string{subscribed("/two"), update(`[{"name":"/nobody","subscriberIds":["a"]}]`)},
			map[string]int64{}, true},
		"one that has gone": {[]string{subscribed("/two"), `{"op":"connectionGraphUpdate","removedTopics":["/two","/x"]}`},
			map[string]int64{"/nobody": 3}, true},
		"a null list": {[]string{update("null")}, map[string]int64{"two": 3, "/nobody": 3}, false},
	} {
		b := startBridge(t, graphInfo, shows(c.texts...))
		p, err := NewPublisher(t.Context(), b.url, PublishOptions{Clock: live.NewClock(1000, false),
			Delay: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := publish(t.Context(), p, twoTopics, 6, number); err != nil {
			t.Fatal(err)
		}
		early, heard, known := p.Early()
		if !maps.Equal(early, c.want) || heard != c.heard || !known {
			t.Errorf("%s: %v, heard %v, known %v", name, early, heard, known)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if asked := <-b.got; asked != `{"op":"subscribeConnectionGraph"}` {
			t.Errorf("%s: the first text is %s", name, asked)
		}
	}
}

// TestWait: the first message waits until each topic has a subscriber.
func TestWait(t *testing.T) {
	b := startBridge(t, graphInfo, shows(subscribed("/two"), subscribed("/x"),
		update(`[{"name":"/nobody","subscriberIds":["a","b"]}]`)))
	p, err := NewPublisher(t.Context(), b.url, PublishOptions{Clock: live.NewClock(1000, false), Wait: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second recording does not wait
		if err := publish(t.Context(), p, twoTopics, 6, number); err != nil {
			t.Fatal(err)
		}
	}
	if early, heard, known := p.Early(); len(early) > 0 || !heard || !known {
		t.Errorf("%v, heard %v, known %v", early, heard, known)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	b = startBridge(t, publishInfo, nil)
	if _, err := NewPublisher(t.Context(), b.url, PublishOptions{Wait: true}); !errors.Is(err, storage.ErrUnsupported) ||
		!strings.Contains(err.Error(), "lacks the capability connectionGraph") {
		t.Error(err)
	}
	b = startBridge(t, graphInfo, nil)
	ctx, interrupt := context.WithCancel(t.Context())
	if p, err = NewPublisher(ctx, b.url, PublishOptions{Clock: live.NewClock(1, false), Wait: true}); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, interrupt)
	if err := publish(ctx, p, twoTopics, 6, number); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_ = p.Close()
}

// TestLyingServers: a server that lists capabilities which it does not have. What it says is a doubt, a loss or an
// error, and no message of it ends the playing.
func TestLyingServers(t *testing.T) {
	many := make([]string, maxChannels+1)
	for i := range many {
		many[i] = fmt.Sprintf("/topic%d", i)
	}
	long := strings.Repeat("x", maxGraph/2+1)
	for name, c := range map[string]struct {
		texts           []string
		failed, warning string
	}{
		"it shows no graph":  {nil, "", "lists the capability connectionGraph, but shows no connection graph"},
		"a graph of numbers": {[]string{update(`7`)}, "", "cannot be read: the topics are no list"},
		"topics of numbers":  {[]string{update(`[7]`)}, "", "cannot be read"},
		"more topics":        {[]string{subscribed(many...)}, "", "more than 100000 topics"},
		"empty topics":       {[]string{update("[" + strings.Repeat("{},", 4<<20) + "{}]")}, "", "more than 100000 topics"},
		"long names": {[]string{subscribed("/a"+long, "/b"+long)}, "",
			"names of more than 16777216 bytes"},
		"long names, one after the other": {[]string{subscribed("/a" + long), subscribed("/b" + long)}, "",
			"names of more than 16777216 bytes"},
		"no JSON": {[]string{subscribed("/two"), "{"}, "", "the server sends a message that is not JSON as it should be"},
		"it does not take messages any more": {[]string{subscribed("/two"), `{"op":"serverInfo","capabilities":[]}`},
			"it has dropped the capability clientPublish", ""},
		"it refuses the channel": {[]string{subscribed("/two"), `{"op":"status","level":2,"message":"not supported"}`},
			"the server reports: not supported", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if size := len(strings.Join(c.texts, "")); testing.Short() && size > 1<<20 {
				t.Skip("sends messages of many MB")
			}
			b := startBridge(t, graphInfo, shows(c.texts...))
			p, err := NewPublisher(t.Context(), b.url, PublishOptions{Clock: live.NewClock(1000, false),
				Patience: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			met := func() bool {
				failed, warnings := p.Problems()
				contains := func(list []string, want string) bool {
					return want == "" && len(list) == 0 || want != "" && len(list) == 1 && strings.Contains(list[0], want)
				}
				return contains(failed, c.failed) && contains(warnings, c.warning)
			}
			for range 1500 {
				if met() {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if err := publish(t.Context(), p, twoTopics, 6, number); err != nil {
				t.Error(err)
			}
			if failed, warnings := p.Problems(); !met() {
				t.Errorf("problems are %q, %.200q", failed, warnings)
			}
			_, _, known := p.Early()
			if doubtful := strings.Contains(c.warning, "graph") || strings.Contains(c.warning, "more than") ||
				strings.Contains(c.warning, "cannot be read"); known == doubtful {
				t.Errorf("known: %v", known)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	b := startBridge(t, graphInfo, nil)
	p, err := NewPublisher(t.Context(), b.url, PublishOptions{Clock: live.NewClock(1, false), Wait: true,
		Patience: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := publish(t.Context(), p, twoTopics, 6, number); !errors.Is(err, storage.ErrUnsupported) {
		t.Error(err)
	}
	_ = p.Close()
	large := strings.Replace(graphInfo, `"time"`, `"time"`+strings.Repeat(`,""`, maxInfo/3), 1)
	large = strings.Replace(large, `"name":"x"`, `"name":"`+strings.Repeat("x", maxInfo)+`"`, 1)
	if _, err := NewPublisher(t.Context(), startBridge(t, large, nil).url, PublishOptions{}); err == nil ||
		!strings.Contains(err.Error(), "what the server says of itself has") {
		t.Error(err)
	}
}

// FuzzGraph: what a server may send instead of a graph is read without a panic, within the limits.
func FuzzGraph(f *testing.F) {
	for _, text := range []string{subscribed("/two"), `{"op":"connectionGraphUpdate","subscribedTopics":null}`, `{}`,
		`{"subscribedTopics":[{"name":"a","subscriberIds":null}],"removedTopics":["a","b"]}`, `{"removedTopics":{}}`,
		`{"subscribedTopics":[{"name":"a","subscriberIds":[[]]}]}`, `[`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := &Publisher{graph: graph{listed: true, come: make(chan struct{}), early: map[string]int64{}}}
		for range 2 {
			p.updateGraph([]byte(text))
		}
		size := 0
		for name := range p.graph.topics {
			size += len(name)
		}
		if size != p.graph.size && p.graph.err == nil {
			t.Errorf("%d bytes of names, counted are %d", size, p.graph.size)
		}
		p.count(&publishedTopic{name: "a", path: "a"})
		if _, _, known := p.Early(); known != slices.Contains([]string{""}, p.graph.doubt()) {
			t.Error(known, p.graph.doubt())
		}
	})
}

package foxglove

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

// publishInfo is what a bridge says of itself.
const publishInfo = `{"op":"serverInfo","name":"x","capabilities":["clientPublish","time"],"supportedEncodings":["cdr","json"]}`

// A bridge takes messages of clients, and keeps what it gets: texts, and of binary messages the channel and the data.
type bridge struct {
	url string
	got chan string
}

// startBridge starts a server that begins with a text; talk is what it does besides reading; nil: nothing.
func startBridge(t *testing.T, info string, talk func(ctx context.Context, conn *websocket.Conn)) *bridge {
	b := &bridge{got: make(chan string, 10_000)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: subprotocols})
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		conn.SetReadLimit(-1)
		_ = conn.Write(r.Context(), websocket.MessageText, []byte(info))
		if talk != nil {
			talk(r.Context(), conn)
		}
		for {
			kind, m, err := conn.Read(r.Context())
			switch {
			case err != nil:
				close(b.got)
				return
			case kind == websocket.MessageText:
				b.got <- string(m)
			case m[0] == 1:
				b.got <- fmt.Sprintf("%d %q", binary.LittleEndian.Uint32(m[1:]), m[5:])
			default:
				b.got <- fmt.Sprintf("opcode %d", m[0])
			}
		}
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	b.url = strings.Replace(s.URL, "http", "ws", 1)
	return b
}

// publish plays messages of the topics, each in turn, a millisecond apart.
func publish(ctx context.Context, p *Publisher, topics []storage.Topic, messages int, data func(i int) []byte) error {
	w, err := p.Format().Create(ctx, "", storage.WriteOptions{})
	if err != nil {
		return err
	}
	for _, topic := range topics {
		if _, err := w.CreateTopic(topic); err != nil {
			return err
		}
	}
	for i := range messages {
		if err := w.Write(&storage.Message{Topic: storage.TopicID(i % len(topics)), LogTime: start + int64(i)*1e6,
			Data: data(i)}); err != nil {
			return err
		}
	}
	return w.Commit()
}

// TestPublish: channels, messages and their end are what the protocol draws; a second recording continues the channels.
func TestPublish(t *testing.T) {
	b := startBridge(t, publishInfo, func(ctx context.Context, conn *websocket.Conn) {
		for range 3 { // the same text counts once; what is no warning does not
			_ = conn.Write(ctx, websocket.MessageText, []byte(`{"op":"status","level":2,"message":"no type x"}`))
			_ = conn.Write(ctx, websocket.MessageText, []byte(`{"op":"status","level":0,"message":"hello"}`))
			_ = conn.Write(ctx, websocket.MessageText, []byte(`{"op":"status","level":1,"message":"late"}`))
			_ = conn.Write(ctx, websocket.MessageBinary, []byte{2, 0, 0, 0, 0, 0, 0, 0, 0})
		}
	})
	p, err := NewPublisher(t.Context(), b.url, PublishOptions{Clock: live.NewClock(1000, false),
		Delay: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if f := p.Format(); f.Holds.Native != "cdr" || !f.Layout.Live || !f.Holds.Carries("json", "jsonschema") ||
		f.Holds.Carries("ros1", "ros1msg") {
		t.Errorf("the format is %+v", f)
	}
	topics := []storage.Topic{played[2], {Name: "five", Type: "a.B", Encoding: "json",
		Schema: storage.Schema{Encoding: "protobuf", Data: []byte{1, 255}}}}
	for range 2 {
		if err := publish(t.Context(), p, topics, 3, number); err != nil {
			t.Fatal(err)
		}
	}
	if failed, warnings := p.Problems(); !slices.Equal(failed, []string{"the server reports: no type x"}) ||
		!slices.Equal(warnings, []string{"the server reports: late"}) {
		t.Errorf("problems are %q, %q", failed, warnings)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	var got []string
	for line := range b.got {
		got = append(got, line)
	}
	sent := []string{`1 "number 0"`, `2 "number 1"`, `1 "number 2"`}
	want := slices.Concat([]string{
		`{"channels":[{"id":1,"topic":"/two","encoding":"cdr","schemaName":"std_msgs/msg/String","schemaEncoding":"ros2idl","schema":"module std_msgs {};"}],"op":"advertise"}`,
		`{"channels":[{"id":2,"topic":"/five","encoding":"json","schemaName":"a.B","schemaEncoding":"protobuf","schema":"Af8="}],"op":"advertise"}`,
	}, sent, sent, []string{`{"channelIds":[1,2],"op":"unadvertise"}`})
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestPublishClock: /clock is published in the encoding that the server takes, and that of the recording is left out.
func TestPublishClock(t *testing.T) {
	for encoding, want := range map[string]string{"cdr": "\x00\x01\x00\x00\x00\xf1Se", "ros1": "\x00\xf1Se"} {
		b := startBridge(t, strings.Replace(publishInfo, "cdr", encoding, 1), nil)
		p, err := NewPublisher(t.Context(), b.url, PublishOptions{Clock: live.NewClock(1, false), ClockHz: 100})
		if err != nil {
			t.Fatal(err)
		}
		w, _ := p.Format().Create(t.Context(), "", storage.WriteOptions{})
		if _, err := w.CreateTopic(storage.Topic{Name: "/clock", Encoding: encoding}); !errors.Is(err,
			storage.ErrUnsupported) {
			t.Error(err)
		}
		if err := publish(t.Context(), p, []storage.Topic{{Name: "/a", Encoding: encoding}}, 100, number); err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		ticks := 0
		for line := range b.got {
			if strings.HasPrefix(line, fmt.Sprintf(`1 %q`, want)[:len(fmt.Sprintf(`1 %q`, want))-1]) {
				ticks++
			}
		}
		if ticks < 3 {
			t.Errorf("%s: %d times in 0.1 s", encoding, ticks)
		}
	}
	b := startBridge(t, strings.Replace(publishInfo, "cdr", "protobuf", 1), nil)
	if _, err := NewPublisher(t.Context(), b.url, PublishOptions{Clock: live.NewClock(1, false), ClockHz: 1}); !errors.Is(
		err, storage.ErrUnsupported) {
		t.Error(err)
	}
}

// TestPublishRefused: servers that take nothing of clients, or say nothing sensible.
func TestPublishRefused(t *testing.T) {
	for info, want := range map[string]string{
		strings.Replace(publishInfo, "clientPublish", "services", 1): "takes no messages of clients",
		strings.Replace(publishInfo, `"cdr",`, "", 1):                `takes messages in "json" only`,
		"{": "not JSON as it should be",
		"":  "says nothing of itself",
	} {
		b := startBridge(t, info, func(ctx context.Context, conn *websocket.Conn) {
			if info == "" {
				_ = conn.CloseNow()
			}
		})
		if info == "" {
			want = "" // the end of the connection, or an empty text, which is no JSON
		}
		p, err := NewPublisher(t.Context(), b.url, PublishOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", info, p, err)
		}
	}
	if _, err := NewPublisher(t.Context(), "ws://127.0.0.1:1", PublishOptions{}); err == nil {
		t.Error("nobody is there")
	}
	none, _ := json.Marshal(map[string]any{"op": "serverInfo", "capabilities": []string{"clientPublish"}})
	b := startBridge(t, string(none), nil)
	p, err := NewPublisher(t.Context(), b.url, PublishOptions{})
	if err != nil || p.Format().Holds.Native != "cdr" {
		t.Fatal(p, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestPublishEnds: a server that goes, one that takes nothing, and an interrupt end the playing.
func TestPublishEnds(t *testing.T) {
	large := func(int) []byte { return make([]byte, 4<<20) }
	for name, c := range map[string]struct {
		talk func(ctx context.Context, conn *websocket.Conn)
		want string
	}{
		"it goes": {func(_ context.Context,
			conn *websocket.Conn) {
			time.Sleep(50 * time.Millisecond)
			_ = conn.CloseNow()
		}, "ws://"},
		"it takes nothing": {func(ctx context.Context, _ *websocket.Conn) { <-ctx.Done() },
			"the server took nothing for 200ms"},
	} {
		b := startBridge(t, publishInfo, c.talk)
		p, err := NewPublisher(t.Context(), b.url, PublishOptions{Clock: live.NewClock(1, false),
			Patience: 200 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		if err := publish(t.Context(), p, played[2:3], 1000, large); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		_ = p.Close()
	}
	b := startBridge(t, publishInfo, nil)
	ctx, interrupt := context.WithCancel(t.Context())
	p, err := NewPublisher(ctx, b.url, PublishOptions{Clock: live.NewClock(1e-3, false)})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(50*time.Millisecond, interrupt)
	if err := publish(ctx, p, played[2:3], 1000, number); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestPublishSlow: a server that takes messages slowly holds the clock, and gets them all.
func TestPublishSlow(t *testing.T) {
	b := startBridge(t, publishInfo, func(context.Context, *websocket.Conn) { time.Sleep(300 * time.Millisecond) })
	clock := live.NewClock(1, false)
	p, err := NewPublisher(t.Context(), b.url, PublishOptions{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := publish(t.Context(), p, played[2:3], 20, func(int) []byte { return make([]byte, 1<<20) }); err != nil {
		t.Fatal(err)
	}
	if now, _ := clock.Now(); now > start+200e6 {
		t.Errorf("the clock is at %d ms", (now-start)/1e6)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if len(b.got) != 22 {
		t.Errorf("%d messages and texts", len(b.got))
	}
}

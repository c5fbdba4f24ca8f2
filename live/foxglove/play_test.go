package foxglove

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/internal/live/access"
	"github.com/bagconv/bagconv/live"
	"github.com/bagconv/bagconv/storage"
)

var played = []storage.Topic{
	{Name: "/one", Type: "std_msgs/String", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
		Data: []byte("string data\n")}, Metadata: map[string]string{storage.MetaCallerID: "/a",
		storage.MetaMD5Sum: "992ce8a1687cec8c8bd883ec73ca41d1"}},
	{Name: "/one", Type: "std_msgs/String", Encoding: "ros1", Schema: storage.Schema{Encoding: "ros1msg",
		Data: []byte("string data\n")}, Metadata: map[string]string{storage.MetaCallerID: "/b"}},
	{Name: "/two", Type: "std_msgs/msg/String", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2idl",
		Data: []byte("module std_msgs {};")}},
	{Name: "/three", Type: "a.B", Encoding: "protobuf", Schema: storage.Schema{Encoding: "protobuf",
		Data: []byte{1, 0xff, 0}}},
	{Name: "/four", Type: "c", Encoding: "json", Schema: storage.Schema{Encoding: "jsonschema",
		Data: []byte(`{"type":"object"}`)}},
	{Name: "/latched", Type: "d", Encoding: "cdr", QoS: []storage.QoS{{Durability: storage.DurabilityTransientLocal}}},
}

const start = int64(1_700_000_000e9)

// A show plays messages as convert does: each topic in turn, a millisecond apart.
type show struct {
	*Player
	url  string
	done chan error
}

func play(t *testing.T, o PlayOptions, rate float64, messages int, data func(i int) []byte) *show {
	t.Helper()
	o.Clock, o.Name, o.Start, o.End = live.NewClock(rate, false), "x.bag", start, start+int64(messages-1)*1e6
	p := NewPlayer(o)
	s := httptest.NewServer(p)
	out := &show{Player: p, url: strings.Replace(s.URL, "http", "ws", 1), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	run := func() error {
		run, from := p.Begin(ctx)
		w, err := p.Format().Create(run, "", storage.WriteOptions{})
		if err != nil {
			return err
		}
		for _, topic := range played {
			if _, err := w.CreateTopic(topic); err != nil {
				return err
			}
		}
		for i := range messages {
			if at := start + int64(i)*1e6; from == nil || at >= *from {
				if err := w.Write(&storage.Message{Topic: storage.TopicID(i % len(played)), LogTime: at,
					Data: data(i)}); err != nil {
					return err
				}
			}
		}
		return w.Commit()
	}
	go func() {
		for {
			if err := run(); err != nil && !p.Sought() {
				out.done <- err
				return
			}
			if !p.AtEnd(ctx) {
				out.done <- nil
				return
			}
		}
	}()
	for known := 0; known < 5; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		known = len(p.channels)
		p.mu.Unlock()
	}
	t.Cleanup(func() {
		cancel()
		if err := <-out.done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		s.Close()
	})
	return out
}

func number(i int) []byte { return fmt.Append(nil, "number ", i) }

// A client is a viewer with nothing of ours.
type client struct {
	*testing.T
	conn *websocket.Conn
}

func (s *show) connect(t *testing.T, subprotocols ...string) *client {
	t.Helper()
	conn, resp, err := websocket.Dial(t.Context(), s.url, &websocket.DialOptions{Subprotocols: subprotocols})
	if err != nil {
		t.Fatal(err, resp)
	}
	conn.SetReadLimit(64 << 20)
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &client{t, conn}
}

func (c *client) send(kind websocket.MessageType, b []byte) {
	c.Helper()
	if err := c.conn.Write(c.Context(), kind, b); err != nil {
		c.Error(err)
	}
}

func (c *client) subscribe(list ...int) {
	var all []string
	for _, id := range list {
		all = append(all, fmt.Sprintf(`{"id":%d,"channelId":%d}`, 100+id, id))
	}
	c.send(websocket.MessageText, []byte(`{"op":"subscribe","subscriptions":[`+strings.Join(all, ",")+`]}`))
}

// next returns the next message for which f is true.
func (c *client) next(f func(text bool, b []byte) bool) []byte {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), 30*time.Second)
	defer cancel()
	for {
		kind, b, err := c.conn.Read(ctx)
		if err != nil {
			c.Fatal(err)
		}
		if f(kind == websocket.MessageText, b) {
			return b
		}
	}
}

// text returns the next text of an op.
func (c *client) text(op string) (m map[string]any) {
	c.Helper()
	b := c.next(func(text bool, b []byte) bool { return text && strings.Contains(string(b), `"op":"`+op+`"`) })
	if err := json.Unmarshal(b, &m); err != nil {
		c.Error(err)
	}
	return m
}

// binary returns the next message of an opcode.
func (c *client) binary(opcode byte) []byte {
	c.Helper()
	return c.next(func(text bool, b []byte) bool { return !text && b[0] == opcode })
}

// control returns a PlaybackControl.
func control(command byte, speed float32, seek bool, at int64, id string) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{3, command}, math.Float32bits(speed))
	if b = append(b, 0); seek {
		b[6] = 1
	}
	b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(b, uint64(at)), uint32(len(id)))
	return append(b, id...)
}

// TestPlayRecord: our recorder has every message and every definition, and publishers of a topic are
// one channel.
func TestPlayRecord(t *testing.T) {
	s := play(t, PlayOptions{Wait: true}, 10, 120, number)
	r, err := Record(t.Context(), s.url, RecordOptions{Takes: func(string, string) bool { return true },
		Options: live.Options{Round: 20 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, r, 120)
	for i := range 120 {
		if want := fmt.Sprint(start+int64(i)*1e6, " number ", i); i >= len(got) || got[i] != want {
			t.Fatalf("message %d of %d, want %s", i, len(got), want)
		}
	}
	info := r.Info()
	if len(info.Topics) != 5 {
		t.Fatalf("%+v, %v", info, err)
	}
	for i, topic := range info.Topics {
		want := played[min(1, i)*(i+1)]
		if topic.Name != want.Name || topic.Type != want.Type || topic.Encoding != want.Encoding ||
			string(topic.Schema.Data) != string(want.Schema.Data) || topic.Schema.Encoding != want.Schema.Encoding {
			t.Errorf("%+v, want %+v", topic.Topic, want)
		}
		if m := topic.Metadata; m[storage.MetaMD5Sum] != want.Metadata[storage.MetaMD5Sum] || m[storage.MetaCallerID] != "" {
			t.Errorf("%s has %v of %v", topic.Name, m, want.Metadata)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestPlayBytes: what viewers of both subprotocols get, byte by byte; the state of the playback only if
// they have sent a PlaybackControl.
func TestPlayBytes(t *testing.T) {
	s := play(t, PlayOptions{Wait: true}, 10, 12, number)
	old, sdk, silent := s.connect(t, subprotocols[1]), s.connect(t, subprotocols[1], subprotocols[0]), s.connect(t,
		subprotocols[0])
	a, b := old.text("serverInfo"), sdk.text("serverInfo")
	if a["sessionId"] == "" || a["sessionId"] != b["sessionId"] || a["name"] != "bagconv: x.bag" ||
		fmt.Sprint(a["capabilities"], a["dataStartTime"]) != "[time] <nil>" {
		t.Errorf("%v, %v", a, b)
	}
	if got := fmt.Sprint(b["capabilities"], b["dataStartTime"],
		b["dataEndTime"]); got != "[time playbackControl] map[nsec:0 sec:1.7e+09] map[nsec:1.1e+07 sec:1.7e+09]" {
		t.Error(got)
	}
	channels, _ := old.text("advertise")["channels"].([]any)
	for len(channels) < 5 {
		more, _ := old.text("advertise")["channels"].([]any)
		channels = append(channels, more...)
	}
	if got := fmt.Sprint(channels[2]); len(channels) != 5 ||
		got != "map[encoding:protobuf id:3 schema:Af8A schemaEncoding:protobuf schemaName:a.B topic:/three]" {
		t.Errorf("%d: %s", len(channels), got)
	}
	for _, c := range []*client{sdk, silent} {
		c.text("advertise")
		c.subscribe(1)
	}
	old.subscribe(1, 2, 3, 4, 5)
	for i := range 12 {
		want := binary.LittleEndian.AppendUint32([]byte{1}, uint32([]int{101, 101, 102, 103, 104, 105}[i%6]))
		want = append(binary.LittleEndian.AppendUint64(want, uint64(start+int64(i)*1e6)), number(i)...)
		if got := old.binary(1); string(got) != string(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := old.binary(2); string(got) != string(binary.LittleEndian.AppendUint64([]byte{2}, uint64(start+11e6))) {
		t.Errorf("time %x", got)
	}
	sdk.send(websocket.MessageBinary, control(0, 1, false, 0, "id"))
	want := append(binary.LittleEndian.AppendUint64([]byte{5, 3}, uint64(start+11e6)), 0, 0, 0x80, 0x3f, 0, 2, 0, 0, 0,
		'i', 'd')
	if got := sdk.binary(5); string(got) != string(want) {
		t.Errorf("%x, want %x", got, want)
	}
	late := s.connect(t, subprotocols[1])
	late.subscribe(5)
	if got := late.binary(1); string(got[13:]) != "number 11" {
		t.Errorf("a latched message for a late viewer: %q", got)
	}
	for _, c := range []*client{old, silent} { // they get no state, also when it changes
		sdk.send(websocket.MessageBinary, control(1, 2, true, start, ""))
		sdk.binary(5)
		for range 5 {
			c.next(func(text bool, b []byte) bool {
				if !text && b[0] == 5 {
					t.Error("a state for a viewer that does not know it")
				}
				return !text && b[0] == 2
			})
		}
	}
}

// TestPlaybackControl: a viewer pauses, seeks, changes the speed, and seeks at the end.
func TestPlaybackControl(t *testing.T) {
	s := play(t, PlayOptions{Wait: true}, 1, 600, number)
	c := s.connect(t, subprotocols...)
	c.subscribe(1, 2, 3, 4, 5)
	c.binary(1)
	state := func(id string) (status byte, now int64, speed float32, sought bool) {
		t.Helper()
		for {
			b := c.binary(5)
			if string(b[19:]) == id {
				return b[1], int64(binary.LittleEndian.Uint64(b[2:])), math.Float32frombits(binary.LittleEndian.Uint32(b[10:])),
					b[14] == 1
			}
		}
	}
	c.send(websocket.MessageBinary, control(1, 1, true, start+300e6, "a"))
	if status, now, _, sought := state("a"); status != paused || now != start+300e6 || !sought {
		t.Error(status, now, sought)
	}
	c.send(websocket.MessageBinary, control(0, 1000, false, 0, "b"))
	if status, _, speed, sought := state("b"); status != playing || speed != 1000 || sought {
		t.Error(status, speed, sought)
	}
	for i := 300; i < 600; i++ {
		if b := c.binary(1); string(b[13:]) != string(number(i)) {
			t.Fatalf("%q, want number %d", b, i)
		}
	}
	for status := byte(playing); status != atEnd; status, _, _, _ = state("") {
	}
	c.send(websocket.MessageBinary, control(0, 1000, false, 0, "c"))
	if status, _, _, _ := state("c"); status != atEnd {
		t.Error("it plays after the end")
	}
	c.send(websocket.MessageBinary, control(0, 1000, true, 1, "d"))
	if status, now, _, sought := state("d"); status != playing || now < start || !sought {
		t.Error(status, now, sought)
	}
	if b := c.binary(1); string(b[13:]) != "number 0" {
		t.Errorf("%q after a seek to before the start", b)
	}
}

// TestHostileViewer: what breaks the protocol ends the connection or is answered, and others go on.
func TestHostileViewer(t *testing.T) {
	s := play(t, PlayOptions{}, 1, 600, number)
	long := control(0, 1, false, 0, "")
	binary.LittleEndian.PutUint32(long[15:], 1<<32-1)
	for name, c := range map[string]struct {
		kind   websocket.MessageType
		b      []byte
		status string // "": the connection ends
	}{
		"no JSON":    {websocket.MessageText, []byte("{"), ""},
		"other JSON": {websocket.MessageText, []byte(`{"op":"subscribe","subscriptions":{}}`), ""},
		"negative":   {websocket.MessageText, []byte(`{"op":"subscribe","subscriptions":[{"id":-1,"channelId":1}]}`), ""},
		"large":      {websocket.MessageText, []byte(`{"op":"` + strings.Repeat("x", maxRequest) + `"}`), ""},
		"empty":      {websocket.MessageBinary, nil, ""},
		"short":      {websocket.MessageBinary, []byte{3, 0, 0}, ""},
		"4 GB":       {websocket.MessageBinary, long, ""},
		"unknown":    {websocket.MessageText, []byte(`{"op":"setParameters"}`), "setParameters"},
		"no channel": {websocket.MessageText,
			[]byte(`{"op":"subscribe","subscriptions":[{"id":1,"channelId":0},{"id":2,"channelId":18446744073709551615}]}`),
			"no such channel"},
		"twice": {websocket.MessageText,
			[]byte(`{"op":"subscribe","subscriptions":[{"id":1,"channelId":1},{"id":1,"channelId":2}]}`), "in use"},
		"no subscriber": {websocket.MessageText, []byte(`{"op":"unsubscribe","subscriptionIds":[7]}`),
			"no such subscription"},
		"no speed":       {websocket.MessageBinary, control(0, float32(math.NaN()), true, start, ""), "speed above 0"},
		"negative speed": {websocket.MessageBinary, control(0, -1, false, 0, ""), "speed above 0"},
		"publishes":      {websocket.MessageBinary, []byte{1, 0, 0, 0, 0, 'x'}, "no message 1"},
	} {
		viewer := s.connect(t, subprotocols...)
		viewer.text("advertise")
		viewer.send(c.kind, c.b)
		if c.status != "" {
			if m := viewer.text("status"); !strings.Contains(fmt.Sprint(m["message"]), c.status) {
				t.Errorf("%s: %v", name, m)
			}
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		var err error
		for err == nil {
			_, _, err = viewer.conn.Read(ctx)
		}
		if cancel(); websocket.CloseStatus(err) != websocket.StatusPolicyViolation &&
			websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
			t.Errorf("%s: %v", name, err)
		}
	}
	good := s.connect(t, subprotocols[1])
	good.send(websocket.MessageText, []byte(`{"op":"subscribe","subscriptions":[{"id":1,"channelId":1}]}`))
	good.binary(2)
}

// TestNeverReads: a viewer that takes nothing holds the clock until it is cut off, or loses messages
// that are counted; memory is bounded, and whoever reads has all messages.
func TestNeverReads(t *testing.T) {
	large := make([]byte, 1<<20)
	for _, drop := range []bool{false, true} {
		s := play(t, PlayOptions{Wait: true, Drop: drop, Patience: 3 * time.Second}, 1000, 120,
			func(int) []byte { return large })
		deaf := s.connect(t, subprotocols...)
		deaf.subscribe(1, 2, 3, 4)
		for i := range 100_000 { // it asks, too
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			err := deaf.conn.Write(ctx, websocket.MessageText, []byte(`{"op":"x"}`))
			if cancel(); err != nil || i == 2000 {
				break
			}
		}
		c := s.connect(t, subprotocols...)
		c.subscribe(1, 2, 3, 4, 5)
		got := 0
		for got < 120 && !drop {
			if b := c.binary(1); len(b) != 13+1<<20 {
				t.Fatal(len(b))
			}
			got++
		}
		for ended := false; !ended; time.Sleep(10 * time.Millisecond) {
			s.mu.Lock()
			ended = s.ended
			if s.waiting > waitingOfAll*defaultWaiting+2<<20 {
				t.Errorf("%d bytes wait", s.waiting)
			}
			s.mu.Unlock()
			if drop && !ended {
				_, _, _ = c.conn.Read(t.Context())
			}
		}
		lost, dropped := s.Problems()
		if drop != (dropped > 0) || !drop && (len(lost) != 1 || !strings.Contains(lost[0], "took nothing for 3s")) {
			t.Errorf("drop %v: %d dropped, %q", drop, dropped, lost)
		}
	}
}

// TestProbe: a viewer that gets nothing but the time, and does not read, is not kept. It lost nothing, so it is
// no problem of the run.
func TestProbe(t *testing.T) {
	t.Parallel()
	s := play(t, PlayOptions{Wait: true, Patience: 2 * time.Second}, 1000, 12, number)
	deaf, idle := s.connect(t, subprotocols...), s.connect(t, subprotocols...)
	deaf.subscribe(1)
	read := make(chan struct{})
	go func() {
		defer close(read)
		idle.binary(1)
	}()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		s.mu.Lock()
		viewers := len(s.viewers)
		s.mu.Unlock()
		if viewers == 1 {
			break
		}
		if viewers == 0 || time.Now().After(end) {
			t.Fatalf("%d viewers", viewers)
		}
	}
	idle.subscribe(1, 2, 3, 4, 5)
	<-read
	if lost, _ := s.Problems(); lost != nil {
		t.Errorf("lost: %q", lost)
	}
}

// TestManyViewers: a thousand viewers get every message, more than there may be are refused, and all
// of them leave nothing behind.
func TestManyViewers(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 100
	}
	s := play(t, PlayOptions{Wait: true}, 1000, 60, number)
	before := runtime.NumGoroutine()
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = s.connect(t, subprotocols[i%2])
		if i > 0 { // the first one starts it
			clients[i].subscribe(1)
		}
	}
	for _, c := range clients[1:] {
		c.subscribe(1) // once more: the status shows that the first one was taken
		c.text("status")
	}
	clients[0].subscribe(1, 2, 3, 4, 5)
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			for i := range 20 {
				if b := c.binary(1); string(b[13:]) != string(number(i/2*6+i%2)) && c != clients[0] {
					t.Errorf("%q is message %d", b, i)
				}
			}
			_ = c.conn.CloseNow()
		})
	}
	all.Wait()
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before+20; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
		}
	}
}

// TestPlayAccess: strangers are refused.
func TestPlayAccess(t *testing.T) {
	s := play(t, PlayOptions{Access: access.Rules{Origins: []string{"https://good.example"}}}, 1, 6, number)
	for _, c := range []struct {
		host, origin, subprotocol string
		status                    int
	}{
		{"evil.example", "", subprotocols[0], http.StatusMisdirectedRequest},
		{"", "https://evil.example", subprotocols[0], http.StatusForbidden},
		{"", "null", subprotocols[0], http.StatusForbidden},
		{"", "", "rosbridge", http.StatusBadRequest},
		{"", "https://good.example", subprotocols[0], http.StatusSwitchingProtocols},
		{"", "http://localhost:8080", subprotocols[1], http.StatusSwitchingProtocols},
	} {
		r := &websocket.DialOptions{Host: c.host, Subprotocols: []string{c.subprotocol}, HTTPHeader: http.Header{}}
		if c.origin != "" {
			r.HTTPHeader.Set("Origin", c.origin)
		}
		conn, resp, err := websocket.Dial(t.Context(), s.url, r)
		if resp == nil || resp.StatusCode != c.status {
			t.Errorf("%+v: %v, %v", c, resp, err)
		}
		if conn != nil {
			_ = conn.CloseNow()
		}
	}
	resp, err := http.Get(strings.Replace(s.url, "ws", "http", 1))
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	if _ = resp.Body.Close(); resp.StatusCode != http.StatusUpgradeRequired ||
		!slices.Contains(strings.Fields(string(text)), "Foxglove") {
		t.Errorf("%s: %s", resp.Status, text)
	}
}

package foxglove

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/bagconv/bagconv/internal/live/access"
)

// Limits of viewers.
const (
	maxViewers   = 1024            // the others are refused
	maxRequest   = 256 << 10       // bytes of a message of a viewer
	maxOneFrame  = 64 << 10        // bytes of a message that is copied to be sent as one frame; larger ones are two
	drainTimeout = 2 * time.Second // at the end
	tickTime     = 100 * time.Millisecond
)

// A viewer is a connection of a client.
type viewer struct {
	player *Player
	conn   *websocket.Conn
	name   string
	sdk    bool // it speaks foxglove.sdk.v1

	// Player.mu protects what follows.
	wake          *sync.Cond
	queue         []item
	size          int64 // bytes of queue, and of what is being written
	writing       bool
	quiet         bool // it got no message since the last look of probe
	ended         bool
	behind        bool // messages for it were dropped
	controls      bool // it has sent a PlaybackControl: it understands PlaybackState
	subscriptions map[*channelOut]uint32
	numbers       map[uint32]*channelOut // the same, the other way round
}

// Accepts reports whether a request begins the connection of a viewer. All others are answered.
func Accepts(w http.ResponseWriter, r *http.Request, rules *access.Rules) bool {
	if status, reason := rules.Refuse(r); status != 0 {
		http.Error(w, reason, status)
		return false
	}
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		http.Error(w, "This is a server of the Foxglove WebSocket protocol. Open ws://"+r.Host+r.URL.EscapedPath()+
			" in a viewer.", http.StatusUpgradeRequired)
		return false
	}
	offered := strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ",")
	if !slices.ContainsFunc(strings.Split(offered, ","),
		func(s string) bool { return slices.Contains(subprotocols, strings.TrimSpace(s)) }) {
		http.Error(w, "The subprotocol must be "+strings.Join(subprotocols, " or ")+".", http.StatusBadRequest)
		return false
	}
	return true
}

// ServeHTTP answers a viewer until it leaves.
func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !Accepts(w, r, &p.o.Access) {
		return
	}
	v := &viewer{player: p, name: r.RemoteAddr, wake: sync.NewCond(&p.mu), subscriptions: map[*channelOut]uint32{},
		numbers: map[uint32]*channelOut{}}
	if !p.enter(v) {
		http.Error(w, "There are too many viewers, or the playing has ended.", http.StatusServiceUnavailable)
		return
	}
	defer p.running.Done()
	defer p.leave(v)
	// Access has checked the origin
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: subprotocols, InsecureSkipVerify: true})
	if err != nil {
		return
	}
	conn.SetReadLimit(maxRequest)
	v.serve(conn)
}

// enter takes a viewer, if there is room.
func (p *Player) enter(v *viewer) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.viewers) == maxViewers {
		return false
	}
	p.running.Add(1)
	p.viewers[v] = true
	v.put(item{}) // the place of serverInfo, so that nothing goes before it
	if p.list == nil {
		p.list = advertisement(p.channels)
	}
	v.put(item{text: true, head: p.list})
	p.changed.Broadcast()
	return true
}

// leave forgets a viewer, and what waits for it.
func (p *Player) leave(v *viewer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.viewers, v)
	v.ended = true
	p.forget(v)
	for c := range v.subscriptions {
		c.subscribers--
	}
	v.wake.Broadcast()
	p.changed.Broadcast()
}

// serve sends what waits, and reads requests, until either fails or the player ends.
func (v *viewer) serve(conn *websocket.Conn) {
	p := v.player
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	p.mu.Lock()
	v.conn, v.sdk = conn, conn.Subprotocol() == subprotocols[0]
	info := v.info()
	v.size += int64(len(info))
	v.queue[0] = item{text: true, head: info}
	p.mu.Unlock()
	p.running.Go(func() {
		err := v.write(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			p.cutOff(v)
		}
		cancel()
	})
	p.running.Go(func() {
		v.probe(ctx)
		cancel()
	})
	err := v.read(ctx)
	p.mu.Lock()
	v.ended = true
	v.wake.Broadcast()
	p.changed.Broadcast()
	p.mu.Unlock()
	if errors.Is(err, errRequest) {
		_ = conn.Close(websocket.StatusPolicyViolation, err.Error())
	}
	_ = conn.CloseNow()
}

// info returns serverInfo.
func (v *viewer) info() []byte {
	type stamp struct {
		Sec  int64 `json:"sec"`
		Nsec int64 `json:"nsec"`
	}
	o := &v.player.o
	m := map[string]any{"op": "serverInfo", "name": "bagconv: " + o.Name, "capabilities": []string{"time"},
		"supportedEncodings": []string{}, "metadata": map[string]string{}, "sessionId": v.player.session}
	if v.sdk {
		m["capabilities"] = []string{"time", "playbackControl"}
		m["dataStartTime"], m["dataEndTime"] = stamp{o.Start / 1e9, o.Start % 1e9}, stamp{o.End / 1e9, o.End % 1e9}
	}
	b, _ := json.Marshal(m) // of numbers and text
	return b
}

// write sends what is put into the queue.
func (v *viewer) write(ctx context.Context) error {
	p := v.player
	defer context.AfterFunc(ctx, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		v.wake.Broadcast()
	})()
	var frame []byte
	for {
		p.mu.Lock()
		for len(v.queue) == 0 && !v.ended && ctx.Err() == nil {
			v.wake.Wait()
		}
		if v.ended || ctx.Err() != nil {
			p.mu.Unlock()
			return ctx.Err()
		}
		i := v.queue[0]
		v.queue[0] = item{} // its data is not kept by the slice
		v.queue, v.writing, v.quiet = v.queue[1:], true, v.quiet && i.data == nil
		p.mu.Unlock()
		err := v.send(ctx, &i, &frame)
		p.mu.Lock()
		if err == nil {
			p.sent += i.length()
		}
		p.release(v, i)
		v.writing = false
		p.changed.Broadcast()
		p.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// probe returns when a viewer that gets no messages does not answer a ping. Without a ping nobody
// would see for hours that it reads nothing: so long the buffers of the system have room for the times.
func (v *viewer) probe(ctx context.Context) {
	p := v.player
	ticker := time.NewTicker(p.o.Patience)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		quiet := v.quiet && len(v.queue) == 0 && !v.writing
		v.quiet = true
		p.mu.Unlock()
		if quiet && !v.answers(ctx) {
			return
		}
	}
}

// answers reports whether a viewer answers a ping.
func (v *viewer) answers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, v.player.o.Patience)
	defer cancel()
	return v.conn.Ping(ctx) == nil
}

// send writes an item. Messages of moderate size are one frame, made in *frame.
func (v *viewer) send(ctx context.Context, i *item, frame *[]byte) error {
	ctx, cancel := context.WithTimeout(ctx, v.player.o.Patience)
	defer cancel()
	err := func() error {
		switch {
		case i.text:
			return v.conn.Write(ctx, websocket.MessageText, i.head)
		case i.data == nil:
			return v.conn.Write(ctx, websocket.MessageBinary, i.head)
		case len(i.data.data) <= maxOneFrame:
			*frame = append(append((*frame)[:0], i.head...), i.data.data...)
			return v.conn.Write(ctx, websocket.MessageBinary, *frame)
		}
		w, err := v.conn.Writer(ctx, websocket.MessageBinary)
		if err != nil {
			return err
		}
		_, err = w.Write(i.head)
		if err == nil {
			_, err = w.Write(i.data.data)
		}
		return errors.Join(err, w.Close())
	}()
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}

// tick sends the time, and the state of the playback when somebody has changed it.
func (p *Player) tick() {
	ticker := time.NewTicker(tickTime)
	defer ticker.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		now := p.state()
		_, timed := p.o.Clock.Now()
		time := item{head: binary.LittleEndian.AppendUint64([]byte{2}, uint64(now.now))}
		for v := range p.viewers {
			if timed && len(v.queue) == 0 {
				v.put(time)
			}
		}
		if now.status != p.announced.status || now.rate != p.announced.rate {
			p.announce(now, false, nil)
		}
		p.mu.Unlock()
	}
}

// subscribe takes the subscriptions of a viewer, and passes on latched messages. It returns what is
// wrong with them.
func (v *viewer) subscribe(list []subscription) (wrong string) {
	p := v.player
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range list {
		if s.Channel == 0 || s.Channel > uint64(len(p.channels)) {
			wrong = "there is no such channel"
			continue
		}
		c := p.channels[s.Channel-1]
		if _, again := v.subscriptions[c]; again || v.numbers[s.ID] != nil {
			wrong = "the channel is subscribed to already, or the number of the subscription is in use"
			continue
		}
		v.subscriptions[c], v.numbers[s.ID] = s.ID, c
		c.subscribers++
		for _, id := range slices.Sorted(maps.Keys(c.last)) {
			v.putMessage(s.ID, c.last[id])
		}
	}
	p.changed.Broadcast()
	return wrong
}

// unsubscribe ends subscriptions. Messages that wait are still sent.
func (v *viewer) unsubscribe(list []uint32) (wrong string) {
	p := v.player
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range list {
		c := v.numbers[id]
		if c == nil {
			wrong = "there is no such subscription"
			continue
		}
		delete(v.numbers, id)
		delete(v.subscriptions, c)
		c.subscribers--
	}
	p.changed.Broadcast()
	return wrong
}

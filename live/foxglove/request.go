package foxglove

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/coder/websocket"
)

// errRequest is a request that breaks the protocol: it ends the connection.
var errRequest = errors.New("not a message of the Foxglove WebSocket protocol")

// A subscription is what a client asks for.
type subscription struct {
	ID      uint32 `json:"id"`
	Channel uint64 `json:"channelId"`
}

// read takes the requests of a viewer.
func (v *viewer) read(ctx context.Context) error {
	for {
		kind, b, err := v.conn.Read(ctx)
		if err != nil {
			return err
		}
		v.awaitRoom(ctx)
		var wrong string
		if kind == websocket.MessageText {
			wrong, err = v.text(b)
		} else {
			wrong, err = v.binary(b)
		}
		if err != nil {
			return err
		}
		if wrong != "" {
			v.answer(status(2, wrong))
		}
	}
}

// awaitRoom waits until there is room for answers: a viewer that asks and does not read is not heard.
func (v *viewer) awaitRoom(ctx context.Context) {
	p := v.player
	defer context.AfterFunc(ctx, p.wake)()
	p.mu.Lock()
	defer p.mu.Unlock()
	for v.size > p.o.Waiting+maxRequest && !v.ended && ctx.Err() == nil {
		p.changed.Wait()
	}
}

// answer puts an answer into the queue.
func (v *viewer) answer(i item) {
	v.player.mu.Lock()
	defer v.player.mu.Unlock()
	v.put(i)
}

// text takes a request in JSON. It returns what the viewer is to know.
func (v *viewer) text(b []byte) (wrong string, err error) {
	var m struct {
		Op              string         `json:"op"`
		Subscriptions   []subscription `json:"subscriptions"`
		SubscriptionIDs []uint32       `json:"subscriptionIds"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return "", errRequest
	}
	switch m.Op {
	case "subscribe":
		return v.subscribe(m.Subscriptions), nil
	case "unsubscribe":
		return v.unsubscribe(m.SubscriptionIDs), nil
	}
	return fmt.Sprintf("bagconv plays a recording: it takes no %.40q", m.Op), nil
}

// binary takes a binary request. PlaybackControl is u8 3, u8 command (0 plays, 1 pauses), f32 speed,
// u8 whether it seeks, u64 time in ns, u32 length and an id; little endian.
func (v *viewer) binary(b []byte) (wrong string, err error) {
	switch {
	case len(b) == 0:
		return "", errRequest
	case b[0] != 3 || !v.sdk:
		return fmt.Sprintf("bagconv plays a recording: it takes no message %d", b[0]), nil
	case len(b) < 19 || uint64(len(b)) < 19+uint64(binary.LittleEndian.Uint32(b[15:])):
		return "", errRequest
	}
	speed := float64(math.Float32frombits(binary.LittleEndian.Uint32(b[2:])))
	id := string(b[19:][:binary.LittleEndian.Uint32(b[15:])])
	if b[1] > 1 || !(speed > 0) {
		wrong = "PlaybackControl needs a command 0 or 1, and a speed above 0"
	} else {
		v.control(b[1] == 1, min(max(speed, 1e-3), 1e3), b[6] != 0,
			int64(min(binary.LittleEndian.Uint64(b[7:]), math.MaxInt64)))
	}
	p := v.player
	p.mu.Lock()
	v.controls = true
	v.put(p.state().item(b[6] != 0 && wrong == "", id))
	p.mu.Unlock()
	return wrong, nil
}

// control plays, pauses and seeks for all viewers.
func (v *viewer) control(pause bool, speed float64, seek bool, at int64) {
	p := v.player
	p.o.Clock.Set(pause, speed)
	if !seek {
		return
	}
	p.seek(at)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.announce(p.state(), true, v)
}

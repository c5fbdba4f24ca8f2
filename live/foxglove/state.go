package foxglove

import (
	"encoding/binary"
	"encoding/json"
	"math"
)

// The state of the playback.
const (
	playing = iota
	paused
	buffering
	atEnd
)

// A state is a message PlaybackState: u8 5, u8 status, u64 time in ns, f32 speed, u8 whether it was
// sought, u32 length and the id of the request that it answers.
type state struct {
	status byte
	now    int64
	rate   float64
}

// state returns the state of the playback, for a caller that has locked.
func (p *Player) state() state {
	s := state{status: playing}
	stopped, rate := p.o.Clock.State()
	s.rate = rate
	if now, ok := p.o.Clock.Now(); ok {
		s.now = min(max(now, p.o.Start), p.o.End)
	} else {
		s.now = p.o.Start
	}
	switch {
	case p.ended:
		s.status = atEnd
	case stopped:
		s.status = paused
	}
	return s
}

// announce shows the state to viewers that know it, but for the one that has asked.
func (p *Player) announce(s state, sought bool, asked *viewer) {
	p.announced = s
	for v := range p.viewers {
		if v != asked && v.controls && v.size < p.o.Waiting {
			v.put(s.item(sought, ""))
		}
	}
}

func (s state) item(sought bool, request string) item {
	b := binary.LittleEndian.AppendUint64([]byte{5, s.status}, uint64(s.now))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(s.rate)))
	if b = append(b, 0); sought {
		b[len(b)-1] = 1
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(request)))
	return item{head: append(b, request...)}
}

// status returns a status for a viewer: 1 is a warning, 2 an error.
func status(level int, text string) item {
	b, _ := json.Marshal(map[string]any{"op": "status", "level": level, "message": text})
	return item{text: true, head: b}
}

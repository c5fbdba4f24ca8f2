package cli

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/live"
)

// A playPosition shows on a terminal where a recording is played, at which rate, and which keys change that. A nil
// position shows nothing. Its methods may be used from several goroutines.
type playPosition struct {
	clock      *live.Clock
	start, end int64 // of the recording
	loop, keys bool

	mu     sync.Mutex
	bar    barProgress
	passes int // that have begun
	ended  chan struct{}
	ticks  sync.WaitGroup
}

// newPosition returns the position in a recording, nil if nobody would see it, or if its times are not known.
func (e *env) newPosition(ctx context.Context, clock *live.Clock, path string) (*playPosition, error) {
	if !e.Terminal || e.set.quiet {
		return nil, nil
	}
	r, err := e.glance(ctx, path)
	if err != nil {
		return nil, err
	}
	info := r.Info
	if err := r.Close(); err != nil || info.Messages == 0 || info.End <= info.Start {
		return nil, err
	}
	return &playPosition{clock: clock, start: info.Start, end: info.End, loop: e.set.live.loop,
		bar: barProgress{out: e.Err}, ended: make(chan struct{})}, nil
}

// positionStep is the time between two drawings.
const positionStep = 200 * time.Millisecond

// begin draws the position from now on, until stop.
func (p *playPosition) begin() {
	if p == nil {
		return
	}
	p.ticks.Go(func() {
		tick := time.NewTicker(positionStep)
		defer tick.Stop()
		for {
			select {
			case <-p.ended:
				return
			case <-tick.C:
				p.draw()
			}
		}
	})
}

// stop removes what is drawn.
func (p *playPosition) stop() {
	if p == nil {
		return
	}
	close(p.ended)
	p.ticks.Wait()
	p.bar.stop()
}

// nextPass notes that the recording begins again.
func (p *playPosition) nextPass() {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.passes++
	}
}

// draw draws the position, if there was a message.
func (p *playPosition) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.clock.Now()
	if !ok {
		at = p.start
	}
	at = min(max(at, p.start), p.end)
	now := convert.Progress{Bytes: at - p.start, Total: p.end - p.start}
	p.bar.draw(func(room int) string { return barText(p.text(at), now, room) })
}

// text is "12.3s of 1m0s, rate 1", with the keys.
func (p *playPosition) text(at int64) string {
	paused, rate := p.clock.State()
	text := fmt.Sprintf("%v of %v, rate %.3g", tenths(at-p.start), tenths(p.end-p.start), rate)
	if p.loop {
		text += fmt.Sprintf(", pass %d", p.passes)
	}
	keys := "; space pauses, up and down change the rate"
	if paused {
		text, keys = text+", paused", "; space plays, s sends one message"
	}
	if !p.keys {
		return text
	}
	return text + keys
}

// tenths rounds a time to tenths of a second.
func tenths(ns int64) time.Duration { return time.Duration(ns).Round(time.Second / 10) }

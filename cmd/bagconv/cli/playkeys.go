package cli

import (
	"io"
	"os"

	"github.com/bagconv/bagconv/live"
)

// readKeys runs what the keys mean until there are no more. One read may have several keys, or the
// beginning of one.
func readKeys(r io.Reader, clock *live.Clock, say func(string, ...any)) {
	var keys []byte
	for b := make([]byte, 64); ; {
		n, err := r.Read(b)
		if err != nil {
			return
		}
		for keys = append(keys, b[:n]...); len(keys) > 0; {
			size := 1
			if arrow := keys[0] == '\x1b' && (len(keys) == 1 || keys[1] == '[' || keys[1] == 'O'); arrow {
				size = 3 // and a letter
			}
			if len(keys) < size {
				break
			}
			key := string(keys[:size])
			keys = keys[size:]
			switch key {
			case " ":
				if clock.Toggle() {
					say("paused")
				} else {
					say("playing")
				}
			case "s", "\x1b[C", "\x1bOC":
				clock.Step()
			case "\x1b[A", "\x1bOA":
				say("rate %.3g", clock.Speed(1.1))
			case "\x1b[B", "\x1bOB":
				say("rate %.3g", clock.Speed(1/1.1))
			}
		}
	}
}

// watchKeys reads keys if there is a terminal; a position that is drawn shows what they did. The function that it
// returns puts the terminal back.
func (e *env) watchKeys(clock *live.Clock, position *playPosition) (stop func()) {
	restore, err := keysOf(os.Stdin)
	paused, _ := clock.State()
	switch {
	case err != nil && paused:
		e.say("paused, and there is no terminal for the key that starts it")
	case err == nil && paused && position == nil:
		e.say("paused; space starts, s sends one message")
	}
	if err != nil {
		return func() {}
	}
	say := e.say
	if position != nil {
		position.keys, say = true, func(string, ...any) { position.draw() }
	}
	go readKeys(os.Stdin, clock, say)
	return func() { _ = restore() }
}

package recording

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A fakeBlock is a block on its way.
type fakeBlock struct {
	encode, append error
	lent           bool
	slow           time.Duration
}

func (b fakeBlock) Encode() error { time.Sleep(b.slow); return b.encode }
func (b fakeBlock) Append() error { return b.append }
func (b fakeBlock) Lent() bool    { return b.lent }

// TestEncoderFails: the first error in order ends the encoder, and who waits for a block that
// is lent does not wait for ever.
func TestEncoderFails(t *testing.T) {
	broken, later := errors.New("broken"), errors.New("later")
	slow := 20 * time.Millisecond // until the blocks after it are on their way
	for _, blocks := range [][]fakeBlock{
		{{}, {encode: broken, slow: slow}, {lent: true}, {lent: true}},
		{{}, {append: broken, slow: slow}, {lent: true}, {lent: true}},
		{{}, {append: broken, slow: slow}, {encode: later}, {lent: true}},
	} {
		for _, workers := range []int{1, 2, 5} {
			e := newEncoder(context.Background(), workers)
			for _, b := range blocks {
				if err := e.add(b); err != nil && !errors.Is(err, broken) && !errors.Is(err, later) {
					t.Error(err)
				}
			}
			if err := e.wait(); err != broken {
				t.Errorf("%d workers: %v", workers, err)
			}
		}
	}
}

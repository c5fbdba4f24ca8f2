package recording

import (
	"context"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A tail is a program that leaves the first byte out.
type tail struct{}

func (tail) Append(dst, src []byte) ([]byte, error) { return append(dst, src[1:]...), nil }
func (tail) SizeHint(n int) int                     { return n }

// TestDeduper: only messages of one time, kind and bytes are equal, as Same makes them.
func TestDeduper(t *testing.T) {
	p := &Pipeline{Dedupe: true, Same: map[int]mapping.Program{3: tail{}}}
	for range 2 {
		to := &Sink{Edit: &selection.Edit{}}
		p.Sinks = append(p.Sinks, to)
		for _, kind := range []int{0, 0, 1, 2, 3} {
			p.routes = append(p.routes, Route{to: to, Kind: kind})
		}
	}
	d := newDeduper(context.Background(), p)
	for i, c := range []struct {
		route storage.TopicID
		time  int64
		data  string
		again bool
	}{
		{0, 0, "x", false}, {0, 0, "x", true}, {1, 0, "x", true}, {2, 0, "x", false}, {3, 0, "x", false}, {0, 0, "y",
			false}, {0, 0, "", false}, {0, 0, "", true},
		{5, 0, "x", false}, {6, 0, "x", true}, // of another sink
		{4, 0, "ax", false}, {4, 0, "bx", true}, {4, 0, "by", false}, // compared without their first byte
		{0, 1, "x", false}, {0, 1, "x", true}, {0, 0, "x", false}, // times went back: nothing of them is known any more
	} {
		got, inSink, err := d.seenBefore(&storage.Message{Topic: c.route, LogTime: c.time, Data: []byte(c.data)})
		if got != c.again || inSink || err != nil {
			t.Errorf("message %d: %v, %v, %v", i, got, inSink, err)
		}
	}
	if len(d.seen) != 1 {
		t.Errorf("%d messages are kept", len(d.seen))
	}
}

package recording

import (
	"context"
	"errors"
	"hash/maphash"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// A deduper finds messages that are equal in name and type of their topic in the sink, in time
// and in what Pipeline.Same makes of them. Messages come in the order of time, so a deduper
// keeps only the messages of one time: two hashes of each, 128 bits together, with random seeds, so that no
// file can be made to collide.
type deduper struct {
	kinds []kindOfRoute // by route
	same  map[int]mapping.Program
	at    int64
	seen  map[messageSum]bool
	seeds [2]maphash.Seed
	drop  bool // equal messages are left out, and not only counted
	prior *priorReader
}

// A kindOfRoute is what a deduper needs of a route.
type kindOfRoute struct {
	to     *Sink
	kind   int
	offset int64 // that is added to times
}

// A messageSum stands for a message.
type messageSum struct {
	to         *Sink
	kind, size int
	sums       [2]uint64
}

// maxSeen bounds the messages of one time that a deduper knows; messages after them stay.
const maxSeen = 1 << 20

// newDeduper returns a deduper for the routes of a run.
func newDeduper(ctx context.Context, p *Pipeline) *deduper {
	d := &deduper{same: p.Same, seen: map[messageSum]bool{}, seeds: [2]maphash.Seed{maphash.MakeSeed(),
		maphash.MakeSeed()}, drop: p.Dedupe}
	for i := range p.routes {
		rt := &p.routes[i]
		d.kinds = append(d.kinds, kindOfRoute{rt.to, rt.Kind, rt.to.Edit.Offset})
	}
	if p.Prior != nil {
		d.prior = p.Prior.start(ctx, func(kind int, data []byte) messageSum { return d.sum(p.Sinks[0], kind, data) })
	}
	return d
}

// close ends the reading of what the sink has already.
func (d *deduper) close() {
	if d.prior == nil {
		return
	}
	d.prior.stop()
	for d.prior.fetch() { // until its reader has ended
	}
}

// sum returns the sum of a message of a kind. It may be called concurrently.
func (d *deduper) sum(to *Sink, kind int, data []byte) messageSum {
	if p := d.same[kind]; p != nil {
		if plain, err := p.Append(nil, data); err == nil {
			data = plain
		}
	}
	s := messageSum{to: to, kind: kind, size: len(data)}
	for i, seed := range d.seeds {
		s.sums[i] = maphash.Bytes(seed, data)
	}
	return s
}

// seenBefore reports whether an equal message came before, or is in the sink already; m.Topic is
// the number of its route.
func (d *deduper) seenBefore(m *storage.Message) (before, inSink bool, err error) {
	if m.LogTime != d.at {
		d.at = m.LogTime
		clear(d.seen)
	}
	k := d.kinds[m.Topic]
	s := d.sum(k.to, k.kind, m.Data)
	if d.prior != nil {
		if inSink, err = d.prior.has(selection.Shift(m.LogTime, k.offset), s); err != nil || inSink {
			return false, inSink, err
		}
	}
	if d.drop && d.seen[s] {
		return true, false, nil
	}
	if len(d.seen) < maxSeen {
		d.seen[s] = true
	}
	return false, false, nil
}

// A Prior is a recording to which the run adds. Messages that it has already are left out with
// Pipeline.Dedupe, and else counted.
type Prior struct {
	Source *Source                    // is closed when it was read
	Query  Query                      // what is read of Source
	Kind   func(t *storage.Topic) int // Route.Kind of the messages of a topic, -1 if no route has that kind
}

// A priorReader reads a Prior in the order of time, beside the run.
type priorReader struct {
	stop   context.CancelFunc
	sums   <-chan priorSum
	ended  <-chan error // after the last sum
	next   priorSum
	some   bool // next is set
	at     int64
	ofTime map[messageSum]bool // of the messages at that time
}

type priorSum struct {
	time int64
	sum  messageSum
}

// start begins to read. sum makes the sum of a message of a kind; it is called concurrently.
func (p *Prior) start(ctx context.Context, sum func(kind int, data []byte) messageSum) *priorReader {
	ctx, stop := context.WithCancel(ctx)
	sums, ended := make(chan priorSum, 1<<10), make(chan error, 1)
	r := &priorReader{stop: stop, sums: sums, ended: ended, ofTime: map[messageSum]bool{}}
	var kinds []int
	plan := func(info *storage.Info, _ []bool) ([]Topic, error) {
		topics := make([]Topic, len(info.Topics))
		kinds = make([]int, len(topics))
		for i := range topics {
			kinds[i] = p.Kind(&info.Topics[i].Topic)
			topics[i].Skip = kinds[i] < 0
		}
		return topics, nil
	}
	write := func(m *storage.Message) error {
		select {
		case sums <- priorSum{m.LogTime, sum(kinds[m.Topic], m.Data)}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	go func() {
		_, err := p.Source.Read(ctx, p.Query, Each{plan, write})
		ended <- errors.Join(err, p.Source.Close())
		close(sums)
	}()
	return r
}

// has reports whether the recording has a message of a time; times must not go back by more than
// the messages of one time.
func (r *priorReader) has(time int64, s messageSum) (bool, error) {
	if time > r.at || len(r.ofTime) == 0 {
		clear(r.ofTime)
		r.at = time
		for r.some || r.fetch() {
			if r.next.time > time {
				break
			}
			if r.some = false; r.next.time == time && len(r.ofTime) < maxSeen {
				r.ofTime[r.next.sum] = true
			}
		}
		if !r.some {
			select {
			case err := <-r.ended:
				if err != nil {
					return false, err
				}
			default:
			}
		}
	}
	return time == r.at && r.ofTime[s], nil
}

// fetch gets the next sum; false: there is no more.
func (r *priorReader) fetch() bool {
	r.next, r.some = <-r.sums
	return r.some
}

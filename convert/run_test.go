package convert

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/storage"
)

// randomBag makes blocks whose times wander by jitter around a rising line. The
// data of each message is its number in the file.
func randomBag(seed uint64, blocks, perBlock int, jitter int64) *fakeBag {
	rng := rand.New(rand.NewPCG(seed, 1))
	f := &fakeBag{}
	for i := range 3 {
		f.topics = append(f.topics, storage.Topic{Name: string(rune('a' + i)), Type: "p/msg/T", Encoding: "cdr"})
	}
	n := 0
	for range blocks {
		var msgs []storage.Message
		for range rng.IntN(perBlock + 1) {
			at := int64(n)*10 + rng.Int64N(jitter+1)
			data := binary.LittleEndian.AppendUint32(nil, uint32(n))
			data = append(data, make([]byte, rng.IntN(40))...)
			msgs = append(msgs, storage.Message{Topic: storage.TopicID(rng.IntN(3)), LogTime: at, PublishTime: at + 1, Sequence: uint32(n), Data: data})
			n++
		}
		f.blocks = append(f.blocks, msgs)
	}
	return f
}

func (f *fakeBag) honest() func(int) (int64, int64) {
	return func(i int) (start, end int64) {
		for k, m := range f.blocks[i] {
			if k == 0 {
				start, end = m.LogTime, m.LogTime
			}
			start, end = min(start, m.LogTime), max(end, m.LogTime)
		}
		return start, end
	}
}

func (f *fakeBag) want(o Order) []storage.Message {
	var all []storage.Message
	for _, b := range f.blocks {
		all = append(all, b...)
	}
	if o == OrderTime {
		slices.SortStableFunc(all, func(a, b storage.Message) int { return cmp.Compare(a.LogTime, b.LogTime) })
	}
	return all
}

func sameMessages(t *testing.T, got, want []storage.Message) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range got {
		g, w := got[i], want[i]
		if g.Topic != w.Topic || g.LogTime != w.LogTime || g.PublishTime != w.PublishTime || g.Sequence != w.Sequence || !bytes.Equal(g.Data, w.Data) {
			t.Fatalf("message %d is %+v, want %+v", i, g, w)
		}
	}
}

func fakeJob(t *testing.T, f *fakeBag, s *fakeSink) Job {
	j := Job{SinkFormat: s.target(), Sink: filepath.Join(t.TempDir(), "sink"), Threads: 4}
	j.Source, j.SourceFormat = f.source(t)
	return j
}

// TestOrder holds the merge against a stable sort, whatever the source knows of
// its times.
func TestOrder(t *testing.T) {
	lie := func(f *fakeBag) func(int) (int64, int64) {
		return func(i int) (int64, int64) { return int64(len(f.blocks) - i), int64(len(f.blocks) - i) }
	}
	for name, setup := range map[string]func(f *fakeBag){
		"true index":  func(f *fakeBag) { f.timed = f.honest() },
		"lying index": func(f *fakeBag) { f.timed = lie(f) },
		"zero index":  func(f *fakeBag) { f.timed = func(int) (int64, int64) { return 0, 0 } },
		"parts":       func(f *fakeBag) { f.parts = 4 },
		"no index":    func(f *fakeBag) {},
		"no blocks":   func(f *fakeBag) { f.plain = true },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(30) {
				jitter := []int64{0, 5, 300, 100_000}[seed%4]
				for _, order := range []Order{OrderTime, OrderFile} {
					for _, threads := range []int{1, 8} {
						f, s := randomBag(seed, 40, 20, jitter), &fakeSink{}
						setup(f)
						j := fakeJob(t, f, s)
						j.Order, j.Threads = order, threads
						r, err := Run(context.Background(), j)
						if err != nil {
							t.Fatal(err)
						}
						sameMessages(t, s.messages, f.want(order))
						attempts := 1
						if order == OrderTime && (name == "lying index" || name == "zero index") {
							attempts = 2 // at most: it may not matter
						}
						if n := int64(len(s.messages)); r.Source.Messages != n || r.Sink.Messages != n || !s.closed || s.attempts > attempts {
							t.Fatalf("report %+v, closed %v after %d attempts", r, s.closed, s.attempts)
						}
					}
				}
			}
		})
	}
}

// TestSpill merges with hardly any memory: everything goes through the file.
func TestSpill(t *testing.T) {
	f, s := randomBag(7, 3000, 10, 1<<40), &fakeSink{}
	src := &source{reader: &fakeReader{bag: f}}
	src.reopen = func() (storage.Reader, error) { return src.reader, nil }
	if err := src.open(); err != nil {
		t.Fatal(err)
	}
	f.timed = f.honest()
	if err := src.open(); err != nil {
		t.Fatal(err)
	}
	src.spans = src.blockSpans()
	to := &sink{write: s.Write, format: s.target(), choice: selection.Everything(3), routes: []route{{sink: 0}, {sink: 1}, {sink: 2}}}
	p := &pipeline{src: src, sinks: []*sink{to}, workers: 3, meter: newMeter(src, nil), tempDir: t.TempDir(), budget: budget{held: 1, blocks: 1}}
	if err := p.run(context.Background()); err != nil {
		t.Fatal(err)
	}
	sameMessages(t, s.messages, f.want(OrderTime))
	if left, _ := filepath.Glob(filepath.Join(p.tempDir, "*")); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
}

// TestErrors: the first error in the order of blocks wins, the output is thrown
// away, and nothing hangs.
func TestErrors(t *testing.T) {
	early, late := errors.New("early"), errors.New("late")
	t.Run("read", func(t *testing.T) {
		for range 20 {
			f, s := randomBag(3, 60, 20, 5), &fakeSink{}
			f.timed = f.honest()
			f.fail = map[int]error{30: early, 31: late, 59: late}
			_, err := Run(context.Background(), fakeJob(t, f, s))
			if !errors.Is(err, early) || !s.aborted || s.closed {
				t.Fatalf("%v, aborted %v, closed %v", err, s.aborted, s.closed)
			}
		}
	})
	t.Run("read without blocks", func(t *testing.T) {
		f, s := randomBag(3, 60, 20, 5), &fakeSink{}
		f.plain, f.fail = true, map[int]error{30: early}
		if _, err := Run(context.Background(), fakeJob(t, f, s)); !errors.Is(err, early) || s.attempts > 0 {
			t.Fatalf("%v, %d outputs begun", err, s.attempts)
		}
	})
	t.Run("write", func(t *testing.T) {
		for n := 1; n < 200; n += 13 {
			f, s := randomBag(3, 60, 20, 5), &fakeSink{failAt: n}
			if _, err := Run(context.Background(), fakeJob(t, f, s)); !errors.Is(err, errFakeDisk) || !s.aborted || s.closed {
				t.Fatalf("%v, aborted %v, closed %v", err, s.aborted, s.closed)
			}
		}
	})
	t.Run("cancel", func(t *testing.T) {
		f, s := randomBag(3, 60, 20, 5), &fakeSink{}
		j := fakeJob(t, f, s)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Run(ctx, j); !errors.Is(err, context.Canceled) || s.closed {
			t.Fatalf("%v, closed %v", err, s.closed)
		}
	})
}

// TestScan counts the same with blocks and without, on one core and on many.
func TestScan(t *testing.T) {
	f := randomBag(9, 50, 30, 400)
	want := map[int]int64{}
	for _, m := range f.want(OrderFile) {
		want[int(m.Topic)]++
	}
	for _, plain := range []bool{false, true} {
		for _, threads := range []int{1, 5} {
			var r storage.Reader = &fakeReader{bag: f}
			if plain {
				r = struct{ storage.Reader }{r}
			}
			var last Progress
			res, err := Scan(context.Background(), r, threads, func(p Progress) { last = p })
			if err != nil {
				t.Fatal(err)
			}
			all := f.want(OrderTime)
			if res.Start != all[0].LogTime || res.End != all[len(all)-1].LogTime || res.Messages != int64(len(all)) || last.Messages != res.Messages {
				t.Fatalf("%+v, last progress %+v", res, last)
			}
			for i, st := range res.Topics {
				if st.Messages != want[i] {
					t.Fatalf("topic %d: %d messages, want %d", i, st.Messages, want[i])
				}
			}
		}
	}
}

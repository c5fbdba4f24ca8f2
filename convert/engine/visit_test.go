package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/convert/engine"
	"github.com/bagconv/bagconv/convert/internal/fake"
	"github.com/bagconv/bagconv/convert/selection"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// seen is an engine.Visitor that notes what it takes.
type seen struct {
	got  []string
	busy atomic.Int32
	fail func(at storage.Block) error
}

func describe(m *storage.Message) string { return fmt.Sprint(m.Topic, m.LogTime, string(m.Data)) }

func (s *seen) Plan(info *storage.Info, _ []bool) ([]engine.StreamTopic, error) {
	s.got = nil
	return make([]engine.StreamTopic, len(info.Topics)), nil
}

func (s *seen) Work(_ storage.Block, msgs []storage.Message, made any) (any, error) {
	if len(msgs)%2 == 1 {
		time.Sleep(100 * time.Microsecond) // so that blocks do not end as they began
	}
	list, _ := made.([]string)
	list = list[:0]
	for i := range msgs {
		list = append(list, describe(&msgs[i]))
	}
	return list, nil
}

func (s *seen) Take(at storage.Block, msgs []storage.Message, from, to int, made any) error {
	if s.busy.Add(1) != 1 {
		return errors.New("two at a time")
	}
	defer s.busy.Add(-1)
	list := made.([]string)
	for i := from; i < to; i++ {
		if d := describe(&msgs[i]); d != list[i] {
			return fmt.Errorf("Work was called with %q, and not %q", list[i], d)
		}
	}
	s.got = append(s.got, list[from:to]...)
	if s.fail != nil {
		return s.fail(at)
	}
	return nil
}

// TestVisitFile: all messages in the order of the file, for formats with and without blocks, and the same error in
// every run.
func TestVisitFile(t *testing.T) {
	run := func(f *fake.Bag, threads int, fail func(storage.Block) error) ([]string, error) {
		var r storage.Reader = &fake.Reader{Bag: f}
		if f.Plain {
			r = struct{ storage.Reader }{r}
		}
		src, err := engine.SourceOf(r)
		if err != nil {
			return nil, err
		}
		s := &seen{fail: fail}
		_, err = engine.Visit(t.Context(), engine.StreamJob{Source: src, Order: engine.OrderFile, Threads: threads}, s)
		return s.got, err
	}
	f := fake.Random(1, 60, 31, 5)
	var want []string
	for _, b := range f.Blocks {
		for i := range b {
			want = append(want, describe(&b[i]))
		}
	}
	for _, f.Plain = range []bool{false, true} {
		for _, threads := range []int{0, 1, 2, 7} {
			if got, err := run(f, threads, nil); err != nil || !slices.Equal(got, want) {
				t.Fatalf("plain %v, %d threads: %v, %d of %d messages", f.Plain, threads, err, len(got), len(want))
			}
		}
	}
	f.Plain = false
	late, early := errors.New("late"), errors.New("early")
	for range 20 {
		_, err := run(f, 4, func(at storage.Block) error {
			if at.Offset == 9 {
				return early
			}
			return nil
		})
		if err != early {
			t.Fatalf("Take: %v", err)
		}
		f.Fail = map[int]error{13: late, 8: early}
		if _, err := run(f, 4, nil); err != early {
			t.Fatalf("ReadBlock: %v", err)
		}
		f.Fail = nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	src, err := engine.SourceOf(&fake.Reader{Bag: f})
	if err == nil {
		_, err = engine.Visit(ctx, engine.StreamJob{Source: src, Order: engine.OrderFile, Threads: 2}, &seen{})
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestVisitTime: a visitor takes what Stream writes, in its order, with messages that are thinned out, blocks that
// overlap, little memory, and an end before the last message.
func TestVisitTime(t *testing.T) {
	for seed := range uint64(20) {
		f := fake.Random(seed, 40, 31, []int64{5, 3000}[seed/2%2])
		f.Plain = seed%4 == 3
		path, format := f.Source(t)
		for _, memory := range []int64{0, 1} {
			job := func() engine.StreamJob {
				src, err := engine.Open(t.Context(), format, path, storage.ReadOptions{}, memory)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { src.Close() })
				j := engine.StreamJob{Source: src, Threads: 3}
				j.Edit.Latch = selection.NoLatch
				if seed%2 == 1 {
					rate, err := selection.ParseEvery("*=2")
					if err != nil {
						t.Fatal(err)
					}
					j.Edit.Rates = []selection.Rate{rate}
				}
				return j
			}
			var want []string
			_, err := engine.Stream(t.Context(), job(), (&seen{}).Plan, func(m *storage.Message) error {
				want = append(want, describe(m))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			s := &seen{}
			if _, err = engine.Visit(t.Context(), job(), s); err != nil || !slices.Equal(s.got, want) {
				t.Fatalf("seed %d, memory %d: %v; %d of %d messages", seed, memory, err, len(s.got), len(want))
			}
			s.fail = func(storage.Block) error { return engine.ErrEnough }
			if _, err = engine.Visit(t.Context(), job(), s); err != nil || len(s.got) == 0 || !slices.Equal(s.got, want[:len(s.got)]) {
				t.Fatalf("seed %d: enough: %v; %d messages", seed, err, len(s.got))
			}
		}
	}
}

// TestVisitPicked: a visitor gets the messages that the index finds, the last first.
func TestVisitPicked(t *testing.T) {
	path := "../../testdata/demo.bag"
	format, err := all.Registry().Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	job := engine.StreamJob{Path: path, Format: format}
	s := &seen{}
	if _, err := engine.Visit(t.Context(), job, s); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(s.got)
	slices.Reverse(want)
	job.Pick = &storage.Query{Reverse: true}
	if _, err := engine.Visit(t.Context(), job, s); err != nil || len(want) == 0 || !slices.Equal(s.got, want) {
		t.Errorf("%v; %d of %d messages", err, len(s.got), len(want))
	}
}

// rates is an export: it counts the messages of each topic and second, as lines of CSV.
type rates struct {
	topics []storage.TopicInfo
	counts map[string]int
}

func (r *rates) Plan(info *storage.Info, selected []bool) ([]engine.StreamTopic, error) {
	r.topics, r.counts = info.Topics, map[string]int{}
	return make([]engine.StreamTopic, len(selected)), nil
}

func (r *rates) Work(_ storage.Block, msgs []storage.Message, _ any) (any, error) {
	lines := make([]string, len(msgs))
	for i, m := range msgs {
		lines[i] = fmt.Sprintf("%s,%d", r.topics[m.Topic].Name, m.LogTime/1e9)
	}
	return lines, nil
}

func (r *rates) Take(_ storage.Block, _ []storage.Message, from, to int, made any) error {
	for _, line := range made.([]string)[from:to] {
		r.counts[line]++
	}
	return nil
}

// ExampleVisit exports how many messages each topic has in each second.
func ExampleVisit() {
	path := "../../testdata/demo.bag"
	format, err := all.Registry().Detect(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := &rates{}
	if _, err := engine.Visit(context.Background(), engine.StreamJob{Path: path, Format: format}, r); err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range slices.Sorted(maps.Keys(r.counts))[:3] {
		fmt.Printf("%s,%d\n", line, r.counts[line])
	}
	// Output:
	// /acme/status,1700000000,50
	// /cam_a/image_raw,1700000000,5
	// /cam_b/image_raw,1700000000,10
}

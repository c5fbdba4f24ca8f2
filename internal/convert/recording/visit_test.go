package recording_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// seen is a recording.Visitor that notes what it takes.
type seen struct {
	got  []string
	busy atomic.Int32
	fail func(at storage.Block) error
}

func describe(m *storage.Message) string { return fmt.Sprint(m.Topic, m.LogTime, string(m.Data)) }

func (s *seen) Plan(info *storage.Info, _ []bool) ([]recording.Topic, error) {
	s.got = nil
	return make([]recording.Topic, len(info.Topics)), nil
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
		s := &seen{fail: fail}
		_, err := sourceOf(r).Read(t.Context(), recording.Query{Order: recording.OrderFile, Threads: threads}, s)
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
	if _, err := sourceOf(&fake.Reader{Bag: f}).Read(ctx, recording.Query{Order: recording.OrderFile, Threads: 2},
		&seen{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestVisitTime: a visitor takes what Each writes, in its order, with messages that are thinned out, blocks that
// overlap, little memory, and an end before the last message.
func TestVisitTime(t *testing.T) {
	for seed := range uint64(20) {
		f := fake.Random(seed, 40, 31, []int64{5, 3000}[seed/2%2])
		f.Plain = seed%4 == 3
		path, format := f.Source(t)
		for _, memory := range []int64{0, 1} {
			q := recording.Query{Threads: 3}
			q.Edit.Latch = selection.NoLatch
			if seed%2 == 1 {
				rate, err := selection.ParseEvery("*=2")
				if err != nil {
					t.Fatal(err)
				}
				q.Edit.Rates = []selection.Rate{rate}
			}
			ref := recording.Ref{Path: path, Format: format, Memory: memory}
			var want []string
			_, err := recording.Read(t.Context(), ref, q, recording.Each{Write: func(m *storage.Message) error {
				want = append(want, describe(m))
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			s := &seen{}
			if _, err = recording.Read(t.Context(), ref, q, s); err != nil || !slices.Equal(s.got, want) {
				t.Fatalf("seed %d, memory %d: %v; %d of %d messages", seed, memory, err, len(s.got), len(want))
			}
			s.fail = func(storage.Block) error { return recording.ErrEnough }
			if _, err = recording.Read(t.Context(), ref, q, s); err != nil || len(s.got) == 0 ||
				!slices.Equal(s.got, want[:len(s.got)]) {
				t.Fatalf("seed %d: enough: %v; %d messages", seed, err, len(s.got))
			}
		}
	}
}

// TestVisitPicked: a visitor gets the messages that the index finds, the last first.
func TestVisitPicked(t *testing.T) {
	path := "../../../testdata/demo.bag"
	format, err := all.Registry().Detect(path)
	if err != nil {
		t.Fatal(err)
	}
	ref := recording.Ref{Path: path, Format: format}
	s := &seen{}
	if _, err := recording.Read(t.Context(), ref, recording.Query{}, s); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(s.got)
	slices.Reverse(want)
	pick := recording.Query{Pick: &recording.Pick{Reverse: true}}
	if _, err := recording.Read(t.Context(), ref, pick, s); err != nil || len(want) == 0 || !slices.Equal(s.got, want) {
		t.Errorf("%v; %d of %d messages", err, len(s.got), len(want))
	}
}

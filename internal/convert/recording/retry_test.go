package recording_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/recording"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// lying returns a bag whose index has the times of its blocks in reverse.
func lying(seed uint64) *fake.Bag {
	bag := fake.Random(seed, 20, 10, 5)
	honest := bag.Honest()
	bag.Timed = func(i int) (int64, int64) { return honest(len(bag.Blocks) - 1 - i) }
	return bag
}

// TestRetryRead: reading whose index is wrong begins again by itself, once, and what
// comes then is right. One without blocks is not read again.
func TestRetryRead(t *testing.T) {
	for _, c := range []struct {
		bag   *fake.Bag
		plans int
	}{{lying(1), 2}, {fake.Random(1, 20, 10, 5), 1}} {
		path, format := c.bag.Source(t)
		var got []storage.Message
		plans := 0
		topics := func(info *storage.Info, _ []bool) ([]recording.Topic, error) {
			plans++
			got = nil
			return make([]recording.Topic, len(info.Topics)), nil
		}
		_, err := recording.Read(t.Context(), recording.Ref{Path: path, Format: format}, recording.Query{},
			recording.Each{Topics: topics, Write: keepIn(&got)})
		if err != nil || plans != c.plans {
			t.Fatalf("%d attempts, %v", plans, err)
		}
		fake.SameMessages(t, got, c.bag.Want(recording.OrderTime))
	}
}

// TestRetry: with several sources that are read together, each wrong index costs one more
// attempt, and only that source is measured. A source may be read several times.
func TestRetry(t *testing.T) {
	bags := []*fake.Bag{lying(1), fake.Random(2, 20, 10, 5), lying(3), fake.Random(4, 20, 10, 5)}
	bags[1].Timed, bags[3].Plain = bags[1].Honest(), true
	got := make([][]storage.Message, len(bags))
	attempts := make([]int, len(bags))
	var refs []recording.Ref
	for _, bag := range bags {
		path, format := bag.Source(t)
		refs = append(refs, recording.Ref{Path: path, Format: format})
	}
	err := recording.Use(t.Context(), refs, func(sources []*recording.Source) error {
		for range 2 {
			for i, src := range sources {
				attempts[i]++
				got[i] = nil
				if _, err := src.Read(t.Context(), recording.Query{Threads: 1},
					recording.Each{Write: keepIn(&got[i])}); err != nil {
					return err
				}
			}
			for i, bag := range bags {
				fake.SameMessages(t, got[i], bag.Want(recording.OrderTime))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if attempts[0] != 4 || attempts[1] != 3 || attempts[2] != 3 || attempts[3] != 2 {
		t.Errorf("attempts %v", attempts)
	}
	other := errors.New("other")
	calls := 0
	if err := recording.Use(t.Context(), refs, func([]*recording.Source) error { calls++; return other }); err != other ||
		calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// keepIn returns a function that keeps messages in a list.
func keepIn(list *[]storage.Message) func(*storage.Message) error {
	return func(m *storage.Message) error {
		kept := *m
		kept.Data = append([]byte(nil), m.Data...)
		*list = append(*list, kept)
		return nil
	}
}

// closing is a reader that knows damage while it is open, as one of SQLite does that asks its file.
type closing struct {
	storage.Reader
	closed bool
}

func (c *closing) Damage() (d storage.Damage) {
	if !c.closed {
		d.Lost.Bytes = 7
	}
	return d
}

func (c *closing) Close() error {
	c.closed = true
	return c.Reader.Close()
}

// TestClosedDamage: the damage of a source is the same after Use has closed it.
func TestClosedDamage(t *testing.T) {
	var src *recording.Source
	format := &storage.Format{Open: func(context.Context, string, storage.ReadOptions) (storage.Reader, error) {
		return &closing{Reader: &fake.Reader{Bag: fake.Random(1, 2, 2, 2)}}, nil
	}}
	err := recording.Use(t.Context(), []recording.Ref{{Format: format}}, func(sources []*recording.Source) error {
		src = sources[0]
		return nil
	})
	if lost := src.Damage().Lost; err != nil || lost.Bytes != 7 {
		t.Errorf("%v, %+v", err, lost)
	}
}

package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bagconv/bagconv/convert/engine"
	"github.com/bagconv/bagconv/convert/internal/fake"
	"github.com/bagconv/bagconv/storage"
)

// lying returns a bag whose index has the times of its blocks in reverse.
func lying(seed uint64) *fake.Bag {
	bag := fake.Random(seed, 20, 10, 5)
	honest := bag.Honest()
	bag.Timed = func(i int) (int64, int64) { return honest(len(bag.Blocks) - 1 - i) }
	return bag
}

// TestRetryStream: a stream whose index is wrong begins again by itself, once, and what
// comes then is right. One without blocks is not read again.
func TestRetryStream(t *testing.T) {
	for _, c := range []struct {
		bag   *fake.Bag
		plans int
	}{{lying(1), 2}, {fake.Random(1, 20, 10, 5), 1}} {
		path, format := c.bag.Source(t)
		var got []storage.Message
		plans := 0
		_, err := engine.Stream(context.Background(), engine.StreamJob{Path: path, Format: format}, func(info *storage.Info, _ []bool) ([]engine.StreamTopic, error) {
			plans++
			got = nil
			return make([]engine.StreamTopic, len(info.Topics)), nil
		}, func(m *storage.Message) error {
			kept := *m
			kept.Data = append([]byte(nil), m.Data...)
			got = append(got, kept)
			return nil
		})
		if err != nil || plans != c.plans {
			t.Fatalf("%d attempts, %v", plans, err)
		}
		fake.SameMessages(t, got, c.bag.Want(engine.OrderTime))
	}
}

// TestRetry: with several sources that are read together, each wrong index costs one more
// attempt, and only that source is measured. A source may be read several times.
func TestRetry(t *testing.T) {
	bags := []*fake.Bag{lying(1), fake.Random(2, 20, 10, 5), lying(3), fake.Random(4, 20, 10, 5)}
	bags[1].Timed, bags[3].Plain = bags[1].Honest(), true
	got := make([][]storage.Message, len(bags))
	attempts := make([]int, len(bags))
	var sources []*engine.Source
	for _, bag := range bags {
		path, format := bag.Source(t)
		src, err := engine.Open(context.Background(), format, path, storage.ReadOptions{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, src)
	}
	for range 2 {
		err := engine.Retry(func() error {
			for i, src := range sources {
				attempts[i]++
				got[i] = nil
				_, err := engine.Stream(context.Background(), engine.StreamJob{Source: src, Threads: 1}, func(info *storage.Info, _ []bool) ([]engine.StreamTopic, error) {
					return make([]engine.StreamTopic, len(info.Topics)), nil
				}, func(m *storage.Message) error {
					kept := *m
					kept.Data = append([]byte(nil), m.Data...)
					got[i] = append(got[i], kept)
					return nil
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, bag := range bags {
			fake.SameMessages(t, got[i], bag.Want(engine.OrderTime))
		}
	}
	if attempts[0] != 4 || attempts[1] != 3 || attempts[2] != 3 || attempts[3] != 2 {
		t.Errorf("attempts %v", attempts)
	}
	for _, src := range sources {
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
	other := errors.New("other")
	calls := 0
	if err := engine.Retry(func() error { calls++; return other }); err != other || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

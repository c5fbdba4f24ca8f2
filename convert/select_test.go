package convert

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// indexed gives the source what an index has: times and counts.
func indexed(j *Job, f *fake.Bag, reads func(int)) {
	open := j.SourceFormat.Open
	j.SourceFormat.Open = func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
		r, err := open(ctx, path, o)
		c := &countingReader{Reader: r, bag: f, reads: reads}
		if b, ok := r.(storage.BlockReader); ok {
			return struct {
				*countingReader
				countingBlocks
			}{c, countingBlocks{b, reads}}, err
		}
		return c, err
	}
}

type countingReader struct {
	storage.Reader
	bag   *fake.Bag
	reads func(int)
}

func (r *countingReader) Info() *storage.Info {
	info := r.Reader.Info()
	info.Start, info.End, info.Messages = r.bag.Span()
	for _, msgs := range r.bag.Blocks {
		for _, m := range msgs {
			info.Topics[m.Topic].Messages++
		}
	}
	return info
}

type countingBlocks struct {
	storage.BlockReader
	reads func(int)
}

func (r countingBlocks) ReadBlock(ctx context.Context, i int, b *storage.Batch) error {
	if r.reads != nil {
		r.reads(i)
	}
	return r.BlockReader.ReadBlock(ctx, i, b)
}

// TestCut compares cuts by blocks, with and without an index, with a wrong index,
// and without blocks, with a filter of all messages, latched topics included.
func TestCut(t *testing.T) {
	for name, setup := range map[string]func(f *fake.Bag){
		"true index": func(f *fake.Bag) { f.Timed = f.Honest() },
		"lying index": func(f *fake.Bag) { // all is later by 30
			honest := f.Honest()
			f.Timed = func(i int) (int64, int64) {
				start, end := honest(i)
				return start + 30, end + 30
			}
		},
		"no index":  func(f *fake.Bag) {},
		"no blocks": func(f *fake.Bag) { f.Plain = true },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(40) {
				f := fake.Random(seed, 40, 20, []int64{0, 5, 300, 100_000}[seed%4])
				f.Topics[1].QoS = []storage.QoS{{Durability: storage.DurabilityTransientLocal, History: storage.HistoryKeepLast,
					Depth: 1 + int64(seed%3)}}
				setup(f)
				start, end, _ := f.Span()
				rng := rand.New(rand.NewPCG(seed, 2))
				first := start + rng.Int64N(end-start)
				last := first + 1 + rng.Int64N(end-first)
				if name == "lying index" { // wide enough to read a block, and see
					first = min(first, end-1500)
					last = first + 1500
				}
				for _, order := range []Order{OrderTime, OrderFile} {
					s := &fake.Sink{}
					j := fakeJob(t, f, s)
					indexed(&j, f, nil)
					j.Order, j.Threads = order, 1+int(seed%4)
					j.Select.Start, j.Select.End = selection.At(first), selection.At(last)
					var want, state []storage.Message
					for _, m := range f.Want(order) {
						if m.LogTime >= first && m.LogTime < last {
							want = append(want, m)
						}
					}
					for _, m := range f.Want(OrderTime) {
						if m.Topic == 1 && m.LogTime < first {
							m.LogTime, m.PublishTime = first, first
							state = append(state, m)
						}
					}
					state = state[max(0, len(state)-1-int(seed%3)):]
					r, err := Run(context.Background(), j)
					if len(want)+len(state) == 0 {
						if !errors.Is(err, ErrNothing) || !s.Aborted || s.Closed {
							t.Fatalf("seed %d: %v, aborted %v", seed, err, s.Aborted)
						}
						continue
					}
					if err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					fake.SameMessages(t, s.Messages, append(state, want...))
					if r.Selection == nil || *r.Selection.Start != first || *r.Selection.End != last ||
						r.Source.Messages != int64(len(want)) || r.Sink.Messages != int64(len(want)+len(state)) ||
						r.Topics[1].Repeated != int64(len(state)) {
						t.Fatalf("report %+v", r)
					}
				}
			}
		})
	}
}

// TestCutReads: with an index only blocks that can hold what is asked for are
// read, and of those before a cut only the first and as many as latched topics need.
func TestCutReads(t *testing.T) {
	f := &fake.Bag{Topics: []storage.Topic{
		{Name: "/data", Type: "p/msg/T", Encoding: "cdr"},
		{Name: "/tf_static", Type: "p/msg/T", Encoding: "cdr"},
		{Name: "/map", Type: "p/msg/T", Encoding: "cdr", QoS: []storage.QoS{{Durability: storage.DurabilityTransientLocal}}},
	}}
	for i := range int64(100) {
		topic := storage.TopicID(0)
		switch i {
		case 0:
			topic = 1
		case 20, 60, 90:
			topic = 2
		}
		var msgs []storage.Message
		for k := range int64(10) {
			at := i*10 + k
			msgs = append(msgs, storage.Message{Topic: topic, LogTime: at, PublishTime: at, Data: make([]byte, 8)})
			topic = 0
		}
		f.Blocks = append(f.Blocks, msgs)
	}
	f.Timed = f.Honest()
	run := func(edit func(*Job)) (blocks []int, s *fake.Sink) {
		s = &fake.Sink{}
		j := fakeJob(t, f, s)
		j.Threads = 1
		var mu sync.Mutex // blocks are read by several goroutines, in any order
		indexed(&j, f, func(i int) { mu.Lock(); blocks = append(blocks, i); mu.Unlock() })
		j.Select.Start, j.Select.End = selection.At(705), selection.At(725)
		edit(&j)
		if _, err := Run(context.Background(), j); err != nil {
			t.Fatal(err)
		}
		slices.Sort(blocks)
		return blocks, s
	}
	latch := func(values ...string) func(*Job) {
		l, err := selection.ParseLatch(values)
		if err != nil {
			t.Fatal(err)
		}
		return func(j *Job) { j.Edit.Latch = l }
	}
	if blocks, s := run(latch("none")); !slices.Equal(blocks, []int{70, 71, 72}) || len(s.Messages) != 20 {
		t.Errorf("none: blocks %v, %d messages", blocks, len(s.Messages))
	}
	if blocks, s := run(latch("/tf_static")); !slices.Equal(blocks, []int{0, 70, 71, 72}) || len(s.Messages) != 21 {
		t.Errorf("tf_static: blocks %v, %d messages", blocks, len(s.Messages))
	}
	blocks, s := run(latch("auto"))
	want := []int{0, 70, 71, 72}
	for i := 60; i <= 70; i++ { // back from the cut, which is in block 70
		want = append(want, i)
	}
	if slices.Sort(want); !slices.Equal(blocks, want) || len(s.Messages) != 22 {
		t.Errorf("auto: blocks %v, %d messages", blocks, len(s.Messages))
	}
	f.Has = func(i int) []storage.TopicID {
		if topic, ok := map[int]storage.TopicID{0: 1, 20: 2, 60: 2, 90: 2}[i]; ok {
			return []storage.TopicID{0, topic}
		}
		return []storage.TopicID{0}
	}
	if blocks, s := run(latch("auto")); !slices.Equal(blocks, []int{0, 60, 70, 71, 72}) || len(s.Messages) != 22 {
		t.Errorf("auto, with the topics of blocks: %v, %d messages", blocks, len(s.Messages))
	}
}

// TestTopicsLie: an index that leaves a topic out of a block loses no message: it is found
// out by a block with a topic that it does not have, or by the number of messages.
func TestTopicsLie(t *testing.T) {
	of := func(f *fake.Bag, i int) (topics []storage.TopicID) {
		for _, m := range f.Blocks[i] {
			if !slices.Contains(topics, m.Topic) {
				topics = append(topics, m.Topic)
			}
		}
		return topics
	}
	for name, c := range map[string]struct {
		lie      map[int][]storage.TopicID // topics of blocks
		timed    bool                      // the selection is: counts show nothing
		attempts int
	}{
		"true":                 {nil, false, 1},
		"fewer than it counts": {map[int][]storage.TopicID{5: {2}}, false, 2},
		"a block with another": {map[int][]storage.TopicID{5: {2}, 6: {0}}, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f, s := fake.Random(1, 20, 20, 10), &fake.Sink{}
			f.Timed = f.Honest()
			f.Has = func(i int) []storage.TopicID {
				if topics := c.lie[i]; topics != nil {
					return topics
				}
				return of(f, i)
			}
			j := fakeJob(t, f, s)
			indexed(&j, f, nil)
			j.Select.Topics = []selection.Pattern{selection.Exactly("a")}
			if c.timed {
				_, end, _ := f.Span()
				j.Select.End = selection.At(end + 1)
			}
			if _, err := Run(context.Background(), j); err != nil {
				t.Fatal(err)
			}
			var want []storage.Message
			for _, m := range f.Want(OrderTime) {
				if m.Topic == 0 {
					want = append(want, m)
				}
			}
			fake.SameMessages(t, s.Messages, want)
			if s.Attempts != c.attempts {
				t.Errorf("%d attempts", s.Attempts)
			}
		})
	}
}

// TestSelectTopics: topics that are not asked for do not reach the sink or the
// report, and a topic that cannot cross is not a loss then.
func TestSelectTopics(t *testing.T) {
	f, s := fake.Random(1, 20, 20, 10), &fake.Sink{}
	f.Topics[2].Encoding = "odd"
	j := fakeJob(t, f, s)
	indexed(&j, f, nil)
	f.Format.Name = "other"
	p, err := selection.ParsePattern("c")
	if err != nil {
		t.Fatal(err)
	}
	j.Select.ExcludeTopics = []selection.Pattern{p}
	j.Edit.Prefix = "/r"
	r, err := Run(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	var want []storage.Message
	for _, m := range f.Want(OrderTime) {
		if m.Topic != 2 {
			want = append(want, m)
		}
	}
	fake.SameMessages(t, s.Messages, want)
	if len(s.Topics) != 2 || s.Topics[0].Name != "/r/a" || len(r.Topics) != 2 || r.Lossy() ||
		!slices.Equal(r.Selection.LeftOut, []string{"c"}) {
		t.Errorf("topics %v, report %+v", s.Topics, r)
	}
	j.Write.Overwrite = true
	j.Select.Topics = []selection.Pattern{p}
	if _, err := Run(context.Background(), j); !errors.Is(err, ErrNothing) {
		t.Errorf("nothing is taken: %v", err)
	}
}

package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
)

// query compares a format's Querier with ReadAll: random queries over recordings
// of many chunks, sorted and not, in every compression; 40 of each, and 100 with BAGCONV_EXHAUSTIVE=1.
func (c *Config) query(t *testing.T) {
	for name, want := range map[string]Recording{
		"empty":          {Topics: []storage.Topic{c.topic("/a")}},
		"sorted":         c.Generate(21, Spec{Topics: 4, Messages: 1500, MaxSize: 600, Step: 1000}),
		"overlapping":    c.Generate(22, Spec{Topics: 4, Messages: 1500, MaxSize: 600, Step: 1000, Jitter: 100_000}),
		"unsorted":       c.Generate(23, Spec{Topics: 3, Messages: 1500, MaxSize: 600, Step: 10, Jitter: 1_000_000_000}),
		"equal times":    c.Generate(24, Spec{Topics: 3, Messages: 1000, MaxSize: 600}),
		"sizes":          c.Generate(25, Spec{Topics: 3, Messages: 60, MaxSize: 100_000, Step: 1000, Jitter: 10_000}),
		"a rare topic":   rare(c.Generate(26, Spec{Topics: 3, Messages: 2000, MaxSize: 300, Step: 1000})),
		"many per topic": c.Generate(27, Spec{Topics: 1, Messages: 5000, MaxSize: 30, Step: 1000, Jitter: 3000}),
	} {
		t.Run(name, func(t *testing.T) {
			for i, codec := range c.Format.Options.Choices(storage.NameCompression) {
				path := filepath.Join(t.TempDir(), c.Name)
				o := storage.WriteOptions{Compression: codec, NoSync: true, ChunkSize: 32 << 10}
				if err := WriteAll(c.Format, path, o, want); err != nil {
					t.Fatalf("%s: %v", codec, err)
				}
				r := c.open(t, path, storage.ReadOptions{Strict: true})
				defer r.Close()
				if storage.ReaderCapabilities(r).Query == nil {
					t.Skip("the format has no index to ask")
				}
				CheckQueries(t, r, uint64(i), samples.Pick(100, 40, 40))
			}
		})
	}
	t.Run("Refused", c.queryRefused)
}

// rare leaves few messages of topic 0.
func rare(r Recording) Recording {
	for i := range r.Messages {
		if m := &r.Messages[i]; m.Topic == 0 && i%97 != 0 {
			m.Topic = 1
		}
	}
	return r
}

// CheckQueries compares n random queries of a recording with its messages, which
// are read by ReadNext between them. The reader must be new and have a Querier.
func CheckQueries(t testing.TB, r storage.Reader, seed uint64, n int) {
	t.Helper()
	q := storage.ReaderCapabilities(r).Query
	first, err := r.ReadNext() // queries must not move it
	var all []storage.Message
	if err == nil {
		all = clone([]storage.Message{*first})
		before := clone(all)
		for range q.Query(context.Background(), storage.Query{Limit: 3}) {
		}
		if d := Diff([]storage.Message{*first}, before); d != "" {
			t.Errorf("a query spoils the message of ReadNext: %s", d)
		}
		rest, err := ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rest...)
	}
	info := r.Info()
	rng := rand.New(rand.NewPCG(seed, 11))
	for i := range n {
		ask := randomQuery(rng, info)
		if i < 2 {
			ask = storage.Query{Reverse: i == 1}
		}
		want := Select(all, ask)
		stop := -1 // leave the loop there
		if rng.IntN(4) == 0 && len(want) > 0 {
			stop = rng.IntN(len(want))
			want = want[:stop+1]
		}
		got, err := collect(q, ask, stop)
		if err != nil {
			t.Fatalf("%+v: %v", ask, err)
		}
		if d := Diff(got, want); d != "" {
			t.Fatalf("%+v: %s", ask, d)
		}
	}
	c := &sync.WaitGroup{}
	for k := range 4 {
		ask := randomQuery(rng, info)
		c.Add(1)
		go func() {
			defer c.Done()
			got, err := collect(q, ask, -1)
			if d := Diff(got, Select(all, ask)); d != "" || err != nil {
				t.Errorf("query %d of several at once, %+v: %s, %v", k, ask, d, err)
			}
		}()
	}
	c.Wait()
}

// collect runs a query and spoils each message when it has copied it.
func collect(q storage.Querier, ask storage.Query, stop int) (out []storage.Message, err error) {
	for m, err := range q.Query(context.Background(), ask) {
		if err != nil {
			if m != nil {
				err = errors.Join(err, errors.New("and a message with the error"))
			}
			return out, err
		}
		x := *m
		x.Data = bytes.Clone(m.Data)
		for i := range m.Data {
			m.Data[i] = 0xdd
		}
		m.LogTime, m.Topic = -1, 1<<31
		if out = append(out, x); len(out)-1 == stop {
			break
		}
	}
	return out, nil
}

// Select returns what a query must return of all messages of a recording, which are in
// the order of the file.
func Select(all []storage.Message, q storage.Query) []storage.Message {
	start, end := q.Range()
	var out []storage.Message
	for _, m := range all {
		if (q.Topics == nil || slices.Contains(q.Topics, m.Topic)) && m.LogTime >= start && m.LogTime <= end {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b storage.Message) int {
		switch {
		case a.LogTime < b.LogTime:
			return -1
		case a.LogTime > b.LogTime:
			return 1
		}
		return 0
	})
	if q.Reverse {
		slices.Reverse(out)
	}
	if q.Limit > 0 {
		out = out[:min(q.Limit, int64(len(out)))]
	}
	for i := range out {
		if q.NoData {
			out[i] = storage.Message{Topic: out[i].Topic, LogTime: out[i].LogTime}
		}
	}
	return out
}

// randomQuery makes a query that asks for something of a recording, mostly.
func randomQuery(rng *rand.Rand, info *storage.Info) (q storage.Query) {
	if rng.IntN(3) > 0 && len(info.Topics) > 0 {
		q.Topics = []storage.TopicID{}
		for range rng.IntN(4) {
			q.Topics = append(q.Topics, storage.TopicID(rng.IntN(len(info.Topics))))
		}
	}
	if rng.IntN(2) == 0 {
		span := info.End - info.Start + 3
		q.Start = info.Start - 1 + rng.Int64N(span)
		q.End = q.Start + rng.Int64N(span)/int64(1+rng.IntN(20))
	}
	q.Reverse = rng.IntN(2) == 0
	if rng.IntN(2) == 0 {
		q.Limit = 1 + rng.Int64N(20)
	}
	q.NoData = rng.IntN(4) == 0
	return q
}

// queryRefused: queries that make no sense, and queries that are cancelled.
func (c *Config) queryRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), c.Name)
	if err := WriteAll(c.Format, path, storage.WriteOptions{NoSync: true, ChunkSize: 20 << 10}, c.small()); err != nil {
		t.Fatal(err)
	}
	r := c.open(t, path, storage.ReadOptions{})
	defer r.Close()
	q := storage.ReaderCapabilities(r).Query
	if q == nil {
		t.Skip("the format has no index to ask")
	}
	for _, ask := range []storage.Query{{Limit: -1}, {Topics: []storage.TopicID{0, 3}},
		{Topics: []storage.TopicID{1<<32 - 1}}} {
		if got, err := collect(q, ask, -1); err == nil {
			t.Errorf("%+v is not refused, and gives %d messages", ask, len(got))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	var err error
	for _, err = range q.Query(ctx, storage.Query{}) {
		if n++; n == 10 {
			cancel()
		}
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled query gives %d messages and %v", n, err)
	}
}

// queryBytes counts what is read for a query of a recording of many chunks. The
// last message of a topic, and the heads of some, with opening the recording, take less than a
// hundredth of the file, a twentieth of the time less than a tenth, and all messages
// without data less than a twentieth.
func (c *Config) queryBytes(t *testing.T) {
	if c.ReadsAll != "" {
		t.Skip(c.ReadsAll)
	}
	if testing.Short() {
		t.Skip("writes 128 MB")
	}
	want := Recording{Topics: []storage.Topic{c.topic("/camera"), c.topic("/imu")}}
	frame := make([]byte, 1<<20)
	for i := range 128 {
		at := start + int64(i)*100_000_000
		want.Messages = append(want.Messages, storage.Message{LogTime: at, PublishTime: at, Data: frame})
		for k := range int64(10) {
			imu := storage.Message{Topic: 1, LogTime: at + k*10_000_000, PublishTime: at + k*10_000_000,
				Data: []byte(fmt.Sprintf("%300d", int64(i)*10+k))}
			want.Messages = append(want.Messages, imu)
		}
	}
	path := filepath.Join(t.TempDir(), c.Name)
	o := storage.WriteOptions{NoSync: true}
	if codecs := c.Format.Options.Choices(storage.NameCompression); slices.Contains(codecs, "none") {
		o.Compression = "none" // whatever the default: frames of zeros would become nothing
	}
	if err := WriteAll(c.Format, path, o, want); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		q    storage.Query
		part int64 // of the file that may be read
	}{
		"last":         {storage.Query{Topics: []storage.TopicID{1}, Limit: 1, Reverse: true}, 100},
		"range":        {storage.Query{Start: start + 5_000_000_000, End: start + 5_640_000_000}, 10},
		"heads":        {storage.Query{Topics: []storage.TopicID{1}, Limit: 500, NoData: true}, 100},
		"last heads":   {storage.Query{Topics: []storage.TopicID{1}, Limit: 500, Reverse: true, NoData: true}, 100},
		"without data": {storage.Query{NoData: true}, 20},
	} {
		t.Run(name, func(t *testing.T) {
			disk := &faultio.Counter{FS: iox.OS}
			r := c.open(t, path, storage.ReadOptions{FS: disk})
			defer r.Close()
			q := storage.ReaderCapabilities(r).Query
			if q == nil {
				t.Skip("the format has no index to ask")
			}
			info := r.Info()
			opening := disk.Read.Load()
			ask := test.q
			if ask.Topics != nil { // a format may number them anew
				ask.Topics = []storage.TopicID{storage.TopicID(slices.IndexFunc(info.Topics,
					func(i storage.TopicInfo) bool { return i.Name == "/imu" }))}
			}
			got, err := collect(q, ask, -1)
			if err != nil {
				t.Fatal(err)
			}
			read := disk.Read.Load()
			renumber(t, got, match(t, info, want))
			if d := Diff(got, Select(want.Messages, test.q)); d != "" {
				t.Fatal(d)
			}
			t.Logf("%d of %d bytes are read, %d of them to open it", read, info.Size, opening)
			if read > info.Size/test.part {
				t.Errorf("%d of %d bytes are read, over one in %d", read, info.Size, test.part)
			}
		})
	}
}

package convert

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/internal/convert/selection"
	"github.com/bagconv/bagconv/internal/testing/fake"
	"github.com/bagconv/bagconv/storage"
)

// TestRates: thinning counts, and leaves what is repeated at a cut alone.
func TestRates(t *testing.T) {
	f, s := fake.Random(5, 50, 20, 0), &fake.Sink{}
	f.Timed = f.Honest()
	f.Topics[0].QoS = []storage.QoS{{Durability: storage.DurabilityTransientLocal, Depth: 3}}
	j := fakeJob(t, f, s)
	indexed(&j, f, nil)
	every, err := selection.ParseEvery("a=4")
	if err != nil {
		t.Fatal(err)
	}
	j.Edit.Rates = []selection.Rate{every}
	j.Edit.Offset = -7
	j.Select.Start = selection.At(1000)
	r, err := Run(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	n, before, got := 0, 0, 0
	for _, m := range f.Want(OrderTime) {
		switch {
		case m.Topic == 0 && m.LogTime >= 1000:
			n++
		case m.Topic == 0:
			before++
		}
	}
	for _, m := range s.Messages {
		if m.Topic == 0 {
			got++
		}
		if m.LogTime < 993 {
			t.Fatalf("time %d", m.LogTime)
		}
	}
	a := r.Topics[0]
	if before < 3 || got != 3+(n+3)/4 || a.Repeated != 3 || a.Read != int64(n) || a.Written != int64(got) ||
		a.Thinned != int64(n-(n+3)/4) {
		t.Errorf("%d of %d messages, %d before: %+v", got, n, before, a)
	}
}

// TestRepeatedOutOfBand: a message is repeated or not by where it comes from, whatever
// its publish time is.
func TestRepeatedOutOfBand(t *testing.T) {
	f, s := &fake.Bag{Topics: []storage.Topic{{Name: "a", Encoding: "cdr",
		QoS: []storage.QoS{{Durability: storage.DurabilityTransientLocal, Depth: 1}}}}}, &fake.Sink{}
	for i := range int64(20) {
		f.Blocks = append(f.Blocks, []storage.Message{{LogTime: i, PublishTime: math.MinInt64, Data: []byte{byte(i)}}})
	}
	f.Timed = f.Honest()
	j := fakeJob(t, f, s)
	indexed(&j, f, nil)
	every, err := selection.ParseEvery("a=5")
	if err != nil {
		t.Fatal(err)
	}
	j.Edit.Rates = []selection.Rate{every}
	j.Select.Start = selection.At(10)
	if _, err := Run(context.Background(), j); err != nil {
		t.Fatal(err)
	}
	var got [][2]int64
	for _, m := range s.Messages {
		got = append(got, [2]int64{m.LogTime, m.PublishTime})
	}
	if want := [][2]int64{{10, 10}, {10, math.MinInt64}, {15, math.MinInt64}}; !slices.Equal(got, want) {
		t.Errorf("log and publish times %v, want %v", got, want)
	}
}

// TestOffsetRange: a time that an offset pushes out of what can be stored is counted.
func TestOffsetRange(t *testing.T) {
	f, s := fake.Random(5, 5, 20, 0), &fake.Sink{}
	j := fakeJob(t, f, s)
	j.Edit.Offset = math.MaxInt64 - 100
	r, err := Run(context.Background(), j)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Losses) == 0 || r.Losses[0].Code != "time-out-of-range" || int64(len(s.Messages)) != r.Sink.Messages {
		t.Errorf("%+v", r)
	}
	for _, m := range s.Messages {
		if m.LogTime < math.MaxInt64-100 {
			t.Errorf("time %d", m.LogTime)
		}
	}
}

// TestRestamp: the output is in the order of the headers' times, however far
// these are from the log times, and headers can get the log times.
func TestRestamp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for _, jitter := range []int64{1, 1e9, 1000e9} {
		f := &fake.Bag{Topics: []storage.Topic{
			{Name: "/h", Type: "std_msgs/msg/Header", Encoding: "cdr"},
			{Name: "/n", Type: "std_msgs/msg/Empty", Encoding: "cdr"},
		}}
		var want []int64
		for range 30 {
			var msgs []storage.Message
			for range 10 {
				at := int64(1e18) + int64(len(want))*1e7
				stamp := at - rng.Int64N(jitter)
				m := storage.Message{Topic: storage.TopicID(rng.IntN(2)), LogTime: at, PublishTime: at, Data: header(stamp)}
				if m.Topic == 1 {
					stamp = at
				}
				want = append(want, stamp)
				msgs = append(msgs, m)
			}
			f.Blocks = append(f.Blocks, msgs)
		}
		slices.SortFunc(want, cmp.Compare[int64])
		for _, setup := range []func(){func() {}, func() { f.Timed = f.Honest() }, func() { f.Timed, f.Plain = nil, true }} {
			setup()
			s := &fake.Sink{}
			j := fakeJob(t, f, s)
			j.Edit.Restamp = selection.RestampHeader
			r, err := Run(context.Background(), j)
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range s.Messages {
				if m.LogTime != want[i] || m.PublishTime != want[i] {
					t.Fatalf("message %d at %d, want %d", i, m.LogTime, want[i])
				}
			}
			if len(s.Messages) != len(want) || len(r.Notes) != 1 || r.Notes[0].Code != "no-header" || r.Notes[0].Topic != "/n" {
				t.Fatalf("%d messages, notes %+v", len(s.Messages), r.Notes)
			}
		}
		s := &fake.Sink{}
		j := fakeJob(t, f, s)
		j.Edit.Restamp, j.Edit.Offset = selection.RestampLog, 5
		if _, err := Run(context.Background(), j); err != nil {
			t.Fatal(err)
		}
		for i, m := range s.Messages {
			if m.Topic == 0 && stampOf(m.Data) != m.LogTime || m.Topic == 1 && stampOf(m.Data) == m.LogTime {
				t.Fatalf("message %d: stamp %d, time %d", i, stampOf(m.Data), m.LogTime)
			}
		}
	}
}

// header is a std_msgs/msg/Header in CDR, without a frame.
func header(stamp int64) []byte {
	b := []byte{0, 1, 0, 0}
	b = binary.LittleEndian.AppendUint32(b, uint32(stamp/1e9))
	b = binary.LittleEndian.AppendUint32(b, uint32(stamp%1e9))
	return append(b, 1, 0, 0, 0, 0)
}

func stampOf(b []byte) int64 {
	return int64(binary.LittleEndian.Uint32(b[4:]))*1e9 + int64(binary.LittleEndian.Uint32(b[8:]))
}

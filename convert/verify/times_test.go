package verify_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/convert/verify"
	"github.com/bagconv/bagconv/storage"
)

// TestTimeRange: what a conversion makes of a time that the other encoding cannot hold
// is unconvertible, in both directions, and not a difference like others; a duration is
// the same in all encodings.
func TestTimeRange(t *testing.T) {
	const lowest = math.MinInt32
	for _, c := range []struct {
		time, duration [2]int64
		beyond         bool // of what CDR holds
	}{
		{[2]int64{5, 6}, [2]int64{0, -1}, false},
		{[2]int64{5, 3_000_000_000}, [2]int64{1, -1_500_000_000}, false},
		{[2]int64{math.MaxInt32, 1}, [2]int64{-3, lowest}, false},
		{[2]int64{1 << 31, 1}, [2]int64{-1, 500_000_000}, true},
		{[2]int64{math.MaxUint32, 1}, [2]int64{0, -1}, true},
		{[2]int64{5, 6}, [2]int64{lowest, -1}, true},
	} {
		name := fmt.Sprintf("%v and %v", c.time, c.duration)
		var data []byte
		for _, v := range [][2]int64{c.time, c.duration, {7, 0}} {
			data = binary.LittleEndian.AppendUint32(data, uint32(v[0]))
			data = binary.LittleEndian.AppendUint32(data, uint32(v[1]))
		}
		plain := make([]byte, len(data))
		rec := messagesOf([]storage.Topic{bagTopic(t, "/x", "p/A", "time t\nduration d\nuint64 n\n")}, plain, data, plain)
		bag := saved(t, "bag", rec)
		db3 := converted(t, convert.Job{}, bag, "db3", filepath.Join(t.TempDir(), "out"))
		record := converted(t, convert.Job{}, bag, "record", filepath.Join(t.TempDir(), "out"))
		again := converted(t, convert.Job{}, db3, "bag", filepath.Join(t.TempDir(), "out"))
		other := converted(t, convert.Job{}, record, "db3", filepath.Join(t.TempDir(), "out"))
		data[16]++
		changed := saved(t, "bag", rec)
		for _, s := range []struct {
			a, b          string
			beyond, equal bool
		}{
			{bag, db3, c.beyond, true}, {db3, bag, c.beyond, true}, {bag, record, false, true},
			{db3, again, c.beyond && c.duration[0] != lowest, true}, {record, other, c.beyond && c.duration[0] != lowest, true},
			{db3, other, false, true}, {changed, db3, c.beyond, false}, {db3, changed, c.beyond, false},
		} {
			if c.duration[0] == lowest && (s.a == record || s.b == other) {
				continue // a message that has no place in 32 bits is left out
			}
			res := compare(t, verify.Job{Ignore: []verify.Code{verify.Unconvertible}}, s.a, s.b)
			if res.Equal != s.equal {
				t.Errorf("%s: %s and %s: equal is %v: %s", name, s.a, s.b, res.Equal, describe(res, &convert.Report{}))
			}
			if !s.equal {
				continue
			}
			i := slices.IndexFunc(res.Exceptions, func(e verify.Exception) bool { return e.Code == verify.Unconvertible })
			if (i >= 0) != s.beyond || i >= 0 && res.Exceptions[i].Count != 1 {
				t.Errorf("%s: %s and %s: %+v", name, s.a, s.b, res.Exceptions)
			}
			if res := compare(t, verify.Job{}, s.a, s.b); res.Equal == s.beyond {
				t.Errorf("%s: %s and %s: equal is %v with nothing ignored", name, s.a, s.b, res.Equal)
			}
		}
	}
}

// TestTimesInOtherWords: every message whose times a conversion writes in other seconds and nanoseconds
// is counted by the note of the conversion and by the exception of verify, and by neither if all
// times come back as they were.
func TestTimesInOtherWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 3))
	nanos := []int64{0, 1, 999_999_999, 1e9, 1_500_000_000, math.MaxInt32, 1 << 31, 2_210_732_376, math.MaxUint32,
		-999_999_999, -1}
	var data [][]byte
	for range 300 {
		var d []byte
		for range 4 {
			d = binary.LittleEndian.AppendUint32(d, uint32(620+rng.IntN(3)))
			d = binary.LittleEndian.AppendUint32(d, uint32(nanos[rng.IntN(len(nanos))*rng.IntN(2)]))
		}
		for i := 16; i < 32; i += 8 { // durations
			binary.LittleEndian.PutUint32(d[i:], uint32(rng.IntN(5)-2))
		}
		data = append(data, d)
	}
	bag := saved(t, "bag", messagesOf([]storage.Topic{bagTopic(t, "/x", "p/A", "time[2] t\nduration[2] d\n")}, data...))
	some := false
	for _, way := range [][]string{{"db3", "record", "db3", "bag"}, {"record", "db3", "bag", "record"},
		{"mcap", "record", "bag", "db3"}} {
		from := bag
		for _, to := range way {
			job := convert.Job{Source: from, SourceFormat: formatOf(t, from), SinkFormat: registry.Lookup(to)}
			job.Sink = filepath.Join(t.TempDir(), "out"+ending(job.SinkFormat))
			report, err := convert.Run(context.Background(), job)
			if err != nil {
				t.Fatal(err)
			}
			noted := int64(0)
			for _, n := range report.Notes {
				if n.Code == "time-normalized" {
					noted += n.Count
				}
			}
			res := compare(t, verify.Job{}, from, job.Sink)
			named := int64(0)
			for _, e := range res.Exceptions {
				if e.Code == verify.Times {
					named += e.Count
				}
			}
			if !res.Equal || noted != named {
				t.Errorf("%s to %s: equal is %v, %d messages noted and %d named: %s", from, to, res.Equal, noted, named,
					describe(res, report))
			}
			if exact := compare(t, verify.Job{Exact: []verify.Code{verify.Times}}, from, job.Sink); exact.Equal != (named == 0) {
				t.Errorf("%s to %s: equal is %v with exact times", from, to, exact.Equal)
			}
			some = some || noted > 0
			from = job.Sink
		}
	}
	if !some {
		t.Error("no conversion has changed words")
	}
}

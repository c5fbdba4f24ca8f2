package verify_test

import (
	"encoding/binary"
	"fmt"
	"math"
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

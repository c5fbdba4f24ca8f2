package track

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"
)

// FuzzBuffer: no series of transforms and questions panics or hangs; each answer is of finite length, and each error is
// one of those that are documented. The bytes are, one after the other: parent, child, time, kind, for a transform; and
// target and source for a question.
func FuzzBuffer(f *testing.F) {
	f.Add([]byte("\x00\x01\x05\x00\x01\x02\x05\x01\x02\x00\x06\x00"), int64(0), int64(5))
	f.Add([]byte("\x00\x01\x05\x00\x00\x01\x09\x00\x00\x01\x01\x00\x02\x01\x07\x00"), int64(3), int64(-1))
	f.Add([]byte{1, 2, 3, 0, 2, 3, 3, 0, 3, 1, 3, 0}, int64(math.MaxInt64), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, ops []byte, cache, scale int64) {
		b := Buffer{CacheLength: cache}
		name := func(x byte) string { return strings.Repeat("/", int(x>>6)) + strconv.Itoa(int(x&7)) }
		for ; len(ops) >= 4; ops = ops[4:] {
			time := int64(int8(ops[2])) * scale
			if ops[3]&3 == 3 {
				p, err := b.Lookup(name(ops[0]), name(ops[1]), time)
				var problem *LookupError
				if err == nil && (math.IsNaN(p.QW) || p.Time != time && time != 0) {
					t.Fatalf("%+v at %d", p, time)
				}
				if err != nil && (!errors.As(err, &problem) || kindOf(err) == err.Error() || len(err.Error()) > 1000) {
					t.Fatal(err)
				}
				continue
			}
			p := Pose{Time: time, X: float64(ops[2]), QW: 1}
			if ops[3]&4 != 0 {
				p.QX, p.QW = math.Sin(float64(ops[3])), math.Cos(float64(ops[3]))
			}
			_ = b.Set(name(ops[0]), name(ops[1]), p, ops[3]&1 != 0)
		}
		c := b.Counts()
		if kept := len(b.AppendTimes(nil, "1")); uint64(kept) > c.Kept {
			t.Fatalf("%d kept of %+v", kept, c)
		}
	})
}

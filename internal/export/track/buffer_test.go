package track

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

const second = int64(1e9)

// at returns a pose with no rotation.
func at(t int64, x float64) Pose { return Pose{Time: t, X: x, QW: 1} }

// yaw returns a pose that is turned about z, degrees.
func yaw(t int64, x, degrees float64) Pose {
	return Pose{Time: t, X: x, QZ: math.Sin(degrees * math.Pi / 360), QW: math.Cos(degrees * math.Pi / 360)}
}

func set(t testing.TB, b *Buffer, parent, child string, p Pose, static bool) {
	t.Helper()
	if err := b.Set(parent, child, p, static); err != nil {
		t.Fatal(err)
	}
}

// near compares poses, to 1e-9; quaternions of both signs are equal.
func near(a, b Pose) bool {
	if a.QX*b.QX+a.QY*b.QY+a.QZ*b.QZ+a.QW*b.QW < 0 {
		b.QX, b.QY, b.QZ, b.QW = -b.QX, -b.QY, -b.QZ, -b.QW
	}
	x, y := a.numbers(), b.numbers()
	for i := range x {
		if math.Abs(x[i]-y[i]) > 1e-9 {
			return false
		}
	}
	return a.Time == b.Time
}

// TestLookup: chains up, down and over a common parent, and interpolation, by hand.
func TestLookup(t *testing.T) {
	var b Buffer
	set(t, &b, "map", "odom", at(0, 100), true)
	set(t, &b, "odom", "base", yaw(10*second, 0, 0), false)
	set(t, &b, "odom", "base", yaw(20*second, 10, 90), false)
	set(t, &b, "/base", "/lidar", at(0, 1), true)
	set(t, &b, "base", "camera", yaw(0, 2, 180), true)
	for _, c := range []struct {
		target, source string
		time           int64
		wanted         Pose
	}{
		{"odom", "base", 10 * second, at(10*second, 0)},
		{"odom", "base", 15 * second, yaw(15*second, 5, 45)},
		{"map", "base", 20 * second, yaw(20*second, 110, 90)},
		{"base", "odom", 20 * second, Pose{20 * second, 0, 10, 0, 0, 0, -math.Sqrt2 / 2, math.Sqrt2 / 2}},
		{"map", "lidar", 20 * second, Pose{20 * second, 110, 1, 0, 0, 0, math.Sqrt2 / 2, math.Sqrt2 / 2}},
		{"camera", "lidar", 1 * second, yaw(1*second, 1, 180)}, // static, so at all times
		{"camera", "lidar", 0, yaw(0, 1, 180)},
		{"map", "lidar", 0, Pose{20 * second, 110, 1, 0, 0, 0, math.Sqrt2 / 2, math.Sqrt2 / 2}},
		{"base", "base", 3, at(3, 0)},
		{"base", "base", 0, at(20*second, 0)},
		{"lidar", "lidar", 0, at(0, 0)},
		{"sun", "sun", 4, at(4, 0)}, // as tf2 has it
		{"lidar", "map", 20 * second, Pose{20 * second, -1, 110, 0, 0, 0, -math.Sqrt2 / 2, math.Sqrt2 / 2}},
	} {
		if got, err := b.Lookup(c.target, c.source, c.time); err != nil || !near(got, c.wanted) {
			t.Errorf("%s in %s at %d: %+v, not %+v; %v", c.source, c.target, c.time, got, c.wanted, err)
		}
	}
	if times := b.AppendTimes(nil, "base"); !slices.Equal(times, []int64{10 * second, 20 * second}) {
		t.Error(times)
	}
	if times := b.AppendTimes(nil, "lidar"); len(times)+len(b.AppendTimes(nil, "none"))+
		len(b.AppendTimes(nil, "map")) != 0 {
		t.Error(times)
	}
}

// TestLookupErrors: what has no answer, and what the error names.
func TestLookupErrors(t *testing.T) {
	var b Buffer
	set(t, &b, "map", "base", at(10*second, 0), false)
	set(t, &b, "map", "base", at(20*second, 0), false)
	set(t, &b, "base", "lidar", at(0, 0), true)
	set(t, &b, "moon", "crater", at(0, 0), true)
	set(t, &b, "a", "b", at(0, 0), true)
	set(t, &b, "b", "c", at(0, 0), true)
	set(t, &b, "c", "a", at(0, 0), true)
	for _, c := range []struct {
		target, source string
		time           int64
		kind           error
		text           string
	}{
		{"map", "lidar", 9 * second, ErrExtrapolation,
			`no pose of frame "lidar" in "map" at 9.000000000 s: no transform at that time: ` +
				`the transforms of "base" are from 10.000000000 to 20.000000000 s`},
		{"lidar", "map", 20*second + 1, ErrExtrapolation,
			`no pose of frame "map" in "lidar" at 20.000000001 s: no transform at that time: ` +
				`the transforms of "base" are from 10.000000000 to 20.000000000 s`},
		{"map", "crater", 15 * second, ErrDisconnected,
			`no pose of frame "crater" in "map" at 15.000000000 s: the frames are not connected: ` +
				`the parents of "crater" end at "moon", the parents of "map" at "map"`},
		{"crater", "lidar", 0, ErrDisconnected,
			`no pose of frame "lidar" in "crater": the frames are not connected: the parents of "lidar" end at "map", the parents of "crater" at "moon"`},
		{"map", "sun", 0, ErrUnknownFrame, `no pose of frame "sun" in "map": unknown frame "sun"`},
		{"sun", "map", 0, ErrUnknownFrame, `no pose of frame "map" in "sun": unknown frame "sun"`},
		{"/map", "base", 0, ErrFrameName,
			`no pose of frame "base" in "/map": not a name of a frame "/map"; leave out the slash`},
		{"map", "", 0, ErrFrameName, `no pose of frame "" in "map": not a name of a frame ""`},
		{"map", "a", second, ErrLoop,
			`no pose of frame "a" in "map" at 1.000000000 s: a loop, or more than 1000 frames: at frame "b"`},
		{"map", "a", 0, ErrLoop, `no pose of frame "a" in "map": a loop, or more than 1000 frames: at frame "b"`},
		{"a", "map", 0, ErrLoop, `no pose of frame "map" in "a": a loop, or more than 1000 frames: at frame "b"`},
	} {
		_, err := b.Lookup(c.target, c.source, c.time)
		if !errors.Is(err, c.kind) || err.Error() != c.text {
			t.Errorf("%s in %s at %d: %v", c.source, c.target, c.time, err)
		}
	}
	var empty Buffer
	if _, err := empty.Lookup("a", "b", 0); !errors.Is(err, ErrUnknownFrame) {
		t.Error(err)
	}
}

// TestSet: what is refused, and that it is counted.
func TestSet(t *testing.T) {
	b := Buffer{CacheLength: 10 * second}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		parent, child string
		pose          Pose
		static        bool
		wanted        error
	}{
		{"a", "b", at(20*second, 1), false, nil},
		{"a", "b", at(20*second, 1), false, ErrRepeated},
		{"a", "b", at(20*second, 2), false, ErrConflicting},
		{"A", "b", at(20*second, 1), false, ErrConflicting},
		{"a", "b", at(10*second-1, 2), false, ErrOld},
		{"a", "b", at(10*second, 2), false, nil},
		{"a", "b", at(15*second, 2), true, nil}, // the first transform decided
		{"a", "a", at(1, 2), false, ErrBadFrame},
		{"/a", "a", at(1, 2), false, ErrBadFrame},
		{"", "a", at(1, 2), false, ErrBadFrame},
		{"a", "/", at(1, 2), false, ErrBadFrame},
		{"a", "c", at(1, nan), false, ErrNotFinite},
		{"a", "c", at(1, inf), false, nil},
		{"a", "c", Pose{QW: nan}, false, ErrNotFinite},
		{"a", "c", Pose{QW: inf}, false, ErrNotFinite},
		{"a", "c", Pose{}, false, ErrNotNormalized},
		{"a", "c", Pose{QW: 1.005}, false, ErrNotNormalized},
		{"a", "d", Pose{QW: 1.0049}, true, nil},
		{"a", "d", at(5, 5), true, nil}, // static: the last one counts
	} {
		err := b.Set(c.parent, c.child, c.pose, c.static)
		if !errors.Is(err, c.wanted) || (err == nil) != (c.wanted == nil) {
			t.Errorf("%+v: %v", c, err)
		}
		data := c.wanted == ErrBadFrame || c.wanted == ErrNotFinite || c.wanted == ErrNotNormalized
		if errors.Is(err, storage.ErrCorrupt) != data {
			t.Errorf("%v is corrupt: %v", err, !data)
		}
	}
	wanted := SetCounts{Kept: 6, Repeated: 1, Conflicting: 2, Old: 1, NotFinite: 3, NotNormalized: 2, BadFrame: 4,
		KindChanged: 1}
	if b.Counts() != wanted {
		t.Errorf("%+v", b.Counts())
	}
	if got, err := b.Lookup("a", "d", 99); err != nil || got.X != 5 {
		t.Error(got, err)
	}
	if got, err := b.Lookup("a", "b", 20*second); err != nil || got.X != 1 {
		t.Error(got, err)
	}
}

// TestParents: a frame whose parent changes. Between the two, the earlier parent counts and nothing is interpolated.
func TestParents(t *testing.T) {
	var b Buffer
	set(t, &b, "left", "cup", at(10, 1), false)
	set(t, &b, "right", "cup", at(20, 2), false)
	for _, c := range []struct {
		target string
		time   int64
		x      float64
	}{{"left", 10, 1}, {"left", 19, 1}, {"right", 20, 2}, {"right", 0, 2}} {
		if got, err := b.Lookup(c.target, "cup", c.time); err != nil || got.X != c.x {
			t.Error(c, got, err)
		}
	}
	for target, time := range map[string]int64{"left": 20, "right": 19} {
		if _, err := b.Lookup(target, "cup", time); !errors.Is(err, ErrDisconnected) {
			t.Error(target, err)
		}
	}
}

// TestSeries: samples in any order, with and without a cache, are the parents of a sorted list.
func TestSeries(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 40 {
		b := Buffer{}
		if round%2 == 1 {
			b.CacheLength = int64(1 + r.IntN(2000))
		}
		var list []int64
		base := int64(1)
		for i := range 3000 {
			time := base + int64(r.IntN(2000))
			switch round % 4 {
			case 0:
				time = int64(5000 - i) // backwards
			case 3:
				base++
			}
			err := b.Set("a", "b", at(time, float64(time)), false)
			at, repeated := slices.BinarySearch(list, time)
			old := b.CacheLength > 0 && len(list) > 0 && list[len(list)-1]-time > b.CacheLength
			if errors.Is(err, ErrOld) != old || errors.Is(err, ErrRepeated) != (repeated && !old) {
				t.Fatal(round, i, err)
			}
			if err == nil {
				list = slices.Insert(list, at, time)
				for b.CacheLength > 0 && list[len(list)-1]-list[0] > b.CacheLength {
					list = list[1:]
				}
			}
		}
		if got := b.AppendTimes(nil, "b"); !slices.Equal(got, list) {
			t.Fatalf("round %d: %d times, not %d", round, len(got), len(list))
		}
		for _, chunk := range b.transformsOf("b").chunks {
			if len(chunk) == 0 || len(chunk) > chunkSize {
				t.Fatalf("round %d: a chunk has %d samples", round, len(chunk))
			}
		}
		for range 300 {
			time := list[0] + int64(r.IntN(int(list[len(list)-1]-list[0])+1))
			if got, err := b.Lookup("a", "b", time); err != nil || math.Abs(got.X-float64(time)) > 1e-6 {
				t.Fatal(round, time, got, err)
			}
		}
	}
}

// TestSplit: a late sample at each place of a full chunk.
func TestSplit(t *testing.T) {
	for place := range chunkSize {
		var s series
		for i := range int64(chunkSize) {
			s.insert(&sample{time: 2 * i})
		}
		late := int64(2*place - 1)
		if s.insert(&sample{time: late}) != nil || s.insert(&sample{time: late}) == nil {
			t.Fatal(place)
		}
		before, n := int64(-2), 0
		for _, chunk := range s.chunks {
			for _, x := range chunk {
				if x.time <= before {
					t.Fatalf("place %d: %d after %d", place, x.time, before)
				}
				before = x.time
				n++
			}
		}
		if n != chunkSize+1 || len(s.chunks) != 2 {
			t.Fatalf("place %d: %d samples in %d chunks", place, n, len(s.chunks))
		}
	}
}

// TestExtremes: times at both ends of int64, and frames with odd names.
func TestExtremes(t *testing.T) {
	b := Buffer{CacheLength: math.MaxInt64}
	set(t, &b, "a\x00\xff", "b\n", at(math.MinInt64+1, -1), false)
	set(t, &b, "a\x00\xff", "b\n", at(-1, 0), false)
	b.CacheLength = 0
	set(t, &b, "a\x00\xff", "b\n", at(math.MaxInt64, 1), false)
	if got, err := b.Lookup("a\x00\xff", "b\n", math.MaxInt64/2); err != nil || math.Abs(got.X-0.5) > 1e-9 {
		t.Error(got, err)
	}
	if got, err := b.Lookup("a\x00\xff", "b\n", math.MinInt64/2); err != nil || math.Abs(got.X+0.5) > 1e-9 {
		t.Error(got, err)
	}
	_, err := b.Lookup("a\x00\xff", "b\n", math.MinInt64)
	if !errors.Is(err, ErrExtrapolation) || !strings.Contains(err.Error(),
		`"b\n" in "a\x00\xff" at -9223372036.854775808 s`) {
		t.Error(err)
	}
	b = Buffer{CacheLength: 5}
	set(t, &b, "a", "b", at(math.MinInt64, 0), false)
	set(t, &b, "a", "b", at(math.MaxInt64, 0), false)
	if times := b.AppendTimes(nil, "b"); len(times) != 1 {
		t.Error(times)
	}
}

// TestManyFrames: 100,000 frames in one chain, in a star, and in a loop take no long time and no deep stack.
func TestManyFrames(t *testing.T) {
	const n = 100_000
	name := func(i int) string { return fmt.Sprintf("f%d", i) }
	var b Buffer
	for i := range n {
		set(t, &b, name(i), name(i+1), at(5, 1), i%2 == 0)
		set(t, &b, "hub", "s"+name(i), at(0, float64(i)), true)
	}
	if got, err := b.Lookup(name(0), name(maxDepth-1), 5); err != nil || got.X != maxDepth-1 {
		t.Error(got, err)
	}
	for _, time := range []int64{0, 5} {
		if _, err := b.Lookup(name(0), name(n), time); !errors.Is(err, ErrLoop) {
			t.Error(err)
		}
		if got, err := b.Lookup("sf7", "sf99", time); err != nil || got.X != 92 {
			t.Error(got, err)
		}
	}
	set(t, &b, name(n), name(0), at(0, 1), true)
	if _, err := b.Lookup("hub", name(n/2), 0); !errors.Is(err, ErrLoop) {
		t.Error(err)
	}
}

// TestConcurrent: several may look up; the race detector is the judge.
func TestConcurrent(t *testing.T) {
	var b Buffer
	for i := range int64(1000) {
		set(t, &b, "a", "b", at(i+1, float64(i)), false)
	}
	done := make(chan error)
	for range 4 {
		go func() {
			var err error
			for i := range int64(1000) {
				if _, e := b.Lookup("a", "b", i); e != nil {
					err = e
				}
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

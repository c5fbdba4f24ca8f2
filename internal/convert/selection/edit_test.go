package selection

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

func TestNames(t *testing.T) {
	rename := func(s string) Rename {
		r, err := ParseRename(s)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	e := Edit{Remap: []Rename{rename("/imu:=/imu/data"), rename("/camera/*/raw*:=/cam_*/*"), rename("/camera/*:=/c"),
		rename("/d?:=/dee")}}
	for in, want := range map[string]string{
		"/imu": "/imu/data", "/imu2": "/imu2", "/camera/left/raw_x": "/cam_left/_x", "/camera/left": "/c", "/d1": "/dee",
		"/d12": "/d12",
	} {
		if got := e.Name(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	for prefix, names := range map[string][2]string{
		"/robot": {"/robot/tf", "/robot/imu"}, "robot/": {"/robot/tf", "robot/imu"}, "/": {"/tf", "imu"},
	} {
		e := Edit{Prefix: prefix}
		if a, b := e.Name("/tf"), e.Name("imu"); a != names[0] || b != names[1] {
			t.Errorf("%s: %s, %s", prefix, a, b)
		}
	}
	for _, in := range []string{"", "/a", "/a:=", ":=/a", "/a:=/b*", "re:/a:=/b", "/[a:=/b"} {
		if r, err := ParseRename(in); err == nil {
			t.Errorf("%s: %+v", in, r)
		}
	}
}

func TestThrottle(t *testing.T) {
	rate, err := ParseThrottle("/imu=50")
	if err != nil {
		t.Fatal(err)
	}
	e := Edit{Rates: []Rate{rate}}
	if e.Thin("/other") != nil {
		t.Error("another topic is thinned")
	}
	// 100 s at 100 Hz with a jitter of 2 ms: half of the messages stay.
	rng := rand.New(rand.NewPCG(1, 1))
	thin, kept := e.Thin("/imu"), 0
	for i := range int64(10_000) {
		if thin.Keep(begin + i*10e6 + rng.Int64N(2e6)) {
			kept++
		}
	}
	if kept < 4990 || kept > 5010 {
		t.Errorf("%d of 10000 messages stay", kept)
	}
	// A slower topic stays whole; a gap and a jump back start again.
	thin = e.Thin("/imu")
	for i, at := range []int64{0, 25e6, 50e6, 51e6, 10e9, 10e9 + 1e6, 10e9 + 20e6, 5e9, 5e9 + 1} {
		if want := []bool{true, true, true, false, true, false, true, true, false}[i]; thin.Keep(at) != want {
			t.Errorf("message %d: %v", i, !want)
		}
	}
	// A topic of just that rate stays whole, also if its stamps are rounded down.
	thin = e.Thin("/imu")
	for i := range int64(1500) {
		if !thin.Keep(begin + i*20e6 - i%3*20) {
			t.Errorf("message %d of 50 Hz is left out", i)
		}
	}
	for _, in := range []string{"", "/a", "=3", "/a=", "/a=0", "/a=-1", "/a=x", "/a=1e30", "/a=nan"} {
		if r, err := ParseThrottle(in); err == nil {
			t.Errorf("%s: %+v", in, r)
		}
	}
}

func TestEvery(t *testing.T) {
	rate, err := ParseEvery("/c*=3")
	if err != nil {
		t.Fatal(err)
	}
	thin := (&Edit{Rates: []Rate{rate}}).Thin("/cam")
	got := ""
	for i := range int64(7) {
		got += map[bool]string{true: "1", false: "0"}[thin.Keep(i)]
	}
	if got != "1001001" {
		t.Error(got)
	}
	for _, in := range []string{"/a=0", "/a=1.5", "/a=x", "/a"} {
		if r, err := ParseEvery(in); err == nil {
			t.Errorf("%s: %+v", in, r)
		}
	}
}

func TestCheck(t *testing.T) {
	info := recording()
	all := Everything(len(info.Topics))
	rename, _ := ParseRename("/imo:=/b")
	every, _ := ParseEvery("/imo=2")
	throttle, _ := ParseThrottle("/imo=2")
	latch, _ := ParseLatch([]string{"/imo"})
	for flag, e := range map[string]Edit{
		"--remap": {Remap: []Rename{rename}}, "--every": {Rates: []Rate{every}}, "--throttle": {Rates: []Rate{throttle}},
		"--latch": {Latch: latch},
	} {
		var no *UnknownError
		if err := e.Check(info, all); !errors.As(err, &no) || no.Flag != flag || no.Pattern != "/imo" {
			t.Errorf("%s: %v", flag, err)
		}
	}
	rename, _ = ParseRename("/imu:=/b")
	e := Edit{Remap: []Rename{rename}}
	if err := e.Check(info, all); err != nil {
		t.Error(err)
	}
	all.Topics[0] = false
	if err := e.Check(info, all); err == nil ||
		err.Error() != "--remap /imu: this topic is not selected; omit one of the two flags" {
		t.Errorf("a topic that is left out is remapped: %v", err)
	}
}

func TestLatch(t *testing.T) {
	qos := func(d storage.Durability, h storage.History, depth int64) storage.QoS {
		return storage.QoS{Durability: d, History: h, Depth: depth}
	}
	topics := map[string]storage.Topic{
		"plain":   {Name: "/plain"},
		"latched": {Name: "/map", Metadata: map[string]string{storage.MetaLatching: "1"}},
		"joined":  {Name: "/map", Metadata: map[string]string{storage.MetaLatching: "1", storage.MetaCallerIDs: "/a,/b,/c"}},
		"unlatch": {Name: "/map", Metadata: map[string]string{storage.MetaLatching: "0"}},
		"static":  {Name: "/robot/tf_static"},
		"local": {Name: "/l", QoS: []storage.QoS{qos(storage.DurabilityTransientLocal, storage.HistoryKeepLast, 3),
			qos(storage.DurabilityTransientLocal, storage.HistoryKeepLast, 0)}},
		"volatile": {Name: "/v", QoS: []storage.QoS{qos(storage.DurabilityVolatile, storage.HistoryKeepLast, 3)}},
		"all":      {Name: "/a", QoS: []storage.QoS{qos(storage.DurabilityTransientLocal, storage.HistoryKeepAll, 0)}},
		"hostile": {Name: "/h", QoS: []storage.QoS{qos(storage.DurabilityTransientLocal, storage.HistoryKeepLast, 1<<62),
			qos(storage.DurabilityTransientLocal, storage.HistoryKeepLast, 1<<62)}},
	}
	for values, want := range map[string]map[string]int{
		"": {"plain": 0, "latched": 1, "joined": 3, "unlatch": 0, "static": 1, "local": 4, "volatile": 0,
			"all": 100, "hostile": 100},
		"none":        {"plain": 0, "latched": 0, "static": 0, "local": 0},
		"/plain":      {"plain": 1, "latched": 0, "static": 0},
		"auto,/plain": {"plain": 1, "latched": 1},
		"/l":          {"local": 4, "latched": 0},
	} {
		var list []string
		if values != "" {
			list = strings.Split(values, ",")
		}
		l, err := ParseLatch(list)
		if err != nil {
			t.Fatal(err)
		}
		for name, n := range want {
			topic := topics[name]
			if got := l.Depth(&topic); got != n {
				t.Errorf("%q, %s: %d, want %d", values, name, got, n)
			}
		}
	}
	if _, err := ParseLatch([]string{"none", "auto"}); err == nil {
		t.Error("none and auto")
	}
}

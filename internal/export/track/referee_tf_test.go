package track

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// A world is transforms and questions about them.
type world struct {
	Cache int64   `json:"cache"`
	Set   [][]any `json:"set"`
	Ask   [][]any `json:"ask"`
}

// kindOf is the kind of an error as tf2 has it.
func kindOf(err error) string {
	for kind, errs := range map[string][]error{"name": {ErrFrameName}, "lookup": {ErrUnknownFrame, ErrLoop},
		"connection": {ErrDisconnected}, "extrapolation": {ErrExtrapolation}} {
		for _, e := range errs {
			if errors.Is(err, e) {
				return kind
			}
		}
	}
	return fmt.Sprint(err)
}

// randomPose returns a pose whose quaternion is normalised, nearly so, or not.
func randomPose(r *rand.Rand, time int64) Pose {
	p := Pose{time, r.NormFloat64() * 10, r.NormFloat64() * 10, r.NormFloat64(), r.NormFloat64(), r.NormFloat64(),
		r.NormFloat64(), r.NormFloat64()}
	length := math.Sqrt(p.QX*p.QX + p.QY*p.QY + p.QZ*p.QZ + p.QW*p.QW)
	switch r.IntN(20) {
	case 0:
		length *= 1.004 // tf2 accepts it, and scales by it
	case 1:
		length *= 1.1
	case 2:
		p.QX, p.QY, p.QZ, p.QW, length = 0, 0, 0, 1, 1
	case 3, 4:
		p.QX, p.QY, p.QZ, p.QW, length = p.QX*1e-9, p.QY*1e-5, 0, 1, 1 // hardly turned
	}
	p.QX, p.QY, p.QZ, p.QW = p.QX/length, p.QY/length, p.QZ/length, p.QW/length
	return p
}

// makeWorld builds a random world, with our answers: a few trees, static frames and others, frames that change their
// parent, late and repeated transforms, caches, a loop now and then.
func makeWorld(seed uint64) (w world, failures map[error]int) {
	r := rand.New(rand.NewPCG(seed, 1))
	w, failures = world{Cache: 1 << 50, Set: [][]any{}}, map[error]int{}
	if r.IntN(3) == 0 {
		w.Cache = int64(1+r.IntN(20)) * second
	}
	b := Buffer{CacheLength: w.Cache}
	frames := 2 + r.IntN(14)
	name := func(i int) string {
		if i == 1 {
			return "odd näme %s"
		}
		return fmt.Sprintf("f%d", i)
	}
	start := 1000*second + int64(r.IntN(int(second))) // Python's binding takes times as float64, which has these exactly
	moment := func() int64 { return start + int64(r.IntN(30))*second + int64(r.IntN(3))*int64(r.IntN(int(second))) }
	add := func(parent, child string, p Pose, static bool) {
		_ = b.Set(parent, child, p, static) // tf2 may refuse it, too
		w.Set = append(w.Set, []any{parent, child, p.Time, p.numbers(), static})
	}
	for i := 1; i < frames; i++ {
		if r.IntN(12) == 0 {
			continue // a root of its own
		}
		parent, static := r.IntN(i), r.IntN(3) == 0
		for range 1 + r.IntN(12) {
			if r.IntN(15) == 0 {
				parent = r.IntN(frames) // perhaps a loop
			}
			slash := strings.Repeat("/", r.IntN(20)/19)
			add(slash+name(parent), slash+name(i), randomPose(r, moment()), static != (r.IntN(50) == 0))
		}
	}
	for range 60 {
		target, source, time := name(r.IntN(frames)), name(r.IntN(frames+1)), moment()
		switch r.IntN(8) {
		case 0:
			time = 0
		case 1:
			if len(w.Set) > 0 {
				time = w.Set[r.IntN(len(w.Set))][2].(int64)
			}
		case 2:
			if r.IntN(10) == 0 {
				source = []string{"", "/f0"}[r.IntN(2)]
			}
		}
		p, err := b.Lookup(target, source, time)
		var answer any = append([]any{p.Time}, p.X, p.Y, p.Z, p.QX, p.QY, p.QZ, p.QW)
		if err != nil {
			answer = kindOf(err)
			failures[errors.Unwrap(err)]++
		}
		w.Ask = append(w.Ask, []any{target, source, time, answer})
	}
	return w, failures
}

// TestReferee: tf2's BufferCore gives the same poses to 1e-9, and has no answer to the same questions for the same
// reasons.
func TestReferee(t *testing.T) {
	const python = "/usr/bin/python3" // Debian's, for which the packages of ROS 1 are
	if out, err := exec.Command(python, "-c", "import tf2_py, rospy, geometry_msgs").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("python3-tf2 is missing: %s", out)
		}
		t.Skip("this machine has no python3-tf2")
	}
	worlds := uint64(samples.Pick(10_000, 300, 100))
	var lines bytes.Buffer
	sets, asks, answers := 0, 0, 0
	all := map[error]int{}
	for seed := range worlds {
		w, failures := makeWorld(seed)
		for err, n := range failures {
			all[err] += n
		}
		line, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(line, '\n'))
		sets, asks = sets+len(w.Set), asks+len(w.Ask)
		answers += len(w.Ask)
		for _, n := range failures {
			answers -= n
		}
	}
	cmd := exec.Command(python, "testdata/referee/transforms.py")
	cmd.Stdin = &lines
	out, err := cmd.Output()
	if wanted := fmt.Sprintf("compared %d %d %d", sets, asks, answers); err != nil ||
		strings.TrimSpace(string(out)) != wanted {
		t.Fatalf("%v\n%.4000s, not %s", err, out, wanted)
	}
	for _, err := range []error{ErrFrameName, ErrUnknownFrame, ErrDisconnected, ErrExtrapolation, ErrLoop} {
		if all[err] < 20 || answers < asks/5 {
			t.Errorf("%d of %d questions have an answer, %d fail by %v: that tests little", answers, asks, all[err], err)
		}
	}
}

package track

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// Why Lookup has no answer; test with errors.Is.
var (
	ErrFrameName     = errors.New("not a name of a frame")
	ErrUnknownFrame  = errors.New("unknown frame")
	ErrDisconnected  = errors.New("the frames are not connected")
	ErrExtrapolation = errors.New("no transform at that time")
	ErrLoop          = errors.New("a loop, or more than 1000 frames")
)

// maxDepth is after how many frames a chain counts as a loop: MAX_GRAPH_DEPTH of tf2.
const maxDepth = 1000

// A LookupError is why there is no pose of Source in Target.
type LookupError struct {
	Target, Source string
	Time           int64  // ns; 0: the latest common one
	End            string // the frame at which the chain of Source's parents ends, or the one that is wrong
	TargetEnd      string // where the chain of Target's parents ends; only with ErrDisconnected
	First, Last    int64  // times of the transforms of End, ns; only with ErrExtrapolation
	Err            error  // one of the errors above
}

// Error names both frames, and where the chain between them ends.
func (e *LookupError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no pose of frame %.80q in %.80q", e.Source, e.Target)
	if e.Time != 0 {
		fmt.Fprintf(&b, " at %s s", appendSeconds(nil, e.Time))
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	switch {
	case errors.Is(e.Err, ErrExtrapolation):
		first, last := appendSeconds(nil, e.First), appendSeconds(nil, e.Last)
		fmt.Fprintf(&b, ": the transforms of %.80q are from %s to %s s", e.End, first, last)
	case errors.Is(e.Err, ErrFrameName), errors.Is(e.Err, ErrUnknownFrame):
		fmt.Fprintf(&b, " %.80q", e.End)
		if strings.HasPrefix(e.End, "/") {
			b.WriteString("; leave out the slash")
		}
	case errors.Is(e.Err, ErrDisconnected):
		fmt.Fprintf(&b, ": the parents of %.80q end at %.80q", e.Source, e.End)
		fmt.Fprintf(&b, ", the parents of %.80q at %.80q", e.Target, e.TargetEnd)
	default:
		fmt.Fprintf(&b, ": at frame %.80q", e.End)
	}
	return b.String()
}

// Unwrap returns Err.
func (e *LookupError) Unwrap() error { return e.Err }

// Lookup returns the pose of a frame, source, in another one, target, at a time: what takes points of source to target.
// Time 0 is the latest time that all frames between them have; the pose has that time. A frame in itself has no
// rotation and no shift, whether the Buffer knows the frame or not. The error is a *LookupError.
func (b *Buffer) Lookup(target, source string, time int64) (Pose, error) {
	if target == source {
		if s := b.transformsOf(source); s != nil && time == 0 {
			time = s.last().time
		}
		return Pose{Time: time, QW: 1}, nil
	}
	w := walk{b: b, time: time}
	err := w.check(target)
	if err == nil {
		err = w.check(source)
	}
	if err == nil {
		w.target, w.source = b.ids[target], b.ids[source]
		err = w.run()
	}
	if err != nil {
		problem := &LookupError{target, source, time, w.end, w.targetEnd, 0, 0, err}
		if errors.Is(err, ErrExtrapolation) {
			s := b.transformsOf(w.end)
			problem.First, problem.Last = s.chunks[0][0].time, s.last().time
		}
		return Pose{}, problem
	}
	r, v := w.result.rotation, w.result.shift
	return Pose{w.time, v[0], v[1], v[2], r.x, r.y, r.z, r.w}, nil
}

// A walk goes from both frames up to a frame that is above both.
type walk struct {
	b              *Buffer
	target, source frameID
	time           int64
	result         rigid
	end, targetEnd string // for the error
}

func (w *walk) check(name string) error {
	w.end = name
	switch {
	case name == "" || name[0] == '/':
		return ErrFrameName
	case w.b.ids[name] == 0:
		return ErrUnknownFrame
	}
	return nil
}

func (w *walk) name(id frameID) string { return w.b.frames[id].name }

// run finds the result. It asks for the transforms above the common parent, too, as tf2 does; that they are missing
// is no error.
func (w *walk) run() error {
	identity := rigid{rotation: quaternion{w: 1}}
	if w.time == 0 {
		if err := w.latestCommon(); err != nil {
			return err
		}
	}
	up, top, missing := identity, w.source, false
	for depth := 0; ; {
		s := w.b.frames[top].series
		if s == nil {
			break
		}
		t, ok := s.at(w.time)
		if !ok {
			missing = true
			break
		}
		if top == w.target {
			w.result = up
			return nil
		}
		up, top = t.after(up), t.parent
		if depth++; depth > maxDepth {
			return w.loop(top)
		}
	}
	down, frame := identity, w.target
	for depth := 0; frame != top; {
		s := w.b.frames[frame].series
		if s == nil {
			break
		}
		t, ok := s.at(w.time)
		if !ok {
			w.end = w.name(frame)
			return ErrExtrapolation
		}
		if frame == w.source {
			w.result = down.inverse()
			return nil
		}
		down, frame = t.after(down), t.parent
		if depth++; depth > maxDepth {
			return w.loop(frame)
		}
	}
	if frame != top {
		if w.end, w.targetEnd = w.name(top), w.name(frame); missing {
			w.targetEnd = ""
			return ErrExtrapolation
		}
		return ErrDisconnected
	}
	w.result = down.inverse().after(up)
	return nil
}

func (w *walk) loop(at frameID) error {
	w.end = w.name(at)
	return ErrLoop
}

// latestCommon sets the time to the latest one that all frames between source and target have: the first of their
// latest times. Static frames do not count; if all are static, it stays 0.
func (w *walk) latestCommon() error {
	type step struct {
		time   int64
		parent frameID
	}
	var steps []step
	common := int64(math.MaxInt64)
	done := func() error {
		if w.time = common; common == math.MaxInt64 {
			w.time = 0
		}
		return nil
	}
	up := map[frameID]int{} // a parent of source's chain -> the number of steps to it
	for frame, depth := w.source, 0; ; {
		t, ok := w.latest(frame, &common)
		if !ok {
			w.end = w.name(frame)
			break
		}
		steps = append(steps, step{t.time, t.parent})
		up[t.parent] = len(steps)
		if frame = t.parent; frame == w.target {
			return done()
		}
		if depth++; depth > maxDepth {
			return w.loop(frame)
		}
	}
	common = math.MaxInt64
	n := 0
	for frame, depth := w.target, 0; n == 0; {
		t, ok := w.latest(frame, &common)
		if !ok {
			w.targetEnd = w.name(frame)
			return ErrDisconnected
		}
		if n = up[t.parent]; n > 0 {
			break
		}
		if frame = t.parent; frame == w.source {
			return done()
		}
		if depth++; depth > maxDepth {
			return w.loop(frame)
		}
	}
	for _, s := range steps[:n] {
		if s.time != 0 {
			common = min(common, s.time)
		}
	}
	return done()
}

// latest returns the latest transform of a frame, and lowers common to its time.
func (w *walk) latest(frame frameID, common *int64) (sample, bool) {
	s := w.b.frames[frame].series
	if s == nil {
		return sample{}, false
	}
	t, ok := s.at(0)
	if ok && t.time != 0 {
		*common = min(*common, t.time)
	}
	return t, ok
}

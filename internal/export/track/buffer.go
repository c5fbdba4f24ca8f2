package track

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/bagconv/bagconv/storage"
)

// A Buffer has transforms between frames over time, and answers what the pose of one frame in another was. It has the
// rules of tf2's BufferCore:
//
//   - A frame has one parent at a time, which may change. The first transform of a frame decides for good whether it
//     is static; a static frame has its last transform at all times.
//   - Of two transforms of a frame at the same time the first one stays. Late ones are put in their place.
//   - Between two transforms of a frame it is interpolated: the position linearly, the orientation by slerp. If the
//     parent changed between them, the earlier one counts. Nothing is extrapolated.
//   - A slash in front of the name of a frame is removed.
//   - Chains of more than 1,000 frames count as loops.
//
// These are the rules of ROS 1's tf2, 0.7.6. The tf2 of ROS 2 Rolling differs in two: it keeps both
// of two transforms at one time, and answers with the last one mostly; and it forgets the history
// of a frame that becomes static or no longer is. [SetCounts] has how often that would matter:
// Conflicting and KindChanged.
//
// Its zero value is ready and keeps all transforms, 72 bytes each. The names of frames stay for ever.
type Buffer struct {
	// CacheLength is how far before the latest transform of a frame its others are kept, ns; 0: all are. tf2 has 10 s.
	CacheLength int64

	ids    map[string]frameID
	frames []frame // frame 0 is no frame
	counts SetCounts
}

type frame struct {
	name   string
	series *series // nil: it never had a parent
}

// SetCounts counts transforms, and why some were refused.
type SetCounts struct {
	Kept          uint64
	Repeated      uint64 // the frame has the same one of that time
	Conflicting   uint64 // the frame has another one of that time
	Old           uint64 // before the cache
	NotFinite     uint64 // a number is NaN, or the quaternion is infinite
	NotNormalized uint64 // quaternions, also of zeros
	BadFrame      uint64 // no name, or a frame that is its own parent
	KindChanged   uint64 // of the kept ones: static in a frame that is not, or the other way round
}

// Why Set refuses a transform.
var (
	ErrRepeated      = errors.New("transform: its frame has the same one of that time")
	ErrConflicting   = errors.New("transform: its frame has another one of that time")
	ErrOld           = errors.New("transform: it is older than the cache")
	ErrNotFinite     = fmt.Errorf("transform: a number of it is not finite (%w)", storage.ErrCorrupt)
	ErrNotNormalized = fmt.Errorf("transform: its quaternion is not normalised (%w)", storage.ErrCorrupt)
	ErrBadFrame      = fmt.Errorf("transform: a frame has no name, or is its own parent (%w)", storage.ErrCorrupt)
)

// Counts returns what Set kept and refused.
func (b *Buffer) Counts() SetCounts { return b.counts }

// Set adds the pose of a child frame in its parent. The error is one of the errors above, without
// the names of the frames; Counts has how many there were of each.
func (b *Buffer) Set(parent, child string, pose Pose, static bool) error {
	parent, child = strings.TrimPrefix(parent, "/"), strings.TrimPrefix(child, "/")
	switch problem := pose.transformProblem(); {
	case parent == child || parent == "" || child == "":
		b.counts.BadFrame++
		return ErrBadFrame
	case problem == NotFinite:
		b.counts.NotFinite++
		return ErrNotFinite
	case problem == NotNormalized:
		b.counts.NotNormalized++
		return ErrNotNormalized
	}
	id := b.id(child)
	if b.frames[id].series == nil {
		b.frames[id].series = &series{static: static}
	}
	s := b.frames[id].series
	n := sample{pose.Time, b.id(parent), rigid{
		quaternion{pose.QX, pose.QY, pose.QZ, pose.QW}, vector{pose.X, pose.Y, pose.Z}}}
	if err := b.insert(s, &n); err != nil {
		return err
	}
	if s.static != static {
		b.counts.KindChanged++
	}
	b.counts.Kept++
	return nil
}

// transformProblem is Problem, but an infinite position is sound, as it is for tf2.
func (p *Pose) transformProblem() Problem {
	for _, x := range p.numbers() {
		if math.IsNaN(x) {
			return NotFinite
		}
	}
	q := Pose{QX: p.QX, QY: p.QY, QZ: p.QZ, QW: p.QW}
	if problem := q.Problem(); problem != ZeroQuaternion {
		return problem
	}
	return NotNormalized
}

func (b *Buffer) insert(s *series, n *sample) error {
	if s.static {
		n.time = 0
		s.chunks = append(s.chunks[:0], []sample{*n})
		return nil
	}
	if b.CacheLength > 0 && len(s.chunks) > 0 {
		if latest := s.last().time; latest > n.time && uint64(latest)-uint64(n.time) > uint64(b.CacheLength) {
			b.counts.Old++
			return ErrOld
		}
	}
	if old := s.insert(n); old != nil && *old == *n {
		b.counts.Repeated++
		return ErrRepeated
	} else if old != nil {
		b.counts.Conflicting++
		return ErrConflicting
	}
	if b.CacheLength > 0 {
		s.prune(uint64(b.CacheLength))
	}
	return nil
}

// id returns the frame of a name, a new one if it is not known.
func (b *Buffer) id(name string) frameID {
	id, ok := b.ids[name]
	if !ok {
		if b.ids == nil {
			b.ids, b.frames = map[string]frameID{}, make([]frame, 1)
		}
		name = strings.Clone(name) // it may be part of a message
		id = frameID(len(b.frames))
		b.ids[name] = id
		b.frames = append(b.frames, frame{name: name})
	}
	return id
}

// transformsOf returns the transforms of a frame, nil if it has no transforms.
func (b *Buffer) transformsOf(name string) *series {
	if id := b.ids[name]; id != 0 {
		return b.frames[id].series
	}
	return nil
}

// AppendTimes appends the times of the transforms that a frame has, in order: no times if it is
// static or not known.
func (b *Buffer) AppendTimes(dst []int64, child string) []int64 {
	s := b.transformsOf(strings.TrimPrefix(child, "/"))
	if s == nil || s.static {
		return dst
	}
	for _, chunk := range s.chunks {
		for i := range chunk {
			dst = append(dst, chunk[i].time)
		}
	}
	return dst
}

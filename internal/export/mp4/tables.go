package mp4

import (
	"encoding/binary"
	"math"
)

// tick is the finest unit of time, ns.
const tick = 1000

// samples are the tables of frames: 12 bytes for each, and 16 for an mdat.
type samples struct {
	times   []uint64 // ns since the first
	sizes   []uint32
	keys    []uint32 // numbers of key frames, from 1 on; not for JPEG, as all are
	chunks  []int64  // where the first frame of each mdat is
	runs    []chunkRun
	current int    // the entry of stsd
	rate    uint32 // frames in a second, all of the same duration; 0: they have their times
}

// A chunkRun is mdats with the same number of frames and the same entry of stsd: the frames from
// first on.
type chunkRun struct{ first, frames, entry uint32 }

func (t *samples) add(time uint64, size int, key bool) {
	t.times = append(t.times, time)
	t.sizes = append(t.sizes, uint32(size))
	if key {
		t.keys = append(t.keys, uint32(len(t.sizes)))
	}
}

func (t *samples) chunk(at int64, frames, entry int) {
	t.chunks = append(t.chunks, at)
	if n := len(t.runs); n == 0 || t.runs[n-1].frames != uint32(frames) || t.runs[n-1].entry != uint32(entry) {
		t.runs = append(t.runs, chunkRun{uint32(len(t.chunks)), uint32(frames), uint32(entry)})
	}
}

// unitsOfFrame are the units of time that each frame of a video with a rate has: players like more than one.
const unitsOfFrame = 1000

// scale returns the time scale, units in a second, that all gaps have room in: 1,000,000, or less for gaps of
// more than 71 minutes.
func (t *samples) scale() uint32 {
	if t.rate > 0 {
		return t.rate * unitsOfFrame
	}
	var gap uint64
	for i := 1; i < len(t.times); i++ {
		gap = max(gap, t.times[i]-t.times[i-1])
	}
	scale := uint32(1e9 / tick)
	for scale > 1 && gap/(1e9/uint64(scale)) >= math.MaxUint32 {
		scale /= 10
	}
	return scale
}

// durations calls add with runs of frames of one duration, in units of a scale, and returns their sum. Times
// are rounded, not durations, so that no error adds up. In a scale that is less than 1,000,000 two times can
// be the same after that: then the second is one unit later, and so on until the true times are later.
func (t *samples) durations(scale uint32, add func(frames, duration uint32)) (total uint64) {
	n := len(t.times)
	if t.rate > 0 {
		add(uint32(n), unitsOfFrame)
		return uint64(n) * unitsOfFrame
	}
	per := 1e9 / uint64(scale)
	var frames, run uint32
	last, before := uint64(0), uint64(0)
	put := func(duration uint32) {
		if frames > 0 && duration != run {
			add(frames, run)
			frames = 0
		}
		frames, run = frames+1, duration
		total += uint64(duration)
	}
	for i := 1; i < n; i++ {
		at := max((t.times[i]+per/2)/per, last+1)
		before, last = at-last, at
		put(uint32(min(before, math.MaxUint32)))
	}
	if n == 1 {
		before = uint64(scale) / 30
	}
	put(uint32(min(max(before, 1), math.MaxUint32)))
	add(frames, run)
	return total
}

// appendTimes appends the payload of stts, and returns the duration of all frames.
func (t *samples) appendTimes(b []byte, scale uint32) (out []byte, total uint64) {
	at, runs := len(b)+4, uint32(0)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	total = t.durations(scale, func(frames, duration uint32) {
		b = binary.BigEndian.AppendUint32(b, frames)
		b = binary.BigEndian.AppendUint32(b, duration)
		runs++
	})
	binary.BigEndian.PutUint32(b[at:], runs)
	return b, total
}

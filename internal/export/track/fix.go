package track

import (
	"math"
	"time"
)

// A Fix is a position by satellites, as in sensor_msgs/NavSatFix.
type Fix struct {
	Time     int64   // ns since 1970
	Lat, Lon float64 // degrees, WGS 84
	Alt      float64 // metres above the ellipsoid; NaN: not known
	Status   int8    // of sensor_msgs/NavSatStatus
}

// Values of Fix.Status.
const (
	StatusUnknown = -2 + iota // ROS 2: the driver set none
	StatusNoFix
	StatusFix
	StatusSBAS // with corrections from satellites
	StatusGBAS // with corrections from the ground
)

// FixCounts counts fixes, and why some are left out.
type FixCounts struct {
	Written uint64
	Unknown uint64 // of fixes that are written: their status is not known

	// Left out; a new segment begins after each.
	NoFix     uint64 // by their status
	NotFinite uint64 // a latitude or longitude that is NaN or infinite
	Outside   uint64 // a latitude beyond 90 degrees or a longitude beyond 180

	NoAltitude uint64 // written without an altitude, because it is not finite
	Segments   uint64
}

// Options says where a track is cut into segments. It is always cut where fixes are left out, and GeoJSON also at
// longitude 180, as RFC 7946 asks for in section 3.1.9, and where altitudes begin or end.
type Options struct {
	Name   string // of the track, such as the topic
	MaxGap int64  // between two fixes of a segment, ns; 0: any
}

// A segmenter counts fixes, and decides which belong to one segment.
type segmenter struct {
	options Options
	counts  FixCounts
	last    Fix
	open    bool // the segment of last may go on
}

// usable counts a fix, and reports whether it has a position. If not, the segment ends.
func (s *segmenter) usable(f *Fix) bool {
	switch {
	case f.Status < StatusFix && f.Status != StatusUnknown:
		s.counts.NoFix++
	case !isFinite(f.Lat) || !isFinite(f.Lon):
		s.counts.NotFinite++
	case math.Abs(f.Lat) > 90 || math.Abs(f.Lon) > 180:
		s.counts.Outside++
	default:
		s.counts.Written++
		if f.Status == StatusUnknown {
			s.counts.Unknown++
		}
		if !isFinite(f.Alt) {
			s.counts.NoAltitude++
		}
		return true
	}
	s.open = false
	return false
}

// continues reports whether a usable fix belongs to the segment before. The fix is the last one from then on.
func (s *segmenter) continues(f *Fix) bool {
	gap := f.Time > s.last.Time && uint64(f.Time)-uint64(s.last.Time) > uint64(s.options.MaxGap)
	same := s.open && !(s.options.MaxGap > 0 && gap)
	if !same {
		s.counts.Segments++
	}
	s.last, s.open = *f, true
	return same
}

func isFinite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// appendUTC appends a time as in ISO 8601, in UTC, with 9 decimals.
func appendUTC(dst []byte, ns int64) []byte {
	return time.Unix(ns/1e9, ns%1e9).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000000Z")
}

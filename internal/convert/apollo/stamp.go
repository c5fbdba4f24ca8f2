package apollo

import (
	"math"
	"math/bits"
)

const (
	nsPerSec = 1_000_000_000
	gpsEpoch = 315964800 // 1980-01-06 in s since 1970
)

// leaps are the leap seconds that GPS time is ahead of UTC, latest first (IERS
// Bulletin C). Before 1999 the value of 1999 is used.
var leaps = [...]struct{ since, ahead int64 }{
	{1483228800, 18}, // 2017-01-01
	{1435708800, 17}, // 2015-07-01
	{1341100800, 16}, // 2012-07-01
	{1230768000, 15}, // 2009-01-01
	{1136073600, 14}, // 2006-01-01
	{915148800, 13},  // 1999-01-01
}

// unixFromGPS turns ns of GPS time into ns since 1970.
func unixFromGPS(ns int64) int64 {
	ns += gpsEpoch * nsPerSec
	for _, l := range leaps {
		if u := ns - l.ahead*nsPerSec; u >= l.since*nsPerSec {
			return u
		}
	}
	return ns - leaps[len(leaps)-1].ahead*nsPerSec
}

// gpsFromUnix reverses unixFromGPS.
func gpsFromUnix(ns int64) int64 {
	ahead := leaps[len(leaps)-1].ahead
	for _, l := range leaps {
		if ns >= l.since*nsPerSec {
			ahead = l.ahead
			break
		}
	}
	return ns + (ahead-gpsEpoch)*nsPerSec
}

// Nanoseconds is s seconds in the nearest ns. Not a number, less than 0 and what
// does not fit return false.
func Nanoseconds(s float64) (int64, bool) {
	if !(s >= 0 && s < math.MaxInt64/nsPerSec) {
		return 0, false
	}
	whole := math.Floor(s)
	// The fraction is exact in 64 binary places, but for parts of 2^-64 s.
	hi, lo := bits.Mul64(uint64((s-whole)*(1<<32)*(1<<32)), nsPerSec)
	return int64(whole)*nsPerSec + int64(hi+lo>>63), true
}

// seconds is ns in s, correctly rounded.
func seconds(ns uint64) float64 {
	if ns < 1<<53 {
		return float64(ns) / nsPerSec // both are exact, so this is
	}
	// Enough binary places that the last ones only decide on which side of a tie
	// the value is; 10 digits of whole seconds take 35 bits.
	q, r := ns/nsPerSec, ns%nsPerSec
	places := uint(34)
	if q >= 1<<30 {
		places = 29
	}
	f := (r << places) / nsPerSec
	x := q<<places | f
	if f*nsPerSec != r<<places {
		x |= 1
	}
	return float64(x) / float64(uint64(1)<<places)
}

// Stamps that ROS cannot store are absurd: seconds are 32 bits, signed in ROS 2.
func (o *Options) sane(ns int64) bool {
	if o.CDR {
		return ns > 0 && ns < (1<<31)*nsPerSec
	}
	return ns > 0 && ns < (1<<32)*nsPerSec
}

// sensorStamp returns the slot of the integer stamp of a family's sensor, else -1.
func (f family) sensorStamp() int {
	switch f {
	case image, compressedImage:
		return cameraNs
	case pointCloud:
		return lidarNs
	}
	return -1
}

// gpsTime reports whether measurement_time is GPS time.
func (f family) gpsTime() bool { return f == gnssImu || f == bestPose }

// refined is how far an integer stamp of another sensor may be from the stamp in
// seconds, to be the same instant with more digits. Today's doubles have steps
// of 238 ns.
const refined = 1000

// stamp returns the instant of a message's header, ns since 1970; 0 if it has no stamp.
func (v *values) stamp(fam family, o *Options) int64 {
	if s := fam.sensorStamp(); s >= 0 && v.has(s) && o.sane(v.integer(s)) {
		return v.integer(s)
	}
	ns := v.secondsStamp(fam, o)
	if fam.sensorStamp() >= 0 {
		return ns
	}
	for _, s := range [...]int{lidarNs, cameraNs, radarNs} {
		if !v.has(s) || !o.sane(v.integer(s)) {
			continue
		}
		if d := v.integer(s) - ns; ns == 0 || d >= -refined && d <= refined {
			return v.integer(s)
		}
	}
	return ns
}

// secondsStamp returns the stamp from the fields that are in seconds.
func (v *values) secondsStamp(fam family, o *Options) int64 {
	if !fam.gpsTime() {
		if ns, ok := Nanoseconds(v.real(measured)); ok && v.has(measured) && o.sane(ns) {
			return ns
		}
	}
	if ns, ok := Nanoseconds(v.real(stampSec)); ok && v.has(stampSec) && o.sane(ns) {
		return ns
	}
	if fam.gpsTime() {
		if ns, ok := Nanoseconds(v.real(measured)); ok && v.has(measured) && ns > 0 && o.sane(unixFromGPS(ns)) {
			return unixFromGPS(ns)
		}
	}
	return 0
}

// setStamp writes ns into the fields of a header, so that stamp returns it again;
// 0 is not a stamp.
func (v *values) setStamp(fam family, ns int64) {
	if ns <= 0 {
		return
	}
	v.setReal(stampSec, seconds(uint64(ns)))
	if fam.gpsTime() {
		if g := gpsFromUnix(ns); g > 0 {
			v.setReal(measured, seconds(uint64(g)))
		}
	} else {
		v.setReal(measured, seconds(uint64(ns)))
	}
	if s := fam.sensorStamp(); s >= 0 {
		v.setInteger(s, uint64(ns))
	} else if again, _ := Nanoseconds(v.real(stampSec)); again != ns {
		v.setInteger(lidarNs, uint64(ns))
	}
}

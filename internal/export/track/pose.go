package track

import (
	"math"
	"strconv"
)

// A Pose is a position in metres and an orientation as a quaternion, at a time in nanoseconds since 1970.
type Pose struct {
	Time           int64
	X, Y, Z        float64
	QX, QY, QZ, QW float64
}

// A Problem is what is wrong with a pose.
type Problem uint8

// Problems, the worst first.
const (
	Sound          Problem = iota
	NotFinite              // a number is NaN or infinite
	ZeroQuaternion         // all of it, as in a message that nobody filled in
	NotNormalized          // the square of the quaternion's length is 0.01 or more from 1, which tf2 refuses, too
)

// tolerance is how far the square of a quaternion's length may be from 1: QUATERNION_NORMALIZATION_TOLERANCE of tf2.
const tolerance = 10e-3

// Problem returns what is wrong with a pose, the worst if it is several things.
func (p *Pose) Problem() Problem {
	for _, x := range p.numbers() {
		if !isFinite(x) {
			return NotFinite
		}
	}
	switch square := p.QX*p.QX + p.QY*p.QY + p.QZ*p.QZ + p.QW*p.QW; {
	case p.QX == 0 && p.QY == 0 && p.QZ == 0 && p.QW == 0:
		return ZeroQuaternion
	case !(math.Abs(square-1) < tolerance):
		return NotNormalized
	}
	return Sound
}

func (p *Pose) numbers() [7]float64 { return [...]float64{p.X, p.Y, p.Z, p.QX, p.QY, p.QZ, p.QW} }

// PoseCounts counts poses and what is wrong with them.
type PoseCounts struct {
	Poses         uint64
	NotFinite     uint64
	Zero          uint64 // quaternions
	NotNormalized uint64
	Unordered     uint64 // earlier than the pose before
	last          int64
}

// Add counts a pose.
func (c *PoseCounts) Add(p *Pose) {
	switch p.Problem() {
	case NotFinite:
		c.NotFinite++
	case ZeroQuaternion:
		c.Zero++
	case NotNormalized:
		c.NotNormalized++
	}
	if c.Poses > 0 && p.Time < c.last {
		c.Unordered++
	}
	c.Poses++
	c.last = p.Time
}

// AppendTUM appends a line of a TUM trajectory: seconds x y z qx qy qz qw. All numbers are the
// pose's, whatever its Problem: nan and inf are what readers in Python and C take.
func AppendTUM(dst []byte, p Pose) []byte {
	dst = appendSeconds(dst, p.Time)
	for _, x := range p.numbers() {
		dst = appendFloat(append(dst, ' '), x)
	}
	return append(dst, '\n')
}

// AppendKITTI appends a line of a KITTI trajectory: the first three rows of the matrix that takes
// points of the pose's frame to the frame of the trajectory. The rotation is the rotation of the
// quaternion after it is normalised; a zero quaternion gives no rotation, one that is not finite
// gives nan. KITTI has no times: line N is frame N, so that every pose has a line.
func AppendKITTI(dst []byte, p Pose) []byte {
	r := p.rotation()
	for row, t := range [...]float64{p.X, p.Y, p.Z} {
		for _, x := range r[row] {
			dst = append(appendFloat(dst, x), ' ')
		}
		dst = append(appendFloat(dst, t), ' ')
	}
	dst[len(dst)-1] = '\n'
	return dst
}

// rotation returns the rotation matrix of a pose.
func (p *Pose) rotation() [3][3]float64 {
	x, y, z, w := p.QX, p.QY, p.QZ, p.QW
	largest := max(math.Abs(x), math.Abs(y), math.Abs(z), math.Abs(w))
	if largest == 0 {
		return [3][3]float64{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	}
	if square := x*x + y*y + z*z + w*w; !(math.Abs(square-1) < tolerance) { // so that no square overflows
		x, y, z, w = x/largest, y/largest, z/largest, w/largest
	}
	s := 2 / (x*x + y*y + z*z + w*w)
	return [3][3]float64{
		{1 - s*(y*y+z*z), s * (x*y - w*z), s * (x*z + w*y)},
		{s * (x*y + w*z), 1 - s*(x*x+z*z), s * (y*z - w*x)},
		{s * (x*z - w*y), s * (y*z + w*x), 1 - s*(x*x+y*y)},
	}
}

// appendSeconds appends a time in seconds with 9 decimals.
func appendSeconds(dst []byte, ns int64) []byte {
	magnitude := uint64(ns)
	if ns < 0 {
		dst, magnitude = append(dst, '-'), -magnitude
	}
	dst = append(strconv.AppendUint(dst, magnitude/1e9, 10), '.')
	digits := [9]byte{}
	for i, n := 8, magnitude%1e9; i >= 0; i, n = i-1, n/10 {
		digits[i] = byte('0' + n%10)
	}
	return append(dst, digits[:]...)
}

// appendFloat appends a float with the fewest digits that give it again, or nan, inf, -inf.
func appendFloat(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(dst, "nan"...)
	case x > math.MaxFloat64:
		return append(dst, "inf"...)
	case x < -math.MaxFloat64:
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, x, 'g', -1, 64)
}

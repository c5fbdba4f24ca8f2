package apollo

import "math"

// A vec is a vector, in the units of its field: metres, seconds.
type vec struct{ x, y, z float64 }

// A mat is a matrix of 3 rows.
type mat [3]vec

// A quat is a rotation.
type quat struct{ x, y, z, w float64 }

// quarter is a turn of 90 degrees about up: it takes axes that are right,
// forward, up to axes that are forward, left, up.
var quarter = quat{0, 0, math.Sqrt2 / 2, math.Sqrt2 / 2}

func (q quat) conj() quat { return quat{-q.x, -q.y, -q.z, q.w} }

func (q quat) mul(p quat) quat {
	return quat{
		q.w*p.x + q.x*p.w + q.y*p.z - q.z*p.y,
		q.w*p.y - q.x*p.z + q.y*p.w + q.z*p.x,
		q.w*p.z + q.x*p.y - q.y*p.x + q.z*p.w,
		q.w*p.w - q.x*p.x - q.y*p.y - q.z*p.z,
	}
}

// matrix returns the rotation as rows; a q whose length is not 1 is scaled.
func (q quat) matrix() mat {
	s := 2 / (q.x*q.x + q.y*q.y + q.z*q.z + q.w*q.w)
	return mat{
		{1 - s*(q.y*q.y+q.z*q.z), s * (q.x*q.y - q.z*q.w), s * (q.x*q.z + q.y*q.w)},
		{s * (q.x*q.y + q.z*q.w), 1 - s*(q.x*q.x+q.z*q.z), s * (q.y*q.z - q.x*q.w)},
		{s * (q.x*q.z - q.y*q.w), s * (q.y*q.z + q.x*q.w), 1 - s*(q.x*q.x+q.y*q.y)},
	}
}

func dot(a, b vec) float64 { return a.x*b.x + a.y*b.y + a.z*b.z }

func (m mat) apply(v vec) vec { return vec{dot(m[0], v), dot(m[1], v), dot(m[2], v)} }

// transform returns m c m^T: a covariance in the axes that m turns into.
func (m mat) transform(c mat) mat {
	var out mat
	for i, row := range m {
		x := vec{dot(row, vec{c[0].x, c[1].x, c[2].x}), dot(row, vec{c[0].y, c[1].y, c[2].y}),
			dot(row, vec{c[0].z, c[1].z, c[2].z})}
		out[i] = vec{dot(x, m[0]), dot(x, m[1]), dot(x, m[2])}
	}
	return out
}

// diagonal returns the matrix with d on its diagonal.
func diagonal(d vec) mat { return mat{{x: d.x}, {y: d.y}, {z: d.z}} }

// flu turns a vector in right, forward, up to forward, left, up.
func (v vec) flu() vec { return vec{v.y, -v.x, v.z} }

// rfu reverses flu.
func (v vec) rfu() vec { return vec{-v.y, v.x, v.z} }

func about(x, y, z, angle float64) quat {
	s, c := math.Sincos(angle / 2)
	return quat{x * s, y * s, z * s, c}
}

// turns reports whether q is a rotation: neither 0 nor not a number.
func (q quat) turns() bool {
	n := q.x*q.x + q.y*q.y + q.z*q.z + q.w*q.w
	return finite(n) && n > 0
}

// fromEuler returns the orientation of right/forward/up axes in east/north/up from
// roll (about forward), pitch (about right) and yaw (about up; 0 is north), turned
// intrinsically in the order z, x, y: Apollo's pose.proto, and what its GNSS driver
// publishes (modules/drivers/gnss/parser/data_parser.cc, PublishCorrimu).
func fromEuler(e vec) quat {
	return about(0, 0, 1, e.z).mul(about(1, 0, 0, e.y)).mul(about(0, 1, 0, e.x))
}

// euler reverses fromEuler.
func (q quat) euler() vec {
	m := q.matrix()
	return vec{
		math.Atan2(-m[2].x, m[2].z),
		math.Asin(max(-1, min(1, m[2].y))),
		math.Atan2(-m[0].y, m[1].y),
	}
}

// fromHeading returns the orientation of right/forward/up axes in east/north/up when
// the vehicle is level and looks along heading, 0 being east.
func fromHeading(h float64) quat { return about(0, 0, 1, h-math.Pi/2) }

// heading returns where forward of right/forward/up axes points, 0 being east, in
// [-pi, pi).
func (q quat) heading() float64 {
	m := q.matrix()
	h := math.Atan2(m[1].y, m[0].y)
	if h >= math.Pi {
		h -= 2 * math.Pi
	}
	return h
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// quat reads a quaternion, with the qw that it may lack; ok is false when the
// message has no quaternion, or one with parts that are no numbers, or only zeros.
func (v *values) quat(slot int) (q quat, ok bool) {
	q = quat{v.real(slot), v.real(slot + 1), v.real(slot + 2), v.real(slot + 3)}
	if !v.has(slot+3) && v.hasVec(slot) {
		q.w = math.Sqrt(max(0, 1-q.x*q.x-q.y*q.y-q.z*q.z))
	}
	unset := v.set>>slot&15 == 0
	nan := math.IsNaN(q.x) && math.IsNaN(q.y) && math.IsNaN(q.z) && math.IsNaN(q.w)
	return q, !unset && !nan && q != quat{}
}

// orientation reads the orientation of a pose in Apollo's axes: the quaternion,
// else the Euler angles, else the heading. Without any, ok is false and q what
// the quaternion's fields hold.
func (v *values) orientation() (q quat, ok bool) {
	if q, ok = v.quat(orientation); ok {
		return q, true
	}
	if e := v.vec(eulerAngles); v.set>>eulerAngles&7 == 7 && finite(e.x) && finite(e.y) && finite(e.z) {
		return fromEuler(e), true
	}
	if v.has(heading) && finite(v.real(heading)) {
		return fromHeading(v.real(heading)), true
	}
	return q, false
}

func (v *values) setQuat(slot int, q quat) {
	v.setReal(slot, q.x)
	v.setReal(slot+1, q.y)
	v.setReal(slot+2, q.z)
	v.setReal(slot+3, q.w)
}

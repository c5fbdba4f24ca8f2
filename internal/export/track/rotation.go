package track

import "math"

// A vector and a quaternion, with the operations of tf2's LinearMath in the same order, so that the results are the
// same to the last bits. Quaternions are not normalised: tf2 accepts lengths that differ from 1 a little, and its
// rotations scale by them.
type vector [3]float64

type quaternion struct{ x, y, z, w float64 }

func (v vector) plus(o vector) vector { return vector{v[0] + o[0], v[1] + o[1], v[2] + o[2]} }

// towards returns the point between v and o; ratio 0 is v, 1 is o.
func (v vector) towards(o vector, ratio float64) vector {
	rest := 1 - ratio
	return vector{rest*v[0] + ratio*o[0], rest*v[1] + ratio*o[1], rest*v[2] + ratio*o[2]}
}

func (q quaternion) times(o quaternion) quaternion {
	return quaternion{
		q.w*o.x + q.x*o.w + q.y*o.z - q.z*o.y,
		q.w*o.y + q.y*o.w + q.z*o.x - q.x*o.z,
		q.w*o.z + q.z*o.w + q.x*o.y - q.y*o.x,
		q.w*o.w - q.x*o.x - q.y*o.y - q.z*o.z,
	}
}

// conjugate is the inverse of a quaternion of length 1.
func (q quaternion) conjugate() quaternion { return quaternion{-q.x, -q.y, -q.z, q.w} }

func (q quaternion) rotate(v vector) vector {
	r := q.times(quaternion{v[0], v[1], v[2], 0}).times(q.conjugate())
	return vector{r.x, r.y, r.z}
}

func (q quaternion) dot(o quaternion) float64 { return q.x*o.x + q.y*o.y + q.z*o.z + q.w*o.w }

// slerp turns q towards o, the shorter way.
func (q quaternion) slerp(o quaternion, ratio float64) quaternion {
	dot := q.dot(o)
	if dot < 0 {
		o, dot = quaternion{-o.x, -o.y, -o.z, -o.w}, -dot
	}
	angle := math.Acos(min(dot/math.Sqrt(q.dot(q)*o.dot(o)), 1))
	if angle == 0 {
		return q
	}
	scale := 1 / math.Sin(angle)
	a, b := math.Sin((1-ratio)*angle)*scale, math.Sin(ratio*angle)*scale
	return quaternion{q.x*a + o.x*b, q.y*a + o.y*b, q.z*a + o.z*b, q.w*a + o.w*b}
}

// A rigid is a rotation and then a translation.
type rigid struct {
	rotation quaternion
	shift    vector
}

// after returns the transform that does o first.
func (r rigid) after(o rigid) rigid {
	return rigid{r.rotation.times(o.rotation), r.rotation.rotate(o.shift).plus(r.shift)}
}

func (r rigid) inverse() rigid {
	back := r.rotation.conjugate()
	return rigid{back, back.rotate(vector{-r.shift[0], -r.shift[1], -r.shift[2]})}
}

package main

import (
	"encoding/binary"
	"math"
	"slices"
)

// The messages, in ROS 1 serialization: little endian, no padding, strings and
// arrays after a u32 count.

func (r *rig) begin() { r.buf = r.buf[:0] }

func (r *rig) u8(v byte)     { r.buf = append(r.buf, v) }
func (r *rig) u16(v uint16)  { r.buf = binary.LittleEndian.AppendUint16(r.buf, v) }
func (r *rig) u32(v uint32)  { r.buf = binary.LittleEndian.AppendUint32(r.buf, v) }
func (r *rig) u64(v uint64)  { r.buf = binary.LittleEndian.AppendUint64(r.buf, v) }
func (r *rig) f32(v float64) { r.u32(math.Float32bits(float32(v))) }
func (r *rig) f64(v float64) { r.u64(math.Float64bits(v)) }
func (r *rig) str(s string)  { r.u32(uint32(len(s))); r.buf = append(r.buf, s...) }
func (r *rig) zeros(n int)   { r.buf = append(r.buf, make([]byte, n)...) }

func (r *rig) header(s *stream, frame string) {
	r.u32(s.count)
	stamp := s.due - s.lag
	r.u32(uint32(stamp / 1e9))
	r.u32(uint32(stamp % 1e9))
	r.str(frame)
}

func (r *rig) transforms(s *stream, frames ...string) []byte {
	r.begin()
	r.u32(uint32(len(frames)))
	for i, f := range frames {
		r.header(s, "base_link")
		r.str(f)
		r.f64(float64(i) + float64(s.due%997)/1e3)
		r.zeros(2 * 8)
		r.zeros(3 * 8)
		r.f64(1)
	}
	return r.buf
}

func (r *rig) tfStatic(s *stream) []byte { return r.transforms(s, "imu", "lidar", "cam_a", "cam_b") }
func (r *rig) tf(s *stream) []byte       { return r.transforms(s, "odom", "wheel_l", "wheel_r") }

func (r *rig) imu(s *stream) []byte {
	r.begin()
	r.header(s, "imu")
	r.zeros(3 * 8)
	r.f64(1)
	r.f64(-1) // no orientation
	r.zeros(8 * 8)
	for range 3 {
		r.f64(r.rng.NormFloat64() * .01)
	}
	r.zeros(9 * 8)
	r.f64(r.rng.NormFloat64() * .05)
	r.f64(r.rng.NormFloat64() * .05)
	r.f64(9.81 + r.rng.NormFloat64()*.05)
	r.zeros(9 * 8)
	return r.buf
}

func (r *rig) odometry(s *stream) []byte {
	r.begin()
	r.header(s, "odom")
	r.str("base_link")
	r.f64(float64(s.count) * .02)
	r.zeros(2*8 + 3*8)
	r.f64(1)
	r.zeros(36*8 + 6*8 + 36*8)
	return r.buf
}

func (r *rig) status(s *stream) []byte {
	r.begin()
	r.header(s, "")
	r.str([]string{"unit 0", "unit 1", "unit 2", "unit 3"}[s.count%4])
	for _, v := range []float64{1, 2, 3, float64(s.count % 9)} {
		r.f32(v)
	}
	r.u32(0)
	r.u32(s.count)
	r.u32(s.count % 7)
	for i := range s.count % 7 {
		r.u16(uint16(i))
	}
	r.u32(s.count % 5)
	for i := range s.count % 5 {
		r.u64(uint64(i))
		r.f64(float64(i))
		r.f64(float64(s.count))
	}
	r.u8(byte(s.count+1) & 1)
	return r.buf
}

func (r *rig) fix(s *stream) []byte {
	r.begin()
	r.header(s, "gps")
	r.u8(0)  // status: fix
	r.u16(1) // service: GPS
	r.f64(52 + float64(s.count)*1e-7)
	r.f64(8 - float64(s.count)*1e-7)
	r.f64(90)
	r.zeros(9 * 8)
	r.u8(0)
	return r.buf
}

// cloud is one turn of a lidar: x, y, z, intensity, time, ring in 22 bytes.
func (r *rig) cloud(s *stream) []byte {
	const step = 22
	r.begin()
	r.header(s, "lidar")
	r.u32(uint32(r.rings))
	r.u32(uint32(r.steps))
	fields := []struct {
		name     string
		offset   uint32
		datatype byte
	}{{"x", 0, 7}, {"y", 4, 7}, {"z", 8, 7}, {"intensity", 12, 7}, {"t", 16, 6}, {"ring", 20, 4}}
	r.u32(uint32(len(fields)))
	for _, f := range fields {
		r.str(f.name)
		r.u32(f.offset)
		r.u8(f.datatype)
		r.u32(1)
	}
	r.u8(0) // little endian
	r.u32(step)
	r.u32(uint32(step * r.steps))
	n := r.rings * r.steps
	r.u32(uint32(step * n))
	if r.sparse {
		r.zeros(step * n)
		r.u8(1)
		return r.buf
	}
	at := int(r.rng.Uint32N(uint32(len(r.noise) - n)))
	for i := range r.steps {
		az := 2 * math.Pi * float64(i) / float64(r.steps)
		sin, cos := math.Sincos(az)
		base := 12 + 6*math.Sin(3*az+float64(s.count)/20)
		for ring := range r.rings {
			el := (float64(ring)/float64(r.rings)*40 - 25) * math.Pi / 180
			d := base + .005*float64(r.noise[at+i*r.rings+ring])
			r.f32(d * cos)
			r.f32(d * sin)
			r.f32(d * el)
			r.f32(float64(r.noise[at+i*r.rings+ring] * 8))
			r.u32(uint32(az * 1e8 / 6.2832))
			r.u16(uint16(ring))
		}
	}
	r.u8(1)
	return r.buf
}

func (r *rig) colour(s *stream) []byte { return r.image(s, "cam_a", "rgb8", r.camera, 3) }
func (r *rig) grey(s *stream) []byte   { return r.image(s, "cam_b", "mono8", r.mono, 1) }

func (r *rig) image(s *stream, frame, encoding string, size [2]int, channels int) []byte {
	w, h := size[0], size[1]
	r.begin()
	r.header(s, frame)
	r.u32(uint32(h))
	r.u32(uint32(w))
	r.str(encoding)
	r.u8(0)
	r.u32(uint32(w * channels))
	px := r.pixels(s, size, channels)
	r.u32(uint32(len(px)))
	r.buf = append(r.buf, px...)
	return r.buf
}

// pixels returns a gradient that moves; its lower half has the noise of a sensor.
func (r *rig) pixels(s *stream, size [2]int, channels int) []byte {
	w, h := size[0], size[1]
	n := w * h * channels
	if r.sparse {
		r.px = slices.Grow(r.px[:0], n)[:n]
		clear(r.px)
		return r.px
	}
	at := int(r.rng.Uint32N(uint32(len(r.noise) - n)))
	px := r.px[:0]
	for y := range h {
		for x := range w {
			v := byte((x+7*int(s.count))>>3+(y+3*int(s.count))>>2) >> 1
			for range channels {
				px = append(px, v)
			}
		}
	}
	for i := n * 9 / 20; i < n; i++ {
		px[i] += r.noise[at+i]
	}
	r.px = px
	return px
}

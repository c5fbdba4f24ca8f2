package main

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"math"
)

// A drive is a minute through a town, for pictures of reports: an eight of 300 m, walls beside it, two cameras. The
// lidar is quiet for a while, and a camera too.

// drive returns its streams.
func (r *rig) drive() []*stream {
	lidar := r.stream("/lidar/points", "sensor_msgs/PointCloud2", 5, 60_000_000, (*rig).walls)
	lidar.quiet = [2]int64{start + 41e9, start + 45e9}
	rear := r.stream("/camera/rear/image_raw/compressed", "sensor_msgs/CompressedImage", 5, 40_000_000, (*rig).rear)
	rear.quiet = [2]int64{start + 12e9, start + 15e9}
	return []*stream{
		r.stream("/tf_static", "tf2_msgs/TFMessage", 0, 0, (*rig).mounts),
		r.stream("/imu/data", "sensor_msgs/Imu", 100, 200_000, (*rig).feltImu),
		r.stream("/tf", "tf2_msgs/TFMessage", 20, 400_000, (*rig).where),
		r.stream("/odom", "nav_msgs/Odometry", 20, 300_000, (*rig).driven),
		r.stream("/battery/percentage", "std_msgs/Float32", 1, 0, (*rig).battery),
		r.stream("/gps/fix", "sensor_msgs/NavSatFix", 5, 40_000_000, (*rig).drivenFix),
		lidar, rear,
		r.stream("/camera/front/image_raw/compressed", "sensor_msgs/CompressedImage", 5, 40_000_000, (*rig).front),
	}
}

// seconds is the time of a message since the start.
func (s *stream) seconds() float64 { return float64(s.due-start) / 1e9 }

// at is the place of the drive after t seconds, in metres, its direction and its speed.
func at(t float64) (x, y, yaw, speed float64) {
	place := func(t float64) (float64, float64) {
		a := 2 * math.Pi * (t + 4*math.Sin(t/6)) / 75
		return 150 * math.Sin(a), 60 * math.Sin(2*a)
	}
	x, y = place(t)
	nextX, nextY := place(t + 0.01)
	return x, y, math.Atan2(nextY-y, nextX-x), math.Hypot(nextX-x, nextY-y) / 0.01
}

func (r *rig) pose3(x, y, z, yaw float64) {
	for _, v := range []float64{x, y, z, 0, 0, math.Sin(yaw / 2), math.Cos(yaw / 2)} {
		r.f64(v)
	}
}

func (r *rig) edge(s *stream, parent, child string, x, y, z, yaw float64) {
	r.header(s, parent)
	r.str(child)
	r.pose3(x, y, z, yaw)
}

func (r *rig) where(s *stream) []byte {
	x, y, yaw, _ := at(s.seconds())
	r.begin()
	r.u32(2)
	r.edge(s, "map", "odom", 0.3, -0.1, 0, 0.002)
	r.edge(s, "odom", "base_link", x, y, 0, yaw)
	return r.buf
}

func (r *rig) mounts(s *stream) []byte {
	r.begin()
	r.u32(4)
	r.edge(s, "base_link", "imu", 0, 0, 0.4, 0)
	r.edge(s, "base_link", "lidar", 0.8, 0, 1.9, 0)
	r.edge(s, "base_link", "camera_front", 1.2, 0, 1.6, 0)
	r.edge(s, "base_link", "camera_rear", -1.4, 0, 1.5, math.Pi)
	return r.buf
}

func (r *rig) driven(s *stream) []byte {
	x, y, yaw, speed := at(s.seconds())
	_, _, next, _ := at(s.seconds() + 0.05)
	r.begin()
	r.header(s, "odom")
	r.str("base_link")
	r.pose3(x, y, 0, yaw)
	r.zeros(36 * 8)
	r.f64(speed + r.rng.NormFloat64()*.05)
	r.zeros(4 * 8)
	r.f64(math.Remainder(next-yaw, 2*math.Pi) / 0.05)
	r.zeros(36 * 8)
	return r.buf
}

func (r *rig) feltImu(s *stream) []byte {
	t := s.seconds()
	_, _, yaw, speed := at(t)
	_, _, next, faster := at(t + 0.05)
	spin := math.Remainder(next-yaw, 2*math.Pi) / 0.05
	r.begin()
	r.header(s, "imu")
	for _, v := range []float64{0, 0, math.Sin(yaw / 2), math.Cos(yaw / 2)} {
		r.f64(v)
	}
	r.zeros(9 * 8)
	for _, v := range []float64{0, 0, spin} {
		r.f64(v + r.rng.NormFloat64()*.01)
	}
	r.zeros(9 * 8)
	for _, v := range []float64{(faster - speed) / 0.05, spin * speed, 9.81} {
		r.f64(v + r.rng.NormFloat64()*.15)
	}
	r.zeros(9 * 8)
	return r.buf
}

func (r *rig) battery(s *stream) []byte {
	r.begin()
	r.f32(0.82 - s.seconds()/1500)
	return r.buf
}

func (r *rig) drivenFix(s *stream) []byte {
	x, y, _, _ := at(s.seconds())
	r.begin()
	r.header(s, "gps")
	r.u8(0)
	r.u16(1)
	r.f64(52 + (y+r.rng.NormFloat64()*.4)/111_200)
	r.f64(8 + (x+r.rng.NormFloat64()*.4)/(111_200*math.Cos(52*math.Pi/180)))
	r.f64(90 + r.rng.NormFloat64()*.3)
	r.zeros(9 * 8)
	r.u8(0)
	return r.buf
}

// walls is what a lidar of 16 rings sees: the ground, and houses on both sides of the road.
func (r *rig) walls(s *stream) []byte {
	const steps, rings, size = 512, 16, 16
	r.begin()
	r.header(s, "lidar")
	r.u32(rings)
	r.u32(steps)
	r.u32(4)
	for i, name := range []string{"x", "y", "z", "intensity"} {
		r.str(name)
		r.u32(uint32(4 * i))
		r.u8(7)
		r.u32(1)
	}
	r.u8(0)
	r.u32(size)
	r.u32(size * steps)
	r.u32(size * steps * rings)
	for ring := range rings {
		up := (float64(ring)*2 - 20) * math.Pi / 180
		for i := range steps {
			sin, cos := math.Sincos(2 * math.Pi * float64(i) / steps)
			d, bright := 60.0, 10.0
			if up < 0 {
				d = -1.9 / math.Sin(up)
			}
			if wall := (7 + 2*math.Round(math.Sin(cos*20))) / math.Max(math.Abs(sin), 1e-3); wall < d {
				d, bright = wall, 120+90*math.Sin(40*cos)
			}
			d = math.Min(d, 60) + r.rng.NormFloat64()*.02
			r.f32(d * cos * math.Cos(up))
			r.f32(d * sin * math.Cos(up))
			r.f32(d * math.Sin(up))
			r.f32(bright)
		}
	}
	r.u8(1)
	return r.buf
}

func (r *rig) front(s *stream) []byte { return r.road(s, "camera_front", 1) }
func (r *rig) rear(s *stream) []byte  { return r.road(s, "camera_rear", -1) }

// road is a picture of the road ahead, or behind: it bends as the drive does.
func (r *rig) road(s *stream, frame string, way float64) []byte {
	t := s.seconds()
	_, _, yaw, speed := at(t)
	_, _, next, _ := at(t + way)
	bend := math.Remainder(next-yaw, 2*math.Pi) * way
	const w, h, horizon = 480, 270, 110
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		depth := float64(h-horizon) / math.Max(float64(y-horizon), 1)
		middle := w/2 - bend*40*(depth-1)
		for x := range w {
			m.SetRGBA(x, y, scene(float64(x)-middle, float64(y), depth, depth*6-way*speed*t/2))
		}
	}
	var b bytes.Buffer
	_ = jpeg.Encode(&b, m, &jpeg.Options{Quality: 60}) // a buffer takes everything
	r.begin()
	r.header(s, frame)
	r.str("jpeg")
	r.u32(uint32(b.Len()))
	r.buf = append(r.buf, b.Bytes()...)
	return r.buf
}

// scene is the colour of a pixel: off is from the middle of the road, along is how far along it.
func scene(off, y, depth, along float64) color.RGBA {
	const horizon = 110
	if y <= horizon {
		if house := math.Abs(off) - 90; house > 0 && y > horizon-20-house*0.35 && math.Mod(math.Abs(off), 70) < 58 {
			return color.RGBA{168, 122 + uint8(math.Mod(math.Abs(off), 50)), 100, 255}
		}
		return color.RGBA{uint8(120 + y/2), uint8(165 + y/3), 225, 255}
	}
	half := 230 / depth
	stripes := math.Mod(math.Abs(along), 8) < 4
	switch {
	case math.Abs(off) < half/30 && stripes, math.Abs(math.Abs(off)-half*0.95) < half/40:
		return color.RGBA{235, 235, 225, 255}
	case math.Abs(off) < half:
		return color.RGBA{88, 90, 96, 255}
	case stripes:
		return color.RGBA{92, 138, 80, 255}
	}
	return color.RGBA{100, 148, 86, 255}
}

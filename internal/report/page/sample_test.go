package page

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/bagconv/bagconv/internal/report"
)

const (
	sampleDuration = 120.0
	sampleBins     = 400
)

func at(t float64) *float64 { return &t }

// sample is a drive of two minutes that somebody could have recorded: a sensor that fails for a while, a burst, and
// one of each thing that a report may have.
func sample(t *testing.T) *report.Report {
	rnd := rand.New(rand.NewPCG(39, 1))
	r := report.Recording{
		Name: "drive_2024-05-01.mcap", Path: "recordings/drive_2024-05-01.mcap", Format: "MCAP", Version: "1",
		Size: 1_284_113_920, Hash: "sha256:5f0c6d3e41b5a1c2d7b8e9f00112233445566778899aabbccddeeff001122334",
		Start: "1714564800123456789", Begin: "2024-05-01 12:00:00.123456789 UTC", Finish: "2024-05-01 12:02:00.123456789 UTC",
		Duration: sampleDuration, Messages: 61_203, Bytes: 2_904_113_001, BinWidth: sampleDuration / sampleBins,
		Properties: []report.Property{{Name: "Compression", Value: "zstd"}, {Name: "Distribution", Value: "jazzy"},
			{Name: "Recorder", Value: "rosbag2_storage_mcap 0.26.4"}, {Name: "Chunks", Value: "1,412"}},
		Findings: []report.Finding{
			{Number: 1, Severity: "error", Code: "gap", Topic: "/lidar/front/points", Count: 1, Time: at(41.2),
				Message: "no messages for 6.3 s, where the rate is 10 Hz", Hint: "look at the driver's log at that time"},
			{Number: 2, Severity: "warning", Code: "burst", Topic: "/imu/data", Count: 240, Time: at(80), Message: "240 messages within 0.4 s"},
			{Number: 3, Severity: "warning", Code: "time-jump", Topic: "/gps/fix", Count: 3, Time: at(95.5),
				Message: "header stamps go back by 0.2 s", Hint: "--contract allows it"},
			{Number: 4, Severity: "note", Code: "no-definition", Count: 1, Message: "one type has no definition"},
		},
		Errors: 1, Warnings: 2, Notes: 1,
		Topics: []report.Topic{}, Losses: []string{"4 messages were dropped by the recorder's cache"}, LeftOut: []string{"112 of 120 pictures of each camera"},
	}
	add := func(name, kind string, hz, expected float64, gaps, bursts []report.Span) {
		topic := report.Topic{Name: name, Type: kind, Encoding: "cdr", Rate: hz, Expected: expected, First: 0, Last: sampleDuration, Bytes: int64(hz * 9000),
			Bins: make([]uint32, sampleBins), Gaps: gaps, Bursts: bursts, QoS: "reliable, volatile, keep last 10"}
		if gaps == nil {
			topic.Gaps = []report.Span{}
		}
		if bursts == nil {
			topic.Bursts = []report.Span{}
		}
		for x := 0.0; x < sampleDuration; x += 1 / hz {
			in := false
			for _, g := range gaps {
				in = in || x > g.From && x < g.To
			}
			if !in {
				topic.Bins[min(int(x/r.BinWidth), sampleBins-1)]++
				topic.Messages++
			}
		}
		r.Topics = append(r.Topics, topic)
	}
	add("/camera/front/image_raw/compressed", "sensor_msgs/msg/CompressedImage", 20, 20, nil, nil)
	add("/camera/rear/image_raw/compressed", "sensor_msgs/msg/CompressedImage", 12.4, 20, []report.Span{{From: 10, To: 11.5}}, nil)
	add("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", 1, 0, nil, nil)
	add("/gps/fix", "sensor_msgs/msg/NavSatFix", 5, 0, nil, nil)
	add("/imu/data", "sensor_msgs/msg/Imu", 200, 200, nil, []report.Span{{From: 80, To: 80.4}})
	add("/lidar/front/points", "sensor_msgs/msg/PointCloud2", 10, 0, []report.Span{{From: 41.2, To: 47.5}, {From: 101, To: 102}}, nil)
	add("/odom", "nav_msgs/msg/Odometry", 50, 0, nil, nil)
	add("/tf", "tf2_msgs/msg/TFMessage", 80, 0, nil, nil)
	add("/tf_static", "tf2_msgs/msg/TFMessage", 0.01, 0, nil, nil)
	r.Plots, r.Tracks = samplePlots(rnd)
	for i, name := range []string{"/camera/front/image_raw/compressed", "/camera/rear/image_raw/compressed"} {
		c := report.Camera{Topic: name, Width: 1920, Height: 1080, Format: "jpeg", Samples: []report.Thumbnail{}}
		for k := range 12 {
			c.Samples = append(c.Samples,
				report.Thumbnail{Time: float64(k) * 10, Width: 240, Height: 135, JPEG: samplePicture(t, i, k)})
		}
		r.Cameras = append(r.Cameras, c)
	}
	r.Cameras = append(r.Cameras, report.Camera{Topic: "/camera/top/video", Width: 1280, Height: 720, Format: "h264",
		Note: "H.264: this report decodes no video", Samples: []report.Thumbnail{}})
	r.Clouds = []report.Cloud{sampleCloud(rnd)}
	r.Frames = []report.Frame{{Name: "map"}, {Name: "odom", Parent: "map", Topic: "/tf", Count: 2400, Rate: 20, Depth: 1},
		{Name: "base_link", Parent: "odom", Topic: "/tf", Count: 6000, Rate: 50, Depth: 2},
		{Name: "lidar_front", Parent: "base_link", Static: true, Topic: "/tf_static", Count: 1, Depth: 3},
		{Name: "camera_front", Parent: "base_link", Static: true, Topic: "/tf_static", Count: 1, Depth: 3, Note: "has two parents: base_link, odom"}}
	r.Types = []report.Type{{Name: "sensor_msgs/msg/Imu", Encoding: "ros2msg", Hash: "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b",
		Definition: "std_msgs/Header header\ngeometry_msgs/Quaternion orientation\nfloat64[9] orientation_covariance\n", Topics: 1},
		{Name: "vendor_msgs/msg/Opaque", Encoding: "ros2msg", Topics: 1}}
	return &report.Report{Program: "bagconv 1.2.3", Recordings: []report.Recording{r}}
}

func samplePlots(rnd *rand.Rand) ([]report.Plot, []report.Track) {
	const n = 600
	var plots []report.Plot
	series := func(topic, group, field, unit string, f func(x float64) float64) {
		p := report.Plot{Topic: topic, Group: group, Field: field, Unit: unit, Guess: true, Whole: true}
		for i := range n {
			x := float64(i) * sampleDuration / n
			p.Times, p.Values = append(p.Times, x), append(p.Values, f(x))
		}
		plots = append(plots, p)
	}
	noise := func(size float64) float64 { return size * rnd.NormFloat64() }
	series("/odom", "/odom twist.twist.linear.x", "twist.twist.linear.x", "m/s", func(x float64) float64 { return 8 + 5*math.Sin(x/15) + noise(0.05) })
	for i, axis := range []string{"x", "y", "z"} {
		series("/imu/data", "/imu/data linear_acceleration", "linear_acceleration."+axis, "m/s²",
			func(x float64) float64 { return float64(i/2)*9.81 + math.Sin(x/7+float64(i)) + noise(0.3) })
	}
	series("/battery", "/battery percentage", "percentage", "", func(x float64) float64 {
		if x > 50 && x < 60 {
			return math.NaN()
		}
		return 0.9 - x/1000
	})
	track := report.Track{Topic: "/odom", Kind: "odometry", Frame: "odom", Length: 1014}
	for i := range n {
		x := float64(i) * sampleDuration / n
		track.Times = append(track.Times, x)
		track.X, track.Y = append(track.X, 160*math.Sin(x/20)), append(track.Y, 60*math.Sin(x/10))
	}
	return plots, []report.Track{track}
}

// samplePicture is a road under a sky, which moves.
func samplePicture(t *testing.T, camera, k int) []byte {
	m := image.NewRGBA(image.Rect(0, 0, 240, 135))
	for y := range 135 {
		for x := range 240 {
			c := color.RGBA{uint8(120 + y/2), uint8(170 + y/3), 220, 255}
			if y > 60 {
				c = color.RGBA{70, uint8(95 + 20*camera), 70, 255}
				if half := float64(y-55) * 1.2; math.Abs(float64(x-120-4*(k-6))) < half {
					c = color.RGBA{90, 90, 95, 255}
				}
			}
			m.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 70}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sampleCloud is rings on the ground, and two walls.
func sampleCloud(rnd *rand.Rand) report.Cloud {
	c := report.Cloud{Topic: "/lidar/front/points", Frame: "lidar_front", Time: 60, All: 124_000, Scale: 0.001, By: "z"}
	point := func(x, y, z float64) {
		for _, v := range []float64{x, y, z} {
			c.XYZ = binary.LittleEndian.AppendUint16(c.XYZ, uint16(int16(v*1000)))
		}
		c.Shade = append(c.Shade, uint8(min(255, max(0, (z+2)*50))))
		c.Points++
	}
	for range 6000 {
		a, ring := rnd.Float64()*2*math.Pi, float64(3+rnd.IntN(12))
		point(ring*1.4*math.Cos(a), ring*1.4*math.Sin(a), -1.8+0.05*rnd.NormFloat64())
	}
	for range 3000 {
		point(rnd.Float64()*30-15, 8+0.1*rnd.NormFloat64(), rnd.Float64()*4-1.8)
		point(-9+0.1*rnd.NormFloat64(), rnd.Float64()*16-8, rnd.Float64()*3-1.8)
	}
	return c
}

// hostile is a recording whose every text is markup that would act if it were not text.
func hostile() *report.Report {
	bad := func(what string) string {
		return fmt.Sprintf(`</script><script>window.hit='%s'</script><img src=x onerror="window.hit='%s'"><!--`+"\u2028'\"&{{.}}${1}", what, what)
	}
	nan := math.NaN()
	r := report.Recording{Name: bad("name"), Path: bad("path"), Format: bad("format"), Version: bad("version"), Hash: bad("hash"), Size: -1, Bytes: -1,
		Start: "-9223372036854775808", Begin: bad("begin"), Finish: bad("finish"), Duration: 10, Messages: 1 << 60, BinWidth: 1,
		Properties: []report.Property{{Name: bad("property"), Value: bad("value")}},
		Findings:   []report.Finding{{Severity: "error", Code: bad("code"), Topic: bad("topic"), Message: bad("message"), Hint: bad("hint"), Time: at(-1e9)}}, Errors: 1,
		Topics: []report.Topic{{Name: bad("topic"), Type: bad("type"), Encoding: bad("encoding"), QoS: bad("qos"), Bins: []uint32{1, 0, 4_000_000_000},
			Gaps: []report.Span{{From: -1e12, To: 1e12}}, Bursts: []report.Span{{From: 5, To: 4}}}},
		Plots: []report.Plot{{Topic: bad("topic"), Field: bad("field"), Unit: bad("unit"), Group: bad("group"), Times: []float64{1, 2}, Values: report.Numbers{nan, nan}},
			{Topic: "/x", Field: "none", Group: "none", Times: []float64{}, Values: report.Numbers{}}},
		Tracks: []report.Track{{Topic: bad("topic"), Kind: bad("kind"), Frame: bad("frame"), Times: []float64{0, 1}, X: report.Numbers{nan, nan}, Y: report.Numbers{nan, 1}},
			{Topic: "/far", Kind: "pose", Times: []float64{0, 1}, X: report.Numbers{0, 1e300}, Y: report.Numbers{0, 1}},
			{Topic: "/still", Kind: "fix", Times: []float64{1}, X: report.Numbers{0}, Y: report.Numbers{0}}},
		Cameras: []report.Camera{{Topic: bad("topic"), Format: bad("format"), Note: bad("note"), Samples: []report.Thumbnail{{Width: 1, Height: 1, JPEG: []byte("no jpeg")}}}},
		Clouds:  []report.Cloud{{Topic: bad("topic"), Frame: bad("frame"), By: bad("by"), Points: 9, All: 9, XYZ: []byte{1, 2, 3}, Shade: []byte{1}}},
		Frames:  []report.Frame{{Name: bad("frame"), Parent: bad("parent"), Topic: bad("topic"), Note: bad("note")}, {Name: "a", Parent: "b"}, {Name: "b", Parent: "a"}},
		Types:   []report.Type{{Name: bad("type"), Encoding: bad("encoding"), Hash: bad("hash"), Definition: bad("definition")}},
		Losses:  []string{bad("loss")}, LeftOut: []string{bad("left out")}}
	other := report.Recording{Name: "", Properties: []report.Property{}, Findings: []report.Finding{}, Topics: []report.Topic{}, Plots: []report.Plot{},
		Tracks: []report.Track{}, Cameras: []report.Camera{}, Clouds: []report.Cloud{}, Frames: []report.Frame{},
		Types: []report.Type{}, Losses: []string{}, LeftOut: []string{}}
	return &report.Report{Program: bad("program"), Recordings: []report.Recording{r, other}, Difference: &report.Difference{Summary: bad("summary"), Lines: []string{bad("line")}}}
}

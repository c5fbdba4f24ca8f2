package foxglove

import (
	"fmt"
	"math"

	"github.com/bagconv/bagconv/internal/convert/transcode"
)

// Most schemas begin with these two fields.
const (
	slotStamp = iota
	slotFrame
	ownSlot
)

func stamped(own ...want) []want {
	return append([]want{{"timestamp", stamp, false}, {"frame_id", text, false}}, own...)
}

// refused returns the error of a value that cannot be written.
func refused(format string, a ...any) error {
	return &transcode.Error{What: fmt.Sprintf(format, a...)}
}

// CompressedImage: format is "jpeg", "png" and so on, as ROS has it.
var compressedImageWants = stamped(want{"data", blob, true}, want{"format", text, false})

func writeCompressedImage(r *run) error {
	r.header(&r.view, slotStamp, slotFrame)
	r.w.String(r.text(ownSlot + 1))
	r.w.Bytes(r.text(ownSlot))
	return nil
}

// RawImage: encodings have the names of ROS; big numbers are little endian.
var rawImageWants = stamped(want{"width", number, true}, want{"height", number, true}, want{"encoding", text, true},
	want{"step", number, false}, want{"data", blob, true})

func writeRawImage(r *run) error {
	const width, height, encoding, step, data = ownSlot, ownSlot + 1, ownSlot + 2, ownSlot + 3, ownSlot + 4
	r.header(&r.view, slotStamp, slotFrame)
	r.w.U32(r.whole(height))
	r.w.U32(r.whole(width))
	r.w.String(r.text(encoding))
	r.w.U8(0)
	r.w.U32(r.whole(step))
	r.w.Bytes(r.text(data))
	return nil
}

// CameraCalibration: without binning and region of interest.
var calibrationWants = stamped(want{"width", number, true}, want{"height", number, true}, want{"distortion_model", text,
	false},
	want{"d", numberList, false}, want{"k", numberList, true}, want{"r", numberList, false}, want{"p", numberList, false})

func writeCalibration(r *run) error {
	const width, height, model, d, k, rect, p = ownSlot, ownSlot + 1, ownSlot + 2, ownSlot + 3, ownSlot + 4, ownSlot + 5,
		ownSlot + 6
	r.header(&r.view, slotStamp, slotFrame)
	r.w.U32(r.whole(height))
	r.w.U32(r.whole(width))
	r.w.String(r.text(model))
	count := r.count(d)
	r.w.U32(uint32(count))
	for i := range count {
		r.w.F64(r.element(d, i))
	}
	for _, matrix := range [][2]int{{k, 9}, {rect, 9}, {p, 12}} {
		if err := r.array(matrix[0], matrix[1]); err != nil {
			return err
		}
	}
	for range 6 { // binning_x, binning_y, roi
		r.w.U32(0)
	}
	r.w.U8(0) // roi.do_rectify
	return nil
}

// PointCloud: one row of points. Its pose in the frame has no place.
var (
	cloudWants      = stamped(want{"point_stride", number, true}, want{"fields", structs, true}, want{"data", blob, true})
	cloudFieldWants = []want{{"name", text, true}, {"offset", number, true}, {"type", number, true}}
)

// pointTypes are the numbers of sensor_msgs/PointField by the numbers of
// foxglove.PackedElementField: unknown, uint8, int8, uint16, int16, uint32, int32,
// float32, float64.
var pointTypes = [...]uint8{0, 2, 1, 4, 3, 6, 5, 7, 8}

func writeCloud(r *run) error {
	const stride, data = ownSlot, ownSlot + 2
	bytes, step := r.text(data), r.whole(stride)
	points := uint32(0)
	if step > 0 {
		points = uint32(len(bytes)) / step
	}
	r.header(&r.view, slotStamp, slotFrame)
	r.w.U32(1) // height
	r.w.U32(points)
	err := r.each(func(e *view) error {
		t := e.whole(2)
		if t >= uint32(len(pointTypes)) {
			return refused("a field of the points has type %d, which is unknown", t)
		}
		r.w.String(e.text(0))
		r.w.U32(e.whole(1))
		r.w.U8(pointTypes[t])
		r.w.U32(1)
		return nil
	})
	r.w.Bool(false) // is_bigendian
	r.w.U32(step)
	r.w.U32(points * step)
	r.w.Bytes(bytes)
	r.w.Bool(false) // is_dense: points may have no position
	return err
}

// LaserScan: the ranges are evenly spread from the first angle to the last. Its pose
// has no place, and limits and times of the scan are not known.
var scanWants = stamped(want{"start_angle", number, true}, want{"end_angle", number, true},
	want{"ranges", numberList, true},
	want{"intensities", numberList, false})

func writeScan(r *run) error {
	const start, end, ranges, intensities = ownSlot, ownSlot + 1, ownSlot + 2, ownSlot + 3
	count := r.count(ranges)
	first, last, step := r.number(start), r.number(end), 0.0
	if count > 1 {
		step = (last - first) / float64(count-1)
	}
	r.header(&r.view, slotStamp, slotFrame)
	// time_increment, scan_time, range_min, range_max
	for _, v := range []float64{first, last, step, 0, 0, 0, math.MaxFloat32} {
		r.w.F32(float32(v))
	}
	for _, slot := range []int{ranges, intensities} {
		count := r.count(slot)
		r.w.U32(uint32(count))
		for i := range count {
			r.w.F32(float32(r.element(slot, i)))
		}
	}
	return nil
}

// LocationFix: ROS has the same numbers for the covariance's type. Of the status only
// is known that there is a fix, but not by what service.
var fixWants = stamped(want{"latitude", number, true}, want{"longitude", number, true}, want{"altitude", number, false},
	want{"position_covariance", numberList, false}, want{"position_covariance_type", number, false})

func writeFix(r *run) error {
	const position, covariance, kind = ownSlot, ownSlot + 3, ownSlot + 4
	r.header(&r.view, slotStamp, slotFrame)
	r.w.U8(0)  // status.status: STATUS_FIX
	r.w.U16(0) // status.service
	r.floats(&r.view, position, 3)
	if err := r.array(covariance, 9); err != nil {
		return err
	}
	r.w.U8(uint8(min(r.whole(kind), math.MaxUint8)))
	return nil
}

package apollo

import (
	"fmt"
	"math"
	"sync/atomic"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/wire/ros"
)

// A ToROSProgram turns messages of one Apollo type into a standard ROS type.
type ToROSProgram struct {
	rules
	unknown atomic.Int64
}

// ToROS makes the program from messages of md, whose name ROSType must know. The
// error names a field that is missing or of another kind.
func ToROS(md protoreflect.MessageDescriptor, o Options) (*ToROSProgram, error) {
	fam, ok := familyOf(string(md.FullName()))
	if !ok {
		return nil, fmt.Errorf("%s has no counterpart among the standard ROS types", md.FullName())
	}
	p := &ToROSProgram{rules: rules{family: fam, o: o}}
	unused, err := p.compile(md)
	if err != nil {
		return nil, err
	}
	p.dropped = outermost(append(unused, fam.unread(md, o)...))
	return p, nil
}

// Dropped lists the paths of fields that have no place in the ROS type, sorted;
// also fields that are read only in want of a better one, such as
// header.timestamp_sec of a cloud that has lidar_timestamp.
func (p *ToROSProgram) Dropped() []string { return p.dropped }

// Unknown returns the number of messages so far that had fields which the descriptor
// does not have, or has on another wire type; those fields are left out.
func (p *ToROSProgram) Unknown() int64 { return p.unknown.Load() }

// Reset sets the count of Unknown to zero.
func (p *ToROSProgram) Reset() { p.unknown.Store(0) }

// RoundsTimes reports whether the times of points, in ns, become float64 seconds:
// their steps are 238 ns, so that a time is up to 119 ns off.
func (p *ToROSProgram) RoundsTimes() bool {
	return p.family == pointCloud && p.element.has>>pointTime&1 != 0
}

// SizeHint returns how many bytes a message of n bytes becomes, with some to spare for
// nearly all messages. dst grows when it is more.
func (p *ToROSProgram) SizeHint(n int) int {
	switch p.family {
	case transforms:
		return 2*n + 128
	case image, compressedImage, pointCloud:
		return n + n/16 + 512
	}
	return n + 1024
}

// Append is AppendAt for a message at time 0.
func (p *ToROSProgram) Append(dst, src []byte) ([]byte, error) { return p.AppendAt(dst, src, 0) }

// AppendAt converts src and appends it to dst; logTime, ns since 1970, is the stamp
// of a message that has no stamp. On error dst is returned at its old length. It keeps
// neither slice.
func (p *ToROSProgram) AppendAt(dst, src []byte, logTime int64) ([]byte, error) {
	v := p.initial
	if err := p.t.parse(&v, src, 0); err != nil {
		return dst, err
	}
	w := ros.NewWriter(dst, p.o.CDR)
	var err error
	switch p.family {
	case image:
		p.header(&w, &v, logTime)
		writeImage(&w, &v)
	case compressedImage:
		p.header(&w, &v, logTime)
		w.String(v.bytes(label))
		w.Bytes(v.bytes(payload))
	case pointCloud:
		p.header(&w, &v, logTime)
		err = p.cloud(&w, &v, src)
	case gnssImu, correctedImu:
		p.header(&w, &v, logTime)
		p.imu(&w, &v)
	case bestPose:
		p.header(&w, &v, logTime)
		writeFix(&w, &v)
	case estimate, gps:
		p.header(&w, &v, logTime)
		p.odometry(&w, &v)
	case transforms:
		err = p.transforms(&w, &v, src)
	}
	if err == nil && (v.long() || int64(len(w.Buf)-len(dst)) > math.MaxUint32) {
		err = malformed(0, "the message is longer than ROS can hold")
	}
	if err != nil {
		return dst, err
	}
	if v.unknown {
		p.unknown.Add(1)
	}
	return w.Buf, nil
}

// long reports whether a text is too long for a length of 32 bits.
func (v *values) long() bool {
	for _, t := range v.text {
		if uint64(len(t)) >= math.MaxUint32 {
			return true
		}
	}
	return false
}

// header writes a std_msgs/Header.
func (p *ToROSProgram) header(w *ros.Writer, v *values, logTime int64) {
	stamp := v.stamp(p.family, &p.o)
	if stamp == 0 {
		stamp = logTime
	}
	writeHeader(w, v, stamp, p.family.frame(v))
}

// Apollo's /tf and its maps call the root of all frames world. Its own name of
// the frame that moves is localization.
var (
	worldFrame        = []byte("world")
	localizationFrame = []byte("localization")
	baseFrame         = []byte("base_link")
)

// frame returns the frame_id of a message.
func (f family) frame(v *values) []byte {
	id := v.bytes(ownFrame)
	if len(id) == 0 {
		id = v.bytes(headerFrame)
	}
	if len(id) == 0 && (f == estimate || f == gps) {
		id = worldFrame
	}
	return id
}

func writeHeader(w *ros.Writer, v *values, stamp int64, frame []byte) {
	if !w.CDR() {
		w.U32(uint32(v.num[sequence]))
	}
	w.Time(stamp)
	w.String(frame)
}

func writeVec(w *ros.Writer, v vec) {
	w.F64(v.x)
	w.F64(v.y)
	w.F64(v.z)
}

func writeQuat(w *ros.Writer, q quat) {
	w.F64(q.x)
	w.F64(q.y)
	w.F64(q.z)
	w.F64(q.w)
}

// imu writes what is after the header of a sensor_msgs/Imu. A covariance of 0 is
// unknown, one that begins with -1 means that there is no estimate at all.
func (p *ToROSProgram) imu(w *ros.Writer, v *values) {
	q, ok := quat{w: 1}, false
	if p.family == correctedImu {
		if q, ok = v.orientation(); !ok {
			q = quat{w: 1}
		}
	}
	acc, hasAcc := v.either(linearAcc, linearAccVRF)
	rate, hasRate := v.either(angularVel, angularVelVRF)
	if p.o.Frames == FramesREP103 {
		acc, rate = acc.flu(), rate.flu()
		if ok {
			q = q.mul(quarter)
		}
	}
	writeQuat(w, q)
	writeUnknown(w, ok)
	writeVec(w, rate)
	writeUnknown(w, hasRate)
	writeVec(w, acc)
	writeUnknown(w, hasAcc)
}

// either returns the vector at slot a, else that at slot b.
func (v *values) either(a, b int) (x vec, ok bool) {
	if !v.hasVec(a) && v.hasVec(b) {
		a = b
	}
	return v.vec(a), v.hasVec(a)
}

// writeUnknown writes a covariance that is not known.
func writeUnknown(w *ros.Writer, has bool) {
	first := 0.0
	if !has {
		first = -1
	}
	w.F64(first)
	zeros(w, 8)
}

var zeroBytes [8 * 8]byte

// zeros writes n float64 0, 8 at most, where a float64 may stand.
func zeros(w *ros.Writer, n int) {
	w.Align(8)
	w.Buf = append(w.Buf, zeroBytes[:8*n]...)
}

// Values of sensor_msgs/NavSatStatus and NavSatFix.
const (
	statusNoFix = -1
	statusFix   = 0
	statusSBAS  = 1
	statusGBAS  = 2
	serviceGPS  = 1

	covarianceUnknown  = 0
	covarianceDiagonal = 2
)

// Values of apollo.drivers.gnss.SolutionStatus, SolutionType and DatumId.
const (
	solComputed     = 0
	insufficientObs = 1

	solNone        = 0
	solSingle      = 16
	solWAAS        = 18
	solL1Int       = 48
	solWideInt     = 49
	solNarrowInt   = 50
	solInsSBAS     = 52
	solInsRTKFixed = 56

	datumWGS84 = 61
)

// writeFix writes what is after the header of a sensor_msgs/NavSatFix.
func writeFix(w *ros.Writer, v *values) {
	status := statusFix
	switch typ := v.integer(solType); {
	case v.integer(solStatus) != solComputed || typ == solNone:
		status = statusNoFix
	case typ == solL1Int, typ == solWideInt, typ == solNarrowInt, typ == solInsRTKFixed:
		status = statusGBAS
	case typ == solWAAS, typ == solInsSBAS:
		status = statusSBAS
	}
	w.U8(uint8(int8(status)))
	w.U16(serviceGPS)
	altitude := v.real(heightMSL)
	if v.has(undulation) {
		altitude += v.real(undulation)
	}
	writeVec(w, vec{v.real(latitude), v.real(longitude), altitude})
	kind := uint8(covarianceUnknown)
	var d vec
	if v.has(latitudeStd) || v.has(longitudeStd) || v.has(heightStd) {
		kind = covarianceDiagonal
		d = variances(vec{v.real(longitudeStd), v.real(latitudeStd), v.real(heightStd)}) // east, north, up
	}
	for _, x := range [9]float64{0: d.x, 4: d.y, 8: d.z} {
		w.F64(x)
	}
	w.U8(kind)
}

// variances squares standard deviations; what is not a number is not known, 0.
func variances(std vec) vec {
	v := vec{std.x * std.x, std.y * std.y, std.z * std.z}
	for _, x := range [...]*float64{&v.x, &v.y, &v.z} {
		if math.IsNaN(*x) {
			*x = 0
		}
	}
	return v
}

// odometry writes what is after the header of a nav_msgs/Odometry.
func (p *ToROSProgram) odometry(w *ros.Writer, v *values) {
	child := localizationFrame
	q, _ := v.orientation()
	vel := v.vec(linearVel)
	rate, _ := v.either(angularVel, angularVelVRF)
	velCov, rateCov := diagonal(variances(v.vec(linearVelStd))), diagonal(variances(v.vec(angularVelStd)))
	if p.o.Frames == FramesREP103 {
		child = baseFrame
		q = q.mul(quarter)
		back := q.conj().matrix()
		vel = back.apply(vel)
		if v.hasVec(angularVelVRF) {
			rate = v.vec(angularVelVRF).flu()
		} else {
			rate = back.apply(v.vec(angularVel))
		}
		if !q.turns() {
			velCov, rateCov = mat{}, mat{} // not known
		} else {
			velCov, rateCov = back.transform(velCov), back.transform(rateCov)
		}
	}
	w.String(child)
	writeVec(w, v.vec(position))
	writeQuat(w, q)
	writeCovariance(w, diagonal(variances(v.vec(positionStd))), diagonal(variances(v.vec(orientationStd))))
	writeVec(w, vel)
	writeVec(w, rate)
	writeCovariance(w, velCov, rateCov)
}

// writeCovariance writes a 6 x 6 matrix, row by row, with two blocks on its diagonal.
func writeCovariance(w *ros.Writer, a, b mat) {
	for _, row := range a {
		writeVec(w, row)
		zeros(w, 3)
	}
	for _, row := range b {
		zeros(w, 3)
		writeVec(w, row)
	}
}

// transforms writes a tf2_msgs/TFMessage. Without any stamp a transform has 0, as
// static ones do; frames keep their axes for any value of Frames, as nothing shows
// which of them are a vehicle's.
func (p *ToROSProgram) transforms(w *ros.Writer, v *values, src []byte) error {
	outer := v.stamp(p.family, &p.o)
	w.U32(uint32(v.count))
	for pos := v.first; ; {
		b, next, ok := nextElement(src, pos, v.last, p.list)
		if !ok {
			return nil
		}
		e := p.blank
		if err := p.element.parse(&e, b, next-len(b)); err != nil {
			return err
		}
		pos = next
		v.unknown = v.unknown || e.unknown
		stamp := e.stamp(p.family, &p.o)
		if stamp == 0 {
			stamp = outer
		}
		writeHeader(w, &e, stamp, e.bytes(headerFrame))
		w.String(e.bytes(label))
		writeVec(w, e.vec(translation))
		q, _ := e.quat(rotation)
		writeQuat(w, q)
	}
}

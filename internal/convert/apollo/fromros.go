package apollo

import (
	"fmt"
	"math"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/serial"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/internal/wire/ros"
	"github.com/bagconv/bagconv/schema"
)

// A FromROSProgram turns messages of a standard ROS type into an Apollo type.
type FromROSProgram struct {
	rules
	source transcode.Source
}

// FromROS makes the program from a standard ROS type, by its definition in ROS 2 for
// CDR and else in ROS 1, to md, whose name ROSType must know. The error names a field
// that is missing or of another kind.
func FromROS(ros *schema.Message, md protoreflect.MessageDescriptor, o Options) (*FromROSProgram, error) {
	fam, ok := familyOf(string(md.FullName()))
	if !ok || ROSType(string(md.FullName())) != strings.Replace(ros.Name, "/msg/", "/", 1) {
		return nil, fmt.Errorf("%s does not correspond to %s", ros.Name, md.FullName())
	}
	p := &FromROSProgram{rules: rules{family: fam, o: o}}
	if _, err := p.compile(md); err != nil {
		return nil, err
	}
	wire := serial.ROS1
	if o.CDR {
		wire = serial.CDR
	}
	p.dropped = p.lost()
	return p, p.source.Init(ros, wire)
}

// Dropped lists the ROS fields that have no place in the Apollo type, by their
// paths; after some paths it names the part that is lost.
func (p *FromROSProgram) Dropped() []string { return p.dropped }

// Losses lists what the messages so far lost against their definition: bytes after
// their last field, and stamps in other words.
func (p *FromROSProgram) Losses() []transcode.Loss { return p.source.Losses() }

// Reset sets what Losses counts to zero.
func (p *FromROSProgram) Reset() { p.source.Reset() }

// SizeHint returns how many bytes a message of n bytes becomes, with some to spare for
// nearly all messages. dst grows when it is more.
func (p *FromROSProgram) SizeHint(n int) int {
	if p.family == pointCloud {
		return n + n/2 + 512
	}
	return n + n/16 + 512
}

// Append is AppendAt for a message at time 0.
func (p *FromROSProgram) Append(dst, src []byte) ([]byte, error) { return p.AppendAt(dst, src, 0) }

// AppendAt converts src and appends it to dst; logTime, ns since 1970, is the stamp
// of a message whose header has no stamp. On error dst is returned at its old length.
// It keeps neither slice.
func (p *FromROSProgram) AppendAt(dst, src []byte, logTime int64) ([]byte, error) {
	r, err := p.source.Open(src)
	if err != nil {
		return dst, err
	}
	out := p.message(dst, &r, logTime)
	if err := p.source.Close(&r); err != nil {
		return dst, err
	}
	if r.Carried {
		p.source.Normalized()
	}
	return out, nil
}

// message reads one message and appends it to dst. What it returns counts only if r
// has no error.
func (p *FromROSProgram) message(dst []byte, r *ros.Reader, logTime int64) []byte {
	if p.family == transforms {
		return p.transforms(dst, r)
	}
	var v values
	stamp := p.header(&v, r)
	if stamp <= 0 {
		stamp = max(logTime, 0)
	}
	v.setStamp(p.family, stamp)
	switch p.family {
	case image:
		readImage(&v, r)
	case compressedImage:
		v.setText(label, r.String())
		v.setBytes(payload, r.Bytes())
	case pointCloud:
		return p.cloud(dst, &v, r, stamp)
	case gnssImu, correctedImu:
		p.imu(&v, r)
	case bestPose:
		readFix(&v, r)
	case estimate, gps:
		p.odometry(&v, r)
	}
	if !r.OK() {
		return dst
	}
	return p.t.append(dst, &v, 0, maxNumber)
}

// header reads a std_msgs/Header, and returns its stamp.
func (p *FromROSProgram) header(v *values, r *ros.Reader) int64 {
	if !p.o.CDR {
		v.setInteger(sequence, uint64(r.U32()))
	}
	stamp := r.Time()
	frame := r.String()
	v.setText(headerFrame, frame)
	v.setText(ownFrame, frame)
	return stamp
}

// setText sets a text that is not empty.
func (v *values) setText(slot int, x []byte) {
	if len(x) > 0 {
		v.setBytes(slot, x)
	}
}

func readVec(r *ros.Reader) vec { return vec{r.F64(), r.F64(), r.F64()} }

func readQuat(r *ros.Reader) quat { return quat{r.F64(), r.F64(), r.F64(), r.F64()} }

// readImage reads what is after the header of a sensor_msgs/Image.
func readImage(v *values, r *ros.Reader) {
	v.setInteger(imageHeight, uint64(r.U32()))
	v.setInteger(imageWidth, uint64(r.U32()))
	v.setText(label, encoding(r.String(), apolloName))
	r.U8() // is_bigendian
	v.setInteger(imageStep, uint64(r.U32()))
	v.setBytes(payload, r.Bytes())
}

// imu reads what is after the header of a sensor_msgs/Imu. A covariance that
// begins with -1 means that there is no estimate.
func (p *FromROSProgram) imu(v *values, r *ros.Reader) {
	q := readQuat(r)
	if readMat(r)[0].x != -1 {
		if p.o.Frames == FramesREP103 {
			q = q.mul(quarter.conj())
		}
		v.setQuat(orientation, q)
		if q.turns() {
			v.setVec(eulerAngles, q.euler())
		}
	}
	for _, slot := range [...]int{angularVel, linearAcc} {
		x := readVec(r)
		if p.o.Frames == FramesREP103 {
			x = x.rfu()
		}
		if readMat(r)[0].x != -1 {
			v.setVec(slot, x)
		}
	}
}

func readMat(r *ros.Reader) mat { return mat{readVec(r), readVec(r), readVec(r)} }

// readFix reads what is after the header of a sensor_msgs/NavSatFix.
func readFix(v *values, r *ros.Reader) {
	status, typ := uint64(solComputed), uint64(solSingle)
	switch s := int8(r.U8()); {
	case s < statusFix:
		status, typ = insufficientObs, solNone
	case s == statusSBAS:
		typ = solWAAS
	case s >= statusGBAS:
		typ = solNarrowInt
	}
	r.U16() // service
	at := readVec(r)
	c := readMat(r)
	v.setInteger(solStatus, status)
	v.setInteger(solType, typ)
	v.setReal(latitude, at.x)
	v.setReal(longitude, at.y)
	v.setReal(heightMSL, at.z)
	v.setReal(undulation, 0)
	v.setInteger(datumID, datumWGS84)
	if r.U8() != covarianceUnknown {
		v.setReal(longitudeStd, deviation(c[0].x))
		v.setReal(latitudeStd, deviation(c[1].y))
		v.setReal(heightStd, deviation(c[2].z))
	}
}

// deviation returns the standard deviation of a variance.
func deviation(x float64) float64 { return math.Sqrt(max(0, x)) }

// setDeviations writes the diagonal of a covariance; when it is 0 it is not known.
func (v *values) setDeviations(slot int, c mat) {
	if d := (vec{c[0].x, c[1].y, c[2].z}); d != (vec{}) {
		v.setVec(slot, vec{deviation(d.x), deviation(d.y), deviation(d.z)})
	}
}

// odometry reads what is after the header of a nav_msgs/Odometry.
func (p *FromROSProgram) odometry(v *values, r *ros.Reader) {
	r.String() // child_frame_id
	v.setVec(position, readVec(r))
	q := readQuat(r)
	positionCov, orientationCov := readBlocks(r)
	vel, rate := readVec(r), readVec(r)
	velCov, rateCov := readBlocks(r)
	if p.o.Frames == FramesREP103 {
		v.setVec(angularVelVRF, rate.rfu())
		m := q.matrix()
		vel, rate = m.apply(vel), m.apply(rate)
		velCov, rateCov = m.transform(velCov), m.transform(rateCov)
		q = q.mul(quarter.conj())
	}
	v.setQuat(orientation, q)
	if q.turns() {
		v.setReal(heading, q.heading())
	}
	v.setVec(linearVel, vel)
	v.setVec(angularVel, rate)
	v.setDeviations(positionStd, positionCov)
	v.setDeviations(orientationStd, orientationCov)
	v.setDeviations(linearVelStd, velCov)
	v.setDeviations(angularVelStd, rateCov)
}

// readBlocks reads a 6 x 6 matrix and returns the two blocks on its diagonal.
func readBlocks(r *ros.Reader) (a, b mat) {
	for i := range a {
		a[i] = readVec(r)
		readVec(r)
	}
	for i := range b {
		readVec(r)
		b[i] = readVec(r)
	}
	return a, b
}

// smallestTransform is the size of a transform with empty frames, bytes: stamp,
// two lengths and 7 numbers.
const smallestTransform = 8 + 4 + 4 + 7*8

// transforms reads a tf2_msgs/TFMessage. The message around them has no header.
func (p *FromROSProgram) transforms(dst []byte, r *ros.Reader) []byte {
	for range r.Count(smallestTransform) {
		var e values
		e.setStamp(p.family, p.header(&e, r))
		e.setText(label, r.String())
		e.setVec(translation, readVec(r))
		e.setQuat(rotation, readQuat(r))
		if !r.OK() {
			break
		}
		dst = p.element.appendAs(dst, p.list, &e)
	}
	return dst
}

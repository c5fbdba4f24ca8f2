package apollo

import "math"

// Slots are where the values of wanted fields lie while a message is converted.
// The slots of the header are common to all families; from ownSlot on each family
// counts its own. Texts have the last slots.
const (
	stampSec = iota // header.timestamp_sec: published at, s since 1970
	sequence
	lidarNs // header.lidar_timestamp and so on: ns since 1970
	cameraNs
	radarNs
	measured // measurement_time, s since 1970, or GPS time for the gnss types
	ownSlot
)

const (
	firstText   = maxSlots - 4
	headerFrame = maxSlots - 4 // header.frame_id
	ownFrame    = maxSlots - 3 // frame_id
	label       = maxSlots - 2 // encoding, format or child_frame_id
	payload     = maxSlots - 1 // data
	maxSlots    = 64
)

// Image.
const (
	imageHeight = ownSlot + iota
	imageWidth
	imageStep
)

// PointCloud, and of its points (which have a table of their own).
const (
	cloudWidth = ownSlot + iota
	cloudHeight
	cloudDense
)
const (
	pointX = iota
	pointY
	pointZ
	pointIntensity
	pointTime
	pointRing
)

// Pose and Uncertainty; a vector takes 3 slots, the quaternion 4.
const (
	position       = ownSlot
	orientation    = position + 3
	linearVel      = orientation + 4
	linearAcc      = linearVel + 3
	angularVel     = linearAcc + 3
	heading        = angularVel + 3
	linearAccVRF   = heading + 1
	angularVelVRF  = linearAccVRF + 3
	eulerAngles    = angularVelVRF + 3
	positionStd    = eulerAngles + 3
	orientationStd = positionStd + 3
	linearVelStd   = orientationStd + 3
	angularVelStd  = linearVelStd + 3
)

// GnssBestPose.
const (
	solStatus = ownSlot + iota
	solType
	latitude
	longitude
	heightMSL
	undulation
	datumID
	latitudeStd
	longitudeStd
	heightStd
)

// Transform.
const (
	translation = ownSlot
	rotation    = translation + 3
)

// values are the slots of one message.
type values struct {
	set  uint64 // bit per slot: the message has it
	num  [firstText]uint64
	text [maxSlots - firstText][]byte // points into the message

	count       int // elements of the list
	first, last int // where the elements begin and end

	unknown bool // there was a field that the descriptor does not have
}

func (v *values) has(slot int) bool      { return v.set>>slot&1 != 0 }
func (v *values) real(slot int) float64  { return math.Float64frombits(v.num[slot]) }
func (v *values) bytes(slot int) []byte  { return v.text[slot-firstText] }
func (v *values) integer(slot int) int64 { return int64(v.num[slot]) }

func (v *values) setInteger(slot int, x uint64) {
	v.num[slot] = x
	v.set |= 1 << slot
}

func (v *values) setReal(slot int, x float64) { v.setInteger(slot, math.Float64bits(x)) }

func (v *values) setBytes(slot int, x []byte) {
	v.text[slot-firstText] = x
	v.set |= 1 << slot
}

func (v *values) vec(slot int) vec { return vec{v.real(slot), v.real(slot + 1), v.real(slot + 2)} }

// hasVec reports whether any part of a vector is set.
func (v *values) hasVec(slot int) bool { return v.set>>slot&7 != 0 }

func (v *values) setVec(slot int, x vec) {
	v.setReal(slot, x.x)
	v.setReal(slot+1, x.y)
	v.setReal(slot+2, x.z)
}

func point3(name string, slot int) want {
	return want{name: name, class: message, sub: []want{
		{name: "x", class: real, slot: slot}, {name: "y", class: real, slot: slot + 1},
		{name: "z", class: real, slot: slot + 2}}}
}

func quaternion(name string, slot int) want {
	return want{name: name, class: message, sub: []want{
		{name: "qx", class: real, slot: slot}, {name: "qy", class: real, slot: slot + 1},
		{name: "qz", class: real, slot: slot + 2}, {name: "qw", class: real, slot: slot + 3}}}
}

func needed(w want) want { w.need = true; return w }

// header is apollo.common.Header, with the integer stamps that it is asked for.
func header(stamps ...want) want {
	sub := []want{
		{name: "timestamp_sec", class: real, slot: stampSec}, {name: "sequence_num", class: integer, slot: sequence},
		{name: "frame_id", class: text, slot: headerFrame}}
	return want{name: "header", class: message, sub: append(sub, stamps...)}
}

var (
	lidarStamp  = want{name: "lidar_timestamp", class: integer, slot: lidarNs}
	cameraStamp = want{name: "camera_timestamp", class: integer, slot: cameraNs}
	radarStamp  = want{name: "radar_timestamp", class: integer, slot: radarNs}
	anyHeader   = header(lidarStamp, cameraStamp, radarStamp)
	ownFrameID  = want{name: "frame_id", class: text, slot: ownFrame}
	measuredAt  = want{name: "measurement_time", class: real, slot: measured}
)

// familyFields has the fields of each family.
var familyFields = [families][]want{
	image: {header(cameraStamp), ownFrameID, measuredAt,
		{name: "height", class: integer, slot: imageHeight, need: true}, {name: "width", class: integer, slot: imageWidth,
			need: true},
		{name: "encoding", class: text, slot: label}, {name: "step", class: integer, slot: imageStep},
		{name: "data", class: text, slot: payload, need: true}},
	compressedImage: {header(cameraStamp), ownFrameID, measuredAt,
		{name: "format", class: text, slot: label}, {name: "data", class: text, slot: payload, need: true}},
	pointCloud: {header(lidarStamp), ownFrameID, measuredAt, {name: "is_dense", class: integer, slot: cloudDense},
		{name: "point", class: message, need: true, list: true},
		{name: "width", class: integer, slot: cloudWidth}, {name: "height", class: integer, slot: cloudHeight}},
	gnssImu: {anyHeader, measuredAt,
		needed(point3("linear_acceleration", linearAcc)), needed(point3("angular_velocity", angularVel))},
	correctedImu: {anyHeader, {name: "imu", class: message, need: true, sub: []want{
		quaternion("orientation", orientation), needed(point3("linear_acceleration", linearAcc)),
		needed(point3("angular_velocity", angularVel)),
		point3("linear_acceleration_vrf", linearAccVRF), point3("angular_velocity_vrf", angularVelVRF),
		point3("euler_angles", eulerAngles)}}},
	bestPose: {anyHeader, measuredAt, {name: "sol_status", class: integer, slot: solStatus},
		{name: "sol_type", class: integer, slot: solType},
		{name: "latitude", class: real, slot: latitude, need: true}, {name: "longitude", class: real, slot: longitude,
			need: true},
		{name: "height_msl", class: real, slot: heightMSL}, {name: "undulation", class: real, slot: undulation},
		{name: "datum_id", class: integer, slot: datumID},
		{name: "latitude_std_dev", class: real, slot: latitudeStd}, {name: "longitude_std_dev", class: real,
			slot: longitudeStd},
		{name: "height_std_dev", class: real, slot: heightStd}},
	estimate: {anyHeader, measuredAt, needed(pose("pose")), {name: "uncertainty", class: message, sub: []want{
		point3("position_std_dev", positionStd), point3("orientation_std_dev", orientationStd),
		point3("linear_velocity_std_dev", linearVelStd), point3("angular_velocity_std_dev", angularVelStd)}}},
	gps:        {anyHeader, needed(pose("localization"))},
	transforms: {anyHeader, {name: "transforms", class: message, need: true, list: true}},
}

// pose is apollo.localization.Pose as an odometry.
func pose(name string) want {
	return want{name: name, class: message, sub: []want{
		needed(point3("position", position)), quaternion("orientation", orientation), point3("linear_velocity", linearVel),
		point3("angular_velocity", angularVel), {name: "heading", class: real, slot: heading},
		point3("angular_velocity_vrf", angularVelVRF), point3("euler_angles", eulerAngles)}}
}

// elements has the fields of the elements of the lists.
var elements = [families][]want{
	pointCloud: {
		{name: "x", class: real, slot: pointX, need: true}, {name: "y", class: real, slot: pointY, need: true},
		{name: "z", class: real, slot: pointZ, need: true},
		{name: "intensity", class: number, slot: pointIntensity}, {name: "timestamp", class: integer, slot: pointTime},
		{name: "ring", class: integer, slot: pointRing}},
	transforms: {anyHeader, {name: "child_frame_id", class: text, slot: label},
		{name: "transform", class: message, need: true, sub: []want{point3("translation", translation),
			quaternion("rotation", rotation)}}},
}

package apollo

import "google.golang.org/protobuf/encoding/protowire"

// A fieldPlace describes where a ROS field goes: into any of some slots. Without slots it
// has no place at all.
type fieldPlace struct {
	path  string
	slots uint64
}

func slots(n ...int) (mask uint64) {
	for _, s := range n {
		mask |= 1 << s
	}
	return mask
}

var headerPlaces = []fieldPlace{
	{"header.seq", slots(sequence)}, {"header.stamp", slots(stampSec, measured, lidarNs, cameraNs)},
	{"header.frame_id", slots(headerFrame, ownFrame)}}

// places lists the ROS fields of each family, except fields that Apollo's type
// cannot lack. The first slot of a vector stands for all.
var places = [families][]fieldPlace{
	image:           {{"encoding", slots(label)}, {"is_bigendian", 0}, {"step", slots(imageStep)}},
	compressedImage: {{"format", slots(label)}},
	pointCloud: {{"fields: all but x, y, z, intensity, timestamp (time, t, offset) and ring", 0},
		{"is_dense", slots(cloudDense)},
		{"height and width", slots(cloudHeight)}},
	gnssImu: {{"orientation", slots(orientation)}, {"orientation_covariance", 0},
		{"angular_velocity_covariance", 0}, {"linear_acceleration_covariance", 0}},
	correctedImu: {{"orientation", slots(orientation)}, {"orientation_covariance", 0},
		{"angular_velocity_covariance", 0}, {"linear_acceleration_covariance", 0}},
	bestPose: {{"status.status", slots(solType)}, {"status.service", 0}, {"altitude", slots(heightMSL)},
		{"position_covariance", slots(latitudeStd)}, {"position_covariance off its diagonal", 0},
		{"position_covariance_type", 0}},
	estimate: odometryPlaces,
	gps:      odometryPlaces,
}

var odometryPlaces = []fieldPlace{{"child_frame_id", 0}, {"pose.pose.orientation", slots(orientation, heading)},
	{"pose.covariance", slots(positionStd)}, {"pose.covariance off its diagonal", 0},
	{"twist.twist.linear", slots(linearVel)}, {"twist.twist.angular", slots(angularVel, angularVelVRF)},
	{"twist.covariance", slots(linearVelStd)}, {"twist.covariance off its diagonal", 0}}

// elementPlaces are the places of the elements of the lists.
var elementPlaces = [families][]fieldPlace{
	pointCloud: {{"intensity", slots(pointIntensity)}, {"ring", slots(pointRing)}, {"timestamp", slots(pointTime)}},
	transforms: {{"child_frame_id", slots(label)}},
}

// lost lists the ROS fields that have no place.
func (p *FromROSProgram) lost() []string {
	var out []string
	add := func(prefix string, t *table, places []fieldPlace) {
		for _, f := range places {
			if t.has&f.slots == 0 && !(p.o.CDR && f.path == "header.seq") {
				out = append(out, prefix+f.path)
			}
		}
	}
	if p.family == transforms {
		add("transforms.", p.element, headerPlaces)
	} else {
		add("", p.t, headerPlaces)
	}
	add("", p.t, places[p.family])
	switch p.family {
	case pointCloud:
		add("points.", p.element, elementPlaces[p.family])
		if f := p.element.slotField(pointIntensity); f != nil && f.Wire == protowire.VarintType {
			out = append(out, "points.intensity: fractions")
		}
	case transforms:
		add("transforms.", p.element, elementPlaces[p.family])
	}
	return outermost(out)
}

// slotField returns the field of a slot, nil when the table does not have it.
func (t *table) slotField(slot int) *field {
	for _, f := range t.fields {
		if f.sub == nil && !f.List && f.slot == slot {
			return f
		}
	}
	return nil
}

package foxglove

// vector and rotation are fields by their paths, in the order that ROS has.
func vector(path string) []want {
	return []want{{path + ".x", number, true}, {path + ".y", number, true}, {path + ".z", number, true}}
}

func rotation(path string) []want { return append(vector(path), want{path + ".w", number, true}) }

// poseIn returns the fields of a pose below a prefix.
func poseIn(prefix string) []want {
	return append(vector(prefix+"position"), rotation(prefix+"orientation")...)
}

const poseSize = 7 // slots of a pose

// FrameTransform: TFMessage is a list of transforms.
var (
	transformWants = append([]want{{"timestamp", stamp, false}, {"parent_frame_id", text, true},
		{"child_frame_id", text, true}},
		append(vector("translation"), rotation("rotation")...)...)
	transformsWants = []want{{"transforms", structs, true}}
)

func writeTransform(r *run) error {
	r.w.U32(1)
	r.transform(&r.view)
	return nil
}

func writeTransforms(r *run) error {
	return r.each(func(e *view) error {
		r.transform(e)
		return nil
	})
}

func (r *run) transform(v *view) {
	r.header(v, 0, 1)
	r.w.String(v.text(2))
	r.floats(v, 3, poseSize)
}

var poseWants = stamped(poseIn("pose.")...)

func writePose(r *run) error {
	r.header(&r.view, slotStamp, slotFrame)
	r.floats(&r.view, ownSlot, poseSize)
	return nil
}

var posesWants = stamped(want{"poses", structs, true})

func writePoses(r *run) error {
	r.header(&r.view, slotStamp, slotFrame)
	return r.each(func(e *view) error {
		r.floats(e, 0, poseSize)
		return nil
	})
}

var logWants = []want{{"timestamp", stamp, false}, {"level", number, true}, {"message", text, true},
	{"name", text, false}, {"file", text, false}, {"line", number, false}}

// logLevels are the levels of ROS 1 and ROS 2 by the levels of foxglove.Log: unknown,
// debug, info, warning, error, fatal.
var logLevels = [...][2]uint8{{0, 0}, {1, 10}, {2, 20}, {4, 30}, {8, 40}, {16, 50}}

func writeLog(r *run) error {
	const level, message, name, file, line = 1, 2, 3, 4, 5
	n := r.number(level)
	if n != float64(uint8(n)) {
		return refused("%g is not a level of log messages", n)
	}
	of := [2]uint8{uint8(n), uint8(n)} // of a newer schema
	if int(n) < len(logLevels) {
		of = logLevels[int(n)]
	}
	if r.p.o.CDR {
		r.stamp(&r.view, 0)
		r.w.U8(of[1])
	} else {
		r.w.U32(0)
		r.stamp(&r.view, 0)
		r.w.String(nil)
		r.w.U8(of[0])
	}
	for _, slot := range []int{name, message, file} {
		r.w.String(r.text(slot))
	}
	r.w.String(nil) // function
	r.w.U32(r.whole(line))
	if !r.p.o.CDR {
		r.w.U32(0) // topics
	}
	return nil
}

package mapping

import (
	"github.com/bagconv/bagconv/convert/transcode"
	"github.com/bagconv/bagconv/schema"
)

// Levels of rosgraph_msgs/Log (bits) and rcl_interfaces/msg/Log (steps of ten).
var logLevels = [...]struct{ ros1, ros2 byte }{
	{1, 10},  // DEBUG
	{2, 20},  // INFO
	{4, 30},  // WARN
	{8, 40},  // ERROR
	{16, 50}, // FATAL
}

// levelTables translate a level; values that are none of the five stay.
func levelTables() (to2, to1 *[256]byte) {
	to2, to1 = new([256]byte), new([256]byte)
	for i := range to2 {
		to2[i], to1[i] = byte(i), byte(i)
	}
	for _, l := range logLevels {
		to2[l.ros1], to1[l.ros2] = l.ros2, l.ros1
	}
	return to2, to1
}

var levelToROS2, levelToROS1 = levelTables()

// rule returns the fields that do not match by name. It is asked for every pair
// of structs, nested ones too.
func rule(src, dst *schema.Message) *transcode.Rule {
	type fields = map[string]transcode.From
	switch src.Name + " > " + dst.Name {
	case ros1Log + " > " + ros2Log:
		return &transcode.Rule{Fields: fields{
			"stamp": {Path: "header.stamp"},
			"level": {Path: "level", Table: levelToROS2},
		}}
	case ros2Log + " > " + ros1Log:
		return &transcode.Rule{Fields: fields{
			"header.stamp": {Path: "stamp"},
			"level":        {Path: "level", Table: levelToROS1},
		}}
	}
	return nil
}

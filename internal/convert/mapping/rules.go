package mapping

import (
	"github.com/bagconv/bagconv/internal/convert/transcode"
	"github.com/bagconv/bagconv/schema"
)

// Levels of rosgraph_msgs/Log (bits) and rcl_interfaces/msg/Log (steps of ten).
var logLevels = [...]struct{ ros1, ros2 int64 }{
	{1, 10},  // DEBUG
	{2, 20},  // INFO
	{4, 30},  // WARN
	{8, 40},  // ERROR
	{16, 50}, // FATAL
}

// levelTables translate a level.
func levelTables() (to2, to1 map[int64]int64) {
	to2, to1 = map[int64]int64{}, map[int64]int64{}
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
			"level": {Path: "level", Values: levelToROS2},
		}}
	case ros2Log + " > " + ros1Log:
		return &transcode.Rule{Fields: fields{
			"header.stamp": {Path: "stamp"},
			"level":        {Path: "level", Values: levelToROS1},
		}}
	}
	return nil
}

// Package lerobot reads a data set of LeRobot (v3) as a recording: it is the way back of package
// internal/export/lerobot, and reads the data sets of others.
//
//	job.SourceFormat, job.Source = lerobot.Source(), "set/"
//	report, err := convert.Run(ctx, convert.Job{...})
//
// Each feature is a topic, with the types of ROS 2 in CDR:
//
//	observation.state, action, other numbers   /observation/state, ...   sensor_msgs/msg/JointState: name and position
//	videos of H.264, H.265 and AV1             /observation/images/...   foxglove_msgs/msg/CompressedVideo, a frame each
//	videos of JPEG, images                     /observation/images/...   sensor_msgs/msg/CompressedImage
//	the task                                   /task                     std_msgs/msg/String, when an episode begins
//
// A frame is at timestamp, in ns, since the begin of its episode. An episode begins when its recording had its first
// frame, if the data set has the report of bagconv (meta/bagconv.json) and episodes do not overlap by it; else 10 s
// after the end of the episode before, from the first second of 1970 on. What is read of videos is copied: nothing is
// decoded.
//
//	source.go    the format, which has Open alone
//	dataset.go   what describes a data set: info.json, tasks, episodes
//	reader.go    the messages, episode by episode
//	cdr.go       their bytes
//
// Text features are left out, with a warning. A data set of another version than v3.0 wraps storage.ErrUnsupported, one
// whose files do not go together storage.ErrCorrupt. In memory are the episodes, a row group of each column, and the
// tables of one video of each camera. A Reader keeps the rules of package storage.
package lerobot

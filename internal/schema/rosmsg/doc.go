// Package rosmsg reads and writes message definitions in .msg text, the ROS 1 and
// the ROS 2 dialect, single or with their dependencies as recordings carry them:
//
//	text of the root
//	================================================================================
//	MSG: pkg/Type
//	text of a dependency
//
// (80 times '='; ros/genmsg gentools.py, rosbag2 docs/message_definition_encoding.md).
// Services (.srv text, with "---") and actions are read for the messages that
// are made of them, pkg/srv/X_Event and its like.
//
// Real recordings have dirty definitions: CRLF, tabs, dependencies that are
// missing or named with and without /msg/, equal blocks twice, separators of
// another length. These are read. Refused are unknown types, recursion, duplicate
// fields, two definitions of one type, and what is out of proportion: text over
// 16 MiB, names over 512 bytes, nesting over 64, over 100,000 fields in all.
//
// All functions may be called concurrently.
package rosmsg

import "fmt"

// Dialect is the flavour of .msg text.
type Dialect uint8

// The dialects. In ROS 1 names are pkg/Type, time and duration are primitives,
// and Header is always std_msgs/Header. In ROS 2 names are pkg/msg/Type, and
// fields may have bounds and defaults.
const (
	ROS1 Dialect = iota
	ROS2
)

// Limits of a definition and all its dependencies.
const (
	maxText   = 16 << 20
	maxDepth  = 64
	maxFields = 100_000
	maxName   = 512 // names are repeated for each use, so a long one is a bomb

	minSeparator = 16 // writers other than ROS's own draw shorter lines than 80
)

// An Error is a definition that cannot be read.
type Error struct {
	Type string // the message in whose text it was found
	Line int    // of its text, from 1; 0 when it is about the whole
	What string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("definition of %s: %s", e.Type, e.What)
	}
	return fmt.Sprintf("definition of %s, line %d: %s", e.Type, e.Line, e.What)
}

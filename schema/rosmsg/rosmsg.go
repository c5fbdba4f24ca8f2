// Package rosmsg reads and writes .msg definitions of ROS 1 and ROS 2. It refuses text that ROS refuses, and names and
// text that are out of proportion. All functions may be called concurrently.
//
//	m, err := rosmsg.Parse("sensor_msgs/Imu", text, rosmsg.ROS1, builtin)   // with the text of the types that it uses,
//
// or lookup
//
//	sum := schema.MD5(m)
package rosmsg

import (
	"github.com/bagconv/bagconv/internal/schema/rosmsg"
	"github.com/bagconv/bagconv/schema"
)

// A Dialect is the flavour of .msg text.
type Dialect = rosmsg.Dialect

// The dialects. In ROS 1 names are pkg/Type, time and duration are primitives, and Header is always std_msgs/Header. In
// ROS 2 names are pkg/msg/Type, and fields may have bounds and defaults.
const (
	ROS1 = rosmsg.ROS1
	ROS2 = rosmsg.ROS2
)

// An Error is a definition that cannot be read: the type in whose text it was found, the line, from 1, and what is
// wrong.
type Error = rosmsg.Error

// Parse reads the definition of the message called name. text holds it, alone or with its dependencies, as recordings
// have it; it may be empty. lookup, when it is not nil, is asked for the text of types that text does not have, by full
// name. Each type is one *schema.Message in the result, however often it is used. The error is an *Error.
func Parse(name string, text []byte, d Dialect, lookup func(fullName string) (text string, ok bool)) (*schema.Message,
	error) {
	return rosmsg.Parse(name, text, d, lookup)
}

// Format writes a definition with the definitions of all types that it uses, as recordings have it.
// Parse gives an equal graph back, with the same md5sum and type hash, but for what a dialect
// cannot express: wchar, long double, and blanks at the ends of string constants of ROS 1.
func Format(m *schema.Message, d Dialect) []byte { return rosmsg.Format(m, d) }

package apollo

import (
	"errors"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// A FromROSProgram turns messages of a standard ROS type into an Apollo type.
type FromROSProgram struct{}

// FromROS makes the program from a ROS type, spelled as in ROS 1, to md.
func FromROS(ros string, md protoreflect.MessageDescriptor, _ Options) (*FromROSProgram, error) {
	return nil, errors.New("the way from " + ros + " to " + string(md.FullName()) + " is not known")
}

// Append converts src and appends it to dst.
func (p *FromROSProgram) Append(dst, _ []byte, _ int64) ([]byte, error) { return dst, ErrMalformed }

// Dropped lists the paths of ROS fields that have no place.
func (p *FromROSProgram) Dropped() []string { return nil }

// SizeHint is how many bytes a message of n bytes becomes.
func (p *FromROSProgram) SizeHint(n int) int { return n }

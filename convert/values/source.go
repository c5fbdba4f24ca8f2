package values

import (
	"fmt"
	"reflect"
	"time"

	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/schema"
)

var (
	mapType      = reflect.TypeFor[map[string]any]()
	anyType      = reflect.TypeFor[any]()
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
)

// A shape is a kind of values, and the bytes of a number.
type shape struct {
	kind message.Kind
	size int
}

// naturals are the Go types that values of an interface have.
var naturals = map[shape]reflect.Type{
	{message.Signed, 1}: reflect.TypeFor[int8](), {message.Unsigned, 1}: reflect.TypeFor[uint8](),
	{message.Signed, 2}: reflect.TypeFor[int16](), {message.Unsigned, 2}: reflect.TypeFor[uint16](),
	{message.Signed, 4}: reflect.TypeFor[int32](), {message.Unsigned, 4}: reflect.TypeFor[uint32](),
	{message.Signed, 8}: reflect.TypeFor[int64](), {message.Unsigned, 8}: reflect.TypeFor[uint64](),
	{message.Float, 4}: reflect.TypeFor[float32](), {message.Float, 8}: reflect.TypeFor[float64](),
	{message.Bool, 1}: reflect.TypeFor[bool](), {message.Text, 0}: reflect.TypeFor[string](),
	{message.Bytes, 0}: reflect.TypeFor[[]byte](), {message.Struct, 0}: mapType,
}

// natural returns the Go type that a field has in an interface; one is a value of a list, and not the list.
func natural(f *message.Field, one bool) reflect.Type {
	switch {
	case f.List && !one:
		return reflect.SliceOf(natural(f, true))
	case f.Clock == schema.Time:
		return timeType
	case f.Clock == schema.Duration:
		return durationType
	}
	return naturals[shape{f.Kind, f.Size}]
}

// name is how errors name the type.
func (s *slot) name() string {
	name := s.ROS.String()
	switch {
	case s.Proto != nil && s.Proto.Message() != nil:
		return string(s.Proto.Message().FullName())
	case s.Proto != nil:
		return s.Proto.Kind().String()
	case s.ROS == schema.Struct:
		name = s.Type.Name
	}
	switch {
	case s.list() && s.Fixed >= 0:
		return fmt.Sprintf("%s[%d]", name, s.Fixed)
	case s.list():
		return name + "[]"
	}
	return name
}

// Package view reads messages as messages of the well-known ROS types that exports know: a Reader
// turns the messages of a topic into messages of its type, a View finds their fields by path, and
// Frames are the pictures that some of them have.
//
//	r, err := view.ReaderOf(topic)
//	v := view.Of(topic, r)                  // nil: the messages correspond to no ROS type
//	if v.Has("header.stamp", "data") { ... }
//	x := v.Open(data)                       // for each message
//	stamp := x.TimeAt("header.stamp")
//	x.Close()
//
// A topic without a definition is refused with storage.ErrUnsupported. A Reader and a View do not change once their
// fields are found, and may be used by any number of goroutines; Values by one.
package view

import (
	"cmp"
	"math"
	"strings"

	"github.com/bagconv/bagconv/internal/schema/numbers"

	"github.com/bagconv/bagconv/internal/convert/mapping"
	"github.com/bagconv/bagconv/internal/message"
	"github.com/bagconv/bagconv/storage"
)

// A View reads messages as messages of a well-known ROS type, which they are or which corresponds
// to them.
type View struct {
	Reader *Reader
	Type   *message.Type // of the Reader
	Name   string        // of the ROS type, as in ROS 1: "sensor_msgs/Image"
	Stamp  string        // the field with the time of a message; "": header.stamp
	paths  map[string]*message.Path
}

// Of returns the view of a topic, nil if its messages have no view.
func Of(t *storage.Topic, r *Reader) *View {
	if t.Encoding == "ros1" || t.Encoding == "cdr" {
		return &View{Reader: r, Type: r.Type, Name: strings.Replace(t.Type, "/msg/", "/", 1),
			paths: map[string]*message.Path{}}
	}
	mapper := mapping.New(mapping.Options{Encoding: "ros1"})
	res, err := mapper.Map(t)
	if err != nil || res.Plan == nil {
		return nil
	}
	typ, _, err := mapper.Type(&res.Topic)
	if err != nil || typ == nil {
		return nil
	}
	return &View{Reader: &Reader{typ, res.Plan}, Type: typ, Name: res.Topic.Type, paths: map[string]*message.Path{}}
}

// Has finds fields of the type by their paths, and reports whether it has all of them.
func (v *View) Has(paths ...string) bool {
	for _, name := range paths {
		p, err := v.Type.Path(name)
		if err != nil {
			return false
		}
		v.paths[name] = p
	}
	return true
}

// With returns a view of the same messages that has found these fields, as far as the type has them.
func (v *View) With(paths ...string) *View {
	own := &View{Reader: v.Reader, Type: v.Type, Name: v.Name, Stamp: v.Stamp, paths: map[string]*message.Path{}}
	for _, name := range paths {
		own.Has(name)
	}
	return own
}

// Values are the values of one message of a View.
type Values struct {
	*message.Cursor
	v *View
}

// Open begins a message. Close must be called.
func (v *View) Open(data []byte) *Values { return &Values{message.Open(v.Type, data), v} }

// SeekAt goes to a field, and reports whether the message has it.
func (x *Values) SeekAt(name string) (*message.Field, bool) {
	p := x.v.paths[name]
	if p == nil {
		return nil, false
	}
	x.Rewind()
	return p.Field, x.Seek(p)
}

// UintAt returns a whole number, 0 if the type has no such field.
func (x *Values) UintAt(name string) uint64 {
	if f, ok := x.SeekAt(name); ok {
		return x.Bits(f)
	}
	return 0
}

// FloatAt returns a number, 0 if the type has no such field.
func (x *Values) FloatAt(name string) float64 {
	if f, ok := x.SeekAt(name); ok {
		return FloatOf(f, x.Bits(f))
	}
	return 0
}

// FloatOf returns a number as Bits returns it.
func FloatOf(f *message.Field, bits uint64) float64 {
	switch {
	case f.Kind.Class() == numbers.Float && f.Size == 4:
		return float64(math.Float32frombits(uint32(bits)))
	case f.Kind.Class() == numbers.Float:
		return math.Float64frombits(bits)
	case f.Kind.Class() == numbers.Signed:
		return float64(int64(bits))
	}
	return float64(bits)
}

// TextAt returns a text, "" if the type has no such field.
func (x *Values) TextAt(name string) string {
	if f, ok := x.SeekAt(name); ok {
		return string(x.Text(f))
	}
	return ""
}

// BytesAt returns the bytes of a list of them, or of a field of bytes; they are valid until the next call.
func (x *Values) BytesAt(name string) []byte {
	f, ok := x.SeekAt(name)
	switch {
	case !ok:
		return nil
	case f.List:
		return x.List(f)
	}
	return x.Text(f)
}

// TimeAt returns a time in ns since 1970, 0 if the message has no such time.
func (x *Values) TimeAt(name string) int64 {
	f, ok := x.SeekAt(name)
	if !ok {
		return 0
	}
	sec, nsec := x.Time(f)
	return sec*1_000_000_000 + nsec
}

// All reads the message to its end, as a table would, so that what does not fit is found.
func (x *Values) All() error {
	x.Rewind()
	x.Fields(x.v.Type, x.Check)
	return x.End()
}

// StampOr returns the time that the message says it is of, or the log time if it says no time.
func (x *Values) StampOr(log int64) int64 {
	if stamp := x.TimeAt(cmp.Or(x.v.Stamp, "header.stamp")); stamp != 0 {
		return stamp
	}
	return log
}

// Package values reads serialized messages into Go values, and writes them from Go values, without
// generated code. Read reads the messages of a topic, on all cores and in the order of time. A Codec is
// compiled once for a type of messages and a Go type; then it runs over the bytes of each message and
// the memory of each value, without looking at types again.
//
//	type Fix struct {
//		Header    struct{ Stamp time.Time; FrameID string }
//		Latitude  float64
//		Height    float64 `bag:"altitude"`
//	}
//	for m, err := range values.Read[Fix](ctx, r, "/gps/fix", values.Query{}) { ... m.LogTime, m.Value }
//
//	codec, err := values.For[Fix](&topic)
//	var fix Fix
//	err = codec.Decode(message, &fix)
//	message, err = codec.Append(message[:0], &fix)
//
//	bytes of the message    04 00 00 00 6c 65 66 74 00 00 00 00 00 00 f0 3f
//	its definition          string name, float64 x       (ROS 1)
//	as a struct             struct{ Name string; X float64 }{"left", 1}
//	as a map                map[string]any{"name": "left", "x": 1.0}
//
// It reads and writes ROS 1 serialization, CDR (it reads every form and writes XCDR1 in little
// endian, as ROS 2 does) and protobuf, and reads JSON with a schema. What is written from a value
// that was read is the same message, with what T has of it.
//
// Fields are found by their names, without case and underscores: frame_id is FrameID, FrameId or
// Frame_id. A tag bag:"name" names the field, and bag:"-" means no field. An embedded struct is a
// field with the name of its type. Fields of the messages that T does not have are stepped over,
// and written as zero ([Codec.Unread]); fields of T that the messages do not have keep what they
// had ([Codec.Unset]), but a tag must name a field that is there.
//
//	messages                            Go
//	numbers, enum (its number)          any number type. A value that it cannot hold exactly is an error
//	bool                                bool
//	string, wstring                     string, []byte
//	time, builtin_interfaces/Time,      time.Time in UTC, an integer type of 64 bits (ns since 1970),
//	google.protobuf.Timestamp           or a struct with Sec and Nanosec (ROS), Seconds and Nanos (protobuf)
//	duration and its likes              time.Duration, an integer type of 64 bits, or such a struct
//	T[N], T[], T[<=N], repeated T       a slice, or an array of exactly as many
//	bytes of protobuf                   []byte
//	a struct, a message                 a struct, or map[string]any
//	any of them                         a pointer, or any
//
// In a map and in any, values have the Go type that is nearest: int16, []float32, time.Time,
// []map[string]any; arrays are slices. When they are written, all types of the table will do.
//
// Which fields of a protobuf message are set is kept by pointers (nil if not), by any and by maps.
// Other fields that are not set get their default, and are not written if they have it; messages if
// all their fields do. Required fields are always written. A map of protobuf is a list of structs
// with key and value. Fields that the descriptor does not have are left out.
//
// Limits: the nanoseconds of a time.Time are below 1e9, so that one with more is another time of the
// same length; surrogates that stand alone in a wstring become U+FFFD; the zero time.Time is time 0.
// Refused are long double and wchar. Types that only IDL has, with unions, optional members or maps,
// are read as the lists that docs/mapping.md describes, and not written.
//
// Input is not trusted: counts are compared with the bytes that remain, and memory is limited to a
// multiple of the message. Errors wrap [ErrMalformed], [ErrRange] or [ErrType] and name the field. A
// Codec is immutable and may be used by any number of goroutines; a value by one.
package values

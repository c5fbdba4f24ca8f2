// Package message reads the values of serialized messages: one compiled Type and one Cursor for ROS 1,
// every form of CDR, and protobuf. All code that looks at values is a visitor of a Cursor.
//
//	t, err := message.ROS(definition, serial.CDR)       // once for a type; message.Proto for a descriptor
//	stamp, err := t.Path("header.stamp")
//
//	c := message.Open(t, data)                          // for each message
//	defer c.Close()
//	c.Fields(t, func(f *message.Field) { ... })         // all of it, in the order of the type
//	if c.Seek(stamp) { sec, nsec := c.Time(stamp.Field) }
//	err = c.End()
//
// Within Fields and Elements the cursor stands before a value, and the visitor takes it by one of these:
//
//	Bits       one number or bool
//	Numbers    many, as bytes in little endian: the message's own bytes if they are so; List is Count and Numbers
//	Text       a string or bytes, as UTF-8
//	Time       a time or duration
//	Fields     a struct, also a time
//	Elements   the structs or strings of a list, after Count
//	Skip       nothing of it; Check reads all of it and keeps nothing
//
// A visitor that needs the fields in another order has Enter, Return or At, and Leave in the place of Fields.
//
// After the first error, which Err returns, all of them return zeros and visit nothing, so that a visitor
// asks once, at its end. An error is a *ros.Error with the offset in the message, in bytes, and wraps
// ros.ErrMalformed. In protobuf the offset is approximate if a message came in parts.
//
//	ROS 1, CDR   what a value has before it (padding, sizes of structs and lists), bytes for structs without
//	             fields, wide strings, either order of bytes: internal/wire/ros draws the bytes
//	IDL          unions, optional and numbered members and maps are read as the fields of facts.Plain: a
//	             message that has some is made plain first (internal/wire/xtypes)
//	protobuf     if a single value comes several times the last one counts; a message may come in parts; lists
//	             may be packed or not; a group is a message; a field that is not set has its default
//
// JSON is not read: its values have no places, so that a message becomes ROS 1 by its schema before, see package
// transcode.
//
// No length of a message is trusted. Refused are types with long double or wchar, types with more than
// 100,000 fields in all or nested more than 128 deep, and messages with too many values that take no bytes
// (64 Ki and one for each byte, in protobuf 64) or, in protobuf, nested more than 128 deep.
//
// A Type does not change and may be used by any number of goroutines; a Cursor by one at a time. What a Cursor
// returns points into the message or into its own memory, and is valid until its next call.
package message

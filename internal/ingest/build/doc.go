// Package build makes messages of values: of JSON, and of columns. A Program is compiled once for a type of messages
// and runs over the values of each message, by their names.
//
//	p, err := build.Compile(typ)                               // typ: message.ROS or message.Proto
//	message, err := p.JSON(dst, text, &doubts)                 // {"x": 1.0, "name": "left"}
//	rows, err := p.Bind(columns)                               // once for each batch of columns
//	message, err := rows.Append(dst, i, &doubts)
//
// It writes ROS 1 serialization, CDR as ROS 2 does (XCDR1 in little endian) and protobuf; it is the way back of
// packages internal/convert/render and internal/export/columns, and takes what these write:
//
//	field                     JSON                                    columns
//	numbers, bools            number, its digits as text, NaN as text any number; a float for an integer if it has no
//
// fraction
//
//	string                    text; \udcXX is the byte XX             text, bytes, dictionary
//	bytes, uint8[]            base64, or a list of numbers            bytes, or a list of numbers
//	time, duration            {"sec":1,"nanosec":2}, or ns            timestamp, duration, such a struct, or ns
//	struct                    object; true if it has no fields        struct, or a column for each member: "header.stamp"
//	list, array               array                                   list, list of fixed size
//	enum of protobuf          its name or number                      text, dictionary, number
//	map of protobuf           list of objects of key and value        map
//	message within itself     object                                  its bytes in protobuf
//
// A value that is missing, or null where the type has no absent values, is zero; of protobuf it is not set. A scalar
// of protobuf that has its default is not set, unless it is required or in a oneof. What was missing, null or rounded,
// and values that no field takes, are counted in Doubts.
//
// An error names the field, and wraps ErrValue: a number out of range, a text where a number belongs, an array of
// another length. Refused at Compile are types with unions, optional or numbered members of IDL.
//
// No count is trusted: a message may be larger than its values by a limit only. A Program does not change and may be
// used by any number of goroutines; Rows by one at a time.
package build

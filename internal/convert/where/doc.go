// Package where decides by their values which messages of a topic are taken: conditions over fields, compiled once
// for the type of a topic, and tested on its messages.
//
//	c, err := where.Parse(`/odom.twist.twist.linear.x > 2 && any(/tf.transforms[].child_frame_id == "lidar")`)
//	c.Topics()                                // /odom, /tf
//	f, err := c.Compile([]string{"/odom"}, t) // of a message.Type; the error points at a place in the text
//	holds, err := f.Holds(data)               // the error: the message does not decide it
//	c, err = where.ParseValue("/gear.x + 1")  // of any kind; Filter.Value returns it as text
//
// A condition is a list of parts with && between them. A part is about one topic, and applies to the messages of that
// topic alone: a message is taken if all parts about its topic hold, and a topic without a part is not looked at. A
// part about two topics, such as /a.x > /b.x, is refused, because their messages do not come at the same time.
//
//	/gps/fix.status.status    a topic, then its fields with points between; topic("/a-b").x for names with other
//	                          characters, and for globs: topic("/robot*/odom").pose.pose.position.x
//	/scan.ranges[3]           an element of a list, from 0 on
//	any(/scan.ranges[] < 1)   the elements of a list, one after the other; also all, none, one, count, min, max,
//	                          sum and mean; [] stands in no other place
//	STATUS_FIX                a constant of one of the types on the way to a field, or a value of an enum
//	== != < <= > >=  + - * / % **  && || ! not and or  a ? b : c  in [1, 2]  in 1..5
//	contains startsWith endsWith matches    of text; matches takes a regular expression of Go, which is linear
//	len abs floor ceil round sqrt int float lower upper trim isNaN seconds date duration
//
// The grammar is the grammar of github.com/expr-lang/expr, whose parser reads the text. The values are our own work,
// because a wrong one must never pass: integers have 64 bits, and what does not fit is an error, as is a division by
// zero; an integer and a float are compared exactly; NaN is equal to nothing; % has the sign of its left side, as in C.
// Values are read by message.Cursor, only the fields that are named, and only when they are needed. A field of
// protobuf that is not set has its default. An element that a list does not have is an error.
//
// Limits: a text of 8192 bytes, lists of 1 Mi elements; no loops but over the elements of a list, none within
// another, and no variables. So the time of a test is proportional to the message and the text.
//
// Conditions and filters do not change, and may be used concurrently.
package where

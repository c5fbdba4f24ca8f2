// Package edit changes values of messages and leaves their type and their encoding as they are: fields get other values
// or their defaults, frames get other names, transforms go.
//
//	p, err := edit.Compile(edit.Rules{Set: ..., Frame: ...}, t) // for a topic, of a message.Type; nil: nothing to change
//	out, err := p.Append(nil, data)                             // for each message
//	p.Changes()                                                 // what was changed so far, by rule
//
// All values are evaluated on the message as it comes; then it is written once. The frames that a rule of frames finds
// are those after that.
//
//	tree.go   the rules as a tree over the type: which fields stay, and what becomes of the others
//	ros.go    writes ROS 1 and CDR. What does not change keeps its bytes, but for padding that moves; CDR of other
//	          forms becomes plain little endian
//	proto.go  writes protobuf. What does not change keeps its bytes, unknown fields too
//	frames.go which fields are frames, and what is done with them
//
// Refused with ErrRefused are messages for which a value cannot be evaluated or does not fit its field, and messages of
// ROS with bytes behind their last field that are no padding. Refused by Compile are types that only IDL has, maps and
// oneofs of protobuf, two rules for one field. No value is rounded or cut to fit.
//
// A Program does not change but for its counts, and may be used concurrently.
package edit

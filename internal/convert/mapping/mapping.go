// Package mapping decides what a topic becomes in another encoding: which type
// it has there, with which definition, quality of service and metadata, and by
// which program its messages are re-encoded (package transcode compiles that).
//
// The policies are tables and short functions, one file each:
//
//	names.go    type names that differ between ROS 1 and ROS 2
//	rules.go    fields that do not match by name (log levels, time wrappers)
//	graph.go    a ROS 1 type graph as a ROS 2 type graph, and back
//	complete.go definitions that a copied recording does not have
//	known.go    what is known about the definitions of a recording, found once for all commands
//	evidence.go which definitions fit the messages; verdict.go: which one is used
//	given.go    definitions that the user has; unhelpful.go: definitions that did not help
//	legal.go    names that ROS 2 does not allow
//	alone.go    definitions that can be read without others
//	qos.go      latched publishers and transient_local
//	foreign.go  CDR with definitions of IDL or ROS 1
//	mapper.go   one topic from end to end, between ROS 1 and ROS 2
//	crossing.go from ROS 1 to ROS 2; kept.go: once for each definition in a process
//	proto.go    one topic from protobuf; toproto.go: one to it
//	original.go ROS types that went into a record, and back
//	apollo.go   Apollo's types that are standard ROS types
//	json.go     one topic from JSON
//	wellknown.go Foxglove's schemas that are standard ROS types
//	pack.go     descriptors as text that metadata can hold
//	program.go  programs in a row
//
// docs/mapping.md is the user's view of these policies. A Mapper is used by one
// goroutine; what it returns is immutable.
package mapping

import (
	"slices"

	"github.com/bagconv/bagconv/storage"
)

// A Result is what a topic becomes.
type Result struct {
	Topic      storage.Topic // in the sink
	Plan       Program       // nil: the bytes move untouched
	Definition string        // where the source's definition came from: "file", "builtin humble", "none"
	Remarks    []Remark
	HeaderSeq  HeaderSeq
}

// HeaderSeq is what becomes of the counter of the Header that ROS 1 messages begin with.
type HeaderSeq uint8

const (
	SeqNone         HeaderSeq = iota // it is as in the source, or has no place
	SeqToSequence                    // it becomes Message.Sequence
	SeqFromSequence                  // it was Message.Sequence
)

// A Remark is something to report about a topic.
type Remark struct {
	Code, Message string
	Loss          bool // the target does not carry it; otherwise it is only worth knowing
	ByDesign      bool // a loss that lies in the nature of the target format
	Fields        int  // that the target has no place for; 0: it is about something else
	Counted       bool // a loss only of messages that the program counts; see Losses
	Warning       bool // no loss, but values may be wrong, or a place of the user did not help: the user must see it
}

// Keys of Topic.Metadata that conversions write for the way back.
const (
	MetaROS1Type  = "ros1_type"           // the type name that the topic had in a ROS 1 bag, when it differs
	MetaROS2Type  = "ros2_type"           // the type name that the topic had in ROS 2, when it differs from the usual one
	MetaProtoType = "protobuf_type"       // the full name of the protobuf message that a ROS type was made from
	MetaProtoDesc = "protobuf_descriptor" // its FileDescriptorSet: serialized, gzip, base64
	MetaHeaderSeq = "header_seq"          // "sequence": Message.Sequence is the Header.seq that the messages had in ROS 1
)

// handled are keys of a topic's metadata whose loss Map reports, or which another form
// of the topic has.
var handled = []string{
	storage.MetaCallerID, storage.MetaCallerIDs, storage.MetaLatching, storage.MetaMD5Sum, MetaROS1Type,
	MetaROS2Type, storage.MetaTypeHash, MetaProtoType, MetaProtoDesc, MetaHeaderSeq,
}

// Fit removes what a format does not keep of a topic, with a remark.
func (r *Result) Fit(f *storage.Format) {
	kept := f.Holds.StripTopic(r.Topic)
	if len(r.Topic.QoS) > 0 && !f.Holds.QoS {
		r.byDesign("qos", "the format has no place for quality of service")
	}
	var lost []string
	for key := range r.Topic.Metadata {
		if _, ok := kept.Metadata[key]; !ok && !slices.Contains(handled, key) {
			lost = append(lost, key)
		}
	}
	if len(lost) > 0 {
		slices.Sort(lost)
		r.byDesign("topic-metadata", "the format has no place for this metadata of the topic: %q", lost)
	}
	if !f.Holds.Sequence {
		delete(kept.Metadata, MetaHeaderSeq)
	}
	r.Topic = kept
}

// Rosout describes what becomes of rosgraph_msgs/Log in ROS 2, which has
// rcl_interfaces/msg/Log instead, with other levels and fewer fields.
type Rosout uint8

const (
	RosoutKeep Rosout = iota // keep every field, as rosgraph_msgs/msg/Log
	RosoutROS2               // rcl_interfaces/msg/Log: header.seq, header.frame_id and topics are lost
)

package storage

import "math"

// TopicID names a topic within one Reader or Writer. IDs are small and dense:
// a Reader numbers its topics 0, 1, 2 ... in the order of Info.Topics, a Writer
// in the order of CreateTopic. They are not the numbers in the file.
type TopicID uint32

// NoTopic is the number of no topic.
const NoTopic TopicID = math.MaxUint32

// A Topic is one stream of messages.
type Topic struct {
	Name     string // as in the file; a leading slash is not added or removed
	Type     string // "std_msgs/String" (ROS 1), "std_msgs/msg/String" (ROS 2), "apollo.drivers.Image"
	Encoding string // of the messages: "ros1", "cdr", "protobuf", ... as in MCAP's registry
	Schema   Schema
	QoS      []QoS             // one profile per original publisher; nil if the format keeps no profiles
	Metadata map[string]string // see the Meta constants; other keys are kept if the format can
}

// Identity is the fields that distinguish topics of an output. The converter joins or
// renames topics that are equal in them.
type Identity uint8

const (
	IdentityType  Identity = iota // name, type and encoding: two types may have one name
	IdentityName                  // the name alone
	IdentityTopic                 // each topic stands alone: several publishers of one name and type stay apart
)

// A Schema is a message definition as the file has it. Formats never parse it.
type Schema struct {
	Encoding string // "ros1msg", "ros2msg", "ros2idl", "protobuf"; "" if the file has no definition
	// text, empty for a type without fields, or a serialized FileDescriptorSet for "protobuf"; must not be changed
	Data []byte
}

// Keys of Topic.Metadata that more than one format understands. Conversions add others, for the way back:
// docs/mapping.md has them.
const (
	MetaCallerID  = "callerid"              // name of the publishing ROS 1 node
	MetaCallerIDs = "callerids"             // the publishers that were joined into this topic, comma separated
	MetaLatching  = "latching"              // "1" for a latched ROS 1 publisher, "0" otherwise
	MetaMD5Sum    = "md5sum"                // ROS 1 md5sum of the type, 32 hex digits, or "*"
	MetaTypeHash  = "type_description_hash" // "RIHS01_<64 hex>"
)

// Keys of Info.Metadata and WriteOptions.Metadata that more than one format
// understands.
const (
	MetaDistro = "ros_distro" // "humble"
)

// A Message is one serialized message.
type Message struct {
	Topic       TopicID
	LogTime     int64  // when it was recorded, ns since 1970
	PublishTime int64  // when it was sent, ns since 1970; LogTime if the format has no such time
	Sequence    uint32 // if the format has a sequence, else 0
	Data        []byte // valid until the next call, see Reader.ReadNext and Batch
}

// A QoS is the quality of service that a ROS 2 publisher offered. The zero
// value leaves everything to the system.
type QoS struct {
	History     History
	Depth       int64
	Reliability Reliability
	Durability  Durability
	Deadline    QoSDuration
	Lifespan    QoSDuration
	Liveliness  Liveliness
	Lease       QoSDuration // liveliness_lease_duration

	AvoidROSNamespaceConventions bool
}

// QoSDuration is a duration as QoS profiles have it; {0, 0} is unspecified.
type QoSDuration struct{ Sec, NSec uint64 }

// QoSInfinite is what rosbag2 writes for an infinite duration.
var QoSInfinite = QoSDuration{9223372036, 854775807}

// History is a policy. The policies have the numbers of rmw (ros2/rmw types.h),
// which rosbag2 stores up to version 8 of its metadata.
type History uint8

const (
	HistorySystemDefault History = iota
	HistoryKeepLast
	HistoryKeepAll
	HistoryUnknown
)

// Reliability is a policy.
type Reliability uint8

const (
	ReliabilitySystemDefault Reliability = iota
	ReliabilityReliable
	ReliabilityBestEffort
	ReliabilityUnknown
	ReliabilityBestAvailable
)

// Durability is a policy.
type Durability uint8

const (
	DurabilitySystemDefault Durability = iota
	DurabilityTransientLocal
	DurabilityVolatile
	DurabilityUnknown
	DurabilityBestAvailable
)

// Liveliness is a policy.
type Liveliness uint8

const (
	LivelinessSystemDefault Liveliness = iota
	LivelinessAutomatic
	LivelinessManualByNode
	LivelinessManualByTopic
	LivelinessUnknown
	LivelinessBestAvailable
)

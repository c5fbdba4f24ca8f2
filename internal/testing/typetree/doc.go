// Package typetree makes random message types and random values of them, by a
// seed: what tests convert, and what other people's readers then have to find.
//
// A World is the set of types of one recording. Its types share parts, as real
// ones do (Header and PoseStamped, Pose and Point), have equal names in several
// packages, are empty, hold constants alone, nest deeply, and have fields of
// every kind. From a type and a value come
//
//	text       AppendText     the definition in either dialect, with its dependencies
//	hashes     MD5, RIHS01    of ROS 1 and of ROS 2
//	ROS 1      AppendROS1     the serialized message
//	CDR        AppendCDR      the serialized message, little endian, padded with zeros
//	truth      AppendTruth    JSON of what a reader must find
//
// The package shares no code with the converter: it is what the converter is
// judged by. Only tests use it. A World must not be used concurrently; types and
// values are never changed and may be shared.
package typetree

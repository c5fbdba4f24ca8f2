// Package apollo has those Apollo messages that have a counterpart among the
// standard ROS types, written from their field numbers in our own .proto files:
// only the fields that a conversion reads or writes. A record's own descriptors
// say what is in it; these are what bagconv writes into one.
//
// The .proto files lie in the folders that Apollo 8 and later keeps under
// modules/common_msgs. scripts/protos/make writes the Go code again.
package apollo

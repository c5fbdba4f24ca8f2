// Package ros1 speaks with running ROS 1 systems: it records topics of other nodes,
// and publishes topics to them. It needs nothing of ROS.
//
//	master.go    calls to the master, and to other nodes (ROS Master and Slave API)
//	node.go      a node: its name, and the calls that it answers
//	wire/        the bytes of XML-RPC and TCPROS
//	subscribe.go one subscription: its publishers, and a connection to each
//	record.go    a source of convert: all subscriptions of a recording
//	publish.go   one publication, and a connection to each subscriber
//	play.go      a sink of convert: all publications of a player
//
// A recorder asks the master for the publishers of a topic, and each publisher for an address,
// and connects to it. The header of the connection has the type, its md5sum and its
// definition: what a bag keeps of a connection. Recording needs no definitions.
//
// Refused are: services, UDPROS, parameters other than the parameters of time. Whatever a peer
// sends has a limit: 16 MiB for an XML-RPC message, 8 MiB for a header, and one for messages that
// the user sets. A connection that breaks a limit is closed and tried again later.
//
// Sources: wiki.ros.org/ROS/Master_API, Slave_API, TCPROS, Connection Header.
//
// A Recorder and a Player start goroutines, and end them in Close. Their methods are safe for
// concurrent use, except the methods of storage.Reader and storage.Writer.
package ros1

// Package oldbag reads ROS 1 bags of before version 2.0, which ROS wrote from 2008 to
// the spring of 2010.
//
// Version 1.2 has the records of version 2.0, and no chunks: u32 header length, header
// fields (u32 length, name, '=', value, in any order), u32 data length, data.
//
//	"#ROSRECORD V1.2\n"
//	FILE_HEADER          4096 bytes, with the offset of the index, 0 while recording;
//	                     the first writers write no header and no index
//	MSG_DEF, MSG_DATA    the definition before the first message of a topic; the first
//	                     writers: of a type
//	INDEX_DATA ...       one for each topic
//
//	op  record       header fields besides op                         data
//	 1  MSG_DEF      topic, type, md5, def                            none
//	 2  MSG_DATA     topic, type, md5, sec, nsec; latching, callerid  the message
//	 3  FILE_HEADER  index_pos u64 (op 2 in tools/rosbag/FORMATS)     blanks
//	 4  INDEX_DATA   ver=0, topic, count, perhaps type                count times: time, u64 offset in the file
//
// Older versions have text lines, each ended by "\n", and no definitions; a message is
// u32 seconds, u32 nanoseconds, u32 length, data:
//
//	1.1  "#ROSRECORD V1.1\n" or "#ROSLOG V1.1\n"; for each message: topic, md5, type, message
//	1.0  "#ROSLOG V1.0\n"; the number of topics; for each: topic, md5, type (the recorder
//	     wrote the type before the md5); for each message: topic, message
//	0    topic, md5, type; messages
//
// The recorders before 1.2 wrote times since the start of the recording; they are read
// as they are. Numbers are little endian. Sources: ros_comm noetic-devel,
// tools/rosbag/FORMATS; wiki.ros.org/Bags/Format; rosrecord.py and LogRecorder.h of 2008
// and 2009, for the order of lines in version 1.0.
//
// # Reading
//
// The heads of all records are read when a bag is opened, and records that follow each other are
// put into blocks of about 512 KiB. The index of version 1.2 may point anywhere: it is only asked
// how many messages there should be. After damage the reader goes on at the next bytes that are a
// record and are followed by another record.
//
// A topic of the contract is what its messages have: topic, type and md5, and the
// publisher if that stands there.
package oldbag

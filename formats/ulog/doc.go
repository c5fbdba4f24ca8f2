// Package ulog reads the logs of PX4, the autopilot: ULog files. It does not write them. Numbers
// are little endian, structs are packed, and times are microseconds since the vehicle has booted.
//
//	file     = magic "ULog" 01 12 35 | version u8 | start u64 | message ...
//	message  = size u16 | type u8 | size bytes:
//
//	B flags         compat u8[8] | incompat u8[8] | offsets of appended data u64[3] | more; it is the first message
//	F format        name ":" type " " field ";" ... : a struct; a type is a basic one or a format, or an array:
//	                "float[3]"
//	I info          key size u8 | type " " name | value
//	M multi info    continued u8 | as I
//	P parameter     as I: an int32_t or a float; after the definitions one that was changed
//	Q default       kinds u8: 1 the system's, 2 the configuration's | as I
//	A subscription  instance u8 | id u16 | name of a format: the definitions end before the first A, L or C
//	R               id u16: its messages end
//	D data          id u16 | a struct; padding at its end may be missing
//	L text          level u8: '0' to '7' as in Linux | time u64 | text
//	C tagged text   level u8 | tag u16 | time u64 | text
//	S sync          2f 73 13 20 25 0c bb 12: reading can go on here after damage
//	O dropout       u16: how many milliseconds the logger could not follow
//
// # Reading
//
// Opening goes over the whole file once: there is no index. It collects formats, subscriptions, counts and times, and
// notes a block of messages for each 256 KiB, so that blocks can be read concurrently. A message becomes CDR, with the
// text of a ROS 2 definition that is made of its format: docs/formats/ulog.md has the mapping.
//
// # Damage
//
// A message that cannot be right is left out, and reading goes on after it if another message follows there. Otherwise
// the next place is looked for at which several messages follow each other, or a sync message is. Blocks end before
// such a gap, so that they have sound sizes only. Data that was appended to a file that ended within a message is found
// by the offsets of B.
//
// # Refused
//
// Files with flags in incompat that are not known here, as PX4's description of the format demands.
//
// # Concurrency
//
// As in [storage.Reader]: ReadBlock may be called from several goroutines.
//
// Facts of the format are from PX4's public description (docs.px4.io, "ULog File Format"), and were compared with what
// PyPI's pyulog reads.
package ulog

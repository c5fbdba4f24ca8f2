// Package ros has cursors over messages in ROS 1 serialization and in CDR as
// ROS 2 has it: a Reader that walks over any form of them, and a Writer that
// appends the two forms that are written. They know values, not types.
//
//	           ROS 1                 CDR, XCDR1            XCDR2, what differs
//	start      nothing               00, id, two bytes of options; alignment counts from after them
//	number     n bytes               n bytes at a multiple of n
//	                                                       8 bytes at a multiple of 4
//	string     u32 length, bytes     u32 length with NUL, bytes, NUL
//	wstring    none                  u32 units, 4 bytes for each
//	                                                       u32 bytes, 2 for each unit
//	T[N]       N values              N values              a u32 size before, unless T is a number
//	T[]        u32 count, values     u32 count, values     a u32 size before, unless T is a number
//	struct     its fields            its fields; one byte if it has none
//	                                                       delimited: a u32 size before
//	time       u32 s, u32 ns         i32 s, u32 ns
//	duration   i32 s, i32 ns         i32 s, u32 ns
//
// Either version of CDR is little or big endian. (OMG DDS-XTypes 1.3, 7.4; the
// ids are in RTPS, 10.2.1.2, and in XTypes, 7.6.2.1.2.)
//
// A Reader trusts no length. After the first error it returns zeros, and Err has
// what was wrong. Neither cursor is safe for concurrent use.
package ros

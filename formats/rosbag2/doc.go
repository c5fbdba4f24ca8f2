// Package rosbag2 reads and writes rosbag2 recordings with SQLite storage.
//
//	drive/
//	  metadata.yaml    topics, counts, times, list of parts (package ros2bag)
//	  drive_0.db3      SQLite: topics, messages, ... (record.go)
//	  drive_1.db3      the next part; "drive_1.db3.zstd" when compressed as a whole
//	  drive_1.db3-wal  frames that a crashed recorder left; applied while reading
//
// A recording may also be a folder without metadata.yaml, or one .db3 file. A
// topic of the contract is a name, type and serialization format: the ids of
// the tables differ from part to part. Topics are numbered in the order in which
// the parts have them.
//
// # Engine
//
// Package sqlite has the engine: each database is a storage.File, so that SQLite cannot
// lock, create or change anything beside a source. It reads and writes all that is
// small. The rows of messages go page by page (package sqlitefile); SQLite reads them only
// if their table is of another kind (plain.go). Blocks are ranges of rowids.
//
// # Reading
//
// metadata.yaml is a hint and the databases are the truth. All metadata versions
// (1 to 9) and table schemas (1 to 4) are read, parts compressed with zstd as a
// whole (they are decompressed into the folder for temporary files until Close)
// or row by row. ReadBlock and Info are safe for concurrent use.
//
// Damage: what cannot be read as a database is salvaged (salvage.go). All leaves of
// messages are looked for, wherever they lie, and every message that is whole is
// given. Topics come from the rows of their table that are left, then from the
// metadata, then they are numbers. Each loss is a warning, and counted in Info.
//
// Refused, wrapping storage.ErrUnsupported: databases
// without the tables, messages compressed with anything but zstd.
//
// # Writing
//
// A profile (ros2bag.Profile) decides what the files look like, and limits cut the recording
// into parts (outpart.go). "universal" opens on
// every distribution from Foxy on. timestamp_idx is written after the last row.
// What rosbag2 has no place for is kept in custom_data (ros2bag.CustomTopic). The same
// calls write the same bytes.
//
// What is added to a folder is another part (append.go), and to a single database rows
// (appendfile.go, appendtables.go).
package rosbag2

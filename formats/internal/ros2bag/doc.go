// Package ros2bag reads and writes what rosbag2 recordings have besides messages, for any
// storage of the messages:
//
//	drive/
//	  metadata.yaml    topics, counts, times, list of parts (metadata.go, metatext.go)
//	  drive_0.db3      a part, a file of some Storage (folder.go, files.go)
//	  drive_1.db3      the next part; "drive_1.db3.zstd" if it is compressed as a whole (zstd.go)
//
// with what the Readers (reader.go) and Writers (writer.go, append.go) of all storages have in common,
// reindex.go and join.go; the text of QoS profiles (qos.go), what each distribution writes (profile.go), and
// what bagconv keeps in custom_data (custom.go).
//
// All metadata versions (1 to 9) are read. metadata.yaml is a hint: a folder without
// metadata.yaml is its parts in the order of their numbers. Damage is for a Warner to report or to
// refuse. A document with too many keys, or aliases that make it large, is refused; the
// errors wrap storage.ErrCorrupt or storage.ErrUnsupported.
//
// Functions are safe for concurrent use, but for a QoSCache and a Metadata that is
// changed.
package ros2bag

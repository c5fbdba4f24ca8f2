package storage

// Info describes a recording.
type Info struct {
	Format  string   // Format.Name
	Version string   // of the file format: "2.0"; rosbag2: metadata version and schema
	Path    string   // as given to Open
	Size    int64    // bytes of all its files
	Files   []string // the files that hold the messages, in order, as paths; one entry for a single file

	Messages   int64 // in all topics
	Start, End int64 // least and greatest LogTime; both 0 when there is no message

	// Compression counts the blocks (chunks, files or messages, as the format
	// compresses) by codec name, "none" included.
	Compression map[string]int64

	Topics   []TopicInfo       // index = TopicID
	Metadata map[string]string // recording level; see MetaDistro; other keys as the file has them
	Warnings []Warning         // in the order of offset
}

// TopicInfo is a topic with what the recording's index says of it.
type TopicInfo struct {
	Topic
	ID       TopicID
	Messages int64
}

// A Warning says what is odd or damaged in a file. Its Message reads well
// after the path: lower case, with numbers, and the next step where there is one.
type Warning struct {
	Code    string // stable and short: "truncated", "unindexed"; listed in docs/formats
	Message string
	Offset  int64 // byte offset in the file, -1 when it has none
	Damage  bool  // something is or may be missing: a conversion exits with status 3
}

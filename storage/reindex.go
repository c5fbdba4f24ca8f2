package storage

// ReindexOptions are how to write an index in place. The zero value writes it and waits for
// the disk.
type ReindexOptions struct {
	DryRun bool // nothing is written
	NoSync bool // do not wait for the disk
	FS     FS   // where files are; nil: the operating system's
}

// An IndexChange is what Reindex changes of a file.
type IndexChange struct {
	Path string `json:"path"` // of the file
	// lower case, without a full stop: "index of 3 connections and 40 chunks"
	What        string `json:"what"`
	Offset      int64  `json:"offset"`            // where the new bytes begin; 0 for a file that is written anew
	Written     int64  `json:"written_bytes"`     // new bytes
	Overwritten int64  `json:"overwritten_bytes"` // old bytes that are changed
}

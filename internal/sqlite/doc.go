// Package sqlite is SQLite as a file engine: modernc.org/sqlite by its C API, over
// files that are ours, and what is needed to see a database as SQLite would without
// SQLite near it.
//
//	engine.go   the connection and its statements
//	vfs.go      the file system that SQLite is shown: one database, a File
//	rollback.go a database that is changed in its file, and its rollback journal
//	header.go   the header of a database
//	image.go    a database with the pages of a log or journal laid over it
//	wal.go      write-ahead logs
//	journal.go  rollback journals
//
// The engine so never opens, locks, creates or changes a file by itself: nothing can
// appear beside a source, and faults injected under a storage.FS reach it, also in the
// rollback journal of a Rollback.
//
// Refused are headers that contradict themselves (storage.ErrCorrupt or
// storage.ErrTruncated). A database that is only read runs no triggers, views or
// functions of its file; values larger than Options.MaxValue are an error that wraps
// storage.ErrUnsupported.
//
// A DB with its statements and an Image belong to one goroutine at a time;
// different ones may be used concurrently. An Overlay is read only once it is made.
package sqlite

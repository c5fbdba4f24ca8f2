// Package sqlitefile knows SQLite's file format for one job: to load, scan and
// salvage the rows of rosbag2's messages table, page by page, at the speed of
// moving the file. All else of a database is SQLite's own.
//
//	messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)
//	timestamp_idx ON messages (timestamp)
//
// A [Loader] fills both in a database that SQLite has made and closed. Pages are
// written after its end in strictly ascending order; at the end the two root
// pages and then the header are put in place, and the result is a plain database:
// SQLite may add, change and delete rows afterwards. Until then the base is
// valid, and empty.
//
// A [Table] reads messages by its tree, in ranges that can be read at the same
// time; a [Finder], by the index of timestamps. A [Salvage] takes rows out of a
// database whose tree, header or end is gone.
//
// # Pages
//
// A file is pages of one size (https://www.sqlite.org/fileformat2.html). The
// first U bytes of each are used, all but the bytes that the header reserves:
//
//	table leaf      0d | u16 0 | u16 cells | u16 content | 0 | u16 cell offset ... | free | cells
//	  cell          varint payload | varint rowid | payload, or its start and u32 overflow page
//	table interior  05 | ... | u32 right child | offsets | cells: u32 child | varint greatest rowid
//	index leaf      0a | as a table leaf; cells: varint payload | payload
//	index interior  02 | as a table interior; cells: u32 child | varint payload | payload
//	overflow        u32 next page, 0 at the end | U-4 bytes
//	record          varint header size | serial types | values; numbers are big endian
//
// The page that holds byte 2^30 belongs to locks and stays zero.
//
// # When this package must not be used
//
// Open and NewTable decline, with an error that wraps [ErrDeclined], and SQLite
// has to do the work, with the same result: other columns, WITHOUT ROWID, STRICT,
// generated columns, text that is not UTF-8; for loading also rows or indexes that
// are there already, triggers, AUTOINCREMENT, auto-vacuum, reserved bytes, a
// write-ahead log in the header, a size other than the header's. (A Salvage
// takes other columns too, if the schema can be read.)
// A Finder declines an index when it meets an entry that is not a pair of integers.
// A -wal or -journal beside the file is the caller's to see and to apply first: this
// package reads one file.
//
// Rows of more than 10^9 bytes are refused, because SQLite does not read them.
//
// # Concurrency
//
// A Loader, a Scanner, a Finder and a Salvager are used by one goroutine each; a
// Loader's Buffers may be written by another. A Table and a Salvage may be used by
// many. The package starts no goroutines.
package sqlitefile

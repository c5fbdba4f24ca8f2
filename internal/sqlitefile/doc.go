// Package sqlitefile writes SQLite's pages for one job: to load the rows of
// rosbag2's messages table and of its timestamp index into a database that
// SQLite itself has made, at the speed of writing the file.
//
//	messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)
//	timestamp_idx ON messages (timestamp)
//
// The base is a closed database with both empty. Pages are written behind its
// end in strictly ascending order; at the end the two root pages and the header
// are put in place, and the result is a plain database: SQLite may add, change
// and delete rows afterwards. Until then the base is valid, and empty.
//
// A file is pages of one size U (https://www.sqlite.org/fileformat2.html):
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
// Refused are rows of more than 10^9 bytes, which SQLite does not read, and bases
// with reserved bytes. A Loader is used by one goroutine; its Buffers may be
// written by another.
package sqlitefile

// Package parquet reads tables of Parquet as columns: tables that package internal/export/tables
// writes, and what other writers make with the same encodings.
//
//	f, err := parquet.Open(file, size)
//	for g := range f.Groups() { columns, err := f.Read(g) }
//
// The file (https://parquet.apache.org/docs/file-format/):
//
//	"PAR1"  pages of chunks of columns, by row groups  FileMetaData  u32 its length  "PAR1"
//
//	read        values PLAIN, DELTA_BINARY_PACKED, by a dictionary, bools as RLE; pages of both versions; zstd, snappy,
//
// none
//
//	refused     other encodings and codecs, INT96, files in several parts, encrypted files
//
// The metadata are read here and not by a library of Thrift, because these take memory for the lengths that a file
// states. No length is trusted: memory grows with the bytes of a chunk, and values that take no bytes are limited.
// Errors wrap storage.ErrCorrupt, ErrTruncated or ErrUnsupported. A File does not change and may be used by any number
// of goroutines.
package parquet

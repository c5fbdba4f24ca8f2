// Package tables writes batches of columns as files: Parquet, Arrow IPC, as a file or a stream, and CSV.
//
//	t, err := tables.NewParquet(w, program.Schema(), meta, tables.Options{})
//
// Parquet (github.com/apache/parquet-format): "PAR1", a row group for each part, the page indexes, the footer.
//
//	row group    for each leaf of the schema a chunk: a page with a dictionary, pages of about 1 MiB
//	page         header (Thrift), levels of repetition, levels of definition, values; compressed with zstd
//	values       of a dictionary if they repeat; integers and times as differences (DELTA_BINARY_PACKED), others plain
//	footer       the schema, where the chunks are, the bounds of their values, metadata
//
// The encodings come from parquet-go/parquet-go, whose own writer takes each value as one of 24
// bytes: a list of 27 doubles in each row costs it more than all else. Here values go from the
// columns to pages as they are. Required columns have no levels. The metadata has the schema of
// Arrow as ARROW:schema, so that readers of Arrow find FixedSizeList, Duration and dictionaries
// again. The rows of a group that are sorted by log_time are marked so.
//
// Arrow: the columns are the buffers that the batch has, without a copy. Of apache/arrow-go only its packages arrow,
// array, ipc and memory are used; its package parquet would make the program 25 MB larger.
//
// A Table may be used by any number of goroutines for Encode, and by one at a time for Append and Close.
package tables

package tables

import (
	"errors"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/schema"
)

// A Table is a file with a table, on its way.
//
//	part, err := t.Encode(batch)    // on any goroutine, several at a time
//	err = t.Append(part)            // in order, one at a time
//	err = t.Close()
//
// The same batches in the same order make the same bytes. After an error of Append or Close the file is not whole.
type Table interface {
	// Encode makes a part of the file from all rows of a batch, of a program whose schema the table has. It
	// keeps nothing of the batch.
	Encode(b *columns.Batch) (Part, error)

	// Append writes a part that Encode has made, behind the parts before.
	Append(p Part) error

	// Close writes what stands behind the parts. It does not close the writer.
	Close() error
}

// A Part is some rows of a Table as bytes.
type Part interface {
	Rows() int
	Size() int // bytes, about
}

// A KeyValue is an entry of the metadata of a file.
type KeyValue struct{ Key, Value string }

// Options are how to write a table.
type Options struct {
	// Level of zstd, from 1 on; 0 is 1, the fastest, and -1 no compression. Streams of Arrow and
	// CSV have no level.
	Level int

	// Constants are the constants of the messages' type, as metadata of Parquet and Arrow: an
	// object of JSON with the name "constants". The constants of the types in it are metadata of
	// the fields.
	Constants []schema.Constant
}

var errForeignPart = errors.New("internal error: the part does not belong to this table")

package export

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/storage"
)

// Formats returns the formats of exports: Parquet, Arrow, CSV and NumPy. They are only written. Each call returns a new
// list of the same formats.
func Formats() []*storage.Format {
	return []*storage.Format{parquet.format, arrow.format, csv.format, npy.format}
}

// Default is the name of the format that exports have if no format is asked for.
const Default = "parquet"

// A kind is a format of tables.
type kind struct {
	format *storage.Format
	ext    string
	magic  []byte // that a file begins with
	open   open
}

// An open begins a table of a kind.
type open func(io.Writer, []columns.Field, []tables.KeyValue, tables.Options) (tables.Table, error)

var (
	parquet = kindOf("parquet", "tables in Parquet; pictures, clouds and tracks beside them", ".parquet",
		"PAR1", tables.NewParquet, "zstd", "none")
	arrow = kindOf("arrow", "tables as Arrow IPC files", ".arrow", "ARROW1\x00\x00", tables.NewArrowFile)
	npy   = kindOf("npy", "arrays of NumPy, one for each field that has numbers", ".npy", "\x93NUMPY", nil)
	csv   = kindOf("csv", "tables as text with commas", ".csv", "log_time,", tables.NewCSV)
)

// kindOf makes a kind. codecs are the codecs of its tables, the default first.
func kindOf(name, help, ext, magic string, open open, codecs ...string) *kind {
	k := &kind{ext: ext, magic: []byte(magic), open: open}
	options := optionsOf(codecs)
	k.format = &storage.Format{
		Name: name, Help: help, Extensions: []string{ext},
		Holds: storage.Capacity{
			Carries:       func(string, string) bool { return true },
			Metadata:      []string{"*"},
			QoS:           true,
			PublishTime:   true,
			Sequence:      true,
			Extras:        true,
			TopicMetadata: func(string) bool { return true },
		},
		Options: options,
		Layout:  storage.Layout{Folder: true, Files: k.files, Identify: k.identify},
		Sniff:   k.sniff,
		Create: func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
			return create(ctx, k, options, path, o)
		},
	}
	return k
}

// sniff reports whether an export of this kind stands at path: what --force may replace.
func (k *kind) sniff(fsys storage.FS, path string, head []byte) bool {
	if head != nil {
		return bytes.HasPrefix(head, k.magic)
	}
	x, err := readIndex(fsys, path)
	return err == nil && x.Format == k.format.Name
}

// identify explains a table to whoever gives it as an input.
func (k *kind) identify(_ string, head []byte) (what, hint string) {
	if len(head) == 0 || !bytes.HasPrefix(head, k.magic) {
		return "", ""
	}
	return "a table (" + k.format.Name + "), not a recording", "bagconv writes tables and does not read them"
}

// single reports whether an output is one table, by its name.
func (k *kind) single(path string) bool { return strings.HasSuffix(strings.ToLower(path), k.ext) }

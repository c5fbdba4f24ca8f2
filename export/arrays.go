package export

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/bagconv/bagconv/internal/convert/extras"
	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// arrays is a product: a folder with a file of NumPy for each column of numbers, an array of n values or of n rows of
// an array's values:
//
//	imu/data/log_time.npy                 (n,)    datetime64[ns]
//	imu/data/angular_velocity.x.npy       (n,)    float64
//	imu/data/orientation_covariance.npy   (n, 9)  float64
//
//	file   93 "NUMPY" 01 00, u16 length, a dict of Python with type and shape, spaces, "\n": 128 bytes together; the
//
// values
//
// The number of rows is in the head of a file, which is written again at the end. Text, lists, and values that may be
// absent have no such array; they are named as a loss. (Source: numpy/lib/format.py.)
type arrays struct {
	table
	place *folder
	files []*arrayFile // by column; nil: it is no array
	none  []string     // the names of columns that are no arrays
}

// An arrayFile is the file of a column.
type arrayFile struct {
	*file
	typ    string // as NumPy writes it: "<f8"
	values int    // of a row; 0: the row is one value
}

// noArray is the code of the loss of fields that are no arrays, which is by design.
const noArray = "no-array"

// arrayHead is the length of the head of a file.
const arrayHead = 128

var arrayTypes = map[columns.Kind]string{
	columns.Bool: "|b1", columns.Int8: "|i1", columns.Uint8: "|u1", columns.Int16: "<i2", columns.Uint16: "<u2",
	columns.Int32: "<i4", columns.Uint32: "<u4",
	columns.Int64: "<i8", columns.Uint64: "<u8", columns.Float32: "<f4", columns.Float64: "<f8", columns.Time: "<M8[ns]",
	columns.Duration: "<m8[ns]",
}

// arrayOf returns what a column is as an array; "" if it is not an array.
func arrayOf(f *columns.Field) (typ string, values int) {
	switch {
	case f.Nullable:
		return "", 0
	case f.Kind == columns.FixedBinary && f.Size > 0:
		return "|u1", f.Size
	case f.Kind == columns.FixedList && f.Size > 0 && !f.Children[0].Nullable:
		return arrayTypes[f.Children[0].Kind], f.Size
	}
	return arrayTypes[f.Kind], 0
}

// newArrays begins the folder of a topic.
func newArrays(w *writer, t *topic, r *reader) (*arrays, error) {
	d, ok := w.place.(*folder)
	if !ok || w.single {
		return nil, fmt.Errorf("arrays of NumPy are written into a folder, which %s is not", w.path)
	}
	o := w.columnsOf(r)
	o.Flat = true
	program, err := columns.Compile(r.Type, o)
	if err != nil {
		return nil, errors.Join(storage.ErrUnsupported, err)
	}
	x := &arrays{place: d, table: table{reader: r, program: program, name: w.names.take(t.Name, ""), batches: &w.batches}}
	used := map[string]bool{}
	for i := range program.Schema() {
		f := &program.Schema()[i]
		typ, values := arrayOf(f)
		if typ == "" {
			x.none, x.files = append(x.none, f.Name), append(x.files, nil)
			continue
		}
		name := extras.FileName(f.Name, "field") + ".npy"
		for used[strings.ToLower(name)] {
			name = "_" + name
		}
		used[strings.ToLower(name)] = true
		a := &arrayFile{typ: typ, values: values}
		if a.file, err = d.files.create(path.Join(x.name, name)); err != nil {
			return nil, err
		}
		if _, err := a.Write(a.head(0)); err != nil {
			return nil, err
		}
		x.files = append(x.files, a)
	}
	return x, nil
}

// head returns the head of a file with so many rows.
func (a *arrayFile) head(rows int64) []byte {
	shape := fmt.Sprintf("(%d,)", rows)
	if a.values > 0 {
		shape = fmt.Sprintf("(%d, %d)", rows, a.values)
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", a.typ, shape)
	b := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(b[8:], arrayHead-10)
	return append(append(append(b, text...), strings.Repeat(" ", arrayHead-11-len(text))...), '\n')
}

func (x *arrays) encode(b *block) (*made, error) { return x.rowsOf(b, x.part) }

// part returns the values of a batch, by column.
func (x *arrays) part(batch *columns.Batch) (any, error) {
	part := make([][]byte, len(x.files), len(x.files)+1)
	for i, c := range batch.Columns() {
		if x.files[i] == nil {
			continue
		}
		if c.Field.Kind == columns.FixedList {
			c = c.Children[0]
		}
		part[i] = slices.Clone(c.Values)
	}
	return arrayPart{part, batch.Len()}, nil
}

// An arrayPart is some rows.
type arrayPart struct {
	values [][]byte
	rows   int
}

func (x *arrays) append(part any) error {
	p := part.(arrayPart)
	for i, a := range x.files {
		if a == nil {
			continue
		}
		if _, err := a.Write(p.values[i]); err != nil {
			return err
		}
	}
	x.rows += int64(p.rows)
	return nil
}

func (x *arrays) losses() []loss {
	if len(x.none) == 0 || x.rows == 0 {
		return nil
	}
	return []loss{{code: noArray, messages: x.rows,
		text: fmt.Sprintf("these fields are no numbers of a fixed count, and in no array: %s", strings.Join(x.none, ", "))}}
}

func (x *arrays) finish() (list []IndexFile, err error) {
	for _, a := range x.files {
		if a == nil {
			continue
		}
		if err := a.patch(a.head(x.rows)); err != nil {
			return nil, err
		}
		list = append(list, IndexFile{Path: path.Join(x.name, path.Base(a.path)), Kind: "array", Rows: x.rows})
	}
	return list, nil
}

// patch writes over the begin of a file, and ends it.
func (f *file) patch(head []byte) error {
	if err := f.release(); err != nil {
		return err
	}
	g, err := f.files.fs.OpenFile(f.path, os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	if _, err = g.WriteAt(head, 0); err == nil && f.files.sync {
		err = iox.Sync(g)
	}
	return errors.Join(err, g.Close())
}

package lerobot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/bagconv/bagconv/internal/export/columns"
	"github.com/bagconv/bagconv/internal/export/tables"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A tableFile is a file of Parquet that grows.
type tableFile struct {
	file  storage.File
	out   *bufio.Writer
	table tables.Table
	batch *columns.Batch
}

// openTable begins a file.
func (a *assembly) openTable(name string, schema []columns.Field, meta []tables.KeyValue) (t *tableFile, err error) {
	t = &tableFile{batch: columns.NewRows(schema)}
	if t.file, err = a.create(name); err != nil {
		return nil, err
	}
	t.out = bufio.NewWriterSize(t.file, 1<<18)
	t.table, err = tables.NewParquet(t.out, schema, meta, tables.Options{})
	return t, err
}

// flush writes the rows so far as a row group.
func (t *tableFile) flush() error {
	if t.batch.Len() == 0 {
		return nil
	}
	part, err := t.table.Encode(t.batch)
	if err == nil {
		err = t.table.Append(part)
	}
	t.batch.Reset()
	return err
}

// close ends the file.
func (t *tableFile) close() error {
	err := t.flush()
	if err == nil {
		err = t.table.Close()
	}
	if e := t.out.Flush(); err == nil {
		err = e
	}
	return errors.Join(err, syncClose(t.file))
}

// The values of columns.

func putInt(c *columns.Column, v int64) {
	c.Values = binary.LittleEndian.AppendUint64(c.Values, uint64(v))
	c.Len++
}

func putFloat32(c *columns.Column, bits uint32) {
	c.Values = binary.LittleEndian.AppendUint32(c.Values, bits)
	c.Len++
}

func putFloat64(c *columns.Column, v float64) {
	c.Values = binary.LittleEndian.AppendUint64(c.Values, math.Float64bits(v))
	c.Len++
}

func putText(c *columns.Column, s string) { putBytes(c, []byte(s)) }

func putBytes(c *columns.Column, b []byte) {
	c.Values = append(c.Values, b...)
	c.Offsets = append(c.Offsets, int32(len(c.Values)))
	c.Len++
}

// endList ends a list whose elements have been put into its child.
func endList(c *columns.Column) {
	c.Offsets = append(c.Offsets, int32(c.Children[0].Len))
	c.Len++
}

func listOf(name string, element columns.Field) columns.Field {
	element.Name = "element"
	return columns.Field{Name: name, Kind: columns.List, Children: []columns.Field{element}}
}

// A rowsTable is the files of data/.
type rowsTable struct {
	a       *assembly
	at      place
	file    *tableFile
	size    int64 // bytes of rows and pictures in it
	vectors int
	images  []string
}

// groupBytes is how large a row group becomes.
const groupBytes = 8 << 20

// schema returns the columns of data/.
func (r *rowsTable) schema(set *Episodes) (list []columns.Field) {
	for _, v := range set.Vectors {
		f := columns.Field{Name: v.Name, Kind: columns.Float32}
		if len(v.Names) > 1 {
			f = columns.Field{Name: v.Name, Kind: columns.FixedList, Size: len(v.Names),
				Children: []columns.Field{{Name: "element", Kind: columns.Float32}}}
		}
		list = append(list, f)
	}
	r.vectors, r.images = len(list), nil
	for _, c := range set.Cameras {
		if c.Codec == "image" {
			r.images = append(r.images, c.Name)
			list = append(list, columns.Field{Name: imagesPrefix + c.Name, Kind: columns.Struct, Children: []columns.Field{
				{Name: "bytes", Kind: columns.Binary}, {Name: "path", Kind: columns.Text}}})
		}
	}
	for _, name := range indexColumns {
		kind := columns.Int64
		if name == "timestamp" {
			kind = columns.Float32
		}
		list = append(list, columns.Field{Name: name, Kind: kind})
	}
	return list
}

// add adds the rows of an episode, and returns in which file they are.
func (r *rowsTable) add(set *Episodes, dir string, episode int, frames int64, task int) (place, error) {
	size := frames * int64(4*set.width()+36)
	pictures := map[string]*pictureReader{}
	defer func() {
		for _, p := range pictures {
			_ = p.file.Close() // it was only read
		}
	}()
	for _, c := range set.Cameras {
		if c.Codec != "image" {
			continue
		}
		p, err := openPictures(r.a.from, framesFile(dir, episode, c.Name))
		if err != nil {
			return place{}, err
		}
		pictures[c.Name] = p
		size += p.size
	}
	if r.file != nil && r.size+size > int64(r.a.set.DataMB)<<20 {
		if err := r.close(); err != nil {
			return place{}, err
		}
		r.at = r.at.next(r.a.set.ChunkFiles)
	}
	if r.file == nil {
		var err error
		if r.file, err = r.a.openTable(dataFile(r.at.chunk, r.at.file), r.schema(set), nil); err != nil {
			return place{}, err
		}
		r.size = 0
	}
	r.size += size
	f, err := iox.FS(r.a.from).Open(rowsFile(dir, episode))
	if err != nil {
		return place{}, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	row := make([]byte, 4*set.width())
	for k := range frames {
		if _, err := io.ReadFull(in, row); err != nil && len(row) > 0 {
			return place{}, fmt.Errorf("%s: %w: %w", rowsFile(dir, episode), storage.ErrTruncated, err)
		}
		if err := r.row(set, row, pictures, k, task); err != nil {
			return place{}, err
		}
	}
	return r.at, r.file.flush()
}

// row adds a row.
func (r *rowsTable) row(set *Episodes, row []byte, pictures map[string]*pictureReader, k int64, task int) error {
	top := r.file.batch.Top()
	for i, v := range set.Vectors {
		n := 4 * len(v.Names)
		c := top[i]
		if len(v.Names) > 1 {
			c.Len++
			c = c.Children[0]
		}
		c.Values = append(c.Values, row[:n]...)
		c.Len += len(v.Names)
		row = row[n:]
	}
	top = top[r.vectors:]
	for i, name := range r.images {
		data, err := pictures[name].next()
		if err != nil {
			return err
		}
		c := top[i]
		c.Len++
		putBytes(c.Children[0], data)
		putText(c.Children[1], fmt.Sprintf("frame-%06d", k))
	}
	top = top[len(r.images):]
	putFloat32(top[0], secondsOf(k, set.FPS))
	putInt(top[1], k)
	putInt(top[2], int64(r.a.episode))
	putInt(top[3], r.a.index+k)
	putInt(top[4], int64(task))
	r.file.batch.AddRow()
	if r.file.batch.Len()%256 == 0 && r.file.batch.Bytes() >= groupBytes || len(r.images) > 0 &&
		r.file.batch.Bytes() >= groupBytes {
		return r.file.flush()
	}
	return nil
}

func (r *rowsTable) close() error {
	if r.file == nil {
		return nil
	}
	f := r.file
	r.file = nil
	return f.close()
}

func (r *rowsTable) abort() error {
	if r.file == nil {
		return nil
	}
	return r.file.file.Close()
}

// A pictureReader reads the frames of a take one by one.
type pictureReader struct {
	name string
	file storage.File
	in   *bufio.Reader
	size int64
	data []byte
}

func openPictures(fsys storage.FS, name string) (*pictureReader, error) {
	f, err := iox.FS(fsys).Open(name)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &pictureReader{name: name, file: f, in: bufio.NewReaderSize(f, 1<<16), size: st.Size()}, nil
}

// next returns the next frame, valid until the next call.
func (p *pictureReader) next() ([]byte, error) {
	var head [4]byte
	_, err := io.ReadFull(p.in, head[:])
	if err == nil {
		p.data, err = readExactly(p.in, p.data[:0], int(binary.LittleEndian.Uint32(head[:])))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", p.name, storage.ErrTruncated, err)
	}
	return p.data, nil
}

// writeTasks writes tasks.parquet: pandas reads the texts as its index.
func (a *assembly) writeTasks() error {
	const about = `{"index_columns": ["task"], "column_indexes": [{"name": null, "field_name": null, "pandas_type": "unicode", ` +
		`"numpy_type": "object", "metadata": {"encoding": "UTF-8"}}], "columns": [{"name": "task_index", "field_name": "task_index", ` +
		`"pandas_type": "int64", "numpy_type": "int64", "metadata": null}, {"name": "task", "field_name": "task", ` +
		`"pandas_type": "unicode", "numpy_type": "object", "metadata": null}], "creator": {"library": "bagconv", "version": "1"}, ` +
		`"pandas_version": "2.0.0"}`
	t, err := a.openTable(tasksName, []columns.Field{{Name: "task_index", Kind: columns.Int64}, {Name: "task",
		Kind: columns.Text}},
		[]tables.KeyValue{{Key: "pandas", Value: about}})
	if err != nil {
		return err
	}
	for i, task := range a.tasks {
		top := t.batch.Top()
		putInt(top[0], int64(i))
		putText(top[1], task)
		t.batch.AddRow()
	}
	return t.close()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// exists reports whether something stands at a path.
func exists(fsys storage.FS, name string) bool {
	_, err := iox.FS(fsys).Stat(filepath.Clean(name))
	return err == nil
}

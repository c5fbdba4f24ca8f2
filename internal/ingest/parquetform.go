package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/frames"
	"github.com/bagconv/bagconv/internal/ingest/parquet"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// parquet lists the blocks of a table of Parquet: its row groups.
func (s *scan) parquet() error {
	if err := s.toEnd(); err != nil {
		return err
	}
	f, err := parquet.Open(s.in.file, s.in.offset)
	if err != nil {
		return s.in.wrong(s.in.offset, "the end of the Parquet file", err)
	}
	var columns []columnName
	for _, c := range f.Names() {
		columns = append(columns, columnName{c.Name, c.Time})
	}
	t, err := s.tableOf(f.Metadata, columns, "", "")
	if err != nil {
		return s.in.wrong(0, "the table", err)
	}
	for g := range f.Groups() {
		if err := s.rowGroup(parquetPart{s.in, f, g, t}); err != nil {
			return s.in.wrong(0, fmt.Sprintf("row group %d", g), err)
		}
	}
	return nil
}

// toEnd steps to the end of the input, where the description of a Parquet file is.
func (s *scan) toEnd() error {
	if s.in.path != Stdin {
		st, err := s.in.file.Stat()
		if err == nil {
			s.in.offset = st.Size()
		}
		return err
	}
	err := s.in.skip(1 << 62)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return s.in.wrong(s.in.offset, "the input cannot be read", err)
}

// rowGroup adds a row group. Of all but the first one only the times are read.
func (s *scan) rowGroup(p parquetPart) error {
	rows, size := p.file.Group(p.group)
	var names []string
	if p.table.told {
		names = []string{p.table.time}
	}
	columns, err := p.file.Read(p.group, names...)
	if err != nil {
		return err
	}
	b, err := p.table.bind(columns)
	if err != nil {
		return err
	}
	s.tell(b)
	first, last, _ := b.span()
	s.addPart(p, storage.Block{Offset: -1, Size: size, RawSize: 4 * size}, p.table.id, first, last, int64(rows))
	return nil
}

// A parquetPart decodes a row group.
type parquetPart struct {
	in    *input
	file  *parquet.File
	group int
	table *table
}

func (p parquetPart) read(_ *storage.Block, b *storage.Batch) ([]outcome, error) {
	columns, err := p.file.Read(p.group)
	var rows *batch
	if err == nil {
		rows, err = p.table.bind(columns)
	}
	if err != nil {
		return nil, p.in.wrong(0, fmt.Sprintf("row group %d", p.group), err)
	}
	var o outcomes
	var m maker
	rows.messages(b, &m, &o)
	return o, nil
}

// indexName is the file that lists what is in the folder of an export.
const indexName = "export.json"

// maxIndex bounds that file, in bytes.
const maxIndex = 64 << 20

// folder returns the tables in the folder of an export.
func (s *scan) folder(fsys storage.FS, dir string) (paths []string, err error) {
	index := filepath.Join(dir, indexName)
	f, err := iox.FS(fsys).Open(index)
	if err != nil {
		return nil, fmt.Errorf("%s: the folder of an export has a file %s: %w", dir, indexName, err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxIndex))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	type file struct{ Path, Kind string }
	var x struct {
		Format   string
		Metadata map[string]string
		Topics   []struct {
			Name  string
			Files []file
		}
		Files []file
	}
	if err := json.Unmarshal(text, &x); err != nil {
		return nil, &storage.Error{Path: index, Offset: -1, What: err.Error(), Err: storage.ErrCorrupt}
	}
	s.about = frames.Recording{Format: s.about.Format, Version: s.about.Version, Metadata: x.Metadata}
	for _, t := range x.Topics {
		some := false
		for _, f := range t.Files {
			if f.Kind == "table" && (strings.HasSuffix(f.Path, ".parquet") || strings.HasSuffix(f.Path, ".arrow")) {
				if !filepath.IsLocal(f.Path) {
					return nil, &storage.Error{Path: index, Offset: -1,
						What: fmt.Sprintf("%q leads out of the folder", f.Path), Err: storage.ErrCorrupt}
				}
				paths, some = append(paths, filepath.Join(dir, filepath.FromSlash(f.Path))), true
			}
		}
		if !some {
			s.remark("topic-without-table",
				"topic %s has no table of Parquet or Arrow in the folder, and is left out", t.Name)
			s.remarks[len(s.remarks)-1].Damage = true
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: the export has no tables of Parquet or Arrow: %w", dir, storage.ErrUnsupported)
	}
	return paths, nil
}

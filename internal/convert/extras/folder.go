package extras

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// IndexName is the name of the index in a folder.
const IndexName = "extras.json"

// An Index lists what a Folder has, as JSON in the file IndexName. Times are ns since
// 1970 as text.
type Index struct {
	SchemaVersion int              `json:"schema_version"`
	Attachments   []IndexFile      `json:"attachments"`
	Metadata      []MetadataRecord `json:"metadata_records"`
}

// An IndexFile is an attachment.
type IndexFile struct {
	File         string `json:"file"` // its name in the folder
	Name         string `json:"name"` // as the recording has it
	MediaType    string `json:"media_type"`
	Size         int64  `json:"size"`
	LogTimeNS    string `json:"log_time_ns"`
	CreateTimeNS string `json:"create_time_ns"` // "0" if it is not known
}

// A MetadataRecord is a table of texts.
type MetadataRecord struct {
	Name   string            `json:"name"`
	Values map[string]string `json:"values"`
}

// A Folder takes attachments as files and metadata records as a part of an index: it is
// a storage.ExtraWriter. Until Commit no file stands in the folder, which is made
// if it is not there. If nothing is written, there is no folder.
type Folder struct {
	fs              storage.FS
	dir             string
	overwrite, sync bool
	made            bool        // the folder
	out             *iox.Output // nil until something is written
	used            names
	files           []string // in out, but for the index
	index           Index
}

// NewFolder returns the folder dir. Files that are there already are an error of Commit
// that wraps fs.ErrExist, unless overwrite is set. fsys nil means the operating system's
// files. Close must be called.
func NewFolder(fsys storage.FS, dir string, overwrite, sync bool) *Folder {
	f := &Folder{fs: iox.FS(fsys), dir: filepath.Clean(dir), overwrite: overwrite, sync: sync, used: names{}}
	f.used.take(IndexName)
	f.index = Index{SchemaVersion: 1, Attachments: []IndexFile{}, Metadata: []MetadataRecord{}}
	return f
}

// StagePath names what a run that was killed may have left of a folder, for
// convert.CleanUp.
func StagePath(dir string) string { return filepath.Join(dir, IndexName) }

// begin makes the folder.
func (f *Folder) begin() (err error) {
	if f.out != nil {
		return nil
	}
	switch err := f.fs.Mkdir(f.dir, 0o777); {
	case err == nil:
		f.made = true
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	if st, err := f.fs.Stat(f.dir); err != nil {
		return err
	} else if !st.IsDir() {
		return &fs.PathError{Op: "create", Path: f.dir, Err: fs.ErrExist}
	}
	out, err := iox.NewOutputs(f.fs, StagePath(f.dir), f.overwrite, f.sync)
	if err != nil {
		return err
	}
	f.out = out
	return nil
}

// WriteAttachment writes a file. An error of its source costs this attachment alone.
func (f *Folder) WriteAttachment(a *storage.Attachment) (err error) {
	if err := f.begin(); err != nil {
		return err
	}
	content, err := a.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	name := f.used.take(FileName(a.Name, "attachment"))
	path := filepath.Join(f.out.TempDir(), name)
	if err := f.write(path, func(w io.Writer) error {
		n, err := io.Copy(w, content)
		if err == nil && n != a.Size {
			err = fmt.Errorf("attachment %.80q has %d bytes, not %d", a.Name, n, a.Size)
		}
		return err
	}); err != nil {
		return errors.Join(err, f.fs.RemoveAll(path))
	}
	f.files = append(f.files, name)
	f.index.Attachments = append(f.index.Attachments, IndexFile{
		File: name, Name: a.Name, MediaType: a.MediaType, Size: a.Size,
		LogTimeNS: strconv.FormatInt(a.LogTime, 10), CreateTimeNS: strconv.FormatInt(a.CreateTime, 10),
	})
	return nil
}

// WriteMetadata adds a metadata record to the index. A record with text that is not UTF-8
// is an error that wraps storage.ErrUnsupported.
func (f *Folder) WriteMetadata(m *storage.MetadataRecord) error {
	if err := f.begin(); err != nil {
		return err
	}
	values, err := m.Values()
	if err != nil {
		return err
	}
	valid := utf8.ValidString(m.Name)
	for k, v := range values {
		valid = valid && utf8.ValidString(k) && utf8.ValidString(v)
	}
	if !valid {
		return fmt.Errorf("metadata record %.80q has text that is not UTF-8: %w", m.Name, storage.ErrUnsupported)
	}
	f.index.Metadata = append(f.index.Metadata, MetadataRecord{m.Name, values})
	return nil
}

// write makes a file.
func (f *Folder) write(path string, fill func(io.Writer) error) error {
	w, err := f.fs.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	err = fill(w)
	if err == nil && f.sync {
		err = iox.Sync(w)
	}
	return errors.Join(err, w.Close())
}

// Dir returns the path of the folder.
func (f *Folder) Dir() string { return f.dir }

// Index returns what was written so far. It must not be changed.
func (f *Folder) Index() *Index { return &f.index }

// Check returns the error that Commit would have because of files that are there.
func (f *Folder) Check() error {
	if f.out == nil || f.overwrite {
		return nil
	}
	for _, name := range append([]string{IndexName}, f.files...) {
		path := filepath.Join(f.dir, name)
		if _, err := f.fs.Stat(path); err == nil {
			return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
		}
	}
	return nil
}

// Commit writes the index and puts all files in place, or no file.
func (f *Folder) Commit() error {
	if f.out == nil || len(f.index.Attachments)+len(f.index.Metadata) == 0 {
		return f.Close()
	}
	if err := f.Check(); err != nil {
		return errors.Join(err, f.Close())
	}
	err := f.write(filepath.Join(f.out.TempDir(), IndexName), func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(&f.index)
	})
	if err == nil {
		err = f.out.CommitAll(append(f.files, IndexName), nil)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	f.made = false // it stays
	return nil
}

// Close throws away what was not committed.
func (f *Folder) Close() error {
	if f.out == nil {
		return nil
	}
	err := f.out.Abort()
	if f.made {
		_ = f.fs.Remove(f.dir) // unless somebody has put something there
		f.made = false
	}
	return err
}

package export

import (
	"container/list"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/bagconv/bagconv/internal/convert/extras"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A folder is the place of an export on a file system: a folder, or the file of a single table.
type folder struct {
	out    *iox.Output
	files  *files
	extras *extras.Folder    // of attachments and metadata records; nil: of a single table, which has no place for them
	about  map[string]string // metadata of the recording
	// files that are to be synced: at the end, when most of each is on the disk, it takes half the time
	frames []string
}

// newFolder begins the output of a writer.
func newFolder(w *writer, o *storage.WriteOptions) (*folder, error) {
	d := &folder{about: maps.Clone(o.Metadata)}
	fsys := iox.FS(o.FS)
	var err error
	if d.out, err = iox.NewOutput(fsys, w.path, o.Overwrite, !o.NoSync); err != nil {
		return nil, err
	}
	d.files = &files{fs: fsys, root: d.out.Temp(), sync: !o.NoSync, open: list.New()}
	if w.single {
		d.files.root = d.out.TempDir()
		return d, nil
	}
	if err := fsys.Mkdir(d.files.root, 0o777); err != nil {
		return nil, errors.Join(err, d.out.Abort())
	}
	d.extras = extras.NewFolder(fsys, filepath.Join(d.files.root, extrasFolder), false, !o.NoSync)
	return d, nil
}

func (d *folder) create(name string) (io.WriteCloser, error) { return d.files.create(name) }

func (d *folder) begin(*writer) error { return nil }

// writeFrame writes a file of its own at once. Its name is the stem, or the stem with a number if that is taken.
func (d *folder) writeFrame(dir, stem, ext string, data []byte) (name string, err error) {
	name = stem + "." + ext
	for i := 2; ; i++ {
		file := filepath.Join(d.files.root, filepath.FromSlash(dir), name)
		f, err := d.files.fs.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) {
			name = fmt.Sprintf("%s~%d.%s", stem, i, ext)
			continue
		}
		if err != nil {
			return "", err
		}
		if d.files.sync && !iox.IsURL(file) {
			d.frames = append(d.frames, file)
		}
		_, err = f.Write(data)
		return name, errors.Join(err, f.Close())
	}
}

// syncFrames makes the files of frames durable.
func (d *folder) syncFrames() error {
	for _, name := range d.frames {
		f, err := d.files.fs.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(iox.Sync(f), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (d *folder) finish(w *writer, topics []IndexTopic, whole []IndexFile) (string, error) {
	if d.extras == nil {
		return d.out.Temp(), nil
	}
	if err := errors.Join(d.syncFrames(), d.extras.Commit()); err != nil {
		return "", err
	}
	x := Index{SchemaVersion: 1, Format: w.kind.format.Name, Topics: topics, Files: whole, Metadata: d.about}
	if e := d.extras.Index(); len(e.Attachments)+len(e.Metadata) > 0 {
		x.Extras = extrasFolder
	}
	text, err := json.MarshalIndent(&x, "", "  ")
	if err != nil {
		return "", err
	}
	f, err := d.files.create(IndexName)
	if err != nil {
		return "", err
	}
	if _, err = f.Write(append(text, '\n')); err != nil {
		return "", err
	}
	return d.out.Temp(), f.Close()
}

func (d *folder) commit() error { return d.out.Commit() }

func (d *folder) close() error {
	err := d.files.abort()
	if d.extras != nil {
		err = errors.Join(err, d.extras.Close())
	}
	return errors.Join(err, d.out.Abort())
}

// WriteAttachment writes an attachment as a file. See storage.ExtraWriter.
func (w *writer) WriteAttachment(a *storage.Attachment) error {
	return w.place.(*folder).extras.WriteAttachment(a)
}

// WriteMetadata writes a metadata record. See storage.ExtraWriter.
func (w *writer) WriteMetadata(m *storage.MetadataRecord) error {
	return w.place.(*folder).extras.WriteMetadata(m)
}

package remote

import (
	"io"
	"os"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A spool is a file that is read while it is written: it is made in a temporary file of this
// machine, and sent when it is closed.
type spool struct {
	storage.File // the temporary file
	draft        *draft
}

func (r *FS) newSpool(d *draft) (storage.File, error) {
	temp, err := iox.TempFile(iox.OS, os.TempDir())
	if err != nil {
		return nil, err
	}
	r.note(Show(iox.FinalPath(d.name)) + ": this format is changed while it is written: it is made in a temporary file in " + os.TempDir() + ", and then sent")
	return &spool{temp, d}, nil
}

func (s *spool) Name() string { return s.draft.name }
func (s *spool) Sync() error  { return nil }

func (s *spool) Stat() (os.FileInfo, error) {
	st, err := s.File.Stat()
	if err != nil {
		return nil, err
	}
	i := s.draft.info()
	i.size = st.Size()
	return i, nil
}

// Close sends the file.
func (s *spool) Close() error {
	d := s.draft
	_, err := s.Seek(0, io.SeekStart)
	if err == nil && d.alive() {
		_, err = io.CopyBuffer(&writing{draft: d}, struct{ io.Reader }{s.File}, make([]byte, 1<<20))
	}
	if e := d.fs.ended(d); err == nil {
		err = e
	}
	if e := s.File.Close(); err == nil {
		err = e
	}
	return d.fs.fail("write", d.name, err)
}

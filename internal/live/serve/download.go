package serve

import (
	"archive/tar"
	"context"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A Made is a recording that was converted for one download.
type Made struct {
	Path   string // of this machine: a file, or a folder, which is sent as a tar file
	Remove func() // removes it
}

// download serves a recording in a format of Config.Formats: it is converted to a temporary file first, one at a time.
func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	format, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/as/"), "/")
	rec := s.recordings().byName[name]
	known := false
	for _, f := range s.config.Formats {
		known = known || f == format
	}
	if rec == nil || !known {
		fail(w, http.StatusNotFound, "There is no such recording here, or no such format; / lists what there is.")
		return
	}
	if r.Method == http.MethodHead {
		return // what has to be made first has no length
	}
	select {
	case s.downloads <- struct{}{}:
		defer func() { <-s.downloads }()
	case <-r.Context().Done():
		return
	}
	made, err := s.config.Make(r.Context(), *rec, format)
	if err != nil {
		s.refuse(w, err)
		return
	}
	defer made.Remove()
	if err := send(r.Context(), w, made.Path); err != nil {
		if a, ok := w.(*answer); ok {
			a.err = err
		}
		panic(http.ErrAbortHandler) // the client sees that the answer ends too early
	}
}

// send sends a file, or a folder as a tar file.
func send(ctx context.Context, w http.ResponseWriter, path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	h, name := w.Header(), filepath.Base(path)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "application/octet-stream")
	if st.IsDir() {
		h.Set("Content-Type", "application/x-tar")
		name += ".tar"
	}
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	if !st.IsDir() {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, &interrupted{ctx, f})
		return err
	}
	t := tar.NewWriter(w)
	err = filepath.WalkDir(path, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return addToTar(ctx, t, filepath.Dir(path), file)
	})
	if err != nil {
		return err
	}
	return t.Close()
}

// addToTar adds a file by its name below a folder.
func addToTar(ctx context.Context, t *tar.Writer, top, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	name, err := filepath.Rel(top, path)
	if err != nil {
		return err
	}
	err = t.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Size: st.Size(), Mode: 0o644,
		ModTime: st.ModTime().Truncate(time.Second)})
	if err == nil {
		_, err = io.Copy(t, &interrupted{ctx, f})
	}
	return err
}

// An interrupted reader ends with its context.
type interrupted struct {
	ctx context.Context
	io.Reader
}

func (r *interrupted) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

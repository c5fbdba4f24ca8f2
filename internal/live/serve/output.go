package serve

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// An Output is a recording in another format, which is not written: its bytes are made when they
// are read.
type Output interface {
	ReadAt(ctx context.Context, p []byte, off int64) (int, error)
	Size() int64
	ModTime() time.Time
	Tag() string // of its content
	Release()    // ends its use
}

// outputName returns the address of a recording as the output of Config.Open, below /.
func (s *Server) outputName(rec *Recording) string {
	name := rec.Name
	ending := s.config.Sink.Extensions[0]
	if !strings.HasSuffix(name, ending) {
		name += ending
	}
	return s.config.Sink.Name + "/" + name
}

// output serves a recording in the format of Config.Sink.
func (s *Server) output(w http.ResponseWriter, r *http.Request) {
	rec := s.recordings().outputs[strings.TrimPrefix(r.URL.Path, "/")]
	if rec == nil {
		fail(w, http.StatusNotFound, "There is no such recording here; / lists what there is.")
		return
	}
	out, err := s.config.Open(r.Context(), *rec)
	if err != nil {
		s.refuse(w, err)
		return
	}
	defer out.Release()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Accept-Ranges", "bytes")
	h.Set("Cache-Control", "no-cache")
	h.Set("Etag", `"`+out.Tag()+`"`)
	content := &outputReader{ctx: r.Context(), out: out}
	http.ServeContent(w, r, "", out.ModTime(), content)
	if a, ok := w.(*answer); ok && content.err != nil {
		a.err = content.err // the client sees that the answer ends too early
	}
}

// outputReader reads an Output from a place on.
type outputReader struct {
	ctx context.Context
	out Output
	at  int64
	err error
}

func (r *outputReader) Read(p []byte) (int, error) {
	n, err := r.out.ReadAt(r.ctx, p, r.at)
	r.at += int64(n)
	if n > 0 {
		return n, nil
	}
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

func (r *outputReader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.out.Size()
	}
	if offset < 0 {
		return 0, errors.New("a place before the start")
	}
	r.at = offset
	return offset, nil
}

package serve

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// A table is what is served at a moment.
type table struct {
	recordings []Recording
	files      map[string]*File      // by what follows /files/ in addresses
	outputs    map[string]*Recording // by what follows / in addresses
	byName     map[string]*Recording
	err        error
}

// recordings returns what there is; what was found a moment ago is not looked for again.
func (s *Server) recordings() table {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.files != nil && time.Since(s.at) < findAgain {
		return s.now
	}
	list, err := s.config.Find()
	t := table{recordings: list, files: map[string]*File{}, outputs: map[string]*Recording{},
		byName: map[string]*Recording{}, err: err}
	for i := range list {
		t.byName[list[i].Name] = &list[i]
		if s.config.Sink != nil {
			t.outputs[s.outputName(&list[i])] = &list[i]
		}
		for k := range list[i].Files {
			f := &list[i].Files[k]
			t.files[strings.TrimSuffix(list[i].Name+"/"+f.Part, "/")] = f
		}
	}
	s.now, s.at = t, time.Now()
	return t
}

// file serves a file of a recording.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/files/")
	f := s.recordings().files[name]
	if f == nil {
		fail(w, http.StatusNotFound, "There is no such file of a recording here; / lists what there is.")
		return
	}
	content, err := s.config.FS.Open(f.Path)
	if err != nil {
		s.refuse(w, err)
		return
	}
	defer content.Close()
	st, err := content.Stat()
	if err != nil || !st.Mode().IsRegular() {
		s.refuse(w, cmp.Or(err, os.ErrInvalid))
		return
	}
	serveContent(w, r, f.Path, st, io.NewSectionReader(content, 0, st.Size()))
}

// refuse answers that a file cannot be read, which the log explains: a path is not for strangers.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	if a, ok := w.(*answer); ok {
		a.err = err
	}
	fail(w, http.StatusInternalServerError, "The file cannot be read; the log of the server has the cause.")
}

// serveContent serves bytes in ranges, under the conditions of the request.
func serveContent(w http.ResponseWriter, r *http.Request, path string, st os.FileInfo, content io.ReadSeeker) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Accept-Ranges", "bytes")
	h.Set("Cache-Control", "no-cache") // may be kept, and is to be asked for
	h.Set("Etag", etag(path, st))
	http.ServeContent(w, r, "", st.ModTime(), content)
}

// etag names the content of a file by its path, size and time.
func etag(path string, st os.FileInfo) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %d %d", path, st.Size(), st.ModTime().UnixNano()))
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// Files returns the files of a recording for a Recording: the files that its format lists.
func Files(fsys storage.FS, f *storage.Format, path string) ([]File, error) {
	set, err := f.FilesOf(fsys, path)
	if err != nil {
		return nil, err
	}
	var out []File
	for _, p := range slices.Concat(set.Messages, set.Beside) {
		st, err := fsys.Stat(p)
		if err != nil || !st.Mode().IsRegular() || slices.ContainsFunc(out, func(f File) bool { return f.Path == p }) {
			continue
		}
		out = append(out, File{Part: partOf(path, p), Path: p})
	}
	return out, nil
}

// partOf returns the name of a file below the recording that it belongs to.
func partOf(recording, file string) string {
	if file == recording {
		return ""
	}
	rest, below := strings.CutPrefix(file, strings.TrimRight(recording, `/\`)+string(os.PathSeparator))
	if !below {
		rest = file[strings.LastIndexByte(file, os.PathSeparator)+1:]
	}
	return strings.ReplaceAll(rest, string(os.PathSeparator), "/")
}

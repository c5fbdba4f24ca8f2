// Package extras converts between files and the attachments and metadata records of a
// recording: it writes these into a folder, and makes attachments of files.
//
//	extras.go  files become attachments
//	folder.go  attachments and metadata records become files
//	digest.go  both, to be compared
//	names.go   names of recordings become names of files
//
// Nothing here is concurrent.
package extras

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// FromFile returns the file at path as an attachment of its name without folders. Both
// times are the time of its last change. fsys nil means the operating system's files.
func FromFile(fsys storage.FS, path string) (a storage.Attachment, err error) {
	fsys = iox.FS(fsys)
	st, err := fsys.Stat(path)
	if err != nil {
		return a, err
	}
	if !st.Mode().IsRegular() {
		return a, fmt.Errorf("%s: it is not a regular file, and only those can be attached: %w", path, storage.ErrUnsupported)
	}
	changed := st.ModTime().UnixNano()
	return storage.Attachment{
		Name: filepath.Base(path), MediaType: mediaType(path), LogTime: changed, CreateTime: changed, Size: st.Size(),
		Open: func() (io.ReadCloser, error) { return fsys.Open(path) },
	}, nil
}

// mediaTypes are the media types of files that are attached, by ending: as IANA registers them. The
// system's tables are not asked, so that an output does not depend on the machine.
var mediaTypes = map[string]string{
	".bin": "application/octet-stream", ".csv": "text/csv", ".gif": "image/gif", ".gz": "application/gzip",
	".htm": "text/html", ".html": "text/html",
	".jpeg": "image/jpeg", ".jpg": "image/jpeg", ".json": "application/json", ".jsonl": "application/jsonl",
	".log": "text/plain", ".md": "text/markdown",
	".mp4": "video/mp4", ".pdf": "application/pdf", ".png": "image/png", ".svg": "image/svg+xml",
	".tar": "application/x-tar", ".tif": "image/tiff",
	".tiff": "image/tiff", ".toml": "application/toml", ".txt": "text/plain", ".urdf": "application/xml",
	".webp": "image/webp", ".xacro": "application/xml",
	".xml": "application/xml", ".yaml": "application/yaml", ".yml": "application/yaml", ".zip": "application/zip",
	".zst": "application/zstd",
}

// unknownType is the media type of everything else.
const unknownType = "application/octet-stream"

// mediaType returns the media type of a file by its ending.
func mediaType(path string) string {
	if t := mediaTypes[strings.ToLower(filepath.Ext(path))]; t != "" {
		return t
	}
	return unknownType
}

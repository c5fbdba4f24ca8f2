// Package identify explains what a path is that no format claims: a web page, a Git
// LFS pointer, a compressed file, a file that a format knows and refuses. It looks at the first bytes and, for a
// folder, at the names in it; the suffix of a file is not evidence. It never writes, and reads at most 4 KiB.
//
// It is only asked when detection has failed, so that a sound recording never
// pays for it. All functions may be called concurrently.
package identify

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// A Finding describes what a path is. Both texts fit into one line.
type Finding struct {
	What string // follows the path and a colon: "a Git LFS pointer, not the recording itself"
	Hint string // what to do next; may be empty
}

// headLen is how much of a file is looked at.
const headLen = 4096

// Path looks at path in fsys (nil: the operating system's), which may be a file, a folder, or missing. It asks the
// formats about files that have to do with them.
func Path(fsys storage.FS, path string, formats *storage.Registry) Finding {
	fsys = iox.FS(fsys)
	st, err := fsys.Stat(path)
	if err != nil {
		return failure(fsys, path, err)
	}
	switch {
	case st.IsDir():
		return folder(fsys, path, formats)
	case !st.Mode().IsRegular():
		return Finding{"not a regular file", "pipes and devices are not read; copy the recording into a file first"}
	case st.Size() == 0:
		return Finding{"an empty file", "the copy or the recording did not get as far as its first byte"}
	}
	f, err := fsys.Open(path)
	if err != nil {
		return failure(fsys, path, err)
	}
	defer f.Close()
	head := make([]byte, headLen)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return failure(fsys, path, err)
	}
	return content(path, head[:n], int64(n) == st.Size(), formats)
}

// Detect finds the format of a recording by its content, as storage.Registry does. If no format claims it, the error
// says what stands at the path, and the next step.
func Detect(formats *storage.Registry, fsys storage.FS, path string) (*storage.Format, error) {
	f, err := formats.DetectIn(fsys, path)
	if !errors.Is(err, storage.ErrUnknownFormat) {
		return f, err
	}
	found := Path(fsys, path, formats)
	if found.What == storage.ErrUnknownFormat.Error() {
		found.What = ""
	}
	return nil, &storage.Error{Path: path, Offset: -1, What: found.What, Hint: found.Hint, Err: storage.ErrUnknownFormat}
}

// failure explains an error of the file system.
func failure(fsys storage.FS, path string, err error) Finding {
	if trimmed := strings.TrimRight(path, string(filepath.Separator)); trimmed != path {
		if st, err := fsys.Stat(trimmed); err == nil && !st.IsDir() {
			return Finding{"a file, not a folder", "remove the separator at the end"}
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && iox.IsURL(path):
		return Finding{What: "nothing is there"}
	case errors.Is(err, fs.ErrNotExist):
		return Finding{What: "no such file or folder"}
	case errors.Is(err, fs.ErrPermission):
		if iox.IsURL(path) {
			break
		}
		return Finding{"no permission to read it", "ask its owner, or try: chmod u+r"}
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return Finding{What: err.Error()}
}

// magics are the first bytes of what is met in the place of a recording.
var magics = []struct {
	magic, what, hint string
}{
	{"version https://git-lfs.github.com/spec/", "a Git LFS pointer, not the recording itself", "run: git lfs pull"},
	{"\x1f\x8b", "a file compressed by gzip", "unpack it first: gunzip -k"},
	{"BZh", "a file compressed by bzip2", "unpack it first: bunzip2 -k"},
	{"\x28\xb5\x2f\xfd", "a file compressed by zstd", "unpack it first: zstd -d"},
	{"\x04\x22\x4d\x18", "a file compressed by lz4", "unpack it first: lz4 -d"},
	{"\xfd7zXZ\x00", "a file compressed by xz", "unpack it first: unxz -k"},
	{"PK\x03\x04", "a zip archive", "unpack it first: unzip"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first: 7z x"},
	{"Rar!\x1a\x07", "a rar archive", "unpack it first: unrar x"},
}

// content identifies a file by its first bytes. whole is set if head is the whole file.
func content(path string, head []byte, whole bool, formats *storage.Registry) Finding {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			f := Finding{m.what, m.hint}
			if name := filepath.Base(path); strings.HasSuffix(m.hint, " -k") || strings.HasSuffix(m.hint, " -d") ||
				strings.HasSuffix(m.hint, "unzip") {
				f.Hint += " " + name
			}
			return f
		}
	}
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return Finding{"a tar archive", "unpack it first: tar -xf " + filepath.Base(path)}
	}
	if what, hint := formats.Identify(path, head); what != "" {
		return Finding{what, hint}
	}
	text := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head[:min(len(head), 512)], []byte("\xef\xbb\xbf"))))
	switch {
	case bytes.HasPrefix(text, []byte("<!doctype html")) || bytes.HasPrefix(text, []byte("<html")):
		return Finding{"a web page (HTML), not a recording",
			"the server sent a page, perhaps to log in, instead of the file; download the file itself"}
	case len(bytes.Trim(head, "\x00")) == 0:
		return Finding{"nothing but zero bytes at its beginning", "the copy or download was not finished; fetch it again"}
	case isText(head, whole):
		return Finding{What: "a text file, not a recording"}
	}
	return Finding{What: "not a recording of any format known here"}
}

// isText reports whether bytes are printable UTF-8. A character that is cut by the end of head counts.
func isText(head []byte, whole bool) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 {
			return !whole && len(head) < utf8.UTFMax && !utf8.FullRune(head)
		}
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) && r != '\x1b' && r != '\ufeff' {
			return false
		}
		head = head[n:]
	}
	return true
}

// folder identifies a folder by the names in it, and folders in it by their content.
func folder(fsys storage.FS, path string, formats *storage.Registry) Finding {
	entries, err := fsys.ReadDir(path)
	if err != nil {
		return failure(fsys, path, err)
	}
	if len(entries) == 0 {
		return Finding{What: "an empty folder"}
	}
	files := map[*storage.Format][]string{} // names of recordings
	var folders []string
	for _, e := range entries[:min(len(entries), 1000)] { // enough to find out what it is
		if e.IsDir() {
			if _, err := formats.DetectIn(fsys, filepath.Join(path, e.Name())); err == nil {
				folders = append(folders, e.Name())
			}
			continue
		}
		for _, f := range formats.Known() {
			if f.StemOf(e.Name()) != e.Name() {
				files[f] = append(files[f], e.Name())
				break
			}
		}
	}
	var endings []string
	for _, f := range formats.Known() {
		switch names := files[f]; {
		case len(names) == 0:
		case f.Open == nil && f.Create != nil:
			return Finding{fmt.Sprintf("a folder with tables (%s), not a recording", f.Name),
				"bagconv writes tables and does not read them"}
		case f.Open == nil:
			return Finding{What: fmt.Sprintf("a folder with %s files, and %s is not supported yet", f.Help, f.Help)}
		default:
			return Finding{fmt.Sprintf("a folder with %s", several(names, "file", " of format "+f.Name)), nameOne(path, names)}
		}
		if f.Open != nil {
			endings = append(endings, f.Extensions...)
		}
	}
	if len(folders) > 0 {
		return Finding{fmt.Sprintf("a folder with %s", several(folders, "recording", "")), nameOne(path, folders)}
	}
	return Finding{"a folder without a recording", "no file in it has a name in " + strings.Join(endings, ", ")}
}

// nameOne returns the next step for a folder of recordings.
func nameOne(path string, names []string) string {
	one := filepath.Join(path, names[0])
	if len(names) == 1 {
		return "name it: " + one
	}
	return fmt.Sprintf("convert all: bagconv batch -O OUT/ %s; or name one: %s", path, one)
}

// several counts names: "a file of format bag in it", "2 files of format bag in it".
func several(names []string, what, kind string) string {
	if len(names) == 1 {
		return "a " + what + kind + " in it"
	}
	return fmt.Sprintf("%d %ss%s in it", len(names), what, kind)
}

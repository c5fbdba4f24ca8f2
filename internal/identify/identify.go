// Package identify says what a path is that no format claims: a web page, a Git
// LFS pointer, a compressed file, a recording of a kind that is not supported
// yet. It looks at the first bytes and, for a folder, at the names in it; the
// suffix of a file is no evidence. It never writes, and reads at most 4 KiB.
//
// It is only asked when detection has failed, so that a sound recording never
// pays for it. All functions may be called concurrently.
package identify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Finding says what a path is. Both texts fit into one line.
type Finding struct {
	What string // follows the path and a colon: "a Git LFS pointer, not the recording itself"
	Hint string // what to do next; may be empty
}

// headLen is how much of a file is looked at.
const headLen = 4096

// Path looks at path, which may be a file, a folder, or missing.
func Path(path string) Finding {
	st, err := os.Stat(path)
	if err != nil {
		return failure(path, err)
	}
	switch {
	case st.IsDir():
		return folder(path)
	case !st.Mode().IsRegular():
		return Finding{"not a regular file", "pipes and devices are not read; copy the recording into a file first"}
	case st.Size() == 0:
		return Finding{"an empty file", "the copy or the recording did not get as far as its first byte"}
	}
	f, err := os.Open(path)
	if err != nil {
		return failure(path, err)
	}
	defer f.Close()
	head := make([]byte, headLen)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return failure(path, err)
	}
	return content(path, head[:n], int64(n) == st.Size())
}

// failure explains an error of the file system.
func failure(path string, err error) Finding {
	if trimmed := strings.TrimRight(path, string(filepath.Separator)); trimmed != path {
		if st, err := os.Stat(trimmed); err == nil && !st.IsDir() {
			return Finding{"a file, not a folder", "leave the separator at the end out"}
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Finding{What: "no such file or folder"}
	case errors.Is(err, fs.ErrPermission):
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
	{"\x89MCAP", "an MCAP file, and MCAP is not supported yet", ""},
	{"rosbag2_bagfile_information:", "the metadata.yaml of a rosbag2 recording", "give the folder that it lies in"},
	{"SQLite format 3\x00", "an SQLite database without the tables of rosbag2", ""},
	{"\x37\x7f\x06\x82", "the write-ahead log of an SQLite database", "give the .db3 file beside it"},
	{"\x37\x7f\x06\x83", "the write-ahead log of an SQLite database", "give the .db3 file beside it"},
	{"\x1f\x8b", "a file compressed by gzip", "unpack it first: gunzip -k"},
	{"BZh", "a file compressed by bzip2", "unpack it first: bunzip2 -k"},
	{"\x28\xb5\x2f\xfd", "a file compressed by zstd", "unpack it first: zstd -d"},
	{"\x04\x22\x4d\x18", "a file compressed by lz4", "unpack it first: lz4 -d"},
	{"\xfd7zXZ\x00", "a file compressed by xz", "unpack it first: unxz -k"},
	{"PK\x03\x04", "a zip archive", "unpack it first: unzip"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first: 7z x"},
	{"Rar!\x1a\x07", "a rar archive", "unpack it first: unrar x"},
}

// content tells by the first bytes. whole says that they are the whole file.
func content(path string, head []byte, whole bool) Finding {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.magic)) {
			f := Finding{m.what, m.hint}
			if name := filepath.Base(path); strings.HasSuffix(m.hint, " -k") || strings.HasSuffix(m.hint, " -d") || strings.HasSuffix(m.hint, "unzip") {
				f.Hint += " " + name
			}
			return f
		}
	}
	if len(head) >= 262 && string(head[257:262]) == "ustar" {
		return Finding{"a tar archive", "unpack it first: tar -xf " + filepath.Base(path)}
	}
	if cyber(head) {
		return Finding{"a Cyber record whose first section, the header, cannot be read", "the copy may be damaged at its very beginning"}
	}
	text := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head[:min(len(head), 512)], []byte("\xef\xbb\xbf"))))
	switch {
	case bytes.HasPrefix(text, []byte("<!doctype html")) || bytes.HasPrefix(text, []byte("<html")):
		return Finding{"a web page (HTML), not a recording", "the download gave a page, perhaps one to log in; fetch the file itself"}
	case len(bytes.Trim(head, "\x00")) == 0:
		return Finding{"nothing but zero bytes at its beginning", "the copy or download was not finished; fetch it again"}
	case isText(head, whole):
		return Finding{What: "a text file, not a recording"}
	}
	return Finding{What: "not a recording of any format known here"}
}

// cyber knows the first section of a Cyber record: a C struct of a 32-bit type
// (0, the header), 4 bytes of padding that may hold anything, a 64-bit size
// below 2048, then a protobuf whose first field is major_version
// (ApolloAuto/apollo cyber/record/file/section.h, cyber/proto/record.proto).
//
//	0       4         8            16
//	+-------+---------+------------+------+----
//	| type 0| padding | size < 2048| 0x08 | ...
//	+-------+---------+------------+------+----
func cyber(head []byte) bool {
	if len(head) < 17 || binary.LittleEndian.Uint32(head) != 0 {
		return false
	}
	size := binary.LittleEndian.Uint64(head[8:])
	return size > 0 && size <= 2048 && head[16] == 0x08
}

// isText tells printable UTF-8. A character that is cut by the end of head counts.
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

// folder tells by the names in it, and for MCAP and records by their first bytes.
func folder(path string) Finding {
	entries, err := os.ReadDir(path)
	if err != nil {
		return failure(path, err)
	}
	if len(entries) == 0 {
		return Finding{What: "an empty folder"}
	}
	var bags, mcaps, records, folders []string
	for i, e := range entries {
		name := e.Name()
		switch {
		case i >= 1000: // enough to say what it is
		case e.IsDir():
			if _, err := os.Stat(filepath.Join(path, name, "metadata.yaml")); err == nil {
				folders = append(folders, name)
			}
		case strings.HasSuffix(name, ".bag") || strings.HasSuffix(name, ".bag.active"):
			bags = append(bags, name)
		case strings.HasSuffix(name, ".mcap"):
			mcaps = append(mcaps, name)
		case strings.Contains(name, ".record"):
			records = append(records, name)
		}
	}
	switch {
	case len(bags) > 0:
		return Finding{fmt.Sprintf("a folder with %s", several(bags, "ROS 1 bag")), nameOne(path, bags)}
	case len(mcaps) > 0:
		return Finding{What: "a folder with MCAP storage, and MCAP is not supported yet"}
	case len(records) > 0:
		return Finding{fmt.Sprintf("a folder with %s", several(records, "file of a Cyber record")), nameOne(path, records)}
	case len(folders) > 0:
		return Finding{fmt.Sprintf("a folder with %s", several(folders, "recording")), nameOne(path, folders)}
	}
	return Finding{"a folder without a recording", "there is no metadata.yaml and no .db3 file in it"}
}

// nameOne says what to do with a folder of recordings.
func nameOne(path string, names []string) string {
	one := filepath.Join(path, names[0])
	if len(names) == 1 {
		return "name it: " + one
	}
	return fmt.Sprintf("convert all: bagconv batch -O OUT/ %s; or name one: %s", path, one)
}

func several(names []string, what string) string {
	if len(names) == 1 {
		return "a " + what + " in it"
	}
	return fmt.Sprintf("%d %ss in it", len(names), what)
}

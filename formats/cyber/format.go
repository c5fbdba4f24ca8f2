package cyber

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/bagconv/bagconv/internal/iox"
	pb "github.com/bagconv/bagconv/proto/cyber"
	"github.com/bagconv/bagconv/storage"
)

const (
	formatName = "record"
	encoding   = "protobuf" // of messages, and of their definitions
)

// Keys of storage.Info.Metadata and storage.WriteOptions.Metadata: what the
// header of Apollo 9 and later has about where and with what it was recorded.
const (
	metaMapName     = "cyber_map_name"
	metaMapVersion  = "cyber_map_version"
	metaVehicleName = "cyber_vehicle_name"
)

// How segments are named: X.00000.20060102150405 since Apollo 9, X.00000 before.
const (
	namesNew = "new"
	namesOld = "old"
)

// options are in a variable of their own, as Create asks for them. No version of Apollo
// compresses records.
var options = storage.Options{
	{Name: storage.NameCompression, Kind: storage.OptionChoice, Values: []string{"none"}, Help: "nothing is compressed"},
	{Name: storage.NameChunkSize, Kind: storage.OptionSize,
		Help: "message data per chunk: 768K, 4M (times 1024), or 4MB (times 1000)"},
	{Name: storage.NameSegmentSize, Kind: storage.OptionSize, Help: "begin a new file before one has more message data"},
	{Name: storage.NameSegmentDuration, Kind: storage.OptionDuration,
		Help: "begin a new file before one lasts longer, such as 60s"},
	{Name: storage.NameSegmentNames, Kind: storage.OptionChoice, Values: []string{namesNew, namesOld},
		Help: "OUT.00000.20261121093000, as in Apollo 9 and later, or OUT.00000"},
}

const extension = ".record"

// channelName reports whether a channel can have a name, so that readers find its
// messages: Channel and SingleMessage have it as a string.
func channelName(name string) bool {
	return plausibleName([]byte(name)) && len(name) <= maxName
}

// Format is the Apollo Cyber record.
var Format = &storage.Format{
	Name:       formatName,
	Help:       "Apollo Cyber record",
	Aliases:    []string{"cyber", "apollo"},
	Extensions: []string{extension},
	Holds: storage.Capacity{
		Native:        encoding,
		Metadata:      []string{metaMapName, metaMapVersion, metaVehicleName},
		MaxMessage:    maxSection - maxName - 64,
		TopicName:     channelName,
		TopicMetadata: func(key string) bool { return key == metaDesc },
	},
	Options: options,
	Layout: storage.Layout{Files: files, RecordingOf: wholeOf, Recordings: recordings, Identify: identify,
		Stem: func(name string) string { return storage.TrimExtension(segmentStem(name), extension) }},
	Sniff:    sniff,
	Open:     openReader,
	Reindex:  reindex,
	Shards:   storage.Shards{Name: func(path string, n int) string { return fmt.Sprintf("%s.%05d", path, n) }},
	Create:   createWriter,
	AppendTo: appendTo,
}

// sniff knows a record by its HEADER section, and the segments of a recording
// by one of them.
func sniff(fsys storage.FS, path string, head []byte) bool {
	if head != nil {
		return sniffFile(head)
	}
	fsys = iox.FS(fsys)
	paths, err := segmentPaths(fsys, path)
	if err != nil {
		return false
	}
	for _, p := range paths {
		if sniffPath(fsys, p) {
			return true
		}
	}
	return false
}

func sniffPath(fsys storage.FS, path string) bool {
	f, err := fsys.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, headerEnd)
	n, _ := f.ReadAt(head, 0)
	return sniffFile(head[:n])
}

// sniffFile reports whether a file begins with a HEADER section: type 0, a size
// that leaves room for the padding, and major_version as the first field; or, if
// type and size are damaged, whether the header of version 1.0 and its padding stand
// in their place, and a section after them. What follows may be damaged.
func sniffFile(head []byte) bool {
	if len(head) < sectionHead+1 {
		return false
	}
	if x := parseSection(head); x.typ == uint32(pb.SectionType_SECTION_HEADER) && x.size > 0 && x.size <= maxHeader+1 {
		end := sectionHead + int(x.size)
		if head[sectionHead] == 1<<3 || end <= len(head) && proto.Unmarshal(head[sectionHead:end], &pb.Header{}) == nil {
			return true
		}
	}
	const padding = 64
	return len(head) >= headerEnd+sectionHead && bytes.HasPrefix(head[sectionHead:], versionFields) &&
		bytes.Equal(head[headerEnd-padding:headerEnd], make([]byte, padding)) &&
		plausibleSection(parseSection(head[headerEnd:]))
}

// versionFields begin the header of every version of Apollo.
var versionFields = []byte{1 << 3, 1, 2 << 3, 0}

// plausibleSection reports whether a section may follow the header.
func plausibleSection(x section) bool {
	return x.typ > 0 && x.typ <= uint32(pb.SectionType_SECTION_CHANNEL) && x.size >= 0
}

// segmentPaths lists the files that may be the recording at path. In a folder they are the files
// that are named like records. If nothing stands at path, they are the segments whose names begin
// with it.
func segmentPaths(fsys storage.FS, path string) (paths []string, err error) {
	dir, stem := path, ""
	st, err := fsys.Stat(path)
	switch {
	case err == nil && !st.IsDir():
		return []string{path}, nil
	case err != nil:
		dir, stem = filepath.Dir(path), filepath.Base(path)
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	entries, listErr := fsys.ReadDir(dir)
	if listErr != nil {
		if err != nil {
			return nil, err
		}
		return nil, listErr
	}
	for _, e := range entries {
		name := e.Name()
		base := segmentStem(name)
		switch {
		case e.IsDir():
			continue
		case stem != "" && (base == name || base != stem):
			continue
		case stem == "" && (strings.HasPrefix(name, ".") || base == name && filepath.Ext(name) != extension):
			continue
		}
		paths = append(paths, filepath.Join(dir, name))
	}
	if len(paths) == 0 && err != nil {
		return nil, err
	}
	return paths, nil
}

// segmentStem is a file's name without ".00000" or ".00000.20060102150405".
func segmentStem(name string) string {
	for _, n := range []int{6, 7 + len(stampFormat)} {
		if at := len(name) - n; at > 0 && isSegmentSuffix(name[at:]) {
			return name[:at]
		}
	}
	return name
}

// files lists the file, or the segments. See storage.Format.
func files(fsys storage.FS, path string) (f storage.Files, err error) {
	fsys = iox.FS(fsys)
	paths, err := segmentPaths(fsys, path)
	if err == nil {
		f.Messages, err = choose(fsys, path, paths)
	}
	if st, statErr := fsys.Stat(path); statErr == nil && st.IsDir() {
		f.Folders = []string{path}
	}
	return f, err
}

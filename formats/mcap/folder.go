package mcap

import (
	"slices"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// folderName is the name of rosbag2 folders whose parts are MCAP files:
//
//	drive/
//	  metadata.yaml       topics, counts, times, list of parts (package ros2bag)
//	  drive_0.mcap        a part: a Reader reads it, a Writer writes it
//	  drive_1.mcap.zstd   the next one, compressed as a whole
//
// They are a format of their own: they keep topics as rosbag2 knows them, can be cut into parts,
// and their messages are to be played, so that messages of other encodings become CDR.
const folderName = ros2bag.FormatMCAP

// mcapStorage is the storage whose parts are MCAP files.
var mcapStorage = &ros2bag.Storage{Format: folderName, ID: ros2bag.MCAP, Ext: ".mcap", Magic: magic, Alone: true,
	WholePart: wholePart}

// folderOptions are the options of the parts, and the options of the folder.
var folderOptions = slices.Concat(options, storage.Options{
	{Name: storage.NameCompressionMode, Kind: storage.OptionChoice, Values: modes,
		Help: "what is compressed: chunks, or each file as a whole"},
}, mcapStorage.Options())

// Folder is the rosbag2 folder with MCAP storage. It also reads an MCAP file that is
// compressed as a whole.
var Folder = mcapStorage.NewFormat(storage.Format{
	Help: "rosbag2 folder, MCAP storage",
	Holds: storage.Capacity{
		Carries:       Format.Holds.Carries,
		TopicMetadata: func(key string) bool { return key != metaQoS },
		PublishTime:   true,
		Sequence:      true,
		Extras:        Format.Holds.Extras,
		MinTime:       Format.Holds.MinTime,
		MaxTime:       Format.Holds.MaxTime,
		TopicName:     Format.Holds.TopicName,
	},
	Options:  folderOptions,
	Sniff:    sniffFolder,
	Open:     openFolder,
	Reindex:  reindexFolder,
	Create:   createFolder,
	AppendTo: appendToFolder,
})

// sniffFolder knows a folder by its parts and metadata.yaml. It also knows a part of a folder,
// compressed or not, but plain files go to the format of files first.
func sniffFolder(fsys storage.FS, path string, head []byte) bool {
	return head != nil && sniff(fsys, path, head) || mcapStorage.Sniff(fsys, path, head)
}

// wholePart reports whether a file has its end.
func wholePart(fsys storage.FS, path string) bool {
	f, err := fsys.Open(path)
	if err != nil {
		return false
	}
	whole, err := hasEnd(f)
	return f.Close() == nil && err == nil && whole
}

// hasEnd reports whether a file ends with the magic.
func hasEnd(f storage.File) (bool, error) {
	st, err := f.Stat()
	if err != nil || st.Size() < 2*int64(len(magic)) {
		return false, err
	}
	end := make([]byte, len(magic))
	err = iox.ReadFull(f, end, st.Size()-int64(len(magic)))
	return err == nil && string(end) == magic, err
}

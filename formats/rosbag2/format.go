package rosbag2

import (
	"bytes"
	"path/filepath"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
)

const (
	formatName = ros2bag.FormatSQLite
	encoding   = "cdr"
	walSuffix  = "-wal"
)

// db3 is the storage whose parts are SQLite databases.
var db3 = &ros2bag.Storage{
	Format: formatName, ID: ros2bag.SQLite, Ext: ".db3", Magic: sqlite.Magic,
	Beside:  []string{walSuffix, sqlite.JournalSuffix},
	Scratch: []string{"-shm"}, WholePart: wholePart,
}

// options are in a variable of their own, as Create asks for them.
var options = append(storage.Options{
	{Name: storage.NameCompression, Kind: storage.OptionChoice, Values: []string{"none", "zstd"}, Asked: true,
		Help: "codec of the files or of the messages in a folder"},
	{Name: storage.NameCompressionMode, Kind: storage.OptionChoice, Values: modes,
		Help: "what is compressed: each file as a whole, or each message by itself"},
	{Name: storage.NameLevel, Kind: storage.OptionInteger, Help: "level of zstd; 0 is 1, as the recorder has it"},
	{Name: storage.NameProfile, Kind: storage.OptionChoice, Values: ros2bag.ProfileNames(),
		Help: "the distribution that the output is made for"},
}, db3.Options()...)

// Format is the rosbag2 recording with SQLite storage.
var Format = db3.NewFormat(storage.Format{
	Help:       "rosbag2 folder or file, SQLite storage",
	Aliases:    []string{"rosbag2", "ros2", "sqlite3", "sqlite"},
	Holds:      storage.Capacity{MaxMessage: sqlite.MaxRow - rowOverhead},
	Extensions: []string{db3.Ext},
	Options:    options,
	Layout:     storage.Layout{Identify: identify},
	Open:       openReader,
	Reindex:    reindex,
	Create:     createWriter,
	AppendTo:   appendTo,
})

// identify knows what belongs to a recording or its database, and is not a recording.
func identify(path string, head []byte) (what, hint string) {
	switch {
	case bytes.HasPrefix(head, []byte(sqlite.Magic)):
		return "an SQLite database without the tables of rosbag2", ""
	case sqlite.IsWAL(head):
		return "the write-ahead log of an SQLite database", "give the " + db3.Ext + " file beside it"
	}
	return db3.Identify(path, head)
}

// wholePart reports whether a database has all its pages.
func wholePart(fsys storage.FS, path string) bool {
	f, err := fsys.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return false
	}
	h, err := sqlite.ReadHeader(f, st.Size())
	return err == nil && h.Size() <= st.Size()
}

func base(path string) string { return filepath.Base(path) }

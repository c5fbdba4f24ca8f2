package storage

import (
	"context"
	"io"
	"os"
)

// A Format is a storage plugin: what it is called, how its files look, and its
// two doors. The fields are fixed once the format is registered.
type Format struct {
	Name string // short and lower case, as in --to: "bag", "db3"
	Help string // one line for `bagconv formats`

	// Aliases are other names that Lookup knows, the best known first.
	Aliases []string

	// Extensions are the file name endings that choose this format for an
	// output, with the dot. They never choose the format of an input.
	Extensions []string

	// Options are what can be chosen of an output. Others are refused.
	Options Options

	// Holds is what recordings of the format have a place for.
	Holds Capacity

	// Sniff reports, by content, whether path is a recording of this format. head
	// holds the first bytes of the file (up to SniffLen), and is nil for a
	// folder, or if nothing stands under the name: it may be the common stem
	// of several files. The name's suffix is not evidence. fsys nil means the
	// operating system's files.
	Sniff func(fsys FS, path string, head []byte) bool

	// Layout is which files are a recording. The zero value: a recording is the one file at its path.
	Layout Layout

	// Open opens a recording for reading. It never writes to the source or
	// beside it. ctx bounds the call and all later reading. A format without Open
	// is only written, or known by name; its files are refused by name: it has
	// Layout.Identify.
	Open func(ctx context.Context, path string, o ReadOptions) (Reader, error)

	// Choose returns the name of the format that writes an output of the format called format:
	// two formats may have one name for users and keep different things. name is the name by which
	// the format was asked for, "" if path decided it; path is as it was typed; option returns the
	// value of an option, "" if it is not set. Nil: the format writes its outputs itself.
	Choose func(format, name, path string, option func(name string) string) string

	// Reindex writes the missing or wrong index of the recording at path, in place, and
	// changes nothing else. If it is killed, the recording reads as before or as after the
	// run. It returns what it changed, nothing if the index was right. An error wraps
	// ErrUnsupported if only a copy can have an index. Nil: the format has no such index.
	Reindex func(ctx context.Context, path string, o ReindexOptions) ([]IndexChange, error)

	// Shards is how recordings that several processes write, one after the other in time, are one
	// recording. The zero value: they stay several recordings.
	Shards Shards

	// Create starts a recording that will appear at path when Commit succeeds,
	// and not before: writers work under a temporary name beside it. Nil for a
	// format that is only read. An existing path is an error that wraps
	// fs.ErrExist, unless o.Overwrite is set.
	Create func(ctx context.Context, path string, o WriteOptions) (Writer, error)

	// AppendTo starts to add to the recording at path, which must exist, be undamaged, and have no other
	// writer, and returns its topics, as its Reader does. Its messages stay as they are, and only new ones are
	// encoded: in place, or behind a copy that takes the place of the recording in one step.
	// Until Commit, and if the process is killed at any moment, the recording reads as it was, or with
	// all that is added. CreateTopic continues an existing topic if Topic.Continues allows it; Finish returns no
	// name, because nothing can be read before Commit. Options that are not set are as the recording has them,
	// o.Overwrite and o.Metadata are not used. A damaged recording is an error that wraps ErrCorrupt or
	// ErrTruncated, a recording that another process adds to one that wraps ErrLocked, and a recording that
	// cannot be added to ErrUnsupported. Nil: nothing can be added to recordings of the format.
	AppendTo func(ctx context.Context, path string, o WriteOptions) (Writer, []Topic, error)
}

// A Layout is which files are a recording, and how these are called. Its functions do not read messages.
type Layout struct {
	// Folder is set if an output of the format is a folder, so that a path without an extension or with a
	// trailing separator means the format.
	Folder bool

	// Live is set if outputs are no files, but topics of a running system: their paths are addresses.
	Live bool

	// Streamable is set if viewers read the format in ranges, and the blocks of its Writer do not depend on
	// their place in the file: recordings are served in it, by package internal/live/virtual.
	Streamable bool

	// Files lists the files of the recording at path, by its index and their names, and reads no
	// messages. It has the errors of Open. Nil: a recording is the one file at its path. See
	// FilesOf.
	Files func(fsys FS, path string) (Files, error)

	// RecordingOf returns the recording that the file at path is a part of: the name by which Open
	// reads all of it, and its parts. The name is "" if the file is not one of several parts, or if
	// the parts have no common name. Nil: recordings have one file.
	RecordingOf func(fsys FS, path string) (name string, parts []string)

	// Recordings returns which of the names are one recording, and the rest; see GroupsOf.
	// Nil: a recording has one file.
	Recordings func(fsys FS, dir string, names []string) (groups []Group, rest []string)

	// Listing is the file that names the other files of a recording that is a folder, for places
	// whose folders cannot be listed. Nil: there is no such file.
	Listing *Listing

	// Stem returns the name of a recording without its ending; see StemOf. Nil: the
	// endings are Extensions.
	Stem func(name string) string

	// Identify describes, in one line, a file that belongs to the format but is not a recording,
	// and the next step; "" for all other files. head is as for Sniff. Nil: there is no such file.
	Identify func(path string, head []byte) (what, hint string)
}

// Shards make one recording of several. A format has one of the two functions.
type Shards struct {
	// Name returns the path of shard n, counted from 0, of a recording at path, such as a segment:
	// shards with these names are one recording as they stand.
	Name func(path string, n int) string

	// Join makes one recording at path of shards without reading their messages: it moves their files into the
	// folder stage, describes them there, and renames it. In a store it moves them to path, where their description
	// comes last; stage exists meanwhile. If it is killed, it is to be called again: it goes on. It returns the size
	// of the recording. A path that exists is an error that wraps fs.ErrExist, unless it was made of these shards.
	Join func(ctx context.Context, fsys FS, shards []string, stage, path string) (size int64, err error)
}

// A Listing is a file in a folder that names others in it.
type Listing struct {
	Name string

	// Files returns the names in the content of the file, without folders. Not all of
	// them need be there.
	Files func(text []byte) []string
}

// NamesFolder reports whether the path of an output, as it was typed, is the path of a folder: it
// ends with a separator.
func NamesFolder(path string) bool { return path != "" && os.IsPathSeparator(path[len(path)-1]) }

// Claims reports whether path is a recording of this format, by its content, or a part
// of a recording. Nothing may stand there but a file or folder. fsys nil means the operating
// system's files.
func (f *Format) Claims(fsys FS, path string) bool {
	head, err := readHead(fsys, path)
	return err == nil && f.Sniff != nil && f.Sniff(fsys, path, head)
}

// Files are the files of one recording, as paths.
type Files struct {
	Folders  []string // that belong to the recording alone
	Messages []string // that hold the messages, in order
	Beside   []string // what else belongs to it: metadata, a write-ahead log

	// Guessed reports that nothing in the files or their names shows that they are one
	// recording; they only lie together.
	Guessed bool
}

// FilesOf returns the files of the recording at path; fsys nil means the operating
// system's files.
func (f *Format) FilesOf(fsys FS, path string) (Files, error) {
	if f.Layout.Files == nil {
		return Files{Messages: []string{path}}, nil
	}
	return f.Layout.Files(fsys, path)
}

// SniffLen is the number of bytes that Sniff gets of a file (fewer when the
// file is shorter).
const SniffLen = 4096

// ReadOptions are how to read. The zero value salvages with default limits.
type ReadOptions struct {
	Strict bool // the first damage is an error instead of a warning
	FS     FS   // where files are; nil: the operating system's

	// Uncommitted also reads messages that a writer had not committed when it stopped, if
	// they are whole. Formats without transactions ignore it.
	Uncommitted bool

	// CheckIndexes also compares the indexes that reading does not need with the recording, if the
	// format can. An error in such an index is a warning. So are messages without a channel in a
	// chunk with other damage.
	CheckIndexes bool

	// Key decrypts an encrypted recording. Without a key a format may ask the programs that keep
	// keys. If they have no key, the error wraps ErrKey, or Info alone can be read: see
	// InfoOnlyAbove and Info.Locked.
	Key Secret

	// Index is how far the index of the recording is believed.
	Index IndexUse

	// Memory is how many bytes the reader may keep of its own, such as for files that are
	// compressed as a whole; 0 is the format's default. What does not fit goes into the folder for
	// temporary files.
	Memory int64

	// InfoOnlyAbove is from how many bytes on a recording is opened for Info alone,
	// 0 for never: what only reading needs may then be left out, counts may be
	// estimated (Info.Estimated), and reading may be refused.
	InfoOnlyAbove int64
}

// An IndexUse is how far a reader believes an index that has no checksum.
type IndexUse uint8

// Ways to use an index.
const (
	IndexBelieved IndexUse = iota // its definitions are used; where the data have others that is damage
	IndexTested                   // where the data have other definitions reading ends with an error that wraps ErrIndex
	IndexIgnored                  // the data are read for what it tells, as if there were no index
)

// WriteOptions are how to write. The zero value is the format's default. The first fields are
// options of the same names; a format without such an option refuses other values than zero.
type WriteOptions struct {
	Compression string // "" is the default
	Level       int    // codec level; 0 is the codec's default
	ChunkSize   int64  // bytes of message data per chunk before compression; 0 is the format's default
	Profile     string // "" is the default
	Version     string // Info.Version of a source of the same format, which the output keeps if it can and Profile is ""

	// A recording may be cut into segments, each a whole file with all topics: before a message
	// that would make a segment larger or longer. 0 is no limit, and without any limit there is one
	// file, at path itself.
	SegmentSize     int64  // bytes of message data
	SegmentDuration int64  // ns
	SegmentNames    string // how they are called; "" is the default

	// Values has the values of the format's further options, by name. See Options.Set.
	Values map[string]string

	// Memory is how many bytes the writer may keep of its own, as for sorting an
	// index; 0 is the format's default.
	Memory int64

	Overwrite bool // replace what is at path when Commit succeeds
	NoSync    bool // do not wait for the disk: a power cut soon after may lose the output
	FS        FS   // where files are; nil: the operating system's

	// Sequence is set if Message.Sequence of what is written has a meaning.
	Sequence bool

	// Metadata is recording-level metadata to be kept if the format has a
	// place for it (rosbag2: custom_data, ros_distro). See Info.Metadata.
	Metadata map[string]string
}

// A Reader reads one recording. See the optional interfaces in capability.go.
type Reader interface {
	// Info describes the recording as it was found when it was opened, and does not change.
	// Counts come from the recording's own index if that is sound.
	// The result belongs to the caller.
	Info() *Info

	// Damage returns the oddities and damage found so far: by Open, and by all reading
	// since. The result belongs to the caller.
	Damage() Damage

	// ReadNext returns the next message in the order of the file, or io.EOF.
	// The message and its Data are valid until the next call. After an error
	// other than io.EOF each further call returns the same error.
	ReadNext() (*Message, error)

	// Close frees the files. Messages and blocks may not be used afterwards.
	Close() error
}

// A Writer writes one recording. After an error every further call but Close fails; but an error of
// CreateTopic that wraps ErrUnsupported or ErrCorrupt is about that topic alone, and the writer
// goes on without the topic.
type Writer interface {
	// Identity is the fields that distinguish topics of this output. It does not change.
	Identity() Identity

	// CreateTopic adds a topic. Topics may be created at any time
	// before their first message. A second topic with the identity of another is
	// refused with an error wrapping ErrUnsupported.
	CreateTopic(t Topic) (TopicID, error)

	// Write adds a message. It keeps no reference to m or m.Data.
	Write(m *Message) error

	// Finish writes what is left to write and closes all files. Only Commit and Close may follow.
	Finish() (Output, error)

	// Commit finishes the recording, unless Finish has, and moves it to its final name.
	// Unless Commit returns nil, nothing exists under that name.
	Commit() error

	// Close removes an output that was not committed, and frees the writer. It may
	// be called at any time, and more than once.
	Close() error
}

// An Output is what a Writer has made.
type Output struct {
	// Path is the name that the output has until Commit, if it can be read: the name of the file or folder, or of
	// a folder with the segments, which will be beside each other.
	Path string

	Files []string // the paths after Commit, in order; nil: the one file or folder at the path that Create got
}

// FS is the part of a file system that formats use. Names are paths of the
// operating system. Package internal/iox has the real one; tests inject faults.
type FS interface {
	Open(name string) (File, error)                                 // for reading
	OpenFile(name string, flag int, perm os.FileMode) (File, error) // as os.OpenFile
	Stat(name string) (os.FileInfo, error)
	ReadDir(name string) ([]os.DirEntry, error)
	Mkdir(name string, perm os.FileMode) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
}

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Writer
	io.WriterAt
	io.Seeker
	io.Closer
	Name() string
	Stat() (os.FileInfo, error)
	Sync() error
	Truncate(size int64) error
}

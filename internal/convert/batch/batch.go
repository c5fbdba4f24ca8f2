// Package batch converts many recordings: it finds them (Finder), places their
// outputs (Place), keeps a list of what is done (Manifest), and runs several
// conversions at a time while there is room on the disk (Run). The caller passes
// the conversion of one recording as a function.
//
//	find.go      folders, globs, lists and files become inputs
//	list.go      which files of a folder belong together
//	names.go     a mirrored tree, without two outputs of one name
//	manifest.go  JSON lines, one per finished input; reading and mending it
//	lock.go      the file beside it while a batch runs
//	state.go     size, time and hash of inputs and outputs
//	run.go       the loop; system_*.go ask the system
//
// A manifest is JSON lines, UTF-8, each ending in LF:
//
//	{"schema_version":1,"input":"/d/a.x",...,"status":"ok"}\n     one Entry
//	{"schema_version":1,"input":"/d/b.x",...,"status":"failed"}\n
//	{"schema_version":1,"input":"/d/c.b                          torn by a kill: ignored, mended
//
// A line is appended by one write and synced before the batch goes on; on a store, the manifest is written at the end.
// A file that has other lines is refused, so that nothing else is ever rewritten. Until the line of an output is safe,
// its receipt tells that it is ours: see internal/convert/tasks.
//
// A Manifest may be used from several goroutines, a Finder from one.
package batch

import (
	"time"

	"github.com/bagconv/bagconv/internal/iox"
)

// SchemaVersion is the version of the lines of a manifest. Keys may be added
// under the same version.
const SchemaVersion = 1

// An Entry is the result for one input: a line of the manifest. Paths are
// absolute. The keys are documented in docs/batch.md.
type Entry struct {
	SchemaVersion int `json:"schema_version"` // SchemaVersion

	Input        string    `json:"input"`
	SourceFormat string    `json:"source_format"` // "" when no format claims it
	Size         int64     `json:"size"`          // bytes, of all its files
	ModTime      time.Time `json:"mtime"`         // of the newest of its files
	SHA256       string    `json:"sha256,omitempty"`

	Output      string   `json:"output"`
	Format      string   `json:"format"`
	OutputSize  int64    `json:"output_size"`
	OutputFiles []string `json:"output_files"`
	Options     []string `json:"options"`            // flags that change what is written
	Verified    string   `json:"verified,omitempty"` // level at which the output was read back

	Content []Digest `json:"content,omitempty"` // of topics by name, if it was verified at level content

	Topics      int      `json:"topics"`                   // of the input that were asked for
	Missing     []string `json:"missing_topics,omitempty"` // patterns of the selection that match nothing in the input
	Read        int64    `json:"read"`                     // messages
	Written     int64    `json:"written"`
	LossCodes   []string `json:"loss_codes"`   // of what is lost, not by design
	ByDesign    []string `json:"by_design"`    // codes of what the format has no place for
	DamageCodes []string `json:"damage_codes"` // of damage in the input
	Lost        Lost     `json:"lost"`

	DurationNS string     `json:"duration_ns"`
	IO         iox.Counts `json:"io"` // of the conversion
	Status     string     `json:"status"`
	Error      string     `json:"error,omitempty"`
}

// A Digest is what proves the content of a topic. It is the same for the input and the output. See
// docs/content-hash.md. Both numbers are in hex.
type Digest struct {
	Topic    string `json:"topic"`
	Type     string `json:"type"` // in the output, or in the input if it is lost
	Messages int64  `json:"messages"`
	Hash     string `json:"hash,omitempty"` // "" for a recording in parts
	Sum      string `json:"sum"`            // for parts the sum of their sums
}

// Lost is what is missing in an output.
type Lost struct {
	Messages  int64 `json:"messages"`  // not converted, or counted if the input is damaged
	Bytes     int64 `json:"bytes"`     // of the input that could not be read
	Blocks    int64 `json:"blocks"`    // that miss something
	Uncounted bool  `json:"uncounted"` // more messages are or may be missing, and nothing counts them
}

// The values of Entry.Status.
const (
	StatusOK       = "ok"
	StatusLossy    = "lossy"
	StatusFailed   = "failed"
	StatusNoTopics = "no-topics" // the input has none of the topics, and they may be missing: there is no output
)

// Done reports whether nothing is left to be done for an input: its output is written, or it has none of the topics.
func (e *Entry) Done() bool {
	return e.Status == StatusOK || e.Status == StatusLossy || e.Status == StatusNoTopics
}

// Canonical turns the names of an entry into the names that the file system uses; JSON has URLs as people write
// them. See iox.Canonical.
func (e *Entry) Canonical() {
	e.Input, e.Output = iox.Canonical(e.Input), iox.Canonical(e.Output)
	for i, name := range e.OutputFiles {
		e.OutputFiles[i] = iox.Canonical(name)
	}
}

// Package tasks divides conversions among processes that have nothing in common
// but their storage. A plan is a list of tasks, one conversion each; any process
// may do any task, twice, and at the same time as another one; results are then
// collected. Which process does which task is the business of an engine.
//
//	tasks.go    Task and Result, which travel as lines of JSON
//	lines.go    reading them
//	receipt.go  what is known of an output, in a folder beside all outputs
//	shard.go    which share of a plan a process has
//	faults.go   which errors may pass
//
// A task is one line, UTF-8, ending in LF, and so is a result:
//
//	{"schema_version":2,"id":"5f0c...","source":"/d/a.x","output":"/o/a",...}\n
//	{"task":"5f0c...","skipped":false,...,"status":"ok"}\n
//
// A line of more than MaxLine bytes is refused. The package converts nothing. A
// Store may be used from several goroutines and processes.
package tasks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/recipe"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// The versions of tasks and of results. Keys may be added under the same version. Tasks of version 1 are read, too.
const (
	TaskVersion   = 2
	ResultVersion = 1
)

// A Task is one conversion. The keys are documented in docs/scale.md.
type Task struct {
	SchemaVersion int           `json:"schema_version"`
	ID            string        `json:"id"`            // hex; see SetID
	Source        string        `json:"source"`        // absolute
	SourceFormat  string        `json:"source_format"` // "" when no format claims it
	Size          int64         `json:"size"`          // bytes, of all files of the source
	ModTime       time.Time     `json:"mtime"`         // of the newest of these files
	OutputDir     string        `json:"output_dir"`    // absolute; has the receipts
	Output        string        `json:"output"`        // absolute
	Recipe        recipe.Recipe `json:"recipe"`        // a worker must have the same content
	Range         *Range        `json:"range,omitempty"`
}

// A Range is a part of a recording by log time. Parts follow each other without gaps.
type Range struct {
	Part   int     `json:"part"`             // from 0
	Parts  int     `json:"parts"`            // of the recording
	First  string  `json:"first"`            // ns since 1970, belongs to it; "": the recording's start
	Last   string  `json:"last"`             // the same; "": the end
	Joined string  `json:"joined"`           // the recording that all parts will be
	Before []int64 `json:"before,omitempty"` // messages of each topic of the source in the parts before, for Header.seq
}

// Folder returns the folder of the outputs of all parts, if they are to be joined.
func (r *Range) Folder() string { return r.Joined + ".parts" }

// Stage returns the folder in which the parts are joined.
func (r *Range) Stage() string { return filepath.Join(r.Folder(), "joined") }

// Staged reports whether a call of collect has begun to join the parts, and not ended: then files have moved.
func (r *Range) Staged(fsys storage.FS) bool { return exists(fsys, r.Stage()) }

// BeingJoined reports whether joining has begun and its receipts are not all written.
func (r *Range) BeingJoined(fsys storage.FS) bool {
	return r.Staged(fsys) || exists(fsys, r.Folder()) && exists(fsys, r.Joined)
}

func exists(fsys storage.FS, path string) bool {
	_, err := iox.FS(fsys).Stat(path)
	return err == nil
}

// A Result is what became of a task: what the manifest of a batch has, and the task.
type Result struct {
	Task      string `json:"task"`               // its id, "" if the line was no task
	Skipped   bool   `json:"skipped"`            // it was done before
	Transient bool   `json:"transient"`          // it failed for a reason that may pass
	Manifest  string `json:"manifest,omitempty"` // of a receipt of a batch: the manifest that will have the line
	batch.Entry

	Err error `json:"-"` // why it failed, if it was done just now
}

// StatusPending is the status of the receipt of an output that may be half done.
const StatusPending = "pending"

// SetID sets the ID of a task: a hash of its content, with the hash of the recipe in the place of the recipe.
func (t *Task) SetID() {
	c := *t
	c.ID, c.Recipe = "", recipe.Recipe{Content: t.Recipe.Hash()}
	h := sha256.Sum256(Line(c))
	t.ID = hex.EncodeToString(h[:idBytes])
}

// idBytes is the length of the ID of a task, which has two digits for each.
const idBytes = 12

// canonical turns the names of a task into the names that the file system uses; JSON has URLs as people write
// them. See iox.Canonical.
func (t *Task) canonical() {
	t.Source, t.OutputDir, t.Output = iox.Canonical(t.Source), iox.Canonical(t.OutputDir), iox.Canonical(t.Output)
	if t.Range != nil {
		t.Range.Joined = iox.Canonical(t.Range.Joined)
	}
}

// Check reports what a task lacks, and refuses one that would write outside of its output_dir: a plan
// may come from anywhere.
func (t *Task) Check() error {
	switch {
	case t.SchemaVersion != TaskVersion:
		return fmt.Errorf("not a task of this version: schema_version is %d", t.SchemaVersion)
	case t.ID == "" || t.Source == "" || t.Output == "" || t.OutputDir == "" || t.Recipe.Format == "":
		return fmt.Errorf("not a task: it needs id, source, output, output_dir and a recipe with a format")
	case len(t.ID) != 2*idBytes || strings.Trim(t.ID, "0123456789abcdef") != "":
		return fmt.Errorf("not a task: its id must have %d hexadecimal digits", 2*idBytes)
	case !plainName(t.Source) || !plainName(t.OutputDir):
		return fmt.Errorf("not a task: source and output_dir must be absolute paths without .. as a part")
	case !within(t.Output, t.OutputDir):
		return fmt.Errorf("not a task: the output is not in output_dir")
	}
	if r := t.Range; r != nil {
		return r.check(t)
	}
	return nil
}

// check is the part of Check about a range.
func (r *Range) check(t *Task) error {
	number := func(text string) bool {
		_, err := strconv.ParseInt(text, 10, 64)
		return text == "" || err == nil
	}
	switch {
	case r.Parts < 1 || r.Part < 0 || r.Part >= r.Parts:
		return fmt.Errorf("not a task: its range is part %d of %d, counted from 0", r.Part, r.Parts)
	case !number(r.First) || !number(r.Last):
		return fmt.Errorf("not a task: first and last of its range must be times in ns")
	case !within(r.Joined, t.OutputDir):
		return fmt.Errorf("not a task: joined is not in output_dir")
	}
	return nil
}

// plainName reports whether a name is absolute, and has no parts that filepath.Clean removes.
func plainName(name string) bool {
	return (filepath.IsAbs(name) || iox.IsURL(name)) && filepath.Clean(name) == name
}

// within reports whether a name is below a folder, and not in the folder of the receipts.
func within(name, dir string) bool {
	rel, err := filepath.Rel(dir, name)
	first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	return err == nil && plainName(name) && filepath.IsLocal(rel) && rel != "." && first != stateName
}

// Line returns a value as a line of JSON, with URLs as people write them.
func Line(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic("internal error: " + err.Error())
	}
	return append([]byte(iox.ShowAll(string(line))), '\n')
}

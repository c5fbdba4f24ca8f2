package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/convert/tasks"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// joiner returns the format that joins the parts of a recording; nil if they stand as they are.
func (s *collection) joiner(t *tasks.Task) *storage.Format {
	if t.Range == nil {
		return nil
	}
	if f := s.formats.Lookup(t.Recipe.Format); f != nil && f.Shards.Join != nil {
		return f
	}
	return nil
}

// beingJoined reports whether the parts of a recording are being joined.
func (s *collection) beingJoined(t *tasks.Task) bool {
	return s.joiner(t) != nil && t.Range.BeingJoined(s.fs)
}

// join joins the recordings whose parts are all done.
func (s *collection) join(ctx context.Context, from, to int) error {
	for i := from; i < to; i++ {
		t := s.tasks[i]
		if t.Range == nil || t.Range.Part != 0 {
			continue
		}
		parts, f := s.partsFrom(i), s.joiner(t)
		if parts == nil || f == nil {
			continue
		}
		if slices.ContainsFunc(parts, func(r *tasks.Result) bool {
			return !r.Empty() && !slices.Equal(r.OutputFiles, []string{t.Range.Joined})
		}) {
			if err := s.joinParts(ctx, f, i, parts); err != nil {
				return err
			}
		}
		if err := s.fs.RemoveAll(t.Range.Folder()); err != nil { // also what a killed call has left of it
			return err
		}
	}
	return nil
}

// partsFrom returns the results of the parts of a recording, whose first task is i; nil if not all
// are done. plan writes them one after another.
func (s *collection) partsFrom(i int) []*tasks.Result {
	r := s.tasks[i].Range
	if i+r.Parts > len(s.tasks) {
		return nil
	}
	for k := range r.Parts {
		other := s.tasks[i+k].Range
		if res := s.results[i+k]; other == nil || other.Joined != r.Joined || other.Part != k || res == nil || !res.Done() {
			return nil
		}
	}
	return s.results[i : i+r.Parts]
}

// joinParts joins the parts of a recording, and makes of their receipts one for the whole.
func (s *collection) joinParts(ctx context.Context, f *storage.Format, i int, parts []*tasks.Result) error {
	r := s.tasks[i].Range
	var folders []string
	for k, part := range parts {
		if !part.Empty() {
			folders = append(folders, s.tasks[i+k].Output)
		}
	}
	size, err := f.Shards.Join(ctx, s.fs, folders, r.Stage(), r.Joined)
	if err != nil {
		return &failure{path: r.Joined, what: fmt.Sprintf("its %d parts cannot be joined: %v", len(folders), plainError(err)),
			hint: "remove what stands there if it is not needed, and collect again", err: err}
	}
	store := tasks.Store{FS: s.fs}
	for k, part := range parts {
		if part.Empty() {
			continue
		}
		part.OutputFiles, part.OutputSize = []string{r.Joined}, size
		if err := store.Save(s.tasks[i+k], part, true); err != nil {
			return err
		}
	}
	return nil
}

// entries returns the lines of the manifest: one for each recording.
func (s *collection) entries(from, to int) (list []*batch.Entry) {
	for i := from; i < to; i++ {
		t, r := s.tasks[i], s.results[i]
		switch {
		case t.Range == nil && r != nil:
			list = append(list, &r.Entry)
		case t.Range != nil && t.Range.Part == 0:
			if parts := s.partsFrom(i); parts != nil {
				list = append(list, t.Whole(parts, s.joiner(t) != nil))
				i += len(parts) - 1
			}
		}
	}
	return list
}

// A collection is what is known of the tasks of a plan.
type collection struct {
	*env
	plan    string
	dir     string // of the outputs
	tasks   []*tasks.Task
	lines   [][]byte        // of results that were given, index as tasks; nil: none
	results []*tasks.Result // the results at hand, index as tasks; nil: not done
	others  int             // lines that are no results
	failed  []failedTask
	tally   tasks.Tally
	sum     collectJSON
	without missingCount
}

// The JSON of collect --json, documented in docs/scale.md.
type collectJSON struct {
	SchemaVersion int    `json:"schema_version"`
	Status        string `json:"status"` // "ok", "lossy" or "failed"
	ExitStatus    int    `json:"exit_status"`
	Plan          string `json:"plan"`
	Manifest      string `json:"manifest"`
	Failures      string `json:"failures"` // the file with tasks that are to be done again
	Tasks         int    `json:"tasks"`
	OK            int    `json:"ok"`
	Lossy         int    `json:"lossy"`
	NoTopics      int    `json:"no_topics"` // without the topics, see batch.StatusNoTopics
	Failed        int    `json:"failed"`    // for a reason that stays
	Transient     int    `json:"transient"` // for a reason that may pass
	Missing       int    `json:"missing"`   // neither done nor failed
	Torn          int    `json:"torn"`      // lines of results that cannot be read
	Size          int64  `json:"size"`      // of the inputs that are done
	OutputSize    int64  `json:"output_size"`
	Messages      int64  `json:"messages"`

	IO         iox.Counts `json:"io"`          // of all conversions
	DurationNS string     `json:"duration_ns"` // the same
}

// A failedTask is a task with why it is not done.
type failedTask struct {
	tasks.Task
	Transient bool   `json:"transient"`
	Error     string `json:"error"`
}

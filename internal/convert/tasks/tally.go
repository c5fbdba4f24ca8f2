package tasks

import (
	"strconv"

	"github.com/bagconv/bagconv/internal/convert/batch"
	"github.com/bagconv/bagconv/internal/iox"
)

// The fates of a task, beside the statuses of batch.Entry.
const (
	FateTransient = "transient" // it failed for a reason that may pass
	FateSkipped   = "skipped"   // it was done before
	FateMissing   = "not done"
)

// Fate returns what has become of a task; r is nil if it is not done.
func (r *Result) Fate() string {
	switch {
	case r == nil:
		return FateMissing
	case r.Skipped:
		return FateSkipped
	case r.Status == batch.StatusFailed && r.Transient:
		return FateTransient
	}
	return r.Status
}

// A Tally adds up tasks by their fate.
type Tally map[string]Sum

// A Sum is the sum of several tasks.
type Sum struct {
	Tasks                      int
	Size, OutputSize, Messages int64 // bytes of the inputs and of the outputs, messages written
	DurationNS                 int64
	IO                         iox.Counts
}

func sumOf(e *batch.Entry) Sum {
	ns, _ := strconv.ParseInt(e.DurationNS, 10, 64)
	return Sum{1, e.Size, e.OutputSize, e.Written, ns, e.IO}
}

func (s Sum) plus(o Sum) Sum {
	return Sum{s.Tasks + o.Tasks, s.Size + o.Size, s.OutputSize + o.OutputSize, s.Messages + o.Messages,
		s.DurationNS + o.DurationNS, s.IO.Plus(o.IO)}
}

// Add adds a task.
func (t Tally) Add(fate string, e *batch.Entry) {
	t[fate] = t[fate].plus(sumOf(e))
}

// Of returns the sum of several fates.
func (t Tally) Of(fates ...string) (all Sum) {
	for _, fate := range fates {
		all = all.plus(t[fate])
	}
	return all
}

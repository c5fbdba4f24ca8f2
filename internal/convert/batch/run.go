package batch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/bagconv/bagconv/internal/iox"
)

// A Task is one conversion to be run.
type Task struct {
	Input  *Input
	Output string
	Expect int64 // bytes that the output will have, about; 0: not known

	done atomic.Uint64 // thousandths
}

// Progress reports how much of the conversion is done, from 0 to 1. It may be
// called from any goroutine.
func (t *Task) Progress(fraction float64) { t.done.Store(uint64(1000 * min(max(fraction, 0), 1))) }

// Done returns the last value that Progress got.
func (t *Task) Done() float64 { return float64(t.done.Load()) / 1000 }

// left returns the bytes that will still be written.
func (t *Task) left() int64 { return t.Expect - int64(float64(t.Expect)*t.Done()) }

// A SpaceError is the error of an output that cannot fit. It wraps syscall.ENOSPC.
type SpaceError struct{ Need, Free int64 }

func (e *SpaceError) Error() string {
	return fmt.Sprintf("needs at least %d bytes, and %d are free", e.Need, e.Free)
}

func (e *SpaceError) Unwrap() error { return syscall.ENOSPC }

// leastShare is how small a part of its Expect an output can be at least: where
// messages are tiny, their frames are most of a recording, and formats differ.
const leastShare = 0.5

// Run calls do for each task, up to jobs at a time, begun in their order, each
// in a goroutine of its own. A task waits for others to end while the disk has
// no room for what all expect to write; a task that cannot fit even alone is passed
// a SpaceError instead of nil. When ctx is cancelled no further task begins. Run
// returns when all that have begun are through.
func Run(ctx context.Context, tasks []*Task, jobs int, do func(context.Context, *Task, error)) {
	r := runner{free: FreeSpace, running: map[*Task]bool{}}
	r.ended = sync.NewCond(&r.mu)
	r.run(ctx, tasks, jobs, do)
}

type runner struct {
	free    func(dir string) (int64, bool)
	mu      sync.Mutex
	ended   *sync.Cond
	running map[*Task]bool
}

func (r *runner) run(ctx context.Context, tasks []*Task, jobs int, do func(context.Context, *Task, error)) {
	var all sync.WaitGroup
	defer all.Wait()
	stop := context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended.Broadcast()
	})
	defer stop()
	for _, t := range tasks {
		err, ok := r.admit(ctx, t, jobs)
		if !ok {
			return
		}
		all.Go(func() {
			do(ctx, t, err)
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.running, t)
			r.ended.Broadcast()
		})
	}
}

// admit waits until a task may begin. ok is false when ctx is cancelled.
func (r *runner) admit(ctx context.Context, t *Task, jobs int) (err error, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		if ctx.Err() != nil {
			return nil, false
		}
		if len(r.running) < jobs {
			err := r.fits(t)
			if err == nil || len(r.running) == 0 {
				r.running[t] = true
				return err, true
			}
		}
		r.ended.Wait()
	}
}

// fits reports whether there is room for a task beside the running tasks; if no task
// runs, whether there can be.
func (r *runner) fits(t *Task) error {
	if iox.IsURL(t.Output) {
		return nil // nobody knows how much room a store has
	}
	free, known := r.free(standing(filepath.Dir(t.Output)))
	if !known || t.Expect == 0 {
		return nil
	}
	need := t.Expect
	for other := range r.running {
		need += other.left()
	}
	if len(r.running) == 0 {
		need = int64(float64(need) * leastShare)
	}
	if need > free {
		return &SpaceError{Need: need, Free: free}
	}
	return nil
}

// standing returns the deepest folder of a path that is there.
func standing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

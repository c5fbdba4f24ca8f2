package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// runTasks runs tasks on a disk with room for so many bytes.
func runTasks(t *testing.T, room int64, jobs int, expects ...int64) (errs []error, most int64) {
	t.Helper()
	var used, at, peak atomic.Int64
	r := runner{free: func(string) (int64, bool) { return room - used.Load(), true }, running: map[*Task]bool{}}
	r.ended = sync.NewCond(&r.mu)
	errs = make([]error, len(expects))
	var tasks []*Task
	for _, n := range expects {
		tasks = append(tasks, &Task{Output: "/out/x", Expect: n})
	}
	r.run(t.Context(), tasks, jobs, func(_ context.Context, task *Task, err error) {
		i := slices.Index(tasks, task)
		if errs[i] = err; err != nil {
			return
		}
		now := at.Add(1)
		for p := peak.Load(); now > p && !peak.CompareAndSwap(p, now); p = peak.Load() {
		}
		for k := range 10 {
			used.Add(task.Expect * 8 / 100) // somewhat less than expected
			task.Progress(float64(k+1) / 10)
			time.Sleep(time.Millisecond)
		}
		at.Add(-1)
	})
	if used.Load() > room {
		t.Errorf("%d bytes on a disk of %d", used.Load(), room)
	}
	return errs, peak.Load()
}

func TestRun(t *testing.T) {
	errs, most := runTasks(t, 1000, 3, 100, 100, 100, 100, 100, 100)
	if err := errors.Join(errs...); err != nil || most != 3 {
		t.Errorf("%v, %d at a time", err, most)
	}
	// Beside each other these would not fit, by what is expected of them.
	errs, most = runTasks(t, 900, 3, 600, 350)
	if err := errors.Join(errs...); err != nil || most != 1 {
		t.Errorf("%v, %d at a time", err, most)
	}
	var space *SpaceError
	errs, _ = runTasks(t, 1000, 2, 100, 5000, 200)
	if errs[0] != nil || errs[2] != nil || !errors.As(errs[1], &space) || !errors.Is(errs[1], syscall.ENOSPC) ||
		space.Need != 2500 {
		t.Errorf("%v", errs)
	}
}

// TestRunCancelled: nothing begins after the cancellation, and Run waits for
// what had begun.
func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var began, ended atomic.Int64
	Run(ctx, []*Task{{Output: "/x"}, {Output: "/x"}, {Output: "/x"}, {Output: "/x"}}, 2, func(ctx context.Context, _ *Task,
		_ error) {
		if began.Add(1) == 2 {
			cancel()
		}
		<-ctx.Done()
		time.Sleep(10 * time.Millisecond)
		ended.Add(1)
	})
	if began.Load() != 2 || ended.Load() != 2 {
		t.Errorf("%d began, %d ended", began.Load(), ended.Load())
	}
}

func TestFreeSpace(t *testing.T) {
	if removeLast {
		t.Skip("this system is not asked")
	}
	if n, known := FreeSpace(t.TempDir()); !known || n <= 0 {
		t.Errorf("%d, %v", n, known)
	}
	if _, known := FreeSpace("/nonexistent"); known {
		t.Error("of a folder that is not there")
	}
	if got := standing("/nonexistent/a/b"); got != "/" {
		t.Errorf("%s", got)
	}
}

package cli

import (
	"testing"

	"github.com/bagconv/bagconv/cmd/bagconv/cli/flags"
	"github.com/bagconv/bagconv/convert"
	"github.com/bagconv/bagconv/internal/ordered"
)

// TestDivide: a batch of small recordings has a conversion for each core that it has memory for; --jobs, --threads and
// --max-memory count more.
func TestDivide(t *testing.T) {
	cores := ordered.Share(1)
	for _, c := range []struct {
		jobs, threads int
		memory        int64
		small         bool
		want          int // conversions
	}{
		{0, 0, 256 << 20, false, ordered.Runs()},
		{0, 0, 256 << 20, true, max(ordered.Runs(), min(cores, 4))},
		{0, 0, 64 << 20, true, ordered.Runs()},
		{0, 0, 64 << 30, true, cores},
		{3, 5, 256 << 20, true, 3},
	} {
		e := freshEnv()
		e.command = flags.Named(e.commands(), "batch")
		e.set.batch.jobs, e.set.job.Threads, e.set.job.MaxMemory = c.jobs, c.threads, c.memory
		b := &batchRun{env: e, job: &convert.Job{}}
		if err := b.divide(c.small); err != nil {
			t.Fatal(err)
		}
		threads := c.threads
		if threads == 0 {
			threads = ordered.Share(c.want)
		}
		if b.jobs != c.want || b.job.Threads != threads || b.job.MaxMemory != max(c.memory/int64(c.want), minMemory) {
			t.Errorf("%+v: %d conversions, %d threads, %d bytes", c, b.jobs, b.job.Threads, b.job.MaxMemory)
		}
	}
}

package ordered

import "runtime"

// MaxWorkers is the most workers that a run has, however many are asked for: each has
// memory of its own.
const MaxWorkers = 256

// workerMemory is how much of a run's memory there is for each worker, bytes: if there are
// more workers they wait for each other.
const workerMemory = 20 << 20

// Workers returns how many workers a run has that may use so many bytes: as many as are
// asked for, or if that is 0 one per core, as far as the memory allows.
func Workers(requested int, memory int64) int {
	if requested > 0 {
		return min(requested, MaxWorkers)
	}
	return min(cores(), max(2, int(memory/workerMemory)))
}

// QueryWorkers returns how many goroutines read ahead of a query; 0 if there is no core for
// one.
func QueryWorkers() int { return min(cores()-1, 3) }

// Runs returns how many runs of several go at the same time, by default, and Share how many
// workers each of so many has.
func Runs() int { return max(1, cores()/2) }

// Share is described at Runs.
func Share(runs int) int { return max(1, cores()/runs) }

func cores() int { return runtime.GOMAXPROCS(0) }

package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// gcPercent keeps the heap near what is in use: buffers are few, large and used
// again, so that collecting more often costs no time that can be measured.
const gcPercent = 25

// gcFloor is how large the heap becomes before anything is collected, bytes: a run that makes little ends before,
// and a small heap is not collected again and again.
const gcFloor = 32 << 20

// collectLate has the runtime collect by gcFloor and gcPercent.
func collectLate() {
	const least = 4 << 20 // the heap at which the runtime first collects at 100 percent
	debug.SetGCPercent(gcFloor * 100 / least)
	afterNext(0)
}

// afterNext sets the percentage anew after the next collection, by what was in use then.
func afterNext(percent int) {
	// what is collected first tells that a collection has ended
	runtime.SetFinalizer(new(*int), func(**int) {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		next := gcPercent
		if bytes := live[0].Value.Uint64(); bytes < gcFloor {
			next = max(next, int(gcFloor*100/max(bytes, 1<<20))-100)
		}
		if next != percent {
			debug.SetGCPercent(next)
		}
		afterNext(next)
	})
}

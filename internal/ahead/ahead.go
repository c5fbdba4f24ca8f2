// Package ahead does jobs before their results are needed. The results are taken in the order
// of the jobs.
//
//	Add        1  2  3  4  5  6  7
//	done by    w  w  c  w  c  .  .     w: goroutines of the queue, c: the caller of Take
//	Take       1  2  ...
//
// Take does jobs itself rather than wait for other goroutines: if jobs are
// short, sleeping and waking costs more than the jobs.
//
// A Queue belongs to one goroutine; its jobs run concurrently with each other and with
// that goroutine. A job that panics takes the program with it.
package ahead

import "sync"

// A Queue is jobs in their order. The zero Queue has its jobs done by Take alone.
type Queue struct {
	Workers int // goroutines that do jobs, at most

	mu    sync.Mutex
	done  sync.Cond
	jobs  []*job // that were not taken
	next  int    // index of the first job that nobody does
	alive int    // workers
}

type job struct {
	do   func()
	done bool
}

// Len returns how many jobs were not taken.
func (q *Queue) Len() int { return len(q.jobs) }

// Add adds a job after the others.
func (q *Queue) Add(do func()) {
	q.mu.Lock()
	q.jobs = append(q.jobs, &job{do: do})
	more := q.alive < q.Workers
	if more {
		q.alive++
	}
	q.mu.Unlock()
	if more {
		go q.work()
	}
}

// work does jobs until there are no more.
func (q *Queue) work() {
	q.mu.Lock()
	for q.next < len(q.jobs) {
		q.one()
		q.done.Signal()
	}
	q.alive--
	q.done.Signal()
	q.mu.Unlock()
}

// one does the next job. q.mu is held, except while the job runs.
func (q *Queue) one() {
	j := q.jobs[q.next]
	q.next++
	q.mu.Unlock()
	j.do()
	q.mu.Lock()
	j.done = true
}

// Take drops the first job, when it is done. There must be a job.
func (q *Queue) Take() {
	q.mu.Lock()
	for j := q.jobs[0]; !j.done; {
		if q.next < len(q.jobs) {
			q.one()
		} else {
			q.wait()
		}
	}
	q.jobs = q.jobs[1:]
	q.next--
	q.mu.Unlock()
}

// wait waits for a worker to have done something. q.mu is held.
func (q *Queue) wait() {
	q.done.L = &q.mu
	q.done.Wait()
}

// Stop drops the jobs that nobody does, and waits for the others. It returns how many of
// the first jobs were done; the queue is empty then.
func (q *Queue) Stop() (done int) {
	q.mu.Lock()
	done = q.next
	q.jobs = q.jobs[:q.next]
	for q.alive > 0 {
		q.wait()
	}
	q.jobs, q.next = nil, 0
	q.mu.Unlock()
	return done
}

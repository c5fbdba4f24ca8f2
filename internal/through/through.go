// Package through has programs of others change messages: each message goes to a program as a frame of internal/frames,
// and its answer comes back as one.
//
//	pool := &through.Pool{Command: "python3 blur.py", Processes: 4, Timeout: time.Minute, Stderr: os.Stderr}
//	pool.Begin()                                     // no process runs yet
//	p, err := pool.Take(ctx)                         // a process that nobody else has
//	answer, err := p.Ask(ctx, topic, logTime, data)  // valid as long as the caller likes
//	pool.Give(p)
//	err = pool.End(ctx)                              // what the programs still wrote, and how they ended
//
// A program reads frames from its standard input and writes one frame to its standard output for each, in their order,
// with the same time, encoding, type and topic; only the message may differ. It must not wait for the next frame before
// it answers: what it has written must leave its buffers. Its standard output has nothing else. When its input ends, it
// ends with status 0.
//
// Refused are an answer with another head or with lengths that contradict each other, a program that ends early, one
// that writes more than it was asked, one that ends with another status, and one that neither reads nor writes for the
// time of Timeout. Memory grows with what has come. A program is a command of the shell in a group of processes of its
// own, where the system has that: with an error, or when the context ends, the whole group is killed. Processes that
// left the group and hold the pipes are not waited for.
//
// A Pool is for one run at a time. Take, Give and Ask of different processes may be called concurrently.
package through

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// DefaultTimeout is how long a program may neither read nor write while an answer is waited for.
const DefaultTimeout = time.Minute

// MaxProcesses is how many processes a Pool may have.
const MaxProcesses = 64

// A Pool is processes of one program.
type Pool struct {
	Command   string // of the shell
	Processes int    // side by side; 0: 1
	Timeout   time.Duration
	Stderr    io.Writer // of the programs; nil: nobody reads it

	mu   sync.Mutex
	free chan *Process
	all  []*Process
}

// Begin makes the pool ready for a run. Processes of a run before are killed.
func (p *Pool) Begin() {
	p.Abort()
	p.mu.Lock()
	defer p.mu.Unlock()
	n := max(p.Processes, 1)
	p.free, p.all = make(chan *Process, n), make([]*Process, n)
	for i := range p.all {
		p.all[i] = &Process{pool: p}
		p.free <- p.all[i]
	}
}

// Take returns a process that nobody else has. It is started by its first message.
func (p *Pool) Take(ctx context.Context) (*Process, error) {
	select {
	case one := <-p.free:
		return one, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Give takes a process back.
func (p *Pool) Give(one *Process) { p.free <- one }

// End tells the programs that there are no more messages, and waits for their ends.
func (p *Pool) End(ctx context.Context) error {
	errs := make([]error, len(p.all))
	var wg sync.WaitGroup
	for i, one := range p.all {
		wg.Go(func() { errs[i] = one.end(ctx) })
	}
	wg.Wait()
	p.all = nil
	return errors.Join(errs...)
}

// Abort kills the programs.
func (p *Pool) Abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		one.kill()
	}
	p.all = nil
}

// An Error is what is wrong with a program.
type Error struct {
	Command string
	What    string
	Hint    string // the next step
	Err     error
}

func (e *Error) Error() string {
	text := fmt.Sprintf("--through %s: %s", e.Command, e.What)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

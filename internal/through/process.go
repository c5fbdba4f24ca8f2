package through

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/bagconv/bagconv/internal/frames"
)

// A Process is one running program. Only whoever has taken it may use it.
type Process struct {
	pool    *Pool
	cmd     *exec.Cmd
	in      *os.File // what the program reads
	out     *os.File // what it writes
	reader  *bufio.Reader
	moved   atomic.Int64  // bytes to and from it
	ended   chan struct{} // closed when it has ended
	exit    error         // how, from then on
	count   int64         // messages that it got
	frame   []byte        // of the last message
	stopped atomic.Bool   // it was killed
	overdue atomic.Bool   // because nothing moved
}

// A Topic is what the frames of a topic have in common.
type Topic struct {
	Name  string
	names []byte
}

// TopicOf returns the topic of frames.
func TopicOf(encoding, typ, name string) *Topic {
	return &Topic{name, frames.AppendNames(nil, encoding, typ, name)}
}

const (
	endTime  = 250 * time.Millisecond // after its end, for what other processes still have in its pipes
	pollTime = 50 * time.Millisecond
	growth   = 1 << 20 // how much memory is made for bytes that may not come
)

// start runs the program.
func (p *Process) start() error {
	cmd := shell(p.pool.Command)
	cmd.Stderr, cmd.WaitDelay = p.pool.Stderr, endTime
	inRead, in, err := os.Pipe()
	if err != nil {
		return err
	}
	out, outWrite, err := os.Pipe()
	if err != nil {
		return errors.Join(err, inRead.Close(), in.Close())
	}
	cmd.Stdin, cmd.Stdout = inRead, outWrite
	p.cmd, p.in, p.out, p.ended = cmd, in, out, make(chan struct{})
	p.reader = bufio.NewReaderSize(counted{p.out.Read, &p.moved}, 64<<10)
	started := make(chan error)
	go func() {
		defer close(p.ended)
		defer ownThread()() // its death would be taken for ours
		err := cmd.Start()
		_, _ = inRead.Close(), outWrite.Close()
		started <- err
		if err == nil {
			p.exit = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		_, _ = in.Close(), out.Close()
		p.cmd = nil
		return p.wrong(err, "it cannot be started: %v", err)
	}
	return nil
}

// counted counts the bytes that a function moves.
type counted struct {
	move func([]byte) (int, error)
	n    *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.move(b)
	c.n.Add(int64(n))
	return n, err
}

// wrong returns an error about the program.
func (p *Process) wrong(err error, what string, a ...any) *Error {
	return &Error{Command: p.pool.Command, What: fmt.Sprintf(what, a...), Err: err}
}

// Ask sends a message, and returns the answer, in memory of its own, and whether it is another message.
func (p *Process) Ask(ctx context.Context, t *Topic, logTime int64, data []byte) (answer []byte, changed bool,
	err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, false, err
	}
	if p.cmd == nil {
		if err := p.start(); err != nil {
			return nil, false, err
		}
	}
	if p.frame, err = frames.Append(p.frame[:0], logTime, t.names, data); err != nil {
		return nil, false, err
	}
	p.count++
	stop := p.watch(ctx)
	defer stop()
	written := make(chan error, 1)
	go func() { written <- p.write(p.frame) }()
	if answer, err = p.answer(); err == nil {
		err = <-written // else it has answered before it was asked
		written <- nil
	}
	if err != nil {
		err = p.explain(ctx, err, t, logTime)
		p.kill()
		<-written
		return nil, false, err
	}
	return answer, !bytes.Equal(answer, data), nil
}

// write writes a frame, in pieces so that it is seen to move.
func (p *Process) write(b []byte) error {
	for len(b) > 0 {
		n, err := p.in.Write(b[:min(len(b), 32<<10)])
		p.moved.Add(int64(n))
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// answer reads the answer to the last frame.
func (p *Process) answer() ([]byte, error) {
	var b [frames.HeadSize]byte
	if n, err := io.ReadFull(p.reader, b[:]); err != nil {
		return nil, cut(err, n, "in the middle of an answer")
	}
	sent := p.frame[:frames.HeadSize]
	h, err := frames.ParseHead(b[:])
	if err != nil || !bytes.Equal(b[frames.FirstBytes:], sent[frames.FirstBytes:]) {
		return nil, &garbage{p.other(b[:], &h, err)}
	}
	names := make([]byte, h.Names())
	if n, err := io.ReadFull(p.reader, names); err != nil {
		return nil, cut(err, n+1, "in the middle of an answer")
	}
	if want := p.frame[frames.HeadSize : frames.HeadSize+len(names)]; !bytes.Equal(names, want) {
		return nil, &garbage{fmt.Sprintf("the answer is about %q, and the message about %q", names, want)}
	}
	return p.message(h.Message())
}

// message reads so many bytes, and makes memory as they come.
func (p *Process) message(size int64) ([]byte, error) {
	b := make([]byte, 0, min(size, growth))
	for int64(len(b)) < size {
		n := min(size-int64(len(b)), max(int64(len(b)), growth))
		at := len(b)
		b = append(b, make([]byte, n)...)
		if got, err := io.ReadFull(p.reader, b[at:]); err != nil {
			return nil, cut(err, got+1, "in the middle of an answer")
		}
	}
	return b, nil
}

// other says how the head of an answer differs from the head of the message.
func (p *Process) other(b []byte, h *frames.Head, err error) string {
	sent, _ := frames.ParseHead(p.frame)
	switch {
	case err == nil && h.Encoding == sent.Encoding && h.Type == sent.Type && h.Topic == sent.Topic:
		return fmt.Sprintf("the answer has the time %d, and the message %d", h.Time, sent.Time)
	case err == nil && h.Time == sent.Time:
		return "the answer has another encoding, type or topic"
	}
	return fmt.Sprintf("it has written %q in place of a frame", b)
}

// garbage is the error of an answer that does not belong to the message.
type garbage struct{ what string }

func (e *garbage) Error() string { return e.what }

// errEarly is the error of a program that has ended before it was told to.
var errEarly = errors.New("it has ended")

// cut returns the error of a read that has got n bytes.
func cut(err error, n int, where string) error {
	if (err == io.EOF || err == io.ErrUnexpectedEOF) && n > 0 {
		return fmt.Errorf("%w %s", errEarly, where)
	}
	if err == io.EOF {
		return errEarly
	}
	return err
}

// explain returns the error of a message.
func (p *Process) explain(ctx context.Context, err error, t *Topic, logTime int64) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	at := fmt.Sprintf("message %d that it got, of %s at time %d: ", p.count, t.Name, logTime)
	var wrong *garbage
	switch {
	case p.overdue.Load():
		e := p.wrong(err, "%sno answer, and nothing read or written for %v", at, p.pool.Timeout)
		e.Hint = "it must write the answer to each frame and flush it before it reads the next one; if it needs more time, " +
			"add --through-timeout"
		return e
	case errors.As(err, &wrong):
		e := p.wrong(err, "%s%v", at, err)
		e.Hint = "standard output takes only the frame of each message, with its time, encoding, type and topic; another " +
			"type or number of messages takes cat --raw --framed | program | import"
		return e
	}
	what := errEarly.Error()
	if errors.Is(err, errEarly) {
		what = err.Error()
	}
	select {
	case <-p.ended:
		return p.wrong(err, "%s%s%s", at, what, status(p.exit))
	case <-time.After(endTime):
		return p.wrong(err, "%sit has closed its input or output", at)
	}
}

// status returns how a program has ended.
func status(err error) string {
	if err == nil {
		return " with status 0"
	}
	return ": " + err.Error()
}

// watch kills the program when the context ends, or when nothing has moved for the time that it has. The function that
// it returns ends that.
func (p *Process) watch(ctx context.Context) (stop func()) {
	done := make(chan struct{})
	left := make(chan struct{})
	go func() {
		defer close(left)
		tick := time.NewTicker(pollTime)
		defer tick.Stop()
		last, since := p.moved.Load(), time.Now()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				p.kill()
				return
			case now := <-tick.C:
				if n := p.moved.Load(); n != last {
					last, since = n, now
				} else if p.pool.Timeout > 0 && now.Sub(since) >= p.pool.Timeout {
					p.overdue.Store(true)
					p.kill()
					return
				}
			}
		}
	}()
	return func() { close(done); <-left }
}

// kill ends the program and what it has started, and what waits for its pipes.
func (p *Process) kill() {
	if p.cmd == nil || p.stopped.Swap(true) {
		return
	}
	killGroup(p.cmd)
	_, _ = p.in.Close(), p.out.Close()
}

// end closes the input of the program, and waits for its end.
func (p *Process) end(ctx context.Context) error {
	if p.cmd == nil || p.stopped.Load() {
		return nil
	}
	stop := p.watch(ctx)
	defer stop()
	defer p.kill()
	_ = p.in.Close()
	more := make(chan bool, 1)
	go func() {
		_, err := p.reader.ReadByte()
		if more <- err == nil; err == nil {
			_, _ = io.Copy(io.Discard, p.reader)
		}
		close(more)
	}()
	extra := func() error {
		e := p.wrong(nil, "it has written more than an answer to each of %d messages", p.count)
		e.Hint = "standard output takes only one frame for each message"
		return e
	}
	select {
	case <-p.ended:
	case some := <-more:
		if some {
			return extra()
		}
		<-p.ended
	}
	cause := context.Cause(ctx)
	switch {
	case cause != nil:
		return cause
	case p.overdue.Load():
		e := p.wrong(nil, "it has not ended %v after the end of its input", p.pool.Timeout)
		e.Hint = "it must end when its input does; if it needs more time, add --through-timeout"
		return e
	case p.exit != nil && !errors.Is(p.exit, exec.ErrWaitDelay):
		return p.wrong(p.exit, "it has answered %d messages, and then failed%s", p.count, status(p.exit))
	}
	select {
	case some := <-more:
		if some {
			return extra()
		}
	case <-time.After(endTime): // a process that it has started holds the pipe
	}
	return nil
}

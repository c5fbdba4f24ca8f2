package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/bagconv/bagconv/cmd/bagconv/cli"
	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// signalledChild makes a child process the program, which gets a signal of this number
// as soon as an output has been begun.
const signalledChild = "BAGCONV_TEST_SIGNALLED_CHILD"

func runSignalledChild(signal string) int {
	var formats []*storage.Format
	for _, f := range all.Registry().Formats() {
		signalled := *f
		signalled.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
			w, err := f.Create(ctx, path, o)
			if err != nil {
				return nil, err
			}
			if n, err := strconv.Atoi(signal); err != nil {
				return nil, err
			} else if syscall.Signal(n) == syscall.SIGPIPE {
				for range 3 { // the last ones while the run cleans up
					fmt.Fprintln(os.Stderr, "is anybody there?")
				}
			} else if err := self().Signal(syscall.Signal(n)); err != nil {
				return nil, err
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
				return nil, fmt.Errorf("signal %s ends nothing", signal)
			}
			return w, nil
		}
		formats = append(formats, &signalled)
	}
	return cli.Run(untilSignal(), os.Args, cli.System(), storage.NewRegistry(formats...))
}

func self() *os.Process {
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		panic(err)
	}
	return p
}

// The signals that ask a process to end, and the one that means that nobody reads what
// it writes, all end with status 130 and leave nothing.
func TestSignals(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send")
	}
	if signal.Ignored(syscall.SIGHUP) { // as nohup has it; a program that is started from here gets the default
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	in, err := filepath.Abs(filepath.Join("..", "..", "testdata", "tiny.bag"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE} {
		for _, line := range [][]string{
			{in, "out.bag"},
			{in, "out/"},
			{in, "out.record", "--segment-size", "300"},
			{"split", in, "out.bag", "--at", "10ms"},
		} {
			dir := t.TempDir()
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(os.Args[0], line...)
			cmd.Dir, cmd.Stderr = dir, w
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", signalledChild, s))
			if s == syscall.SIGPIPE {
				r.Close()
			}
			err = cmd.Run()
			w.Close()
			r.Close()
			entries, _ := os.ReadDir(dir)
			if cmd.ProcessState.ExitCode() != 130 || len(entries) > 0 {
				t.Errorf("%v, %v: %v, left are %v", s, line, err, entries)
			}
		}
	}
}

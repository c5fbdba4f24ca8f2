package cli

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// keysOf sets a terminal to raw input without echo: each key arrives at once. Ctrl-C stays a signal. A job in the
// background gets an error: the keys are not for it, and the system would stop it.
func keysOf(f *os.File) (restore func() error, err error) {
	fd := int(f.Fd())
	if group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return nil, errors.Join(err, os.ErrPermission)
	}
	was, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, err
	}
	now := *was
	now.Lflag &^= unix.ICANON | unix.ECHO
	now.Cc[unix.VMIN], now.Cc[unix.VTIME] = 1, 0
	return func() error { return unix.IoctlSetTermios(fd, unix.TCSETS, was) }, unix.IoctlSetTermios(fd, unix.TCSETS, &now)
}

//go:build !linux && !darwin && !windows

package iox

import (
	"errors"
	"os"
)

func tryLock(*os.File) error { return errors.ErrUnsupported }

// ours is not known on this system.
func ours(os.FileInfo) bool { return true }

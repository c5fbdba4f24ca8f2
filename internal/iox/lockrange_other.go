//go:build !linux

package iox

import (
	"errors"
	"os"
)

func lockRange(*os.File, int64, int64) error { return errors.ErrUnsupported }

//go:build !linux && !darwin && !windows

package iox

import "github.com/bagconv/bagconv/storage"

// HardLinks is not known on this system.
func HardLinks(storage.File) int { return 1 }

package iox

import (
	"os"

	"golang.org/x/sys/windows"

	"github.com/bagconv/bagconv/storage"
)

// HardLinks returns how many names an open file has in its file system, 1 where that is not known.
func HardLinks(f storage.File) int {
	var i windows.ByHandleFileInformation
	h, ok := f.(interface{ Fd() uintptr })
	if !ok || windows.GetFileInformationByHandle(windows.Handle(h.Fd()), &i) != nil {
		return 1
	}
	return int(i.NumberOfLinks)
}

// FileID returns what only this file has, for maps; ok is false if only SameFile knows, which is always so here.
func FileID(os.FileInfo) (id [2]uint64, ok bool) { return id, false }

package iox

import (
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

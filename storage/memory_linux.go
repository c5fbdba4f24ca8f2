package storage

import (
	"syscall"
	"unsafe"
)

// largePage is the size of the large pages of most machines.
const largePage = 2 << 20

// large asks the kernel to back memory with large pages: where it was not touched before, 2 MB then cost one fault and
// not 512. That is a wish, whose refusal changes nothing.
func large(b []byte) {
	if len(b) < 2*largePage {
		return
	}
	const madviseHuge = 14                                                     // MADV_HUGEPAGE
	at := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (largePage - 1)) // to the first whole page
	_ = syscall.Madvise(b[at:at+(len(b)-at)&^(largePage-1)], madviseHuge)
}

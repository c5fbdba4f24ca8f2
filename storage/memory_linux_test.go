package storage

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"
)

// TestLarge: the kernel was asked for large pages in the middle of a large buffer.
func TestLarge(t *testing.T) {
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("the kernel has no large pages")
	}
	b := Grow(nil, 16*largePage+12345)
	at := uintptr(unsafe.Pointer(&b[len(b)/2]))
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	inside := false
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			inside = from <= at && at < to
		}
		if flags, ok := strings.CutPrefix(line, "VmFlags:"); ok && inside {
			if !strings.Contains(flags, " hg") {
				t.Errorf("flags %s", flags)
			}
			return
		}
	}
	t.Error("the memory of the buffer is not listed")
}

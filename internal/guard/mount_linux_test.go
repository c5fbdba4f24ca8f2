package guard

import (
	"os"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestMount: a mount point is refused before the work, because it cannot be moved.
func TestMount(t *testing.T) {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || !strings.Contains(string(mounts), " /proc ") {
		t.Skip("nothing is mounted at /proc")
	}
	format := &storage.Format{Name: "x", Layout: storage.Layout{Folder: true}, Sniff: func(storage.FS, string, []byte) bool { return true }}
	_, err = New(nil, nil, format).Output(Output{Path: "/proc", Format: format, Name: "drive.bag", Overwrite: true})
	if err == nil || err.Error() != "/proc: a mount point cannot be replaced; write into it: /proc/drive/" {
		t.Error(err)
	}
	if isMount(t.TempDir()) {
		t.Error("a new folder is a mount point")
	}
}

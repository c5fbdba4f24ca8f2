package ros2bag

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// TestJoinNames: an error about a part names it, whatever characters are in its name.
func TestJoinNames(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "100%done")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, MetadataName), []byte("rosbag2_bagfile_information: [1, 2]\n"),
		0o666); err != nil {
		t.Fatal(err)
	}
	s := &Storage{ID: "sqlite3", Ext: ".db3"}
	_, err := s.Join(t.Context(), nil, []string{dir}, dir+".part", dir+".out")
	if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), dir+": ") ||
		strings.Contains(err.Error(), "%!") {
		t.Error(err)
	}
}

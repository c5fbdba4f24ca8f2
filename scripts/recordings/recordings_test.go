// Package recordings tests that scripts/recordings/make makes what testdata/recordings has.
package recordings

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/samples"
)

// TestRecordings makes the recordings of each format again, and compares each byte.
func TestRecordings(t *testing.T) {
	for format, python := range map[string]string{
		"ros1": "/usr/bin/python3", "rosbag2": os.Getenv("BAGCONV_ROSBAGS_PYTHON"),
		"cyber": os.Getenv("BAGCONV_CYBER_PYTHON"), "mcap": os.Getenv("BAGCONV_MCAP_PYTHON"),
		"ulog": os.Getenv("BAGCONV_ULOG_PYTHON"),
	} {
		t.Run(format, func(t *testing.T) {
			module := map[string]string{"ros1": "rosbag, std_msgs.msg, sensor_msgs.msg, geometry_msgs.msg, nav_msgs.msg, " +
				"tf2_msgs.msg, diagnostic_msgs.msg, rosgraph_msgs.msg, visualization_msgs.msg", "rosbag2": "rosbags",
				"cyber": "cyber_record", "mcap": "mcap_protobuf", "ulog": "pyulog"}[format]
			if exec.Command(python, "-c", "import "+module).Run() != nil {
				if os.Getenv("CI") == "true" {
					t.Fatalf("CI must have python's %s: .ci/run installs it", module)
				}
				t.Skipf("python's %s is not installed", module)
			}
			made := t.TempDir()
			if out, err := exec.Command("./make", made, format).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			want, got := tree(t, filepath.Join(samples.Ours(t), format)), tree(t, filepath.Join(made, format))
			for name, b := range want {
				if !bytes.Equal(got[name], b) {
					t.Errorf("%s: %d bytes were made, and they are not those of testdata/recordings (%d)", name, len(got[name]),
						len(b))
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d files were made, and testdata/recordings has %d", len(got), len(want))
			}
		})
	}
}

// tree reads all files below a folder.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			files[name], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

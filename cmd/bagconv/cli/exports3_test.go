package cli_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/testing/s3test"
)

// TestExportS3: an export in a bucket has the files and the bytes of one on the disk, and one that is interrupted or
// refused leaves nothing.
func TestExportS3(t *testing.T) {
	if testing.Short() {
		t.Skip("a server is slow")
	}
	s := s3test.Start(t, s3test.Names[0])
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const demo = "../../../testdata/demo.bag"
	local, mapping := t.TempDir(), filepath.Join(t.TempDir(), "map.yaml")
	if err := os.WriteFile(mapping,
		[]byte("fps: 10\ntask: drive\nstate: /odom:pose.pose\ncameras: {b: /cam_b/image_raw}\ncodec: images\n"),
		0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"tables"}, {"frames", "--images", "files", "--clouds", "pcd", "--tracks", "tum"},
		{"text", "--format", "csv", "--layout", "hive"},
		{"one.parquet", "-t", "/imu/data"}, {"set", "--format", "lerobot", "--map", mapping},
	} {
		name := args[0]
		here, there := filepath.Join(local, name), s.URL+"/d/"+name
		must(t, append([]string{"export", demo, here, "-q"}, args[1:]...)...)
		must(t, append([]string{"export", demo, there, "-q"}, args[1:]...)...)
		var keys []string
		err := filepath.WalkDir(here, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				rel, _ := filepath.Rel(local, path)
				keys = append(keys, "d/"+filepath.ToSlash(rel))
				sameBytes(t, path, s.URL+"/d/"+filepath.ToSlash(rel))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(keys)
		got := s.Keys(t, "d/"+name)
		if slices.Sort(got); !slices.Equal(got, keys) {
			t.Errorf("%s: the server has %q, the disk %q", name, got, keys)
		}
		if status, out := bagconv(append([]string{"export", demo, there, "-q"}, args[1:]...)...); status != 1 ||
			!strings.Contains(out, "exist") {
			t.Errorf("%s is there already: status %d: %s", name, status, out)
		}
		must(t, append([]string{"export", demo, there, "-q", "--force"}, args[1:]...)...)
		if again := s.Keys(t, "d/"+name); len(again) != len(keys) {
			t.Errorf("%s: replaced it has %d objects, not %d", name, len(again), len(keys))
		}
	}
	other := filepath.Join(local, "other.bag")
	must(t, demo, other, "-q")
	must(t, "export", other, s.URL+"/d/set", "-q", "--format", "lerobot", "--map", mapping, "--append")
	if got := s.Keys(t, "d/set"); len(got) != 8 { // a second file of rows, and of episodes
		t.Errorf("added to it has %q", got)
	}
	if status, out := bagconv("export", demo, s.URL+"/d/no.parquet"); status != 1 {
		t.Errorf("status %d: %s", status, out)
	}
	if status, out := bagconv("export", demo, s.URL+"/d/no", "--format", "npy"); status != 1 ||
		!strings.Contains(out, "write to a disk") {
		t.Errorf("status %d: %s", status, out)
	}
	if left := append(s.Uploads(t), s.Keys(t, "d/.")...); len(left) > 0 || len(s.Keys(t, "d/no")) > 0 {
		t.Errorf("left: %q", left)
	}
}

package rosbag2

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/bagconv/bagconv/storage"
	"github.com/klauspost/compress/zstd"
)

// The database of a .db3.zstd has no name while it is read, by as many readers as there
// are, so that no kill leaves it.
func TestDecompressedHasNoName(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	dir, temp := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "x.db3")
	rows := sampleRows()
	write(t, path, storage.WriteOptions{}, sampleTopics(), rows)
	plain, err := os.ReadFile(path)
	check(t, err)
	var packed bytes.Buffer
	enc, err := zstd.NewWriter(&packed)
	check(t, err)
	_, err = enc.Write(plain)
	check(t, err)
	check(t, enc.Close())
	check(t, os.WriteFile(path+".zstd", packed.Bytes(), 0o666))
	t.Setenv("TMPDIR", temp)
	for _, memory := range []int64{1, 1, 0} { // on the disk, twice, and in memory
		r, err := open(context.Background(), path+".zstd", storage.ReadOptions{Memory: memory})
		check(t, err)
		n := 0
		for ; ; n++ {
			if _, err := r.ReadNext(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if entries, err := os.ReadDir(temp); err != nil || len(entries) > 0 {
				t.Fatalf("%v, %v", entries, err)
			}
		}
		if n != len(rows) {
			t.Errorf("%d of %d messages", n, len(rows))
		}
		check(t, r.Close())
	}
}

package rosbag2

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

// joinParts writes folders whose messages follow each other.
func joinParts(t *testing.T, dir string, o storage.WriteOptions) (parts []string) {
	t.Helper()
	for i := range 3 {
		path := filepath.Join(dir, fmt.Sprint(i), "drive")
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		o.NoSync = true
		w, err := createWriter(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		id, err := w.CreateTopic(storage.Topic{Name: "/a", Type: "std_msgs/msg/String", Encoding: "cdr"})
		if err != nil {
			t.Fatal(err)
		}
		for k := range 4 {
			if err := w.Write(&storage.Message{Topic: id, LogTime: int64(100*i + k), PublishTime: int64(100*i + k),
				Data: []byte{0, 1, 0, 0, 2, 0, 0, 0, byte('a' + i), 0}}); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Commit(), w.Close()); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, path)
	}
	return parts
}

// readJoined returns the times of a recording.
func readJoined(t *testing.T, path string) string {
	t.Helper()
	r, err := openReader(t.Context(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	info := r.Info()
	text := fmt.Sprint(info.Messages, info.Start, info.End, len(info.Files), ":")
	for {
		m, err := r.ReadNext()
		if err != nil {
			return text
		}
		text += fmt.Sprint(" ", m.LogTime)
	}
}

const joinedText = "12 0 203 3: 0 1 2 3 100 101 102 103 200 201 202 203"

// TestJoin: folders become one with all files, which describes them all; plain ones and such that
// are compressed as a whole. A second call does nothing, and others refuse.
func TestJoin(t *testing.T) {
	t.Parallel()
	for _, o := range []storage.WriteOptions{{}, {Compression: "zstd"}} {
		dir := t.TempDir()
		parts := joinParts(t, dir, o)
		path, stage := filepath.Join(dir, "drive"), filepath.Join(dir, "stage")
		size, err := db3.Join(t.Context(), nil, parts, stage, path)
		if err != nil {
			t.Fatal(err)
		}
		if got := readJoined(t, path); got != joinedText {
			t.Errorf("%s", got)
		}
		all := int64(0)
		entries, _ := os.ReadDir(path)
		for _, e := range entries {
			st, _ := e.Info()
			all += st.Size()
		}
		if size != all || len(entries) != 4 {
			t.Errorf("%d bytes in %d files, and it is said to have %d", all, len(entries), size)
		}
		if again, err := db3.Join(t.Context(), nil, parts, stage, path); err != nil || again != size {
			t.Errorf("again: %d %v", again, err)
		}
		others := joinParts(t, filepath.Join(dir, "others"), o)
		if _, err := db3.Join(t.Context(), nil, others, stage, path); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over another: %v", err)
		}
		if err := os.Remove(filepath.Join(others[1], "metadata.yaml")); err != nil {
			t.Fatal(err)
		}
		if _, err := db3.Join(t.Context(), nil, others, stage, filepath.Join(dir, "x")); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("a part without metadata.yaml: %v", err)
		}
		if _, err := db3.Join(t.Context(), nil, nil, stage, filepath.Join(dir, "x")); err == nil {
			t.Error("nothing was joined")
		}
	}
}

// TestJoinFaults: after a fault at each operation the next call makes the recording.
func TestJoinFaults(t *testing.T) {
	t.Parallel()
	for _, fault := range []faultio.Fault{faultio.Error, faultio.Short, faultio.Death} {
		for n := int64(1); ; n++ {
			dir := t.TempDir()
			parts := joinParts(t, dir, storage.WriteOptions{})
			path, stage := filepath.Join(dir, "drive"), filepath.Join(dir, "stage")
			fsys := &faultio.FS{FS: iox.OS, N: n, Fault: fault, NoSync: true}
			_, err := db3.Join(context.Background(), fsys, parts, stage, path)
			if !fsys.Fired() {
				if err != nil || n < 20 {
					t.Fatalf("after %d operations: %v", n, err)
				}
				break
			}
			if _, err := os.Stat(path); err == nil {
				if got := readJoined(t, path); got != joinedText {
					t.Fatalf("fault %d, operation %d: %s", fault, n, got)
				}
			}
			if _, err := db3.Join(context.Background(), nil, parts, stage, path); err != nil {
				t.Fatalf("fault %d, operation %d: %v", fault, n, err)
			}
			if got := readJoined(t, path); got != joinedText {
				t.Fatalf("fault %d, operation %d: %s", fault, n, got)
			}
		}
	}
}

package rosbag2

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// TestOnePart: a database that is named itself is read alone, and the folder that has
// all of the recording is named.
func TestOnePart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	rec := storagetest.Recording{Topics: []storage.Topic{{Name: "/a", Type: "std_msgs/msg/String", Encoding: encoding}},
		Messages: []storage.Message{{LogTime: 1, PublishTime: 1, Data: []byte("\x00\x01\x00\x00")}}}
	write := func(name string) string {
		path := filepath.Join(dir, name)
		if err := storagetest.WriteAll(Format, path, storage.WriteOptions{NoSync: true}, rec); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, second := write("run_0.db3"), write("run_1.db3")
	warnings := func(path string) (text string) {
		t.Helper()
		r, err := open(context.Background(), path, storage.ReadOptions{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		info := storagetest.InfoOf(r)
		for _, w := range info.Warnings {
			text += w.Code + ": " + w.Message + "\n"
		}
		return text
	}
	if got, want := warnings(second), "one-part: this is part 2 of 2 of one recording; to read all of it, name "+
		dir; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if name, parts := Format.Layout.RecordingOf(nil, first); name != dir || len(parts) != 2 || parts[1] != second {
		t.Errorf("%s, %v", name, parts)
	}
	if got := warnings(dir); strings.Contains(got, "one-part") {
		t.Error(got)
	}
	other := write("other.db3") // then these are several recordings
	for _, path := range []string{first, other} {
		if name, _ := Format.Layout.RecordingOf(nil, path); name != "" || strings.Contains(warnings(path), "one-part") {
			t.Errorf("%s is a part of %q", path, name)
		}
	}
	text := "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: sqlite3\n  relative_file_paths: " +
		"[run_0.db3, run_1.db3]\n"
	if err := os.WriteFile(filepath.Join(dir, ros2bag.MetadataName), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	if name, parts := Format.Layout.RecordingOf(nil, first); name != dir || len(parts) != 2 {
		t.Errorf("%s, %v", name, parts)
	}
	if name, _ := Format.Layout.RecordingOf(nil, other); name != "" {
		t.Errorf("what metadata.yaml does not list is a part of %s", name)
	}
}

package rosbag2

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

// recorded writes a folder with three parts, topics with profiles and hashes, and custom_data.
func recorded(t testing.TB, o storage.WriteOptions) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "drive")
	o.NoSync, o.SegmentSize, o.Metadata = true, 400, map[string]string{"robot": "r2", storage.MetaDistro: "jazzy"}
	rec := storagetest.Recording{Topics: []storage.Topic{
		{Name: "/a", Type: "std_msgs/msg/String", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("string data\n")},
			QoS: []storage.QoS{{Reliability: storage.ReliabilityReliable, Durability: storage.DurabilityTransientLocal,
				History: storage.HistoryKeepLast, Depth: 7}}, Metadata: map[string]string{storage.MetaTypeHash: "RIHS01_01"}},
		{Name: "/b", Type: "std_msgs/msg/Bool", Encoding: "cdr"},
		{Name: "/none", Type: "std_msgs/msg/Bool", Encoding: "cdr"},
	}}
	for i := range 9 {
		rec.Messages = append(rec.Messages, storage.Message{LogTime: int64(1e18) + int64(i)*1e9,
			Topic: storage.TopicID(i % 2), Data: append([]byte{0, 1, 0, 0}, bytes.Repeat([]byte{1}, 100)...)})
	}
	if err := storagetest.WriteAll(Format, dir, o, rec); err != nil {
		t.Fatal(err)
	}
	return dir
}

func text(t testing.TB, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, ros2bag.MetadataName))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReindexFolder: metadata.yaml comes back as the Writer has written it, whatever became of it,
// of parts in each compression.
func TestReindexFolder(t *testing.T) {
	t.Parallel()
	for mode, profiles := range map[string][]string{"": {"", "foxy", "jazzy"}, "file": {"jazzy"}, "message": {""}} {
		for _, profile := range profiles {
			o := storage.WriteOptions{Profile: profile}
			if mode != "" {
				o.Compression, o.Values = "zstd", map[string]string{storage.NameCompressionMode: mode}
			}
			dir := recorded(t, o)
			want := text(t, dir)
			for name, break_ := range map[string]func(string) string{
				"right":      func(s string) string { return s },
				"no parts":   func(s string) string { return strings.ReplaceAll(s, "drive_1.db3", "drive_9.db3") },
				"count":      func(s string) string { return strings.Replace(s, "message_count: 9", "message_count: 99", 1) },
				"start":      func(s string) string { return strings.Replace(s, "_since_epoch: 1000", "_since_epoch: 9000", 1) },
				"unreadable": func(string) string { return "{" },
			} {
				if err := os.WriteFile(filepath.Join(dir, ros2bag.MetadataName), []byte(break_(want)), 0o666); err != nil {
					t.Fatal(err)
				}
				checkReindexed(t, mode+" "+profile+" "+name, dir, want, break_(want) == want)
			}
			if err := os.Remove(filepath.Join(dir, ros2bag.MetadataName)); err != nil {
				t.Fatal(err)
			}
			checkReindexed(t, mode+" "+profile+" none", dir, want, false)
		}
	}
}

// checkReindexed reindexes a folder, after a dry run, and compares metadata.yaml.
func checkReindexed(t *testing.T, name, dir, want string, right bool) {
	t.Helper()
	planned, err := reindex(t.Context(), dir, storage.ReindexOptions{DryRun: true})
	changes, e := reindex(t.Context(), dir, storage.ReindexOptions{NoSync: true})
	if err != nil || e != nil || len(changes) != len(planned) || right != (len(changes) == 0) {
		t.Errorf("%s: %v, %+v, and %v, %+v", name, err, planned, e, changes)
		return
	}
	for i := range changes {
		if changes[i] != planned[i] {
			t.Errorf("%s: %+v, planned was %+v", name, changes[i], planned[i])
		}
	}
	if got := text(t, dir); got != want {
		t.Errorf("%s: %s\nwant %s", name, got, want)
	}
	if again, err := reindex(t.Context(), dir, storage.ReindexOptions{NoSync: true}); err != nil || len(again) > 0 {
		t.Errorf("%s: a second run: %v, %+v", name, err, again)
	}
}

// TestReindexNames: parts of any names in their order, those of Lyrical too; folders that mix two
// recordings are refused, and stay as they are.
func TestReindexNames(t *testing.T) {
	for name, c := range map[string]struct {
		names   []string // of the three parts
		meta    bool     // metadata.yaml lists them
		refused string
	}{
		"Lyrical": {[]string{"0_drive_2026_11_23-11_59_00.db3", "1_drive_2026_11_23-12_00_10.db3",
			"10_drive_2026_11_23-13_00_10.db3"}, false, ""},
		"other folder": {[]string{"x_0.db3", "x_2.db3", "x_10.db3"}, false, ""},
		"listed":       {[]string{"c.db3", "a.db3", "b.db3"}, true, ""},
		"two": {[]string{"drive_0.db3", "drive_1.db3", "walk_0.db3"}, false,
			"drive_1.db3 and walk_0.db3 have different names"},
		"two storages": {[]string{"drive_0.db3", "drive_1.db3", "drive_2.mcap"}, false,
			"drive_2.mcap is no file of storage sqlite3"},
	} {
		dir := recorded(t, storage.WriteOptions{})
		meta := text(t, dir)
		for i, n := range c.names {
			old := db3.PartName("drive", i)
			meta = strings.ReplaceAll(meta, old, n)
			if err := os.Rename(filepath.Join(dir, old), filepath.Join(dir, n+".new")); err != nil {
				t.Fatal(err)
			}
		}
		for _, n := range c.names {
			if err := os.Rename(filepath.Join(dir, n+".new"), filepath.Join(dir, n)); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, ros2bag.MetadataName)
		if c.meta {
			if err := os.WriteFile(path, []byte(strings.Replace(meta, "message_count: 9", "message_count: 8", 1)),
				0o666); err != nil {
				t.Fatal(err)
			}
		} else if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if c.refused == "" {
			checkReindexed(t, name, dir, meta, false)
			continue
		}
		if _, err := reindex(t.Context(), dir, storage.ReindexOptions{NoSync: true}); err == nil ||
			!strings.Contains(err.Error(), "mixes two recordings") || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: refused, and written", name)
		}
	}
}

// TestReindexMixed: parts whose content is that of two recordings, or that are not whole.
func TestReindexMixed(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(path string) error // of the second part
		refused string
	}{
		"types": {func(p string) error { return execute(p, "UPDATE topics SET type='a/msg/B' WHERE name='/a'") },
			`topic "/a" is of type "a/msg/B" in drive_1.db3`},
		"distro": {func(p string) error { return execute(p, "UPDATE schema SET ros_distro='iron'") },
			"recorded with iron"},
		"cut": {func(p string) error { return os.Truncate(p, 5000) }, "cut off"},
		"compressed": {func(p string) error { return exec.Command("zstd", "-q", "--rm", p).Run() },
			"one is compressed and the other is not"},
	} {
		dir := recorded(t, storage.WriteOptions{})
		if name == "distro" { // the metadata table has it too
			if err := execute(filepath.Join(dir, "drive_1.db3"), "DELETE FROM metadata"); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.change(filepath.Join(dir, "drive_1.db3")); err != nil {
			if name == "compressed" {
				continue // without zstd
			}
			t.Fatal(err)
		}
		if name == "compressed" { // the others are there in both forms, and this one is not
			if err := os.Rename(filepath.Join(dir, "drive_1.db3.zst"), filepath.Join(dir, "drive_1.db3.zstd")); err != nil {
				t.Fatal(err)
			}
		}
		was := text(t, dir)
		if _, err := reindex(t.Context(), dir, storage.ReindexOptions{NoSync: true}); err == nil ||
			!strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", name, err)
		}
		if text(t, dir) != was {
			t.Errorf("%s: refused, and changed", name)
		}
	}
}

// execute changes a database.
func execute(path, statement string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	db, err := sqlite.Open(sqlite.Options{File: sqlite.Plain{File: f}})
	if err != nil {
		return err
	}
	if err := db.Exec("PRAGMA journal_mode=OFF; PRAGMA locking_mode=EXCLUSIVE; " + statement); err != nil {
		return err
	}
	return db.Close()
}

// withoutTimes writes a database without an index of its times.
func withoutTimes(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(recorded(t, storage.WriteOptions{}), "drive_0.db3")
	if err := execute(path, "DROP INDEX timestamp_idx; VACUUM"); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestReindexTimes: faults at each operation while a missing timestamp index is written; SQLite
// finds nothing wrong in the database.
func TestReindexTimes(t *testing.T) {
	t.Parallel()
	c := storagetest.Reindexing{Format: Format, Name: "x.db3", Bytes: withoutTimes(t), Indexed: hasTimes}
	c.Faults(t)
	path := filepath.Join(t.TempDir(), "x.db3")
	b := bytes.Clone(c.Bytes)
	b[18], b[19] = 2, 2 // as a write-ahead log has left it
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	planned, err := reindex(t.Context(), path, storage.ReindexOptions{DryRun: true})
	changes, e := reindex(t.Context(), path, storage.ReindexOptions{NoSync: true})
	if err != nil || e != nil || len(changes) != 1 || len(planned) != 1 || changes[0] != planned[0] || !hasTimes(t, path) {
		t.Errorf("%v, %+v, and %v, %+v", err, planned, e, changes)
	}
	now, _ := os.ReadFile(path)
	if now[18] != 2 || now[19] != 2 {
		t.Error("the database has lost that it has a write-ahead log")
	}
	if out, err := exec.Command("sqlite3", path, "PRAGMA integrity_check").Output(); err == nil && string(out) != "ok\n" {
		t.Errorf("SQLite: %s", out)
	}
}

// hasTimes reports whether a database has an index of its times.
func hasTimes(t testing.TB, path string) bool {
	t.Helper()
	r, err := openReader(t.Context(), path, storage.ReadOptions{Strict: true})
	if err != nil {
		t.Error(err)
		return false
	}
	defer r.Close()
	return r.(*reader).parts[0].tables.timeIndex
}

// TestReindexFolderFaults: after a fault at each operation the folder has its old metadata.yaml or
// the new one, and the next run leaves nothing behind. Errors and deaths share the operations, by turns; with
// BAGCONV_EXHAUSTIVE=1 each has all.
func TestReindexFolderFaults(t *testing.T) {
	t.Parallel()
	dir := recorded(t, storage.WriteOptions{})
	want := text(t, dir)
	old := strings.Replace(want, "message_count: 9", "message_count: 8", 1)
	path := filepath.Join(dir, ros2bag.MetadataName)
	for i, fault := range []faultio.Fault{faultio.Error, faultio.Death} {
		for n := int64(1 + i); ; n += int64(samples.Pick(1, 2, 2)) {
			if err := os.WriteFile(path, []byte(old), 0o666); err != nil {
				t.Fatal(err)
			}
			fsys := &faultio.FS{FS: iox.OS, N: n, Fault: fault, NoSync: true}
			_, err := reindex(t.Context(), dir, storage.ReindexOptions{FS: fsys})
			if !fsys.Fired() {
				if err != nil || n < 20 {
					t.Fatalf("after %d operations: %v", n, err)
				}
				break
			}
			if got := text(t, dir); got != want && (got != old || err == nil) {
				t.Fatalf("fault %d, operation %d: %v: %s", fault, n, err, got)
			}
			if _, err := reindex(t.Context(), dir, storage.ReindexOptions{NoSync: true}); err != nil || text(t, dir) != want {
				t.Fatalf("fault %d, operation %d: the next run: %v", fault, n, err)
			}
		}
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) > 4+20 {
		t.Errorf("%d files are left", len(entries))
	}
}

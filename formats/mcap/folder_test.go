package mcap

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/testing/samples"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
)

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// writeFolder writes a folder of testTopics and returns its path.
func writeFolder(t testing.TB, o storage.WriteOptions, messages []storage.Message) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run")
	o.NoSync = true
	check(t, storagetest.WriteAll(Folder, path, o, storagetest.Recording{Topics: testTopics, Messages: messages}))
	return path
}

// readFolder reads a folder or a file of any format here.
func readFolder(t testing.TB, path string, o storage.ReadOptions) (*storage.Info, []storage.Message, error) {
	t.Helper()
	r, err := openFolder(context.Background(), path, o)
	if err != nil {
		return nil, nil, err
	}
	defer func() { check(t, r.Close()) }()
	messages, err := storagetest.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	return storagetest.InfoOf(r), messages, nil
}

func codesOf(info *storage.Info) string {
	var codes []string
	for _, w := range info.Warnings {
		code := w.Code
		if w.Damage {
			code += "!"
		}
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return strings.Join(codes, " ")
}

// packFile compresses a file as a whole.
func packFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	check(t, err)
	packed, err := compress.Zstd.Encode(nil, b, 0)
	check(t, err)
	check(t, os.WriteFile(to, packed, 0o666))
	check(t, os.Remove(from))
}

func editFile(t testing.TB, path string, edit func(text string) string) {
	t.Helper()
	b, err := os.ReadFile(path)
	check(t, err)
	check(t, os.WriteFile(path, []byte(edit(string(b))), 0o666))
}

// TestFolderFound: however the files of a folder lie, all that is there is read, and what
// is not is reported and counted.
func TestFolderFound(t *testing.T) {
	all := testMessages(100)
	o := storage.WriteOptions{SegmentDuration: 4e9, Compression: "lz4", ChunkSize: 500} // three parts of 41, 41 and 18
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		codes  string
		want   []storage.Message
		lost   int64
	}{
		"as written": {func(*testing.T, string) {}, "", all, 0},
		"packed, and renamed by hand": {func(t *testing.T, dir string) {
			packFile(t, dir+"/run_0.mcap", dir+"/run_0.mcap.zstd")
			packFile(t, dir+"/run_2.mcap", dir+"/run_2.mcap.zst")
		}, "", all, 0},
		"no metadata.yaml": {func(t *testing.T, dir string) { check(t, os.Remove(dir+"/metadata.yaml")) }, "no-metadata", all,
			0},
		"broken metadata.yaml": {func(t *testing.T, dir string) {
			check(t, os.WriteFile(dir+"/metadata.yaml", []byte("{{{"),
				0o666))
		},
			"metadata!", all, 0},
		"other storage": {func(t *testing.T, dir string) {
			editFile(t, dir+"/metadata.yaml", func(s string) string {
				return strings.Replace(s, "identifier: mcap",
					"identifier: sqlite3", 1)
			})
		}, "", all, 0},
		"a database beside": {func(t *testing.T, dir string) { check(t, os.WriteFile(dir+"/x.db3", nil, 0o666)) }, "sqlite3",
			all, 0},
		"a part is gone": {func(t *testing.T, dir string) { check(t, os.Remove(dir+"/run_1.mcap")) }, "count missing-part!",
			slices.Concat(all[:41], all[82:]), 41},
		"a part is no MCAP": {func(t *testing.T, dir string) {
			check(t, os.WriteFile(dir+"/run_0.mcap", []byte("hello"),
				0o666))
		},
			"count part!", all[41:], 41},
		"a part is cut": {func(t *testing.T, dir string) {
			editFile(t, dir+"/run_2.mcap", func(s string) string { return s[:len(s)/2] })
		}, "count truncated!", nil, -1},
		"a packed part is cut": {func(t *testing.T, dir string) {
			packFile(t, dir+"/run_2.mcap", dir+"/run_2.mcap.zstd")
			editFile(t, dir+"/run_2.mcap.zstd", func(s string) string { return s[:len(s)/2] })
		}, "count zstd!", nil, -1},
		"fewer are counted": {func(t *testing.T, dir string) {
			editFile(t, dir+"/metadata.yaml", func(s string) string {
				return strings.Replace(s, "message_count: 100",
					"message_count: 99", 1)
			})
		}, "count", all, 0},
		"more are counted": {func(t *testing.T, dir string) {
			editFile(t, dir+"/metadata.yaml", func(s string) string {
				return strings.Replace(s, "message_count: 100",
					"message_count: 102", 1)
			})
		}, "count!", all, 2},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFolder(t, o, all)
			c.change(t, dir)
			if !sniffFolder(nil, dir, nil) {
				t.Error("not recognised")
			}
			info, got, err := readFolder(t, dir, storage.ReadOptions{})
			check(t, err)
			if codes := codesOf(info); codes != c.codes && (c.want != nil || !strings.Contains(codes, "!")) {
				t.Errorf("warnings %s: %+v", codes, info.Warnings)
			}
			if c.want != nil {
				if d := storagetest.Diff(got, c.want); d != "" {
					t.Error(d)
				}
			} else if d := storagetest.Diff(got[:82], all[:82]); d != "" {
				t.Error(d)
			}
			if lost := info.Lost; lost.Uncounted && name != "broken metadata.yaml" || c.lost >= 0 && lost.Messages != c.lost ||
				c.want == nil && int(lost.Messages) != 100-len(got) {
				t.Errorf("%d messages, lost %+v", len(got), info.Lost)
			}
			_, _, err = readFolder(t, dir, storage.ReadOptions{Strict: true})
			if damaged(info) != (err != nil) || err != nil && !errors.Is(err, storage.ErrCorrupt) &&
				!errors.Is(err, storage.ErrTruncated) {
				t.Errorf("strict: %v", err)
			}
		})
	}
}

// writeOther writes a folder whose metadata states that its messages are compressed with lz4.
func writeOther(t *testing.T, messages []storage.Message) string {
	dir := writeFolder(t, storage.WriteOptions{}, messages)
	editFile(t, dir+"/metadata.yaml", func(s string) string {
		return strings.Replace(strings.Replace(s, `compression_format: ""`, `compression_format: lz4`, 1),
			`compression_mode: ""`, `compression_mode: MESSAGE`, 1)
	})
	return dir
}

// TestFolderCut: wherever a part ends, the others are read, and of it what is whole.
func TestFolderCut(t *testing.T) {
	all := testMessages(20)
	dir := writeFolder(t, storage.WriteOptions{SegmentDuration: 1e9 - 1, Compression: "lz4"}, all)
	path := dir + "/run_1.mcap"
	whole, err := os.ReadFile(path)
	check(t, err)
	step := 1
	if testing.Short() {
		step = 37
	}
	for n := 0; n < len(whole); n += step {
		for _, flip := range []bool{false, true} {
			b := slices.Clone(whole)
			if flip {
				b[n] ^= 0x5a
			} else {
				b = b[:n]
			}
			check(t, os.WriteFile(path, b, 0o666))
			info, got, err := readFolder(t, dir, storage.ReadOptions{})
			if err != nil {
				t.Fatalf("byte %d: %v", n, err)
			}
			if d := storagetest.Diff(got[:10], all[:10]); d != "" {
				t.Fatalf("byte %d: %s", n, d)
			}
			if len(got) < len(all) && (!damaged(info) || int(info.Lost.Messages) < len(all)-len(got)) {
				t.Fatalf("byte %d: %d messages, %+v, %v", n, len(got), info.Lost, info.Warnings)
			}
		}
	}
}

// TestRealFolders: the folders of the collection are read as a whole.
func TestRealFolders(t *testing.T) {
	files := samples.Glob(t, "rosbag2/*/*/metadata.yaml")
	n := 0
	for _, path := range files {
		dir := filepath.Dir(path)
		if !sniffFolder(nil, dir, nil) {
			continue
		}
		n++
		info, got, err := readFolder(t, dir, storage.ReadOptions{})
		if err != nil || damaged(info) || len(got) == 0 || int64(len(got)) != info.Messages {
			t.Errorf("%s: %d messages, %v, %+v", dir, len(got), err, info)
		}
	}
	if n < 2 {
		t.Errorf("only %d folders with MCAP storage", n)
	}
}

// testOddFolder reads an odd folder: all that is to be read comes, and nothing else.
func testOddFolder(t *testing.T, path string, c *oddCase) {
	info, got, err := readFolder(t, path, storage.ReadOptions{})
	check(t, err)
	truth := map[string]int{}
	for _, m := range c.Truth {
		truth[fmt.Sprintln(m[0], m[1], m[2], m[3], m[4])]++
	}
	for _, m := range got {
		k := fmt.Sprintln(info.Topics[m.Topic].Name, m.LogTime, m.PublishTime, m.Sequence,
			fmt.Sprintf("%x", sha256.Sum256(m.Data))[:16])
		if truth[k]--; truth[k] < 0 {
			t.Errorf("a message that was not there: %s", k)
		}
	}
	if len(got) != c.Want || !slices.Contains(c.Exit, map[bool]int{false: 0, true: 3}[damaged(info)]) {
		t.Errorf("%s: %d messages of %d, %+v", c.About, len(got), c.Want, info.Warnings)
	}
}

// TestRosbags: PyPI's rosbags reads folders of each profile, cut or not, message by
// message.
func TestRosbags(t *testing.T) {
	python := os.Getenv("BAGCONV_ROSBAGS_PYTHON")
	if python == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must have PyPI's rosbags: BAGCONV_ROSBAGS_PYTHON")
		}
		t.Skip("BAGCONV_ROSBAGS_PYTHON names no python with rosbags")
	}
	const script = `
import hashlib, pathlib, sys
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore
for path in sys.argv[1:]:
    with AnyReader([pathlib.Path(path)], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as r:
        rows = sorted(f'{t} {c.topic} {c.msgtype} {bytes(d).hex()}' for c, t, d in r.messages())
    print(len(rows), hashlib.sha256('\n'.join(rows).encode()).hexdigest())
`
	topics := []storage.Topic{
		{Name: "/a", Type: "std_msgs/msg/String", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("string data\n")},
			QoS: []storage.QoS{{History: storage.HistoryKeepLast, Depth: 1, Durability: storage.DurabilityTransientLocal}}},
		{Name: "/b", Type: "std_msgs/msg/String", Encoding: "cdr", Schema: storage.Schema{Encoding: "ros2msg",
			Data: []byte("string data\n")}},
	}
	messages := testMessages(100)
	var rows []string
	for i := range messages {
		m := &messages[i]
		m.PublishTime = m.LogTime
		rows = append(rows, fmt.Sprintf("%d %s std_msgs/msg/String %x", m.LogTime, topics[m.Topic].Name, m.Data))
	}
	slices.Sort(rows)
	want := fmt.Sprintf("%d %x", len(rows), sha256.Sum256([]byte(strings.Join(rows, "\n"))))
	var paths []string
	for i, o := range []storage.WriteOptions{
		{}, {Profile: "foxy"}, {Profile: "humble"}, {Profile: "iron"}, {Profile: "jazzy"}, {SegmentDuration: 3e9},
		{Profile: "jazzy", SegmentSize: 1000, Compression: "none"},
		{Values: map[string]string{storage.NamePreset: "fastwrite"}}, {Compression: "lz4"},
	} {
		path := filepath.Join(t.TempDir(), fmt.Sprint("run", i))
		o.NoSync = true
		check(t, storagetest.WriteAll(Folder, path, o, storagetest.Recording{Topics: topics, Messages: messages}))
		paths = append(paths, path)
	}
	out, err := exec.Command(python, append([]string{"-c", script}, paths...)...).CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != len(paths) {
		t.Fatalf("%v: %s", err, out)
	}
	for i, line := range lines {
		if line != want {
			t.Errorf("%s: rosbags reads %s, want %s", paths[i], line, want)
		}
	}
}

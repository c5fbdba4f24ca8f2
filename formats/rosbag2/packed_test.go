package rosbag2

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/sqlite"
	"github.com/bagconv/bagconv/storage"
	"github.com/bagconv/bagconv/storage/storagetest"
	"github.com/klauspost/compress/zstd"
)

// withZstd returns options for a compressed output.
func withZstd(mode, profile string) storage.WriteOptions {
	return storage.WriteOptions{Compression: "zstd", Profile: profile,
		Values: map[string]string{storage.NameCompressionMode: mode}}
}

// TestStoragePacked: compressed folders pass the suite of formats, faults included.
func TestStoragePacked(t *testing.T) {
	for _, mode := range modes {
		f := *Format
		f.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
			if o.Compression == "" && o.Level == 0 && len(o.Values) == 0 {
				o.Compression, o.Values = "zstd", map[string]string{storage.NameCompressionMode: mode}
			}
			return createWriter(ctx, path, o)
		}
		t.Run(mode, func(t *testing.T) {
			storagetest.Run(t, storagetest.Config{
				Format: &f, Encoding: "cdr", Name: "folder", Type: "std_msgs/msg/String", FaultFS: true,
				NoAppend: "a part that is added is not compressed",
				Schema:   textSchema("string data\n"),
				Others: []storagetest.Definition{{Type: "std_msgs/msg/Int32", Schema: textSchema("int32 data\n")},
					{Type: "std_msgs/msg/String", Schema: textSchema("string[] data\n")}},
			})
		})
	}
}

// TestPackedFiles: what is in a part that is compressed as a whole is byte for byte what it
// is without, whoever writes it; Foxy's is one frame that states its size.
func TestPackedFiles(t *testing.T) {
	rows := append(sampleRows(), sampleRows()...)
	for _, profile := range []string{"", "foxy", "jazzy"} {
		for _, limit := range []int64{0, 4 << 20} {
			t.Run(fmt.Sprintf("%s/%d", profile, limit), func(t *testing.T) {
				dirs := []string{filepath.Join(t.TempDir(), "bag"), filepath.Join(t.TempDir(), "bag"),
					filepath.Join(t.TempDir(), "bag")}
				o := storage.WriteOptions{Profile: profile, SegmentSize: limit}
				write(t, dirs[0], o, sampleTopics(), rows)
				o = withZstd("file", profile)
				o.SegmentSize = limit
				write(t, dirs[1], o, sampleTopics(), rows)
				writeBlocks(t, dirs[2], o, sampleTopics(), rows)
				parts, err := filepath.Glob(filepath.Join(dirs[0], "*.db3"))
				check(t, err)
				if limit > 0 && len(parts) < 2 {
					t.Fatalf("%d parts", len(parts))
				}
				for _, dir := range dirs[1:] {
					for _, part := range parts {
						comparePart(t, part, filepath.Join(dir, filepath.Base(part)+".zstd"), profile == "foxy")
					}
					if got, info := readAll(t, dir, storage.ReadOptions{Strict: true}); len(got) != len(rows) ||
						len(info.Warnings) > 0 || info.Compression["zstd"] != int64(len(parts)) {
						t.Errorf("%d of %d rows, %v, %v", len(got), len(rows), info.Compression, info.Warnings)
					}
					text, err := os.ReadFile(filepath.Join(dir, ros2bag.MetadataName))
					check(t, err)
					for _, want := range []string{`compression_format: "zstd"`, `compression_mode: "FILE"`, "    - bag_0.db3.zstd\n"} {
						if !strings.Contains(string(text), want) {
							t.Errorf("no %q in\n%.600s", want, text)
						}
					}
					if listed := strings.Contains(string(text), "- path: bag_0.db3\n"); listed != (profile != "foxy") {
						t.Errorf("files:\n%s", text)
					}
				}
			})
		}
	}
}

// comparePart decompresses a part and compares it with the plain one.
func comparePart(t *testing.T, plain, path string, one bool) {
	t.Helper()
	want, err := os.ReadFile(plain)
	check(t, err)
	z, err := os.ReadFile(path)
	check(t, err)
	var h zstd.Header
	check(t, h.Decode(z))
	if one && h.FrameContentSize != uint64(len(want)) {
		t.Errorf("the frame states %d bytes of %d", h.FrameContentSize, len(want))
	}
	d, err := zstd.NewReader(bytes.NewReader(z))
	check(t, err)
	defer d.Close()
	got, err := io.ReadAll(d)
	check(t, err)
	if !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes, and other ones than the %d of the plain part", filepath.Base(path), len(got), len(want))
	}
}

// TestPackedMessages: each message is a frame with its size, also one without bytes, and
// comes back.
func TestPackedMessages(t *testing.T) {
	rows := sampleRows()
	for _, limit := range []int64{0, 1 << 20} {
		dirs := []string{filepath.Join(t.TempDir(), "bag"), filepath.Join(t.TempDir(), "bag")}
		o := withZstd("message", "")
		o.SegmentSize, o.Level = limit, 1
		write(t, dirs[0], o, sampleTopics(), rows)
		writeBlocks(t, dirs[1], o, sampleTopics(), rows)
		parts, err := filepath.Glob(filepath.Join(dirs[0], "*.db3"))
		check(t, err)
		for _, part := range parts {
			a, err := os.ReadFile(part)
			check(t, err)
			b, err := os.ReadFile(filepath.Join(dirs[1], filepath.Base(part)))
			check(t, err)
			if !bytes.Equal(a, b) {
				t.Errorf("%s has other bytes when blocks are handed out", filepath.Base(part))
			}
			looseFrames(t, part)
		}
		got, info := readAll(t, dirs[1], storage.ReadOptions{Strict: true})
		if len(got) != len(rows) || len(info.Warnings) > 0 || info.Compression["zstd"] != int64(len(rows)) {
			t.Fatalf("%d of %d rows, %v, %v", len(got), len(rows), info.Compression, info.Warnings)
		}
		for i, r := range got {
			if r.time != rows[i].LogTime || !bytes.Equal(r.data, rows[i].Data) {
				t.Fatalf("row %d differs", i)
			}
		}
	}
}

// looseFrames checks that every row of a part is a frame that states its size.
func looseFrames(t *testing.T, part string) {
	t.Helper()
	f, err := os.Open(part)
	check(t, err)
	defer f.Close()
	db, err := sqlite.Open(sqlite.Options{File: sqlite.Plain{File: f}, ReadOnly: true})
	check(t, err)
	defer db.Close()
	check(t, db.Query("SELECT data FROM messages", func(s *sqlite.Stmt) error {
		var h zstd.Header
		if err := h.Decode(s.Bytes(0)); err != nil || !h.HasFCS {
			t.Errorf("%x: %v, stated %v", s.Bytes(0)[:min(9, len(s.Bytes(0)))], err, h.HasFCS)
		}
		return nil
	}))
}

// TestPackedOptions: what cannot be is refused, with the way out.
func TestPackedOptions(t *testing.T) {
	for want, c := range map[string]struct {
		name string
		o    storage.WriteOptions
	}{
		"add --compression zstd": {"bag", storage.WriteOptions{Level: 3}},
		"nothing is compressed": {"bag", storage.WriteOptions{Compression: "none",
			Values: map[string]string{storage.NameCompressionMode: "file"}}},
		"write a folder":  {"x.db3", withZstd("message", "")},
		"levels go to 22": {"bag", storage.WriteOptions{Compression: "zstd", Level: 23}},
	} {
		dir := t.TempDir()
		if _, err := createWriter(t.Context(), filepath.Join(dir, c.name), c.o); err == nil || !strings.Contains(err.Error(),
			want) {
			t.Errorf("%v, want %q", err, want)
		}
		if list, _ := os.ReadDir(dir); len(list) > 0 {
			t.Errorf("%s is left", list[0].Name())
		}
	}
	if !slices.Equal(Format.Options.Choices(storage.NameCompression), []string{"none", "zstd"}) {
		t.Error("the default has changed")
	}
}

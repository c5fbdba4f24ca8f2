package rosbag2

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
	"github.com/klauspost/compress/zstd"
)

// TestZstdFile reads parts compressed as a whole, also where the frame has no
// end, as rosbag2 leaves it when the size is a multiple of 131072.
func TestZstdFile(t *testing.T) {
	rows := sampleRows()
	dir := bag(t, rows)
	plain := filepath.Join(dir, "bag_0.db3")
	db, err := os.ReadFile(plain)
	check(t, err)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	pages := 131072 / pageSize
	padded := slices.Clone(db)
	for len(padded)%131072 != 0 {
		padded = append(padded, make([]byte, pageSize)...)
	}
	// A freelist that is not used by readers: the header's page count is enough.
	n := len(padded) / pageSize
	padded[28], padded[29], padded[30], padded[31] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	if len(padded)%(pages*pageSize) != 0 {
		t.Fatal("not a multiple")
	}
	for _, c := range []struct {
		name  string
		db    []byte
		close bool
		cut   int
		codes []string
	}{
		{"whole", db, true, 0, nil},
		{"open", padded, false, 0, []string{"zstd-open"}},
		{"cut", db, true, len(db) / 4, []string{"truncated"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			e, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
			check(t, err)
			for p := c.db; len(p) > 0; p = p[min(len(p), 131072):] {
				_, err = e.Write(p[:min(len(p), 131072)])
				check(t, err)
			}
			if c.close {
				check(t, e.Close())
			} else {
				check(t, e.Flush())
			}
			z := b.Bytes()
			z = z[:len(z)-min(c.cut, len(z)/2)]
			os.Remove(plain)
			check(t, os.WriteFile(plain+".zstd", z, 0o666))
			before := listing(t, dir)
			if !db3.Sniff(nil, plain+".zstd", z[:min(len(z), storage.SniffLen)]) {
				t.Error("not recognised")
			}
			got, info := readAll(t, dir, storage.ReadOptions{})
			for _, code := range c.codes {
				if !slices.Contains(codes(info), code) {
					t.Errorf("no warning %s in %v", code, info.Warnings)
				}
			}
			if c.cut == 0 && (len(got) != len(rows) || len(info.Warnings) != len(c.codes)) {
				t.Errorf("%d rows of %d, %v", len(got), len(rows), info.Warnings)
			}
			if c.cut > 0 && (len(got) == 0 || len(got) >= len(rows)) {
				t.Errorf("%d rows of %d", len(got), len(rows))
			}
			if info.Compression["zstd"] != 1 {
				t.Errorf("compression %v", info.Compression)
			}
			if after := listing(t, dir); !reflect.DeepEqual(before, after) {
				t.Errorf("the folder changed: %v to %v", before, after)
			}
			if left := listing(t, temp); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestZstdRows reads messages compressed one by one, as marked in metadata.yaml, or
// where nothing marks them.
func TestZstdRows(t *testing.T) {
	topics, rows := sampleTopics(), sampleRows()
	for i := range rows {
		rows[i].Data = append([]byte{0, 1, 0, 0}, rows[i].Data...)
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	check(t, err)
	packed := slices.Clone(rows)
	for i := range packed {
		packed[i].Data = e.EncodeAll(packed[i].Data, nil)
	}
	path := filepath.Join(t.TempDir(), "bag")
	write(t, path, storage.WriteOptions{}, topics, packed)
	for _, mode := range []string{"MESSAGE", "message", "", "file gone"} {
		t.Run(mode, func(t *testing.T) {
			meta := filepath.Join(path, ros2bag.MetadataName)
			text, err := os.ReadFile(meta)
			check(t, err)
			defer func() { check(t, os.WriteFile(meta, text, 0o666)) }()
			if mode == "file gone" {
				check(t, os.Remove(meta))
			} else if mode != "" {
				rewrite(t, meta, `compression_format: ""`, "compression_format: zstd")
				rewrite(t, meta, `compression_mode: ""`, "compression_mode: "+mode)
			}
			got, info := readAll(t, path, storage.ReadOptions{})
			if len(got) != len(rows) || info.Compression["zstd"] != int64(len(rows)) {
				t.Fatalf("%d rows, compression %v", len(got), info.Compression)
			}
			for i := range got {
				if !bytes.Equal(got[i].data, rows[i].Data) {
					t.Fatalf("row %d differs", i)
				}
			}
		})
	}
	meta := filepath.Join(path, ros2bag.MetadataName)
	rewrite(t, meta, `compression_mode: ""`, "compression_mode: MESSAGE")
	rewrite(t, meta, `compression_format: ""`, "compression_format: lz4")
	if got, info := readAll(t, path, storage.ReadOptions{}); len(got) != len(rows) ||
		!slices.Equal(codes(info), []string{"compression"}) {
		t.Errorf("zstd called lz4: %d rows, %v", len(got), info.Warnings)
	}
	path = bag(t, sampleRows())
	meta = filepath.Join(path, ros2bag.MetadataName)
	rewrite(t, meta, `compression_mode: ""`, "compression_mode: MESSAGE")
	rewrite(t, meta, `compression_format: ""`, "compression_format: lz4")
	if _, err := open(context.Background(), path, storage.ReadOptions{}); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("lz4: %v", err)
	}
}

package identify

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

func cyberHead(typ byte, size byte) []byte {
	b := make([]byte, 64)
	b[0], b[4], b[5] = typ, 0x61, 0x55 // stack garbage in the padding
	b[8], b[16], b[17] = size, 0x08, 1
	return b
}

func TestContent(t *testing.T) {
	tar := make([]byte, 512)
	copy(tar, "drive.bag")
	copy(tar[257:], "ustar")
	for name, c := range map[string]struct {
		data       []byte
		what, hint string
	}{
		"text":     {[]byte("hello\nworld\n"), "a text file", ""},
		"text cut": {append(bytes.Repeat([]byte("x"), headLen-1), "\u00e4"...), "a text file", ""},
		"latin1":   {[]byte("gr\xfc\xdfe"), "not a recording of any format", ""},
		"html":     {[]byte("\n <!DOCTYPE html><title>log in</title>"), "a web page", "download the file itself"},
		"lfs": {[]byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"), "a Git LFS pointer",
			"git lfs pull"},
		"cyber": {cyberHead(0, 90), "a Cyber record whose first section, the header, cannot be read",
			"the copy may be damaged"},
		"no cyber":   {cyberHead(1, 90), "not a recording of any format", ""},
		"metadata":   {[]byte("rosbag2_bagfile_information:\n  version: 5\n"), "the metadata.yaml", "name the folder"},
		"database":   {[]byte("SQLite format 3\x00\x10\x00"), "SQLite database", ""},
		"wal":        {[]byte("\x37\x7f\x06\x82\x00"), "write-ahead log", ".db3"},
		"gzip":       {[]byte("\x1f\x8b\x08\x00"), "gzip", "gunzip -k in"},
		"bzip2":      {[]byte("BZh91AY"), "bzip2", "bunzip2 -k in"},
		"zstd":       {[]byte("\x28\xb5\x2f\xfd\x00"), "zstd", "zstd -d in"},
		"zip":        {[]byte("PK\x03\x04"), "zip archive", "unzip in"},
		"7z":         {[]byte("7z\xbc\xaf\x27\x1c"), "7z archive", "7z x"},
		"tar":        {tar, "a tar archive", "tar -xf in"},
		"zeros":      {make([]byte, 9000), "nothing but zero bytes", "not finished"},
		"noise":      {[]byte{0x80, 0x01, 0xff, 0xfe}, "not a recording of any format", ""},
		"empty":      {nil, "an empty file", "first byte"},
		"escape":     {[]byte("\x1b[1mbold\x1b[0m"), "a text file", ""},
		"short html": {[]byte("<html>"), "a web page", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "in")
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			f := Path(nil, path, all.Registry())
			if !strings.Contains(f.What, c.what) || !strings.Contains(f.Hint, c.hint) {
				t.Errorf("got %q, %q; want %q, %q", f.What, f.Hint, c.what, c.hint)
			}
			found, err := Detect(all.Registry(), nil, path)
			if (found != nil) != (name == "cyber" || name == "database") {
				t.Fatal(name, err)
			}
			if text := fmt.Sprint(err); found == nil && (!errors.Is(err, storage.ErrUnknownFormat) ||
				!strings.Contains(text, c.what) || !strings.Contains(text, c.hint) ||
				strings.Count(text, "not a recording of any") > 1) {
				t.Error(err)
			}
		})
	}
}

func TestFolder(t *testing.T) {
	for name, c := range map[string]struct {
		files      []string
		what, hint string
	}{
		"empty":   {nil, "an empty folder", ""},
		"bags":    {[]string{"a.bag", "b.bag"}, "2 files of format bag in it", "a.bag"},
		"bag":     {[]string{"a.bag.active"}, "a file of format bag in it", "a.bag.active"},
		"mcap":    {[]string{"metadata.yaml", "a_0.mcap"}, "a file of format mcap in it", "a_0.mcap"},
		"records": {[]string{"a.record.00000"}, "a file of format record in it", "a.record.00000"},
		"inside":  {[]string{"drive/metadata.yaml=rosbag2_bagfile_information:"}, "a recording in it", "drive"},
		"other":   {[]string{"notes.txt", "sub/x"}, "without a recording", ".bag, .record, .db3"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range c.files {
				name, data, _ := strings.Cut(name, "=")
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f := Path(nil, dir, all.Registry())
			if !strings.Contains(f.What, c.what) || !strings.Contains(f.Hint, c.hint) {
				t.Errorf("got %q, %q; want %q, %q", f.What, f.Hint, c.what, c.hint)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	if f := Path(nil, filepath.Join(dir, "missing.bag"), all.Registry()); f.What != "no such file or folder" {
		t.Errorf("missing: %q", f.What)
	}
	file := filepath.Join(dir, "file.bag")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := Path(nil, file+string(filepath.Separator), all.Registry()); f.What != "a file, not a folder" {
		t.Errorf("file with a separator: %q", f.What)
	}
	if f := Path(nil, os.DevNull, all.Registry()); !strings.Contains(f.What, "not a regular file") {
		t.Errorf("device: %q", f.What)
	}
	path := filepath.Join(dir, "locked.bag")
	if err := os.WriteFile(path, []byte("#ROSBAG V2.0\n"), 0o000); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Open(path); err == nil {
		t.Skip("this user may read everything")
	}
	if f := Path(nil, path, all.Registry()); !strings.Contains(f.What, "no permission") {
		t.Errorf("locked: %q", f.What)
	}
}

func FuzzContent(f *testing.F) {
	f.Add([]byte("hello"), true)
	f.Add(cyberHead(0, 90), false)
	f.Add([]byte("\xef\xbb\xbf<html"), true)
	f.Fuzz(func(t *testing.T, head []byte, whole bool) {
		got := content("in", head, whole, all.Registry())
		if got.What == "" || strings.ContainsAny(got.What+got.Hint, "\n\r") {
			t.Errorf("%q", got)
		}
	})
}

package extras

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/internal/testing/faultio"
	"github.com/bagconv/bagconv/storage"
)

// TestFileName: no name of a recording leads out of a folder, is hidden, or is one that
// a file system does not take.
func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"map.yaml": "map.yaml", "Карта 1.yaml": "Карта 1.yaml", "a.tar.gz": "a.tar.gz",
		"../../etc/passwd": "passwd", `..\..\boot.ini`: "boot.ini", "/etc/shadow": "shadow", "C:evil": "C_evil",
		"a/": "attachment",
		"":   "attachment", ".": "attachment", "..": "attachment", "...": "attachment", "/": "attachment",
		"a/..":    "attachment",
		".bashrc": "_bashrc", "..x": "_x", "x.": "x", "x. .": "x", "nul": "_nul", "COM1.txt": "_COM1.txt",
		"console":          "console",
		"a\x00b\n\x1b[31m": "a_b__[31m", "bad\xff": "bad_", "a<b>:\"|?*": "a_b______", "\u202egpj.exe": "_gpj.exe",
		strings.Repeat("x", 300) + ".yaml":               strings.Repeat("x", maxName-5) + ".yaml",
		strings.Repeat("é", 300):                         strings.Repeat("é", maxName/2),
		"a." + strings.Repeat("y", 300):                  "a." + strings.Repeat("y", maxName-2),
		strings.Repeat("./", 1<<16) + "deep/in/here.bin": "here.bin",
	} {
		got := FileName(name, "attachment")
		if got != want {
			t.Errorf("%.40q becomes %.140q, want %.140q", name, got, want)
		}
		if got != filepath.Base(got) || len(got) > maxName {
			t.Errorf("%.40q: %q is no name of a file", name, got)
		}
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("../../etc/passwd")
	f.Add("con.\xff/..")
	f.Fuzz(func(t *testing.T, name string) {
		got := FileName(name, "attachment")
		if got != filepath.Base(got) || got == "." || got == ".." || got[0] == '.' || len(got) > maxName+len("_") ||
			strings.ContainsAny(got, "/\\\x00:") {
			t.Errorf("%q becomes %q", name, got)
		}
		if !filepath.IsLocal(got) {
			t.Errorf("%q becomes %q, which leads out", name, got)
		}
	})
}

// TestNames: names are kept apart, in upper and lower case too.
func TestNames(t *testing.T) {
	n := names{}
	var got []string
	for _, name := range []string{"a.yaml", "A.YAML", "a.yaml", "a_2.yaml", "b"} {
		got = append(got, n.take(name))
	}
	if fmt.Sprint(got) != "[a.yaml A_2.YAML a_3.yaml a_2_2.yaml b]" {
		t.Errorf("%q", got)
	}
}

func attachment(name, content string) *storage.Attachment {
	return &storage.Attachment{
		Name: name, MediaType: "text/plain", LogTime: 5, CreateTime: 7, Size: int64(len(content)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
	}
}

func record(name string, values map[string]string) *storage.MetadataRecord {
	return &storage.MetadataRecord{Name: name, Values: func() (map[string]string, error) { return values, nil }}
}

// fill writes two attachments of one name, and a metadata record.
func fill(f *Folder) error {
	return errors.Join(f.WriteAttachment(attachment("../a.txt", "one")), f.WriteAttachment(attachment("a.txt", "two")),
		f.WriteAttachment(attachment(IndexName, "mine")), f.WriteMetadata(record("robot", map[string]string{"k": "v"})))
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	f := NewFolder(nil, dir, false, true)
	if err := fill(f); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("before Commit: %v, %v", entries, err) // the staging folder
	}
	if err := errors.Join(f.Commit(), f.Close()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a.txt": "one", "a_2.txt": "two", "extras_2.json": "mine"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, IndexName))
	var index Index
	if err != nil || json.Unmarshal(text, &index) != nil {
		t.Fatal(err)
	}
	if len(index.Attachments) != 3 || index.Attachments[0] != (IndexFile{"a.txt", "../a.txt", "text/plain", 3, "5",
		"7"}) || len(index.Metadata) != 1 || index.Metadata[0].Values["k"] != "v" {
		t.Errorf("%+v", index)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 4 {
		t.Errorf("%v", entries)
	}

	again := NewFolder(nil, dir, false, false)
	if err := errors.Join(again.WriteAttachment(attachment("a.txt", "three")), again.Commit()); !errors.Is(err,
		fs.ErrExist) {
		t.Errorf("files that are there are replaced: %v", err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(got) != "one" {
		t.Errorf("%q", got)
	}
	again = NewFolder(nil, dir, true, false)
	if err := errors.Join(again.WriteAttachment(attachment("a.txt", "three")), again.Commit()); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(got) != "three" {
		t.Errorf("%q", got)
	}
}

// TestFolderLinks: a link in the folder is replaced, and what it points to stays.
func TestFolderLinks(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(target, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(dir, "a.txt")); err != nil {
		t.Skip(err)
	}
	f := NewFolder(nil, dir, false, false)
	if err := errors.Join(f.WriteAttachment(attachment("a.txt", "theirs")), f.Commit()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	f = NewFolder(nil, dir, true, false)
	if err := errors.Join(f.WriteAttachment(attachment("a.txt", "theirs")), f.Commit()); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(target); string(got) != "mine" {
		t.Errorf("a link leads out of the folder: %q", got)
	}
}

// TestFolderRefuses: one attachment or record that cannot be written costs no other.
func TestFolderRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	f := NewFolder(nil, dir, false, false)
	short := attachment("short", "abc")
	short.Size = 4
	broken := attachment("broken", "abc")
	broken.Open = func() (io.ReadCloser, error) { return nil, storage.ErrCorrupt }
	if err := f.WriteAttachment(short); err == nil {
		t.Error("an attachment with another size than it says is written")
	}
	if err := f.WriteAttachment(broken); !errors.Is(err, storage.ErrCorrupt) {
		t.Error(err)
	}
	if err := f.WriteMetadata(record("r", map[string]string{"k": "\xff"})); !errors.Is(err, storage.ErrUnsupported) {
		t.Error(err)
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("there is a folder with nothing in it")
	}
}

// TestFolderFaults: whatever fails, all files stand in the folder or none, and a
// failure is reported.
func TestFolderFaults(t *testing.T) {
	for n := 1; ; n++ {
		dir := filepath.Join(t.TempDir(), "x")
		faults := &faultio.FS{FS: iox.FS(nil), N: int64(n)}
		f := NewFolder(faults, dir, false, true)
		err := fill(f)
		if err == nil {
			err = f.Commit()
		}
		err = errors.Join(err, f.Close())
		entries, _ := os.ReadDir(dir)
		stands := 0
		for _, e := range entries {
			if e.Name()[0] != '.' {
				stands++
			}
		}
		if stands != 0 && stands != 4 || err == nil && stands != 4 {
			t.Fatalf("fault %d: %v stand, %v", n, entries, err)
		}
		if !faults.Fired() {
			if err != nil || n < 10 {
				t.Errorf("%d operations, %v", n, err)
			}
			return
		}
		if n > 1000 {
			t.Fatal("it never succeeds")
		}
	}
}

func TestFromFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "map.YML")
	if err := os.WriteFile(path, []byte("x: 1"), 0o666); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	a, err := FromFile(nil, path)
	if err != nil {
		t.Fatal(err)
	}
	if ns := st.ModTime().UnixNano(); a.Name != "map.YML" || a.MediaType != "application/yaml" || a.LogTime != ns ||
		a.CreateTime != ns || a.Size != 4 {
		t.Errorf("%+v", a)
	}
	d, err := DigestOf(context.Background(), &a, true)
	if err != nil || bytes.Equal(d.Sum[:], make([]byte, len(d.Sum))) {
		t.Errorf("%+v, %v", d, err)
	}
	if mediaType("x.unheard") != unknownType || mediaType("x") != unknownType {
		t.Error("an unknown ending has a media type")
	}
	if _, err := FromFile(nil, filepath.Dir(path)); !errors.Is(err, storage.ErrUnsupported) {
		t.Errorf("a folder is attached: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := DigestOf(ctx, &a, true); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

package ros2bag

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"github.com/klauspost/compress/zstd"
)

// toy is a storage whose parts begin with "toy" and end with "end".
var toy = &Storage{ID: "toy", Ext: ".toy", Magic: "toy", Beside: []string{"-log"}, WholePart: func(fsys storage.FS,
	path string) bool {
	b, err := os.ReadFile(path)
	return err == nil && bytes.HasSuffix(b, []byte("end"))
}}

// folder makes a folder of files, each with its text.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	check(t, os.Mkdir(dir, 0o777))
	for name, text := range files {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	return dir
}

// find returns the names of the parts and the codes of what is odd, as one text.
func find(t *testing.T, path string) (string, error) {
	t.Helper()
	var codes []string
	l, err := toy.Find(t.Context(), iox.OS, path, func(code string, damage bool, format string, args ...any) error {
		codes = append(codes, code)
		return nil
	})
	if err != nil {
		return "", err
	}
	var names []string
	for _, p := range l.Parts {
		names = append(names, filepath.Base(p))
	}
	slices.Sort(codes)
	return strings.Join(names, " ") + " | " + strings.Join(codes, " "), nil
}

func listing(names ...string) string {
	return "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: toy\n  relative_file_paths: [" +
		strings.Join(names, ", ") + "]\n"
}

// TestFind: which parts a folder has, for a storage that this package does not know.
func TestFind(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"by number": {map[string]string{"run_10.toy": "", "run_9.toy": "", "run_2.toy": "", "note.txt": ""},
			"run_2.toy run_9.toy run_10.toy | no-metadata"},
		"Lyrical":      {map[string]string{"10_run.toy": "", "9_run.toy": ""}, "9_run.toy 10_run.toy | no-metadata"},
		"twice, whole": {map[string]string{"run_0.toy": "toy end", "run_0.toy.zstd": ""}, "run_0.toy | no-metadata"},
		"twice, cut":   {map[string]string{"run_0.toy": "toy e", "run_0.toy.zstd": ""}, "run_0.toy.zstd | no-metadata"},
		"listed": {map[string]string{"metadata.yaml": listing("run_1.toy", "run_0.toy"), "run_0.toy": "",
			"run_1.toy": ""}, "run_1.toy run_0.toy | "},
		"listed in parent": {map[string]string{"metadata.yaml": listing("run/run_0.toy"), "run_0.toy": ""}, "run_0.toy | "},
		"listed outside": {map[string]string{"metadata.yaml": listing("/etc/passwd", "../../../../../../etc/passwd",
			"run_0.toy"), "run_0.toy": ""}, "run_0.toy | missing-part missing-part"},
		"listed plain": {map[string]string{"metadata.yaml": listing("run_0.toy"), "run_0.toy.zstd": ""},
			"run_0.toy.zstd | "},
		"missing, more": {map[string]string{"metadata.yaml": listing("run_0.toy", "run_1.toy"), "run_1.toy": "",
			"run_2.toy": ""}, "run_1.toy run_2.toy | missing-part paths"},
		"missing, another": {map[string]string{"metadata.yaml": listing("run_0.toy", "run_1.toy"), "run_1.toy": "",
			"old_2.toy": ""}, "run_1.toy | missing-part unlisted-part"},
		"listed twice": {map[string]string{"metadata.yaml": listing("run_1.toy", "run_1.toy"), "run_0.toy": "",
			"run_1.toy": ""}, "run_0.toy run_1.toy | paths"},
		"renamed": {map[string]string{"metadata.yaml": listing("old_0.toy"), "run_0.toy": ""}, "run_0.toy | paths"},
		"no YAML": {map[string]string{"metadata.yaml": "{{{", "run_0.toy": ""}, "run_0.toy | metadata"},
		"from the future": {map[string]string{"metadata.yaml": strings.Replace(listing("run_0.toy"), "5", "50", 1),
			"run_0.toy": ""}, "run_0.toy | version"},
		"other storage": {map[string]string{"run_0.toy": "", "run_0.mcap": ""}, "run_0.toy | mcap no-metadata"},
	} {
		dir := folder(t, c.files)
		if got, err := find(t, dir); got != c.want || err != nil {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
		if !toy.IsFolder(iox.OS, dir) {
			t.Errorf("%s: not recognised", name)
		}
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  error
	}{
		"empty":         {nil, fs.ErrNotExist},
		"none is there": {map[string]string{"metadata.yaml": listing("run_0.toy")}, fs.ErrNotExist},
		"MCAP":          {map[string]string{"run_0.mcap": ""}, storage.ErrUnsupported},
		"unknown": {map[string]string{"metadata.yaml": strings.Replace(listing(), "toy", "tape", 1)},
			storage.ErrUnsupported},
	} {
		if got, err := find(t, folder(t, c.files)); !errors.Is(err, c.want) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if toy.IsFolder(iox.OS, folder(t, map[string]string{"note.txt": "", "metadata.yaml": "a: b"})) {
		t.Error("any folder is one")
	}
}

// TestStorageOf: a folder belongs to the storage of its files, and to the one that
// metadata.yaml names where that decides nothing.
func TestStorageOf(t *testing.T) {
	db3 := &Storage{ID: "sqlite3", Ext: ".db3", WholePart: toy.WholePart}
	mcap := &Storage{ID: "mcap", Ext: ".mcap", Alone: true, WholePart: toy.WholePart}
	named := func(id string) string { return strings.Replace(listing("x"), "toy", id, 1) }
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"databases":             {map[string]string{"a_0.db3": ""}, "sqlite3"},
		"MCAP":                  {map[string]string{"a_0.mcap": "", "a_1.mcap.zst": ""}, "mcap"},
		"MCAP of several names": {map[string]string{"a_0.mcap": "", "b_0.mcap": ""}, ""},
		"the same, described": {map[string]string{"a_0.mcap": "", "b_0.mcap": "", "metadata.yaml": named("mcap")},
			"mcap"},
		"the name is wrong":  {map[string]string{"a_0.mcap.zstd": "", "metadata.yaml": named("sqlite3")}, "mcap"},
		"both, nothing says": {map[string]string{"a_0.mcap": "", "a_0.db3": ""}, "sqlite3"},
		"both, named MCAP":   {map[string]string{"a_0.mcap": "", "a_0.db3": "", "metadata.yaml": named("mcap")}, "mcap"},
		"both, named SQLite": {map[string]string{"a_0.mcap": "", "a_0.db3": "", "metadata.yaml": named("'sqlite3'")},
			"sqlite3"},
		"none, named MCAP":        {map[string]string{"metadata.yaml": named("mcap")}, "mcap"},
		"none, something else is": {map[string]string{"metadata.yaml": named("tape")}, "sqlite3"},
		"nothing":                 {map[string]string{"notes.txt": ""}, ""},
	} {
		dir := folder(t, c.files)
		got := ""
		for _, s := range []*Storage{db3, mcap} {
			if s.IsFolder(iox.OS, dir) {
				got += s.ID
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestAlone: files that often are recordings by themselves are one without metadata.yaml
// only if they are called after their folder.
func TestAlone(t *testing.T) {
	s := &Storage{ID: "mcap", Ext: ".mcap", Alone: true, WholePart: toy.WholePart}
	for stem, one := range map[string]bool{"run": true, "drive": false} {
		dir := filepath.Join(t.TempDir(), "run")
		check(t, os.Mkdir(dir, 0o777))
		names := []string{stem + "_0.mcap", stem + "_1.mcap"}
		for _, n := range names {
			check(t, os.WriteFile(filepath.Join(dir, n), nil, 0o666))
		}
		groups, rest := s.Recordings(iox.OS, dir, names)
		name, _ := s.Whole(iox.OS, filepath.Join(dir, names[1]))
		f, err := s.Files(iox.OS, dir)
		check(t, err)
		if (len(groups) == 1) != one || (len(rest) == 0) != one || (name == dir) != one || f.Guessed == one {
			t.Errorf("%s: %v, %v, %q, %+v", stem, groups, rest, name, f)
		}
	}
}

// TestFiles: what belongs to a recording, and of what a part is a part.
func TestFiles(t *testing.T) {
	dir := folder(t, map[string]string{"metadata.yaml": listing("run_0.toy", "run_1.toy"), "run_0.toy": "",
		"run_1.toy": "", "run_1.toy-log": "", "note.txt": ""})
	f, err := toy.Files(iox.OS, dir)
	check(t, err)
	base := func(paths []string) (s string) {
		for _, p := range paths {
			s += filepath.Base(p) + " "
		}
		return s
	}
	if base(f.Messages) != "run_0.toy run_1.toy " || base(f.Beside) != "metadata.yaml run_1.toy-log " || f.Guessed ||
		!slices.Equal(f.Folders, []string{dir}) {
		t.Errorf("%+v", f)
	}
	if name, parts := toy.Whole(iox.OS, filepath.Join(dir, "run_1.toy")); name != dir ||
		base(parts) != "run_0.toy run_1.toy " {
		t.Errorf("%s: %v", name, parts)
	}
	check(t, os.Remove(filepath.Join(dir, "metadata.yaml")))
	check(t, os.WriteFile(filepath.Join(dir, "other.toy"), nil, 0o666))
	if f, err = toy.Files(iox.OS, dir); err != nil || !f.Guessed {
		t.Errorf("two names, no metadata.yaml: %+v, %v", f, err)
	}
	if name, _ := toy.Whole(iox.OS, filepath.Join(dir, "run_1.toy")); name != "" {
		t.Errorf("a part of %s", name)
	}
	if name := toy.PartName("run", 12); name != "run_12.toy" {
		t.Error(name)
	}
}

// TestCompressedPart: it is recognised, and decompressed as far as it goes.
func TestCompressedPart(t *testing.T) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	check(t, err)
	text := "toy" + strings.Repeat(" 0123456789", 50_000)
	packed := e.EncodeAll([]byte(text), nil)
	dir := folder(t, map[string]string{"whole.zstd": string(packed), "cut.zstd": string(packed[:len(packed)/2]),
		"other.zstd": string(e.EncodeAll([]byte("no toy"), nil))})
	for name, want := range map[string]bool{"whole.zstd": true, "other.zstd": false} {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		check(t, err)
		if toy.IsPart(iox.OS, path, b) != want {
			t.Errorf("%s: a part: %v", name, !want)
		}
	}
	if !toy.IsPart(iox.OS, "", []byte("toy")) || toy.IsPart(iox.OS, "", []byte("to")) {
		t.Error("plain parts")
	}
	for i, name := range []string{"whole.zstd", "cut.zstd", "whole.zstd", "cut.zstd"} {
		memory := int64(0)
		if i >= 2 {
			memory = int64(len(text)) / 3 // the rest of it goes to the disk
		}
		u := NewUnpacker(memory)
		f, cut, err := u.Inflate(t.Context(), iox.OS, filepath.Join(dir, name))
		check(t, err)
		if fact, some := u.Fact(); !some || strings.Contains(fact.Value, "in memory") != (u.onDisk == 0) ||
			name == "whole.zstd" && u.onDisk != i/2 {
			t.Errorf("%s: %v", name, fact)
		}
		b, err := io.ReadAll(io.NewSectionReader(f, 0, 1<<30))
		check(t, err)
		if whole := name == "whole.zstd"; whole != (cut == nil) || whole != (string(b) == text) ||
			!strings.HasPrefix(text, string(b)) {
			t.Errorf("%s: %d bytes, %v", name, len(b), cut)
		}
		check(t, f.Close())
	}
}

// TestCustom: what is kept of topics comes back.
func TestCustom(t *testing.T) {
	a := storage.Topic{Name: "/a", Type: "p/msg/A", Encoding: "cdr", Schema: storage.Schema{Encoding: "x",
		Data: []byte("\xff")}, Metadata: map[string]string{"k": "<v>", storage.MetaTypeHash: "h", "bad": "\xff"}}
	b := storage.Topic{Name: "/b", Type: "p/msg/B", Encoding: "json",
		Metadata: map[string]string{storage.MetaTypeHash: "h"}}
	kept, ok := KeepTopic(&a, true)
	if !ok {
		t.Error("nothing is kept")
	}
	if _, ok := KeepTopic(&b, false); ok {
		t.Error("a type hash is kept")
	}
	text, err := EncodeCustom([]CustomTopic{kept})
	check(t, err)
	list, err := DecodeCustom(text)
	check(t, err)
	got := storage.Topic{Metadata: map[string]string{}}
	list[0].Restore(&got)
	if len(list) != 1 || list[0].Name != "/a" || list[0].Encoding != "cdr" || got.Metadata["k"] != "<v>" ||
		got.Metadata["bad"] != "\xff" || len(got.Metadata) != 2 || string(got.Schema.Data) != "\xff" ||
		strings.ContainsAny(text, "\n\\") {
		t.Errorf("%s: %+v, %+v", text, list, got)
	}
	if text, err := EncodeCustom(nil); text != "" || err != nil {
		t.Error(text, err)
	}
	if _, err := DecodeCustom("{"); err == nil {
		t.Error("{ is read")
	}
}

package lerobot

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// The names of the formats, and of their option.
const (
	formatName = "lerobot"
	partName   = "episodes"
	nameMap    = "map"
)

// OptionMap is the name of the option whose value is the text of a mapping file.
const OptionMap = nameMap

// Name and PartName are the names of Formats.
const (
	Name     = formatName
	PartName = partName
)

// Formats returns the formats: a data set of a recording, and the Episodes of one, which Join makes a data set of.
func Formats() []*storage.Format {
	return []*storage.Format{
		newFormat(formatName, "LeRobot data sets (v3)", infoName),
		newFormat(partName, "episodes for a LeRobot data set, which collect joins", episodesName),
	}
}

// newFormat makes a format whose outputs have a file by which they are known.
func newFormat(name, help, mark string) *storage.Format {
	f := &storage.Format{
		Name: name, Help: help,
		Holds: storage.Capacity{Carries: func(string, string) bool { return true }},
		Options: storage.Options{{Name: nameMap, Kind: storage.OptionFile,
			Help: "what becomes what in a LeRobot data set: docs/lerobot.md; --guess prints one"}},
		Layout: storage.Layout{Folder: true, Files: listFiles, Identify: identify},
		Sniff: func(fsys storage.FS, path string, head []byte) bool {
			return head == nil && exists(fsys, filepath.Join(path, filepath.FromSlash(mark)))
		},
	}
	f.Create = func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
		w, err := create(ctx, f, path, o)
		if err != nil {
			return nil, err
		}
		return w, nil
	}
	return f
}

// identify explains the description of a data set to whoever gives it as an input.
func identify(_ string, head []byte) (what, hint string) {
	if !bytes.Contains(head[:min(len(head), 200)], []byte(`"codebase_version"`)) {
		return "", ""
	}
	return "the description of a LeRobot data set, not a recording", "name the folder of the data set"
}

// listFiles lists the files of an output: the files that a data set may have.
func listFiles(fsys storage.FS, root string) (list storage.Files, err error) {
	list.Folders = []string{root}
	var walk func(dir string, depth int) error
	walk = func(dir string, depth int) error {
		entries, err := iox.FS(fsys).ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			rel, err := filepath.Rel(root, name)
			if err != nil || !belongs(filepath.ToSlash(rel), e.IsDir()) {
				continue
			}
			if !e.IsDir() {
				list.Beside = append(list.Beside, name)
				continue
			}
			list.Folders = append(list.Folders, name)
			if depth < 8 {
				if err := walk(name, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return list, walk(root, 0)
}

// belongs reports whether a file or folder is one of a data set, or of Episodes.
func belongs(name string, folder bool) bool {
	first, _, _ := strings.Cut(name, "/")
	switch {
	case first == "data" || first == "meta" || first == "videos":
		return folder || strings.HasSuffix(name, ".parquet") || strings.HasSuffix(name, ".mp4") || strings.HasSuffix(name,
			".json")
	case folder:
		return false
	}
	return name == episodesName || strings.HasSuffix(name, ".rows") || strings.HasSuffix(name, ".frames")
}

// Identity implements storage.Writer.
func (w *Writer) Identity() storage.Identity { return storage.IdentityType }

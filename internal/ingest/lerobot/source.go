package lerobot

import (
	"context"
	"path/filepath"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// Source returns the source of a conversion of a data set: Job.Source is its folder.
func Source() *storage.Format {
	f := &storage.Format{Name: "lerobot", Sniff: func(fsys storage.FS, path string, head []byte) bool {
		return head == nil && IsDataset(fsys, path)
	}}
	f.Layout.Folder = true
	f.Layout.Files = func(fsys storage.FS, path string) (storage.Files, error) {
		list := storage.Files{Folders: []string{path}, Beside: []string{filepath.Join(path, "meta", "info.json")}}
		for _, dir := range []string{"data", "videos", "meta"} {
			err := walk(iox.FS(fsys), filepath.Join(path, dir), 0, &list)
			if err != nil && dir != "videos" {
				return list, err
			}
		}
		return list, nil
	}
	f.Open = func(_ context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
		r, err := open(iox.FS(o.FS), path)
		if err != nil {
			return nil, &storage.Error{Format: f.Name, Path: path, Offset: -1, What: "open", Err: err}
		}
		return r, nil
	}
	return f
}

// IsDataset reports whether a data set stands at a path.
func IsDataset(fsys storage.FS, path string) bool {
	_, err := iox.FS(fsys).Stat(filepath.Join(path, "meta", "info.json"))
	return err == nil
}

// walk lists the files below a folder.
func walk(fsys storage.FS, dir string, depth int, list *storage.Files) error {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	list.Folders = append(list.Folders, dir)
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			list.Messages = append(list.Messages, name)
		} else if depth < 8 {
			if err := walk(fsys, name, depth+1, list); err != nil {
				return err
			}
		}
	}
	return nil
}

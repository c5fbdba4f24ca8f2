package main

import (
	"context"

	"github.com/bagconv/bagconv/formats/all"
	"github.com/bagconv/bagconv/storage"
)

// A recording is what mutants read. The script compare has this file as it was for older versions of the library.
type recording struct{ *storage.Recording }

func open(ctx context.Context, path string) (recording, error) {
	r, err := all.Open(ctx, path, storage.ReadOptions{})
	return recording{r}, err
}

func (r recording) topics() (names []string) {
	for _, t := range r.Info().Topics {
		names = append(names, t.Name+" "+t.Type)
	}
	return names
}

func (r recording) losses() (storage.Lost, []storage.Warning) {
	info := r.Info()
	return info.Lost, info.Warnings
}

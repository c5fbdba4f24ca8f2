package mcap

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/storage"
)

// reindexFolder writes the missing or wrong metadata.yaml of a folder, and the end of its files, as
// reindex does. See storage.Format.
func reindexFolder(ctx context.Context, path string, o storage.ReindexOptions) ([]storage.IndexChange, error) {
	index := func(ctx context.Context, fsys storage.FS, path string, o storage.ReindexOptions) ([]storage.IndexChange,
		error) {
		o.FS = fsys
		return reindex(ctx, path, o)
	}
	changes, err := mcapStorage.Reindex(ctx, path, o, describePart, index, openFolder)
	return changes, ros2bag.ReindexError(folderName, path, err)
}

// describePart returns what a part has.
func describePart(ctx context.Context, fsys storage.FS, path string) (*ros2bag.PartContent, error) {
	x, err := openFolder(ctx, path, storage.ReadOptions{FS: fsys})
	if err != nil {
		return nil, err
	}
	r := x.(*folderReader)
	c := &ros2bag.PartContent{Info: r.info}
	p := r.parts[0]
	if p.packed {
		c.Mode = ros2bag.ModeFile
	} else if r.packedMessages() {
		c.Mode = ros2bag.ModeMessage
	}
	if text := p.own.serialized; text != "" {
		m, _, e := ros2bag.ParseMetadata(ctx, []byte(ros2bag.WithoutTopics(text)), ros2bag.QoSCache{})
		if e == nil {
			c.Version, c.Custom = m.Version, m.Custom
		}
	}
	for _, w := range r.info.Warnings {
		if w.Damage && (p.packed || w.Code != "truncated") { // a file that is cut is judged when it is written
			err = errors.Join(err, fmt.Errorf("%s is damaged (%s): %w", filepath.Base(path), w.Message, storage.ErrUnsupported))
		}
	}
	return c, errors.Join(err, r.Close())
}

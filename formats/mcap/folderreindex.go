package mcap

import (
	"context"

	"github.com/bagconv/bagconv/formats/internal/ros2bag"
	"github.com/bagconv/bagconv/internal/inplace"
	"github.com/bagconv/bagconv/storage"
)

// reindexFolder writes the missing or wrong metadata.yaml of a folder, and the end of its files, as
// reindex does. See storage.Format.
func reindexFolder(ctx context.Context, path string, o storage.ReindexOptions) ([]storage.IndexChange, error) {
	return mcapStorage.Reindex(ctx, path, o, files{})
}

// files are the parts. See ros2bag.Parts.
type files struct{}

// Open opens a file or a folder. See ros2bag.Parts.
func (files) Open(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
	return openFolder(ctx, path, o)
}

// Mend finishes what a killed run has left of a change. See ros2bag.Parts.
func (files) Mend(_ context.Context, path string, o storage.ReindexOptions) error {
	return inplace.Mend(path, placeOptions(o.FS, o))
}

// Index writes the end of a file. See ros2bag.Parts.
func (files) Index(ctx context.Context, path string, o storage.ReindexOptions) ([]storage.IndexChange, error) {
	return reindex(ctx, path, o)
}

// Content is what the only part tells about itself. See ros2bag.PartReader.
func (r *folderReader) Content() (c ros2bag.PartContent) {
	p := r.parts[0]
	switch {
	case p.packed:
		c.Mode = ros2bag.ModeFile
	case r.packedMessages:
		c.Mode = ros2bag.ModeMessage
	}
	if !p.packed { // a file that is cut is judged when it is written
		c.Judged = []string{"truncated"}
	}
	if text := p.own.serialized; text != "" {
		m, _, err := ros2bag.ParseMetadata(r.Ctx, []byte(ros2bag.WithoutTopics(text)), ros2bag.QoSCache{})
		if err == nil {
			c.Version, c.Custom = m.Version, m.Custom
		}
	}
	return c
}

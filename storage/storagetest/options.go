package storagetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/bagconv/bagconv/storage"
)

// options: what the format does not have as an option, or a value that an option does
// not have, is refused, and nothing is left.
func (c *Config) options(t *testing.T) {
	wrong := []storage.WriteOptions{{Values: map[string]string{"no-such-option": "1"}}}
	for _, o := range []storage.WriteOptions{
		{Compression: "no-such-value"}, {Level: 3}, {ChunkSize: 1 << 20}, {Profile: "no-such-value"},
		{SegmentSize: 1 << 20}, {SegmentDuration: 1e9}, {SegmentNames: "no-such-value"}, {ChunkSize: -1},
	} {
		if c.Format.Options.Check(&o) != nil {
			wrong = append(wrong, o)
		}
	}
	for _, o := range wrong {
		dir := t.TempDir()
		o.NoSync = true
		w, err := c.Format.Create(context.Background(), filepath.Join(dir, c.Name), o)
		var option *storage.OptionError
		if !errors.As(err, &option) || !errors.Is(err, storage.ErrUnsupported) {
			t.Errorf("%+v: %v, and not an OptionError", o, err)
		}
		if err == nil {
			_ = w.Close() // the error above is the one to show
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%+v: %v is left, %v", o, left, err)
		}
	}
}

// withChunks returns o without a size of chunks if the format has no chunks.
func withChunks(f *storage.Format, o storage.WriteOptions) storage.WriteOptions {
	if f.Options.Find(storage.NameChunkSize) == nil {
		o.ChunkSize = 0
	}
	return o
}

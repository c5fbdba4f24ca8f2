package storagetest

import (
	"bytes"
	"context"
	"maps"
	"os"

	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
)

// The reference is the smallest format that passes the suite: a magic word, then
// the recording as gob. broken names one thing that it does wrong.
func reference(broken string) *storage.Format {
	options := storage.Options{{Name: storage.NameCompression, Kind: storage.OptionChoice, Values: []string{"none"}}}
	return &storage.Format{
		Name: "ref", Extensions: []string{".ref"}, Holds: storage.Capacity{
			Native:        "x",
			Carries:       func(encoding, schema string) bool { return encoding != "cdr" },
			Metadata:      []string{"*"},
			QoS:           true,
			TopicMetadata: func(string) bool { return true },
			PublishTime:   true,
			Sequence:      true,
			Extras:        broken != "hides its place for extras",
			MinTime:       0,
			MaxTime:       1 << 62,
		},
		Options: options,

		Sniff: func(_ storage.FS, path string, head []byte) bool {
			if broken == "sniffs at the disk" {
				head, _ = os.ReadFile(path)
			}
			return bytes.HasPrefix(head, []byte("REF1"))
		},
		Open: func(ctx context.Context, path string, o storage.ReadOptions) (storage.Reader, error) {
			return openRef(ctx, path, o, broken)
		},
		Create: func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, error) {
			if err := options.Check(&o); err != nil && broken != "takes any option" {
				return nil, err
			}
			out, err := iox.NewOutput(o.FS, path, o.Overwrite || broken == "overwrites", !o.NoSync)
			if err != nil {
				return nil, err
			}
			w := &refWriter{out: out, fs: iox.FS(o.FS), broken: broken, rec: Recording{Metadata: maps.Clone(o.Metadata)}}
			if broken == "shows itself early" {
				return w, os.WriteFile(path, nil, 0o666)
			}
			return w, nil
		},
		AppendTo: func(ctx context.Context, path string, o storage.WriteOptions) (storage.Writer, []storage.Topic, error) {
			return appendRef(ctx, path, o, broken)
		},
	}
}

const refBlockLen = 100

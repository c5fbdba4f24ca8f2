package mcap

import (
	"context"
	"errors"

	"github.com/bagconv/bagconv/storage"
)

// appendTo starts another part of a folder. See ros2bag.Addition.
func (w *folderWriter) appendTo(ctx context.Context) (storage.Writer, error) {
	add, info, err := mcapStorage.NewAddition(ctx, w.path, w.o, openFolder)
	if err != nil {
		return nil, w.fail("recording to be added to", err)
	}
	w.add, w.out, w.profile, w.o.Metadata = add, add.Out, add.Profile, add.Distro()
	if w.o.Compression == "" && w.o.Values[storage.NamePreset] == "" {
		w.o.Compression = mostUsed(info.Compression)
	}
	if err := w.addPart(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// mostUsed returns the codec of the most chunks, "" if there are none.
func mostUsed(chunks map[string]int64) (most string) {
	for _, name := range options.Choices(storage.NameCompression) {
		if chunks[name] > chunks[most] {
			most = name
		}
	}
	return most
}

// commitAdded moves the new parts into the folder.
func (w *folderWriter) commitAdded() error {
	names := make([]string, len(w.parts))
	for i, p := range w.parts {
		names[i] = p.part().Name
	}
	return w.add.Commit(names)
}

// Topics returns those of the recording that it adds to. See storage.Appender.
func (w *folderWriter) Topics() []storage.Topic { return w.add.Topics() }

var _ storage.Appender = (*folderWriter)(nil)

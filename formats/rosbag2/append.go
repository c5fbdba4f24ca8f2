package rosbag2

import (
	"errors"

	"github.com/bagconv/bagconv/storage"
)

// appendTo starts another part of a folder. See ros2bag.Addition.
func (w *writer) appendTo(path string, o storage.WriteOptions) (err error) {
	o.Append = false
	if err := options.Check(&o); err != nil {
		return w.fail(path, "option", err)
	}
	if p, err := packingOf(&o, w.single); err != nil {
		return w.fail(path, "option", err)
	} else if p.mode != "" {
		return w.fail(path, "a part that is added, compressed", storage.ErrUnsupported)
	}
	if w.add, _, err = db3.NewAddition(w.ctx, path, o, openReader); err != nil {
		w.add = nil
		return w.fail(path, "recording to be added to", err)
	}
	w.out, w.profile, w.options = w.add.Out, w.add.Profile, w.add.Distro()
	if err := w.addPart(); err != nil {
		return errors.Join(w.wrap("", err), w.Close())
	}
	return nil
}

// commitAdded moves the new parts into the folder.
func (w *writer) commitAdded() error {
	names := make([]string, len(w.parts))
	for i, p := range w.parts {
		names[i] = p.Name
	}
	return w.add.Commit(names)
}

// Topics returns those of the recording that it adds to. See storage.Appender.
func (w *writer) Topics() []storage.Topic { return w.add.Topics() }

var _ storage.Appender = (*writer)(nil)

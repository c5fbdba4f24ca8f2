package export

import (
	"github.com/bagconv/bagconv/internal/export/view"
	"github.com/bagconv/bagconv/storage"
)

// A viewer reads the messages of a block as messages of a well-known ROS type.
type viewer struct {
	*reader
	*view.View
}

// viewerOf returns the viewer of a topic, nil if its messages have no such type.
func viewerOf(t *storage.Topic, r *reader) *viewer {
	v := view.Of(t, r.Reader)
	if v == nil {
		return nil
	}
	return &viewer{&reader{v.Reader}, v}
}

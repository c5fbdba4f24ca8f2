package rosbag1

import (
	"encoding/binary"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// A window reads records of a file.
type window struct {
	chunked.Window
	size int64
}

func (r *reader) window() window { return window{r.src.Window(), r.src.Size} }

// header parses the record header at off. Its slices are valid until the next call.
func (w *window) header(h *header, off int64) error {
	*h = header{}
	b, err := w.Data(off, 512)
	if err != nil {
		return err
	}
	err = h.parseRecord(b)
	if err == storage.ErrTruncated && len(b) == 512 {
		n := int64(binary.LittleEndian.Uint32(b))
		if b, err = w.Data(off, 8+n); err == nil {
			err = h.parseRecord(b)
		}
	}
	if err != nil && !chunked.IsIO(err) {
		*h = header{}
	}
	return err
}

// record returns the data of the record whose header was just read at off, and
// sets h's slices anew. They and the data are valid until the next call.
func (w *window) record(h *header, off int64) ([]byte, error) {
	head := h.headLen
	b, err := w.Data(off, int64(head)+h.dataSize())
	if err == nil {
		err = h.parseRecord(b)
	}
	if err != nil {
		return nil, err
	}
	return b[head:], nil
}

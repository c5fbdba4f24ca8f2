package rosbag1

import (
	"time"

	"github.com/bagconv/bagconv/formats/internal/chunked"
	"github.com/bagconv/bagconv/storage"
)

// judge makes one warning of what is wrong with a block, from which kept messages
// were read. It compares them with what the index counts.
func (r *reader) judge(bl *block, d *chunked.Damage, kept int64) error {
	if d.Places == 0 && (bl.counted < 0 || bl.counted == kept) || bl.cut {
		return nil
	}
	lost := storage.Lost{Bytes: d.Bytes}
	if d.Places == 0 && kept < bl.counted {
		own, err := r.countIndex(bl)
		if err != nil {
			return err
		}
		if own == kept {
			return r.src.Warn("count", bl.Offset, false,
				"the index counts %d messages in this chunk, but it has %d, as many as its own index records count", bl.counted,
				kept)
		}
	}
	if bl.counted < 0 {
		lost.Messages, lost.Uncounted = d.Left, !d.Repaired
	} else {
		lost.Messages = max(0, bl.counted-kept)
	}
	return r.src.Judge(d, bl.Offset, lost, bl.counted, kept)
}

// countIndex adds up what the INDEX_DATA records after a chunk count.
func (r *reader) countIndex(bl *block) (n int64, err error) {
	c, err := r.chunkHeader(bl) // Size may be estimated
	if chunked.IsIO(err) {
		return 0, r.src.Fail(bl.Offset, "chunk", err)
	} else if err != nil {
		return 0, nil
	}
	w := r.window()
	var h header
	for at := c.data + c.stored; at < r.src.Size; at += int64(h.headLen) + h.dataSize() {
		if err := w.header(&h, at); chunked.IsIO(err) {
			return 0, r.src.Fail(at, "index", err)
		} else if err != nil || h.op != opIndex {
			break
		}
		n += int64(h.count)
	}
	return n, nil
}

// timeText writes a log time for a message.
func timeText(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

package rosbag1

import (
	"fmt"
	"time"

	"github.com/bagconv/bagconv/storage"
)

// damage is what reading a block has shown to be wrong with it. The zero value is
// a sound block.
type damage struct {
	code     string // of the first thing that is wrong, as are what and at
	what     string
	at       int64 // byte in the file
	places   int   // how many things are wrong
	bytes    int64 // that could not be read
	left     int64 // messages that were read and belong to no connection
	repaired bool  // all of them are told by what surrounds them: every byte was read
}

// add notes something wrong.
func (d *damage) add(code string, at, bytes int64, format string, args ...any) {
	if d.places == 0 {
		d.code, d.at, d.what = code, at, fmt.Sprintf(format, args...)
	}
	d.places++
	d.bytes += bytes
	d.repaired = false
}

// repair notes something wrong that is told by what surrounds it.
func (d *damage) repair(code string, at int64, format string, args ...any) {
	all := d.places == 0 || d.repaired
	d.add(code, at, 0, format, args...)
	d.repaired = all
}

// judge makes one warning of what is wrong with a block, of which kept messages
// were read. It compares them with what the index counts.
func (r *Reader) judge(bl *block, d *damage, kept int64) error {
	if d.places == 0 && (bl.counted < 0 || bl.counted == kept) || bl.cut {
		return nil
	}
	lost := storage.Lost{Bytes: d.bytes}
	if d.places == 0 && kept < bl.counted {
		own, err := r.countIndex(bl)
		if err != nil {
			return err
		}
		if own == kept {
			return r.warn("count", bl.Offset, false, "the index says that this chunk has %d messages; it has %d, as its own index records say", bl.counted, kept)
		}
	}
	if bl.counted < 0 {
		lost.Messages, lost.Uncounted = d.left, !d.repaired
	} else {
		lost.Messages = max(0, bl.counted-kept)
	}
	if d.places == 0 {
		d.code, d.at, d.repaired = "count", bl.Offset, true
		d.what = fmt.Sprintf("the index says that this chunk has %d messages, but it has %d", bl.counted, kept)
	} else {
		if d.places > 1 {
			d.what += fmt.Sprintf(", and %d more places of the chunk are damaged", d.places-1)
		}
		d.what += leftOf(bl.counted, kept)
	}
	missing := lost.Messages > 0 || !d.repaired
	if missing {
		r.lostOf(bl.Offset)
	}
	return r.warnLost(lost, d.code, d.at, missing, "%s", d.what)
}

// countIndex adds up what the INDEX_DATA records behind a chunk count.
func (r *Reader) countIndex(bl *block) (n int64, err error) {
	c, err := r.chunkHeader(bl) // Size may be estimated
	if isIO(err) {
		return 0, r.fail(bl.Offset, "chunk", err)
	} else if err != nil {
		return 0, nil
	}
	w := r.window()
	var h header
	for at := c.data + c.stored; at < r.size; at += int64(h.headLen) + h.dataSize() {
		if err := w.header(&h, at); isIO(err) {
			return 0, r.fail(at, "index", err)
		} else if err != nil || h.op != opIndex {
			break
		}
		n += int64(h.count)
	}
	return n, nil
}

// leftOf tells how many messages of a chunk were read, if it is known how many
// there were.
func leftOf(counted, kept int64) string {
	switch {
	case counted < 0:
		return ""
	case kept >= counted:
		return fmt.Sprintf("; all %d messages that the index counts there were read", counted)
	}
	return fmt.Sprintf("; %d of the %d messages that the index counts there were read", kept, counted)
}

// timeText writes a log time for a message.
func timeText(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }

package cyber

import (
	"fmt"

	"github.com/bagconv/bagconv/internal/warnings"
	"github.com/bagconv/bagconv/storage"
)

// A tail is what is wrong at the end of a file: nothing that can be read follows.
// Whether it is damage is known when the messages are counted.
type tail struct {
	found   bool
	at      int64 // where that begins
	code    string
	message string
	size    int64 // what the file should have by a section, bytes; 0: not known
}

// endsAt notes what is wrong at the end of the file; the first note counts. size is the size that
// the file should have, 0 if nothing states it.
func (f *file) endsAt(at int64, code string, size int64, format string, args ...any) {
	if !f.tail.found {
		f.tail = tail{true, at, code, fmt.Sprintf(format, args...), size}
	}
}

// account compares what can be read with what the header counts, and reports what is missing: once,
// and by the header alone if it is complete. messages is how many can be read.
func (f *file) account(messages int64) error {
	lost := f.lost
	total, counted := f.counted()
	size := f.tail.size
	switch {
	case !counted:
	case messages < total:
		lost.Messages, lost.Uncounted = total-messages, false
		lost.Blocks = max(lost.Blocks, clamp(f.header.GetChunkNumber())-f.whole)
		lost.Duration = f.missingTime()
		size = max(size, clamp(f.header.GetSize()))
	default: // all are there: at most the index is cut
		lost.Messages, lost.Uncounted = 0, false
		f.tail, size = tail{}, 0
	}
	f.missing = lost.Messages
	cut := size > f.size
	switch {
	case cut || f.tail.found:
		t := f.tail
		if !t.found {
			t = tail{at: f.size, code: "truncated"}
		}
		if cut {
			t.message = fmt.Sprintf("the file is cut off: it has %d of %d bytes", f.size, size)
		}
		lost.Bytes += max(size, f.size) - t.at
		lost.Uncounted = lost.Uncounted || !counted
		return f.report(t.code, t.at, true, lost, t.message)
	case counted && messages < total && !f.damaged:
		return f.report("truncated", f.size, true, lost, fmt.Sprintf("the header counts %d messages, the file has %d", total,
			messages))
	}
	f.r.warnings.Lose(lost)
	return nil
}

// counted returns how many messages the header counts. It is believed if the
// recorder has ended, and the index does not prove that it is wrong.
func (f *file) counted() (total int64, ok bool) {
	h := f.header
	if total = clamp(h.GetMessageNumber()); !h.GetIsComplete() || f.proven {
		return 0, false
	}
	// A message takes some bytes: a number that no file can hold is damage of the header.
	return total, total > 0 && total <= max(f.size, clamp(h.GetSize()))/minMessage
}

// minMessage is what a message takes at least, in bytes, with the shortest name.
const minMessage = 5

// missingTime is how much of the time in the header has no message, ns.
func (f *file) missingTime() int64 {
	begin, end := int64(f.header.GetBeginTime()), int64(f.header.GetEndTime())
	switch {
	case begin > end:
		return 0
	case f.begin > f.end:
		return end - begin
	}
	return max(0, f.begin-begin) + max(0, end-f.end)
}

// checkHeader reports what is wrong in the header about messages that are all there.
func (f *file) checkHeader(messages int64) error {
	h := f.header
	begin, end := h.GetBeginTime(), h.GetEndTime()
	crosses := begin <= end && int64(begin) > int64(end) // least and greatest are others as int64
	switch n := clamp(h.GetMessageNumber()); {
	case h == nil || !h.GetIsComplete() || f.missing > 0 || f.damaged:
	case n != messages:
		return f.warn("header-wrong", 0, false, storage.Lost{}, "the header counts %d messages; the file has %d", n, messages)
	case messages > 0 && !crosses && (int64(begin) != f.begin || int64(end) != f.end):
		return f.warn("header-wrong", 0, false, storage.Lost{}, "the times in the header do not match the times of the "+
			"messages; Apollo's viewer skips messages outside of them")
	}
	return nil
}

// checkEnd reports a recorder that did not end, or an index that is missing.
func (f *file) checkEnd() error {
	none := "there is no index"
	if f.indexCut {
		none = "the file ends within the index"
	}
	switch {
	case f.header != nil && !f.header.GetIsComplete():
		return f.warn("incomplete", 0, false, storage.Lost{}, "the recorder was not stopped cleanly; %s", warnings.Unclosed)
	case f.index == indexMissing && f.missing == 0 && !f.tail.found:
		return f.warn("no-index", -1, false, storage.Lost{},
			"%s: the contents were found by reading the heads of all messages", none)
	}
	return nil
}

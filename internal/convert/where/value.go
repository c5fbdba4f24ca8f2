package where

import (
	"strconv"
	"time"
)

// Value returns the value that a message has by a condition of ParseValue, as text that is the same for equal values
// only: NaN is one value, and so are 0 and -0. The error says why the message does not decide it.
func (f *Filter) Value(data []byte) (string, error) {
	r := f.begin(data)
	text := f.parts[0].show(r)
	return text, f.end(r)
}

// show returns the value as text.
func (v *value) show(r *run) string {
	switch v.kind {
	case truth:
		return strconv.FormatBool(v.truth(r))
	case integer:
		return strconv.FormatInt(v.whole(r), 10)
	case float:
		return strconv.FormatFloat(v.float(r)+0, 'g', -1, 64) // -0 + 0 is 0
	case text:
		return v.text(r)
	case moment:
		return time.Unix(0, v.whole(r)).UTC().Format(time.RFC3339Nano)
	}
	return time.Duration(v.whole(r)).String()
}

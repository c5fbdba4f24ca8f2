package chunked

import (
	"errors"

	"github.com/bagconv/bagconv/internal/compress"
)

// A chunk states how many bytes it has before compression. That lifts no bound: a few bytes can become
// any number of them. Up to soft bytes come in any case; then more comes only while all that came is
// records, twice as much each time, and all of a message that has begun.
const (
	softLeast  = 32 << 20
	softGrowth = 16
)

// MaxMessage is the most bytes of a record in a compressed chunk whose content does not fit its
// compressed size.
const MaxMessage = 2 << 30

// Unpack appends what src decompresses to, which should be size bytes, and returns what could be
// decompressed together with an error, as compress.Codec.Decode does. end returns where the last
// record ends that begins in b, and whether b has nothing but records.
func Unpack(codec *compress.Codec, dst, src []byte, size int64, end func(b []byte) (int64, bool)) ([]byte, error) {
	start := len(dst)
	limit := min(size, max(softLeast, softGrowth*int64(len(src))))
	for {
		out, err := codec.Decode(dst[:start], src, limit)
		if !errors.Is(err, compress.ErrLimit) || limit >= size {
			return out, err
		}
		need, ok := end(out[start:])
		if !ok || need > size || need-int64(len(out)-start) > MaxMessage {
			return out, err
		}
		limit = min(size, max(need, 2*limit))
		dst = out[:start]
	}
}

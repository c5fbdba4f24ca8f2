package intake

import (
	"errors"
	"fmt"
	"io"

	"github.com/bagconv/bagconv/storage"
)

// DefaultMaxMessage is how large a message of a running system may be, in bytes.
const DefaultMaxMessage = 128 << 20

// Limits of what a running system may have, besides its messages.
const (
	maxTopics      = 100_000
	maxDefinitions = 64 << 20 // bytes of the definitions of all topics together
)

// ErrTooMuch is the error of a message or a topic that is beyond the limits.
var ErrTooMuch = fmt.Errorf("beyond the limits of a recorder: %w", storage.ErrCorrupt)

// ReadMessage reads all of a message, and limit bytes at most: a larger one is an error that wraps ErrTooMuch.
// Its memory grows with what has come, whatever a peer promises: sure bytes, such as the size of the message
// before, are taken at once, then pieces, which are joined at the end.
func ReadMessage(r io.Reader, sure, limit int64) ([]byte, error) {
	const first, most = 16 << 10, 4 << 20 // bytes of a piece
	var pieces [][]byte
	total, next := int64(0), max(sure, first)
	for {
		piece := make([]byte, min(next, limit-total)+1) // one more shows the end
		n, err := readFull(r, piece)
		pieces, total = append(pieces, piece[:n]), total+int64(n)
		switch {
		case total > limit:
			return nil, fmt.Errorf("a message of more than %d bytes, see --max-message: %w", limit, ErrTooMuch)
		case errors.Is(err, io.EOF):
			return join(pieces, total), nil
		case err != nil:
			return nil, err
		}
		next = min(max(total, first), most)
	}
}

// readFull is io.ReadFull, but that the end is always io.EOF: io.ErrUnexpectedEOF is one of r.
func readFull(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var k int
		k, err = r.Read(b[n:])
		n += k
	}
	return n, err
}

func join(pieces [][]byte, total int64) []byte {
	if len(pieces) == 1 {
		return pieces[0]
	}
	all := make([]byte, 0, total)
	for i, p := range pieces {
		all = append(all, p...)
		pieces[i] = nil // its memory may be used again
	}
	return all
}

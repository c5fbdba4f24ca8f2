// Package compress has the codecs of recordings with one interface: none, lz4
// (frames, as ROS 1 bags have them), bz2 and zstd.
//
//	out, err := compress.LZ4.Decode(buf[:0], stored, int64(size))
//
// Encode and Decode append to dst and return the longer slice, which is dst's
// memory if it has the room. A Codec keeps pools of encoder state, starts no
// goroutines, and may be used by any number of goroutines. The same input and
// level make the same bytes.
//
// Decode is made for damaged input: it returns what it could decode together
// with the error, and it takes memory only as output comes to be, never by a
// length that the input states. The errors wrap ErrCorrupt, ErrLimit,
// ErrTrailing or io.ErrUnexpectedEOF (the input is cut).
//
// The package imports the standard library and codec packages only.
package compress

import (
	"errors"
	"fmt"
)

// What a Decode error wraps, besides io.ErrUnexpectedEOF.
var (
	ErrCorrupt  = errors.New("corrupt compressed data")
	ErrLimit    = errors.New("decompressed data is over the limit")
	ErrTrailing = errors.New("bytes after the end of the compressed data") // what came before is whole
	ErrDict     = errors.New("compressed with a dictionary")
)

// A Codec compresses and decompresses.
type Codec struct {
	name   string
	levels int // highest level
	encode func(dst, src []byte, level int) ([]byte, error)
	decode func(dst, src []byte, limit int64) ([]byte, error)
}

// The codecs.
var (
	None = &Codec{"none", 0, encodeNone, decodeNone}
	LZ4  = &Codec{"lz4", 9, encodeLZ4, decodeLZ4}
	BZ2  = &Codec{"bz2", 9, encodeBZ2, decodeBZ2}
	Zstd = &Codec{"zstd", 22, encodeZstd, decodeZstd}
)

// Lookup returns the codec of that name ("none", "lz4", "bz2", "zstd"), or nil.
func Lookup(name string) *Codec {
	for _, c := range []*Codec{None, LZ4, BZ2, Zstd} {
		if c.name == name {
			return c
		}
	}
	return nil
}

// Name returns the codec's name, as in Lookup.
func (c *Codec) Name() string { return c.name }

// MaxLevel returns the highest level that Encode takes; 0 when there are no levels.
func (c *Codec) MaxLevel() int { return c.levels }

// Encode appends the compressed src to dst. Level 0 is the codec's default (lz4:
// the fast compressor, bz2: 9, zstd: 3), 1 to MaxLevel go from fast to small.
func (c *Codec) Encode(dst, src []byte, level int) ([]byte, error) {
	if level < 0 || level > c.levels {
		return dst, fmt.Errorf("%s: there is no level %d, only 1 to %d", c.name, level, c.levels)
	}
	out, err := c.encode(dst, src, level)
	if err != nil {
		return out, fmt.Errorf("%s: %w", c.name, err)
	}
	return out, nil
}

// Decode appends the decompressed src to dst. More than limit bytes of output
// are an error that wraps ErrLimit. With an error it returns what could be
// decoded before it. A dst with room for the output saves growing it.
func (c *Codec) Decode(dst, src []byte, limit int64) ([]byte, error) {
	out, err := c.decode(dst, src, limit)
	if err != nil {
		return out, fmt.Errorf("%s: %w", c.name, err)
	}
	return out, nil
}

func encodeNone(dst, src []byte, _ int) ([]byte, error) { return append(dst, src...), nil }

func decodeNone(dst, src []byte, limit int64) ([]byte, error) {
	if int64(len(src)) > limit {
		return append(dst, src[:max(limit, 0)]...), ErrLimit
	}
	return append(dst, src...), nil
}

// An appender is an append buffer for codecs that want an io.Writer.
type appender struct{ b []byte }

func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// readAll appends r's bytes to dst up to the limit, and returns what stopped it
// (nil at the end of r). It grows dst by what was read, at most doubling it.
func readAll(dst []byte, r interface{ Read([]byte) (int, error) }, limit int64, isEOF func(error) bool) ([]byte,
	error) {
	start := len(dst)
	for {
		room := limit - int64(len(dst)-start)
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		free := dst[len(dst):cap(dst)]
		if int64(len(free)) > room+1 {
			free = free[:room+1] // one more, to see whether there is more
		}
		n, err := r.Read(free)
		if int64(n) > room {
			return dst[:len(dst)+int(room)], ErrLimit
		}
		dst = dst[:len(dst)+n]
		if err != nil {
			if isEOF(err) {
				err = nil
			}
			return dst, err
		}
	}
}

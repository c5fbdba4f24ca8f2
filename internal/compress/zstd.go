package compress

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// zstdWindow is the largest window that is accepted: the memory that a frame
// may ask for before any byte comes out (zstd --ultra --long=27).
const zstdWindow = 128 << 20

// zstdWindows are the sizes of an encoder's window, as powers of two. The window of a chunk
// need not be larger than the chunk, and zstd's own default level has 2 MiB.
const (
	zstdLeast   = 18
	zstdWindows = 4 // 256 KiB to 2 MiB
)

var (
	zstdEncoders zstdPools
	zstdSized    zstdPools // for frames that state their size, and are one segment
	zstdWindowed zstdPools // for larger frames, which state their size and have a window
	zstdReaders  sync.Pool
	zstdLenient  sync.Pool // of readers that do not look at checksums
)

// zstdPools are encoders by level and window.
type zstdPools [23][zstdWindows]sync.Pool

func encodeZstd(dst, src []byte, level int) ([]byte, error) {
	return zstdEncoders.encode(dst, src, level)
}

func (pools *zstdPools) encode(dst, src []byte, level int, more ...zstd.EOption) ([]byte, error) {
	window := min(max(bits.Len(uint(max(len(src)-1, 0)))-zstdLeast, 0), zstdWindows-1)
	pool := &pools[level][window]
	e, _ := pool.Get().(*zstd.Encoder)
	if e == nil {
		l := zstd.SpeedDefault
		if level != 0 {
			l = zstd.EncoderLevelFromZstd(level)
		}
		var err error
		e, err = zstd.NewWriter(nil, append(more, zstd.WithEncoderLevel(l), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(1<<(zstdLeast+window)), zstd.WithLowerEncoderMem(true))...)
		if err != nil {
			return dst, err
		}
	}
	dst = e.EncodeAll(src, dst)
	pool.Put(e)
	return dst, nil
}

// decodeZstd decodes frame after frame, and reports what follows the last one that is whole. Data
// with a wrong checksum are returned as they are, with the error.
func decodeZstd(dst, src []byte, limit int64) ([]byte, error) {
	out, err := decodeZstdFrames(dst, src, limit, &zstdReaders)
	if err == nil || errors.Is(err, ErrLimit) {
		return out, err
	}
	n := zstdFramesEnd(src)
	if n == 0 || n == len(src) && !errors.Is(err, zstd.ErrCRCMismatch) {
		return out, err
	}
	whole, e := decodeZstdFrames(nil, src[:n], limit, &zstdReaders)
	if e == nil {
		return append(out[:len(dst)], whole...), fmt.Errorf("%d %w", len(src)-n, ErrTrailing)
	}
	if errors.Is(e, zstd.ErrCRCMismatch) {
		if whole, e := decodeZstdFrames(nil, src[:n], limit, &zstdLenient); e == nil {
			return append(out[:len(dst)], whole...), err
		}
	}
	return out, err
}

// decodeZstdFrames decodes frame after frame. If dst has the room that the first
// frame states it decodes straight into it, otherwise as a stream, so that a
// stated size alone takes no memory.
func decodeZstdFrames(dst, src []byte, limit int64, pool *sync.Pool) ([]byte, error) {
	lenient := pool == &zstdLenient
	var h zstd.Header
	if h.Decode(src) == nil && h.HasFCS && h.FrameContentSize <= uint64(max(limit, 0)) {
		size := int(h.FrameContentSize)
		if plausible := 64*len(src) + 1<<16; size <= max(plausible, cap(dst)-len(dst)) {
			dst = grow(dst, size)
			room := dst[: len(dst) : len(dst)+int(min(int64(cap(dst)-len(dst)), limit))]
			if h.SingleSegment && size > zstdWindow { // its window is dst
				return decodeZstdWhole(room, src, uint64(size), lenient)
			}
			d, err := zstdReader(pool, lenient)
			if err != nil {
				return dst, err
			}
			out, err := d.DecodeAll(src, room)
			pool.Put(d)
			if err == nil {
				return dst[:len(out)], nil // with all its room, which out does not have
			}
		}
	}
	d, err := zstdReader(pool, lenient)
	if err != nil {
		return dst, err
	}
	defer pool.Put(d)
	if err := d.Reset(bytes.NewReader(src)); err != nil {
		return dst, zstdError(err)
	}
	dst, err = readAll(dst, d, limit, func(err error) bool { return err == io.EOF })
	if e := d.Reset(nil); e != nil && err == nil {
		err = e
	}
	return dst, zstdError(err)
}

// zstdReader returns a decoder, of the pool if it has one.
func zstdReader(pool *sync.Pool, lenient bool) (*zstd.Decoder, error) {
	if d, ok := pool.Get().(*zstd.Decoder); ok {
		return d, nil
	}
	return newZstdReader(zstdWindow, lenient)
}

func newZstdReader(window uint64, lenient bool) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(window), zstd.WithDecodeAllCapLimit(true), zstd.IgnoreChecksum(lenient))
}

// decodeZstdWhole decodes frames of which one has a window as large as its content.
func decodeZstdWhole(dst, src []byte, window uint64, lenient bool) ([]byte, error) {
	d, err := newZstdReader(window, lenient)
	if err != nil {
		return dst, err
	}
	defer d.Close()
	out, err := d.DecodeAll(src, dst)
	return out, zstdError(err)
}

// ZstdSize returns the most bytes that the first frame of src decompresses to, by its header
// or its only block; false if they do not tell. The first 24 bytes of src are enough.
func ZstdSize(src []byte) (size int64, ok bool) {
	var h zstd.Header
	switch {
	case h.Decode(src) != nil:
	case h.HasFCS:
		return int64(min(h.FrameContentSize, math.MaxInt64)), true
	case h.FirstBlock.OK && h.FirstBlock.Last && h.FirstBlock.Compressed:
		return zstdBlock, true
	case h.FirstBlock.OK && h.FirstBlock.Last:
		return int64(h.FirstBlock.DecompressedSize), true
	}
	return 0, false
}

// zstdBlock is the most that a block of a frame decompresses to.
const zstdBlock = 128 << 10

func zstdError(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrLimit), errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return ErrLimit
	}
	return fmt.Errorf("%w: %w", ErrCorrupt, err)
}

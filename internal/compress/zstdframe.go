package compress

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A frame of zstd, as far as it is made here and not by the codec. Source: RFC 8878, 3.1.
const (
	zstdMagic     = 0xfd2fb528
	zstdRawBlock  = 0 << 1 // type of a block, in its header
	zstdRLEBlock  = 1 << 1
	zstdLastBlock = 1
	blockHead     = 3
)

// zstdFramesEnd returns where the whole frames at the start of src end, by the headers of their blocks.
func zstdFramesEnd(src []byte) (end int) {
	for at := 0; ; end = at {
		var h zstd.Header
		if h.Decode(src[at:]) != nil {
			return end
		}
		if at += h.HeaderSize; h.Skippable {
			if int64(len(src)-at) < int64(h.SkippableSize) {
				return end
			}
			at += int(h.SkippableSize)
			continue
		}
		for last := false; !last; {
			if len(src)-at < blockHead {
				return end
			}
			head := int(src[at]) | int(src[at+1])<<8 | int(src[at+2])<<16
			last = head&zstdLastBlock != 0
			size := head >> 3
			if head&(3<<1) == zstdRLEBlock {
				size = 1
			}
			if at += blockHead; len(src)-at < size {
				return end
			}
			at += size
		}
		if h.HasCheckSum {
			at += 4
		}
		if at > len(src) {
			return end
		}
	}
}

// EncodeZstdFrame appends the compressed src as one frame that states its size, also the size 0, and
// has no checksum: decoders that decode a frame at once want this. Levels are as in Codec.Encode.
func EncodeZstdFrame(dst, src []byte, level int) ([]byte, error) {
	if len(src) == 0 {
		return AppendRawFrame(dst, nil), nil
	}
	if level < 0 || level > Zstd.levels {
		return dst, fmt.Errorf("%s: there is no level %d, only 1 to %d", Zstd.name, level, Zstd.levels)
	}
	if len(src) > zstdWindow { // a reader would need a window as large as src
		return zstdWindowed.encode(dst, src, level, zstd.WithSingleSegment(false), zstd.WithEncoderCRC(false))
	}
	return zstdSized.encode(dst, src, level, zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false))
}

// RawFrameSize returns the length of AppendRawFrame's frame of n bytes.
func RawFrameSize(n int) int {
	return 9 + n + blockHead*max(1, (n+zstdBlock-1)/zstdBlock)
}

// AppendRawFrame appends a zstd frame that stores data as they are, less than 4 GiB: the
// length of the frame is known before the data are.
func AppendRawFrame(dst, data []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, zstdMagic)
	dst = append(dst, 2<<6|1<<5) // a content size of 4 bytes, which is the window, too
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(data)))
	return appendRawBlocks(dst, data, true)
}

// appendRawBlocks appends data as blocks of a frame, one at least; last ends the frame.
func appendRawBlocks(dst, data []byte, last bool) []byte {
	for {
		n := min(len(data), zstdBlock)
		head := uint32(n)<<3 | zstdRawBlock
		if last && n == len(data) {
			head |= zstdLastBlock
		}
		dst = append(dst, byte(head), byte(head>>8), byte(head>>16))
		dst = append(dst, data[:n]...)
		if data = data[n:]; len(data) == 0 {
			return dst
		}
	}
}

// A ZstdStream compresses into one frame that states its content size, although the size is
// known only at the end. The content begins with bytes that may change until the end: they are
// stored as they are. Head returns them behind the header of the frame, for the place that
// ZstdStreamHead has left free.
type ZstdStream struct {
	enc  *zstd.Encoder
	out  streamOut
	size int64 // of what was written
}

// streamWindow is the window of a ZstdStream, 4 MiB, as the header of a frame has it.
const (
	streamWindow     = 4 << 20
	streamWindowByte = 12 << 3 // 2^(10+12)
)

// NewZstdStream returns a stream that writes what follows the head to w.
func NewZstdStream(w io.Writer, level int) (*ZstdStream, error) {
	s := &ZstdStream{out: streamOut{w: w}}
	l := zstd.SpeedDefault
	if level != 0 {
		l = zstd.EncoderLevelFromZstd(level)
	}
	var err error
	s.enc, err = zstd.NewWriter(&s.out, zstd.WithEncoderLevel(l), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(streamWindow),
		zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true))
	return s, err
}

// Write compresses b.
func (s *ZstdStream) Write(b []byte) (int, error) {
	n, err := s.enc.Write(b)
	s.size += int64(n)
	return n, err
}

// Close ends the frame.
func (s *ZstdStream) Close() error {
	if err := s.enc.Close(); err != nil || s.out.started {
		return err
	}
	_, err := s.out.w.Write(appendRawBlocks(nil, nil, true)) // there was nothing to compress
	return err
}

// ZstdStreamHead returns the length of a head of n bytes that are stored as they are.
func ZstdStreamHead(n int) int { return RawFrameSize(n) - 9 + 14 }

// Head returns what the frame begins with: its header, and data.
func (s *ZstdStream) Head(data []byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, zstdMagic)
	b = append(b, 3<<6, streamWindowByte) // a content size of 8 bytes
	b = binary.LittleEndian.AppendUint64(b, uint64(s.size)+uint64(len(data)))
	return appendRawBlocks(b, data, false)
}

// A streamOut drops the frame header that an encoder writes.
type streamOut struct {
	w       io.Writer
	started bool
}

func (o *streamOut) Write(b []byte) (int, error) {
	n := len(b)
	if !o.started && n > 0 {
		var h zstd.Header
		if err := h.Decode(b); err != nil {
			return 0, errors.Join(errors.New("internal error: zstd has begun no frame"), err)
		}
		o.started, b = true, b[h.HeaderSize:]
	}
	if _, err := o.w.Write(b); err != nil {
		return 0, err
	}
	return n, nil
}

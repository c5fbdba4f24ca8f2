package ros2bag

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/bagconv/bagconv/internal/compress"
	"github.com/bagconv/bagconv/internal/iox"
	"github.com/bagconv/bagconv/storage"
	"github.com/klauspost/compress/zstd"
)

// DefaultLevel is the level of zstd if nobody asks for another: that of rosbag2's recorder. Source:
// ros2/rosbag2 rosbag2_compression_zstd/src/rosbag2_compression_zstd/compression_utils.hpp,
// kDefaultZstdCompressionLevel.
const DefaultLevel = 1

// Inflate writes the decompressed part to a file without a name in the folder for
// temporary files. rosbag2 does not end the zstd frame
// when the size of the database is a multiple of 131072 bytes; all of it is
// there, and the decoder returns it before it reports that the frame is cut
// (ros2/ros2 issue 1476). With an error other than of writing, what could be
// decoded is in the file, and cut is the error of the decoder.
func Inflate(ctx context.Context, fsys storage.FS, path string) (temp storage.File, cut, err error) {
	in, err := fsys.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return nil, nil, err
	}
	out, err := iox.TempFile(fsys, os.TempDir())
	if err != nil {
		return nil, nil, err
	}
	source := &faultReader{File: in}
	if cut, err = inflateTo(ctx, out, source, st.Size()); err == nil {
		err = source.fault
	}
	if err != nil {
		return nil, nil, errors.Join(err, out.Close())
	}
	return out, cut, nil
}

// A faultReader remembers why a file could not be read, which the decoder would report as
// damage.
type faultReader struct {
	storage.File
	fault error
}

func (r *faultReader) Read(b []byte) (int, error) {
	n, err := r.File.Read(b)
	if err != nil && err != io.EOF {
		r.fault = err
	}
	return n, err
}

func inflateTo(ctx context.Context, out io.Writer, in io.Reader, size int64) (cut, err error) {
	dec, err := newDecoder(in)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	cut, err = compress.Unpack(ctx, out, dec, size)
	if errors.Is(err, compress.ErrLimit) {
		err = fmt.Errorf("%w: %w", err, storage.ErrCorrupt)
	}
	return cut, err
}

// IsPart reports whether a file begins as a part, after decompression if it is a zstd
// frame. head is how it begins.
func (s *Storage) IsPart(fsys storage.FS, path string, head []byte) bool {
	if bytes.HasPrefix(head, []byte(s.Magic)) {
		return true
	}
	if !bytes.HasPrefix(head, []byte(ZstdMagic)) {
		return false
	}
	f, err := fsys.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	dec, err := newDecoder(f)
	if err != nil {
		return false
	}
	defer dec.Close()
	first := make([]byte, len(s.Magic))
	_, err = io.ReadFull(dec, first)
	return err == nil && string(first) == s.Magic
}

func newDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20))
}

// IsFrame reports whether a message begins as a zstd frame. No message in CDR does.
func IsFrame(data []byte) bool { return len(data) >= 4 && string(data[:4]) == ZstdMagic }

// What decompression of a message may take: one beyond it is an attack on memory.
const (
	messageInflate = 200
	messageSlack   = 64 << 20
)

// UnpackedSize is the most bytes that a message of some bytes becomes. start is its start.
func UnpackedSize(start []byte, size int) int64 {
	if !IsFrame(start) {
		return int64(size)
	}
	most := int64(size)*messageInflate + messageSlack
	if stated, ok := compress.ZstdSize(start); ok {
		return min(stated, most)
	}
	return most
}
